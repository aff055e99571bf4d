"""`requirements/install.sh` sets the project up, does nothing if that is done, and says in one line what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT
from tests.servers import scratch_folder

pytestmark = pytest.mark.long

PYTHON = Path(sys.base_prefix, "bin", "python3")


def project(folder: Path) -> Path:
    """Return a project without requirements, so that it can be set up without a network."""
    (folder / "requirements").mkdir()
    shutil.copy(ROOT / "requirements" / "install.sh", folder / "requirements")
    for lock in ("base.lock", "dev.lock"):
        (folder / "requirements" / lock).write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A project that was never set up."""
    return project(tmp_path)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A project, and what setting it up for the first time has come to."""
    folder = project(tmp_path_factory.mktemp("first"))
    return folder, install(folder)


@pytest.fixture
def folder(first: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> Path:
    """A copy of the project that was set up: to set up one for each test would take seconds."""
    return shutil.copytree(first[0], tmp_path / "copy", symlinks=True)


def install(
    folder: Path, python: Path | str = PYTHON, wanted: str = "base", path: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", folder / "requirements" / "install.sh", wanted],
        env=os.environ | {"PYTHON": str(python), "PATH": path or os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def fake_python(folder: Path, script: str) -> Path:
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    program.chmod(0o755)
    return program


def test_it_works(first: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = first
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["Creating", "Installing"]
    again = install(folder)
    assert (again.returncode, again.stdout) == (0, "")


def test_what_tests_need_is_enough_for_running(folder: Path) -> None:
    (folder / ".venv" / "installed-base").unlink()
    assert install(folder, wanted="dev").stdout.startswith("Installing")
    assert install(folder, wanted="base").stdout == ""


def test_a_change_of_the_lock_installs_anew(folder: Path) -> None:
    (folder / "requirements" / "base.lock").write_text("# changed\n", encoding="utf-8")
    assert install(folder).stdout.startswith("Installing")


def test_a_set_up_that_was_cut_short_is_done_again(folder: Path) -> None:
    (folder / ".venv" / "installed-base").unlink()
    assert install(folder).stdout.startswith("Installing")


@pytest.mark.parametrize("activated", [".venv", "another"])
def test_an_activated_environment_changes_nothing(folder: Path, activated: str) -> None:
    """An activated environment's python3 comes first in the path.

    It does not count as another interpreter, and the environment that it runs from is not deleted.
    """
    assert install(folder, wanted="dev").returncode == 0
    if activated == "another":
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder / activated], check=True)
    done = install(folder, "python3", path=f"{folder / activated / 'bin'}:{os.environ['PATH']}")
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / ".venv" / "installed-dev").exists()


@pytest.mark.long
def test_what_was_made_with_another_python_is_made_anew(folder: Path) -> None:
    (folder / ".venv" / "interpreter").write_text("1 3.11.0 /elsewhere\n", encoding="ascii")
    (folder / ".venv" / "installed-base").unlink()
    assert install(folder).stdout.startswith("Creating")


def test_dependencies_that_cannot_be_installed_are_said_with_the_log(folder: Path) -> None:
    (folder / "requirements" / "base.lock").write_text("./no-such-package\n", encoding="utf-8")
    done = install(folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("(the whole output is in var/setup.log)")


def test_no_python_is_one_line(bare: Path) -> None:
    assert_refused(install(bare, "python-that-is-not-there"), "there is no python-that-is-not-there here")


def test_an_old_python_is_one_line(bare: Path) -> None:
    assert_refused(install(bare, fake_python(bare, "echo 0 3.10.13 /usr abc")), "is 3.10.13")


def test_a_broken_python_is_one_line(bare: Path) -> None:
    assert_refused(install(bare, fake_python(bare, "exit 127")), "does not start")


def test_a_python_without_venv_is_one_line(bare: Path) -> None:
    python = fake_python(bare, f'[ "$1" = -m ] && exit 1; exec {PYTHON} "$@"')
    assert_refused(install(bare, python), "no working venv module")


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    with scratch_folder() as folder:  # root may write anywhere, so nobody tries, who has to get here
        shutil.copytree(ROOT / "requirements", folder / "requirements")
        python = fake_python(folder, "echo 1 3.11.0 /usr abc")
        folder.chmod(0o555)
        done = subprocess.run(
            ["sh", folder / "requirements" / "install.sh", "base"],
            env=os.environ | {"PYTHON": str(python)},
            user="nobody" if os.geteuid() == 0 else None,
            capture_output=True,
            text=True,
            check=False,
        )
        folder.chmod(0o755)
    assert_refused(done, "cannot write to")


def assert_refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 1
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stdout in {"", f"Creating .venv with Python {sys.version.split()[0]} ...\n"}
