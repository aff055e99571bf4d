"""`make run`, as a person starts it in a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from idcsched.demo.processes import Child, stop
from tests.e2e.installation import Installation, wait_for

__all__ = ["command", "ended", "made", "said", "started", "supervisor"]

READY = "Ctrl-C stops everything."
PYTHON = Path(sys.base_prefix, "bin", "python3")


def started(installation: Installation) -> Child:
    """Start `make run`, without waiting for it."""
    return installation.start("make", "make", "--no-print-directory", "run", f"PYTHON={PYTHON}")


@contextmanager
def made(installation: Installation, *, seconds: float = 120) -> Iterator[Child]:
    """`make run` once it is ready, stopped at the end if it still runs."""
    child = started(installation)
    try:
        wait_for(lambda: READY in said(child) or not child.running, "make run", seconds=seconds)
        assert READY in said(child), said(child)
        yield child
    finally:
        stop(child, grace=60)


def ended(child: Child) -> int:
    """Wait for the end of `make run`; return its exit status."""
    wait_for(lambda: not child.running, "the end of make run")
    return child.process.wait()


def said(child: Child) -> str:
    """All that it has printed."""
    return child.last_words(lines=1000)


def command(pid: int) -> list[bytes]:
    """The words of a process's command line; none if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def supervisor(installation: Installation) -> int:
    """The process that started and watches the others."""
    (found,) = [pid for pid in installation.processes() if b"demo_run" in command(pid)]
    return found
