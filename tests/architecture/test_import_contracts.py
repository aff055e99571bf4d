"""The import contracts hold, and for each of them an import that breaks it is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT, files

PACKAGES = ("idcsched", "metrics_ingest", "plugins")
FORBIDDEN = {
    "lower imports higher": ("idcsched/audit/services.py", "import idcsched.scheduling", "One way down"),
    "the ledger reads no metric": ("idcsched/ledger/models.py", "import metrics_ingest.models", "One way down"),
    "a placement knows a driver": ("idcsched/placement/start.py", "import idcsched.provisioning", "One way down"),
    "deciding uses Django": ("idcsched/framework/errors.py", "import django", "Deciding needs no Django"),
    "deciding opens a connection": ("idcsched/framework/errors.py", "import socket", "Deciding needs no Django"),
    "a plugin reads the database": ("plugins/taint.py", "import idcsched.inventory.models", "Plugins know"),
    "a plugin calls by itself": ("plugins/taint.py", "import httpcore", "Plugins know"),
    "outbound knows who asks": ("idcsched/outbound/client.py", "import idcsched.feed.reading", "One way down"),
    "somebody imports a plugin": ("idcsched/scheduling/services.py", "import plugins.taint", "Nobody imports a plugin"),
    "one reaches for the wiring": ("idcsched/inventory/models.py", "import idcsched.settings", "Packages do not reach"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    for file in (*files("*.py"), ROOT / "pyproject.toml"):
        name = file.relative_to(ROOT)
        if name.parts[0] in (*PACKAGES, "pyproject.toml"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
    return folder


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


def test_it_works(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("file", "statement", "contract"), FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_a_forbidden_import_breaks_its_contract(copy: Path, file: str, statement: str, contract: str) -> None:
    source = copy / file
    original = source.read_text(encoding="utf-8")
    source.write_text(f"{original}\n{statement}\n", encoding="utf-8")
    try:
        done = lint(copy)
    finally:
        source.write_text(original, encoding="utf-8")
    assert done.returncode == 1, done.stdout
    assert any(contract in line and "BROKEN" in line for line in done.stdout.splitlines()), done.stdout
