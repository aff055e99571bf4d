"""Real servers for tests and measurements, on free loopback ports, gone when the process that started them is."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Unavailable", "free_port", "scratch_folder"]

PREFIX = "idcsched-test-"


class Unavailable(Exception):
    """A server can't be had on this machine; the text says why."""


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for a server's files; those of test runs that were killed are swept away first."""
    parent = Path(tempfile.gettempdir())
    for old in parent.glob(f"{PREFIX}*"):
        owner = old.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
