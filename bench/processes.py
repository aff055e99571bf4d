"""What processes hold and have done, as Linux tells it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["family", "resident", "worked"]

TIMES = slice(11, 15)
"""After the name, in `/proc/PID/stat`: ticks as a user and in the kernel, its own and of children that have ended."""


def family(parent: int) -> Iterator[int]:
    """A process and all that it has started, and so on; those that end meanwhile may be missing."""
    yield parent
    for file in Path(f"/proc/{parent}/task").glob("*/children"):
        children = ""
        with suppress(OSError):  # that thread has ended
            children = file.read_text(encoding="ascii")
        for child in children.split():
            yield from family(int(child))


def resident(pid: int) -> int:
    """Bytes of memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def worked(pid: int) -> int:
    """The kernel's ticks that it has had of a processor, with those of its children that have ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended
        return 0
    return sum(int(ticks) for ticks in told.rpartition(")")[2].split()[TIMES])
