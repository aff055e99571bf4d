"""docs/plugins.md shows the very example that is installed and tested, and names what is really there."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from deploy.docs.plugin_pages import CURES
from idcsched.framework.context import Cycle
from idcsched.framework.decoding import convert
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.registry import Registry, load_registry
from idcsched.framework.snapshot import Idcs, Lines, Stock
from idcsched.framework.testing import check_plugin, decide_for, profile, world
from tests.docs.pages import blocks, page, section, tables
from tests.third_party.packages import PACKAGES

PAGE = page("plugins.md")
EXAMPLE = PACKAGES / "carbon"
KNOWN = world({"coal": {"metrics": {"grid_co2": 800, "pue": 1.1}}, "silent": {"metrics": {"pue": 1.1}}})


@pytest.fixture
def one_at_a_time(tmp_path: Path) -> Iterator[list[ModuleType]]:
    """The two modules of the section on one IDC at a time, imported as a reader would have them."""
    found = []
    for number, source in enumerate(blocks(section(PAGE, "One IDC at a time"), "python")):
        file = tmp_path / f"shown_{number}.py"
        file.write_text(source, encoding="utf-8")
        found.append(imported(file))
    yield found
    for module in found:
        del sys.modules[module.__name__]


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def test_it_works() -> None:
    shown = section(PAGE, "From nothing to a scorer")
    sources = [*blocks(shown, "toml"), *blocks(shown, "python")]
    files = ("pyproject.toml", "idcsched_carbon.py", "test_carbon.py")
    assert sources == [(EXAMPLE / name).read_text(encoding="utf-8") for name in files]


def test_the_profile_shown_can_use_it(one_at_a_time: list[ModuleType]) -> None:
    (shown,) = blocks(section(PAGE, "From nothing to a scorer"), "json")
    document = json.loads(shown)
    known = Registry({**load_registry().plugins, "carbon": one_at_a_time[0].Carbon})
    body = convert({name: value for name, value in document.items() if name != "code"}, ProfileBody)
    assert compile_profile(body, known, code=document["code"], revision=1).of_plugin("carbon")


def test_one_at_a_time_gives_the_same_scores(one_at_a_time: list[ModuleType]) -> None:
    slow = one_at_a_time[0].Carbon
    policy = profile(("carbon", "carbon", {"weight": 10}), plugins=[slow])

    assert decide_for(KNOWN, policy).totals == {"coal": 120.0, "silent": 120.0}
    check_plugin(slow)
    check_plugin(slow, worlds=[KNOWN], requests=[{}])


def test_the_filter_shown_filters(one_at_a_time: list[ModuleType]) -> None:
    kind = one_at_a_time[1].Generation
    idcs = world({"new": {"labels": {"generation": "2"}}, "old": {"labels": {"generation": "1"}}, "bare": {}})
    outcome = decide_for(idcs, profile("generation", plugins=[kind]))

    assert list(outcome.totals) == ["new"]
    reasons = {each.idc: each.reason for each in outcome.answer.rejected}
    assert reasons["old"] == "its network is of generation 1"
    check_plugin(kind)


def test_the_filter_shown_passes_the_test_shown(tmp_path: Path) -> None:
    plugin, test = blocks(section(PAGE, "A filter"), "python")
    (tmp_path / "idcsched_clean.py").write_text(plugin, encoding="utf-8")
    (tmp_path / "test_clean.py").write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path]
    done = subprocess.run(
        [*command, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_every_cure_is_named() -> None:
    (cures,) = tables(section(PAGE, "A filter"))
    assert [row["cure"] for row in cures] == sorted(CURES)


@pytest.mark.parametrize(("part", "of"), [("idcs", Idcs), ("stock", Stock), ("lines", Lines)])
def test_every_column_of_the_snapshot_is_listed(part: str, of: type) -> None:
    first = f"ctx.snapshot.{part}"
    listed = [name for rows in tables(PAGE) for row in rows if first in row for name in row[first].split(", ")]
    assert listed == [field.name for field in fields(of)]


def test_every_name_in_the_tables_exists() -> None:
    attributes, methods, context = tables(section(PAGE, "What the class says"))
    names = {name for row in methods for name in row["method"].split(", ")}

    declared = {name for name in vars(Plugin).get("__annotations__", {}) if not name.startswith("_")}
    assert {row["attribute"] for row in attributes} == declared - {"narrows"}
    assert not [name for name in names if not callable(getattr(Plugin, name, None))]
    members = {*dir(Cycle), *Cycle.__slots__}
    assert not [name for row in context for name in re.findall(r"ctx\.(\w+)", row[""]) if name not in members]
