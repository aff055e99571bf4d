"""One run per folder, and what a killed run left is found."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from idcsched.demo.claim import AlreadyRunning, claimed, processes
from idcsched.demo.processes import start, stop

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_it_works(tmp_path: Path) -> None:
    with claimed(tmp_path / "lock") as claim:
        assert claim.end_leftovers() == []
    with claimed(tmp_path / "lock"):
        pass


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path / "lock"), pytest.raises(AlreadyRunning), claimed(tmp_path / "lock"):
        pass


def test_a_killed_run_gives_its_claim_back(tmp_path: Path) -> None:
    hold = "import sys, time; from pathlib import Path; from idcsched.demo.claim import claimed\n"
    hold += "with claimed(Path(sys.argv[1])): print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", hold, tmp_path / "lock"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(AlreadyRunning), claimed(tmp_path / "lock"):
            pass
        holder.kill()
    with claimed(tmp_path / "lock"):
        pass


def test_leftovers_of_a_killed_run_are_ended(tmp_path: Path) -> None:
    child = start("sleep", SLEEP, log=tmp_path / "log")
    try:
        with claimed(tmp_path / "lock") as claim:
            claim.note([child.process.pid])
        with claimed(tmp_path / "lock") as claim:
            assert claim.end_leftovers() == [child.process.pid]
            assert child.process.wait(100) < 0
    finally:
        stop(child)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"boot": "another"}, id="another boot's numbers mean nothing"),
        pytest.param({"sessions": {str(os.getpid()): 1}}, id="a number given to a later process is not ours"),
    ],
)
def test_strangers_are_left_alone(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "lock"
    with claimed(file) as claim:
        claim.note([os.getpid()])
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with claimed(file) as claim:
        assert claim.end_leftovers() == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"boot": 1}'])
def test_a_damaged_file_is_no_obstacle(tmp_path: Path, text: str) -> None:
    (tmp_path / "lock").write_text(text)
    with claimed(tmp_path / "lock") as claim:
        assert claim.end_leftovers() == []


def test_the_table_of_processes_holds_this_one() -> None:
    (mine,) = [item for item in processes() if item.pid == os.getpid()]
    assert mine.session == os.getsid(0)
    assert mine.started > 0
