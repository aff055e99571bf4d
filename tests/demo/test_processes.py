"""Processes end with the one that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from idcsched.demo.claim import processes
from idcsched.demo.processes import port_is_free, start, stop
from tests.servers import free_port

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(grandchild.pid, flush=True)
time.sleep(600)
"""
STARTER = """
import signal, sys, time
from pathlib import Path
from idcsched.demo.processes import start
farewell = signal.Signals(int(sys.argv[2]))
if sys.argv[3] == "ignored":
    signal.signal(farewell, signal.SIG_IGN)
command = [sys.executable, "-c", "import time; time.sleep(600)"]
child = start("sleep", command, log=Path(sys.argv[1]), farewell=farewell)
print(child.process.pid, flush=True)
time.sleep(600)
"""


def alive(*pids: int) -> set[int]:
    return {item.pid for item in processes()} & set(pids)


def wait_for(condition: object, *, seconds: float = 100) -> None:
    assert callable(condition)
    until = monotonic() + seconds
    while not condition():
        assert monotonic() < until, "waited in vain"
        sleep(0.05)


def test_it_works(tmp_path: Path) -> None:
    child = start("sleep", SLEEP, log=tmp_path / "log")
    assert child.running
    assert os.getsid(child.process.pid) == child.process.pid
    stop(child)
    assert not child.running
    assert child.process.returncode == -signal.SIGTERM


def test_last_words_are_the_end_of_the_log(tmp_path: Path) -> None:
    child = start("count", [sys.executable, "-c", "for n in range(50): print(n)"], log=tmp_path / "log")
    child.process.wait()
    assert child.last_words(lines=2) == "48\n49"


def test_what_will_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = start("stubborn", [sys.executable, "-c", STUBBORN], log=log)
    wait_for(lambda: log.exists() and log.read_text().strip())
    grandchild = int(log.read_text())
    stop(child, grace=0.2)
    wait_for(lambda: not alive(child.process.pid, grandchild))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
@pytest.mark.parametrize("farewell", [signal.SIGTERM, signal.SIGQUIT], ids=lambda number: number.name)
@pytest.mark.parametrize("before", ["heeded", "ignored"])
def test_when_the_starter_is_killed_its_children_end(tmp_path: Path, farewell: signal.Signals, before: str) -> None:
    """Processes that a shell starts in the background inherit that SIGINT and SIGQUIT are ignored; they must end as
    well.
    """
    command = [sys.executable, "-c", STARTER, str(tmp_path / "log"), str(int(farewell)), before]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert alive(pid)
        starter.kill()
    try:
        wait_for(lambda: not alive(pid))
    finally:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_port_is_free_until_somebody_listens() -> None:
    port = free_port()
    assert port_is_free(port)
    with subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"], stderr=subprocess.DEVNULL
    ) as server:
        try:
            wait_for(lambda: not port_is_free(port))
        finally:
            server.kill()
