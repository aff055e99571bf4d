"""Killed at any moment, `make run` leaves no process, and the next one works."""

import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

from idcsched.jobs.shutdown import COLD_SECONDS
from tests.e2e.installation import Installation, wait_for
from tests.e2e.running import command, made, said, started


@pytest.mark.long
@pytest.mark.parametrize("victim", [b"make", b"demo_run"], ids=["make", "the supervisor"])
@pytest.mark.parametrize("attempt", range(3))
def test_it_works(demo: Installation, victim: bytes, attempt: int) -> None:
    child = started(demo)
    sleep(random.uniform(0, 6))
    wait_for(lambda: running(demo, victim) or not child.running, "somebody to kill")  # nobody may be there yet
    assert child.running, said(child)
    for pid in running(demo, victim):
        os.kill(pid, signal.SIGKILL)
    for left in range(len(demo.processes()), 0, -1):
        try:
            wait_for(lambda fewer=left: len(demo.processes()) < fewer, "one to follow", seconds=2 * COLD_SECONDS)
        except AssertionError as late:
            late.add_note("\n".join(map(at, demo.processes())) + f"\n{said(child)}")
            raise
    child.process.wait()
    if attempt == 7:
        with made(demo):
            pass


def at(pid: int) -> str:
    """Return a process's command line and what the kernel says it waits for."""
    told = [" ".join(word.decode() for word in command(pid))]
    for name in ("status", "wchan", "syscall"):
        with suppress(OSError):
            told.append(Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace"))
    return "\n".join(told)


def running(demo: Installation, victim: bytes) -> list[int]:
    return [pid for pid in demo.processes() if victim in command(pid)]
