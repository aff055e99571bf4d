"""The claim that allows one demo run per folder, and the end of the processes that a killed run left behind."""

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
    """A process of this machine; `started`, in ticks since boot, tells it from a later process with the same number."""

    pid: int
    session: int
    started: int


def processes() -> Iterator[Process]:
    """Yield every live process of this user; none where there is no /proc."""
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
        """Write down the leaders of sessions, so that the next run can end them if this one is killed."""
        leaders = set(pids)
        self._sessions = {process.pid: process.started for process in processes() if process.pid in leaders}
        self._write()

    def end_leftovers(self) -> list[int]:
        """Kill the processes that an earlier run has noted and left; returns their numbers."""
        ended = [process.pid for process in self._leftovers()]
        until = monotonic() + 5
        while (remaining := self._leftovers()) and monotonic() < until:
            for process in remaining:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            sleep(0.05)
        return ended

    def _leftovers(self) -> list[Process]:
        noted = self._noted()
        running = list(processes()) if noted else []
        reused = {process.pid for process in running if process.started != noted.get(process.pid, process.started)}
        return [process for process in running if process.session in noted and process.session not in reused]

    def _noted(self) -> dict[int, int]:
        self._stream.seek(0)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            document = json.load(self._stream)
            if document["boot"] == _boot_id():
                return {int(pid): int(started) for pid, started in document["sessions"].items()}
        return {}

    def _write(self) -> None:
        self._stream.seek(0)
        self._stream.truncate()
        json.dump({"boot": _boot_id(), "sessions": self._sessions}, self._stream)
        self._stream.flush()


@contextmanager
def claimed(file: Path) -> Iterator[Claim]:
    """Hold the claim on `file`; the kernel releases the claim when this process ends, even if it is killed."""
    with file.open("a+", encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning from None
        yield Claim(stream)


def _boot_id() -> str:
    with suppress(OSError):
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""
