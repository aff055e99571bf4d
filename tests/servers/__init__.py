"""Real servers for tests and measurements, on free loopback ports, gone when the process that started them is."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom

from bench.processes import family

__all__ = ["Unavailable", "free_port", "paused", "scratch_folder"]

PREFIX = "idcsched-test-"
PORTS = range(10_000, 32_768)
"""Below those from which the system takes the ports of clients' connections."""


class Unavailable(Exception):
    """A server can't be had on this machine; the text says why."""


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago, and that no client's connection takes meanwhile."""
    while True:
        port = SystemRandom().choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def paused(pid: int) -> Iterator[None]:
    """Pause the process and its children; their connections stay open."""
    pids = list(family(pid))
    for each in pids:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in pids:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGCONT)


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder for a server's files; those of test runs that were killed are swept away first."""
    parent = parent or Path(tempfile.gettempdir())
    for old in parent.glob(f"{PREFIX}*"):
        owner = old.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
