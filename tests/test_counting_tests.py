"""What the runs of all tiers came to, in one line: the last of `.ci/run`."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.repository import ROOT

SUITE = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


def total(folder: Path, **suites: tuple[int, int, int, int]) -> str:
    reports = folder / "var" / "tests"
    reports.mkdir(parents=True)
    for name, counts in suites.items():
        (reports / f"{name}.xml").write_text(SUITE.format(*counts), encoding="utf-8")
    command = [sys.executable, "-m", "tests", "total"]
    return subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout


def test_it_works(tmp_path: Path) -> None:
    assert total(tmp_path, quick=(10, 1, 2, 3), long=(5, 0, 0, 1)) == "8 passed, 3 failed, 4 skipped\n"


def test_nothing_has_run(tmp_path: Path) -> None:
    assert total(tmp_path) == "0 passed, 0 failed, 0 skipped\n"
