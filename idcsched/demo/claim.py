"""One run per folder, and what a killed one left behind."""

import fcntl
import json
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

__all__ = ["AlreadyRunning", "Claim", "Process", "claimed", "processes"]

PROC = Path("/proc")
STATE, GROUP_SESSION, START = 0, 3, 19  # fields of /proc/<pid>/stat, counted from behind the name


class AlreadyRunning(Exception):
    """Another run holds the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A line of the system's table; `started`, in ticks since boot, tells it from a later process of its number."""

    pid: int
    session: int
    started: int


def processes() -> Iterator[Process]:
    """Every live process of this user; none where there is no /proc."""
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.geteuid():
                continue
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[STATE] != "Z":
                yield Process(pid=int(folder.name), session=int(fields[GROUP_SESSION]), started=int(fields[START]))


class Claim:
    """The claim on a folder: a locked file that lists the sessions which this run has started."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._sessions: dict[int, int] = {}

    def note(self, pids: Iterable[int]) -> None:
        """Write down the leaders of sessions, for a next run to find if this one is killed."""
        wanted = set(pids)
        self._sessions = {item.pid: item.started for item in processes() if item.pid in wanted}
        self._write()

    def end_leftovers(self) -> list[int]:
        """SIGKILL what an earlier run noted and left; returns the numbers of those processes."""
        ended = [item.pid for item in self._leftovers()]
        until = monotonic() + 5
        while (remaining := self._leftovers()) and monotonic() < until:
            for item in remaining:
                with suppress(ProcessLookupError):
                    os.kill(item.pid, signal.SIGKILL)
            sleep(0.05)
        return ended

    def _leftovers(self) -> list[Process]:
        noted = self._noted()
        table = list(processes()) if noted else []
        reused = {item.pid for item in table if item.started != noted.get(item.pid, item.started)}
        return [item for item in table if item.session in noted and item.session not in reused]

    def _noted(self) -> dict[int, int]:
        self._stream.seek(0)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            document = json.load(self._stream)
            if document["boot"] == _boot():
                return {int(pid): int(started) for pid, started in document["sessions"].items()}
        return {}

    def _write(self) -> None:
        self._stream.seek(0)
        self._stream.truncate()
        json.dump({"boot": _boot(), "sessions": self._sessions}, self._stream)
        self._stream.flush()


@contextmanager
def claimed(file: Path) -> Iterator[Claim]:
    """Hold the claim on `file`; the kernel gives it back when this process ends, however it ends."""
    with file.open("a+", encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning from None
        yield Claim(stream)


def _boot() -> str:
    with suppress(OSError):
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
