"""What the runs of all tiers came to: the failures by name and, the last line of `.ci/run`, how many tests passed."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.__main__ import DIED
from tests.architecture.repository import ROOT

SUITE = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


def total(folder: Path, **suites: tuple[int, int, int, int]) -> str:
    return told(folder, {name: SUITE.format(*counts) for name, counts in suites.items()})


def told(folder: Path, suites: Mapping[str, str]) -> str:
    reports = folder / "var" / "tests"
    reports.mkdir(parents=True)
    for name, suite in suites.items():
        (reports / f"{name}.xml").write_text(suite, encoding="utf-8")
    command = [sys.executable, "-m", "tests", "total"]
    return subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout


def test_it_works(tmp_path: Path) -> None:
    assert total(tmp_path, quick=(10, 1, 2, 3), long=(5, 0, 0, 1)) == "8 passed, 3 failed, 4 skipped\n"


def test_nothing_has_run(tmp_path: Path) -> None:
    assert total(tmp_path) == "0 passed, 0 failed, 0 skipped\n"


def test_failures_are_named_with_their_reasons(tmp_path: Path) -> None:
    cases = """
      <testcase classname="tests.sums" name="test_it_adds"/>
      <testcase classname="tests.sums" name="test_it_works[3]"><failure message="Wrong: 4&#10;is not 5"/></testcase>
      <testcase classname="tests.sums" name="test_server"><error message="no such server"/></testcase>"""
    suite = SUITE.format(3, 1, 1, 0).replace("/></testsuites>", f">{cases}</testsuite></testsuites>")
    assert told(tmp_path, {"quick on SQLite": suite}).splitlines() == [
        "FAILED quick on SQLite: tests.sums::test_it_works[3]: Wrong: 4 is not 5",
        "FAILED quick on SQLite: tests.sums::test_server: no such server",
        "1 passed, 2 failed, 0 skipped",
    ]


def suite(*failing: str, passing: Sequence[str] = ()) -> str:
    cases = "".join(f'<testcase classname="tests.sums" name="{name}"/>' for name in passing)
    cases += "".join(
        f'<testcase classname="tests.sums" name="{name}"><failure message="late"/></testcase>' for name in failing
    )
    whole = SUITE.format(5, len(failing), 0, 0)
    return whole.replace("/></testsuites>", f">{cases}</testsuite></testsuites>")


def test_what_passes_alone_is_named_and_counts_as_passed(tmp_path: Path) -> None:
    suites = {
        "quick on SQLite": suite("test_slow", "test_wrong"),
        "quick on SQLite, once more": suite("test_wrong", passing=["test_slow"]),
    }
    assert told(tmp_path, suites).splitlines() == [
        "PASSED ALONE quick on SQLite: tests.sums::test_slow: late",
        "FAILED quick on SQLite: tests.sums::test_wrong: late",
        "4 passed, 1 failed, 0 skipped",
    ]


def test_who_dies_when_alone_has_failed(tmp_path: Path) -> None:
    suites = {"quick on SQLite": suite("test_slow"), "quick on SQLite, once more": DIED}
    assert told(tmp_path, suites).splitlines()[-1] == "4 passed, 1 failed, 0 skipped"


def test_what_is_not_tried_again_has_failed(tmp_path: Path) -> None:
    suites = {"quick on SQLite": suite("test_slow"), "quick on SQLite, once more": suite()}
    assert told(tmp_path, suites).splitlines()[-1] == "4 passed, 1 failed, 0 skipped"
