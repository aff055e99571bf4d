"""A test that fails is run once more, alone; if it passes then, the run passes and names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT

PASSES = "def test_passes(): pass\n"
ONCE = """
from pathlib import Path
def test_fails_once():
    mark = Path("mark")
    assert mark.exists() or mark.touch()
"""
ALWAYS = "def test_fails_always(): assert False\n"
ENDS_ITS_WORKER = """
import os
from pathlib import Path
def test_ends_its_worker():
    if not Path("worker").exists():
        Path("worker").touch()
        os._exit(1)
"""


PLUGINS = ("-p", "xdist.plugin", "-p", "pytest_cov.plugin")
HANGS_AFTER_IT_FAILED = """
import pytest
from time import sleep
@pytest.fixture
def hanging():
    yield
    sleep(600)
def test_hangs(hanging): assert False
"""


def run(folder: Path, *tests: str, arguments: tuple[str, ...] = ()) -> tuple[int, str, list[str]]:
    """Return the exit code of a run of `tests`, what it printed, and which tests it wrote down as unsteady."""
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="ascii")
    for number, text in enumerate(tests):
        (folder / f"test_{number}.py").write_text(text, encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-m", "tests.run", *PLUGINS, *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    unsteady = folder / "var" / "unsteady.txt"
    return done.returncode, done.stdout, unsteady.read_text("ascii").split() if unsteady.exists() else []


def test_it_works(tmp_path: Path) -> None:
    code, printed, unsteady = run(tmp_path, PASSES)
    assert (code, unsteady) == (0, [])
    assert "1 passed" in printed
    assert "again" not in printed


def test_one_that_fails_once_passes_and_is_named(tmp_path: Path) -> None:
    code, printed, unsteady = run(tmp_path, PASSES, ONCE)
    assert (code, unsteady) == (0, ["test_1.py::test_fails_once"])
    assert printed.splitlines()[-2:] == ["Unsteady, failed and then passed alone:", "  test_1.py::test_fails_once"]


def test_one_that_always_fails_fails_the_run(tmp_path: Path) -> None:
    code, printed, unsteady = run(tmp_path, PASSES, ALWAYS)
    assert (code, unsteady) == (1, [])
    assert "Running 1 again, alone: test_1.py::test_fails_always" in printed
    assert "Unsteady" not in printed


def test_it_hides_none_that_always_fails_and_may_end_its_worker(tmp_path: Path) -> None:
    code, _, unsteady = run(tmp_path, ONCE, ALWAYS, ENDS_ITS_WORKER, arguments=("--numprocesses", "2"))
    assert code == 1
    assert sorted(unsteady) == ["test_0.py::test_fails_once", "test_2.py::test_ends_its_worker"]


@pytest.mark.parametrize("broken", ["import nothing_of_this_name\n", "def test_(:\n"])
def test_a_file_that_cannot_be_read_fails_the_run(tmp_path: Path, broken: str) -> None:
    code, _, unsteady = run(tmp_path, PASSES, broken)
    assert code
    assert not unsteady


def test_very_many_failures_are_no_accident(tmp_path: Path) -> None:
    code, printed, _ = run(tmp_path, "".join(f"def test_{number}(): assert False\n" for number in range(21)))
    assert code == 1
    assert "again" not in printed


def test_what_failed_in_an_earlier_run_is_not_run_again(tmp_path: Path) -> None:
    run(tmp_path, PASSES, ALWAYS)
    code, printed, _ = run(tmp_path, PASSES, ONCE, "")
    assert code == 0
    assert "fails_always" not in printed


def test_a_clean_up_that_hangs_is_ended(tmp_path: Path) -> None:
    """A clean-up hangs after its test has failed, when pytest-timeout has cancelled its limit: the run ends anyway."""
    plugins = ("-p", "pytest_timeout", "-p", "tests.time_limits", "-o", "timeout=5", "--numprocesses", "2")
    code, printed, unsteady = run(tmp_path, PASSES, HANGS_AFTER_IT_FAILED, arguments=plugins)
    assert (code, unsteady) == (1, [])
    assert "test_1.py::test_hangs" in printed
