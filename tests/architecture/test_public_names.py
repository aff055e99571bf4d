"""The framework's and the services' public names are those in `__all__`, and change on purpose only."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT, files

PINNED = Path(__file__).with_name("public_names.json")
UPDATE = "python -m pytest tests/architecture/test_public_names.py --update-public-names"


def public_modules() -> dict[str, str]:
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files("*.py"))
    return {name.removesuffix(".__init__"): name for name in names if _is_public(name.split("."))}


def _is_public(parts: list[str]) -> bool:
    if parts[0] not in {"idcsched", "metrics_ingest"}:
        return False
    return parts[1] == "framework" or "services" in parts


def exported(module: str) -> list[str]:
    return sorted(getattr(importlib.import_module(module), "__all__", []))


def test_it_works(request: pytest.FixtureRequest) -> None:
    now = {module: exported(module) for module in sorted(public_modules())}
    if request.config.getoption("--update-public-names"):
        PINNED.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    assert now == json.loads(PINNED.read_text(encoding="utf-8")), f"if that is meant: {UPDATE}"


@pytest.mark.parametrize("module", sorted(public_modules()))
def test_every_public_name_exists_and_is_listed_once(module: str) -> None:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None)
    if names is None:
        assert Path(str(found.__file__)).name == "__init__.py", f"{module} has no __all__"
        return
    assert len(names) == len(set(names))
    assert not [name for name in names if not hasattr(sys.modules[module], name)]
