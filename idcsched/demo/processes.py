"""Child processes that end when their parent ends, even if the parent is killed."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pwd import getpwnam
from time import monotonic

__all__ = ["Child", "leash", "port_is_free", "start", "stop"]

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A started process, which leads a session of its own and writes to `log`."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def last_words(self, lines: int = 10) -> str:
        """Return the last lines of the log."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
        return ""


def leash(sent: signal.Signals, parent: int) -> None:
    """Have the kernel send this process a signal when its parent, whose number is `parent`, ends.

    Linux only; elsewhere nothing happens.
    """
    if sys.platform != "linux":
        return
    signal.signal(sent, signal.SIG_DFL)  # shells make processes in the background ignore some signals
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(sent))
    if os.getppid() != parent:  # the parent ended before the call of prctl
        os.kill(os.getpid(), sent)


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user: str | None = None,
    farewell: signal.Signals = signal.SIGTERM,
) -> Child:
    """Start `command` in a session of its own; the child gets `farewell` if this process dies without stopping it."""
    parent = os.getpid()
    with log.open("ab") as stream:
        process = subprocess.Popen(  # noqa: S603 - commands of our own, and no shell
            [os.fspath(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            user=user,
            group=None if user is None else getpwnam(user).pw_gid,
            extra_groups=None if user is None else [],
            start_new_session=True,
            # Not safe beside threads in general; this one only calls into the kernel.
            preexec_fn=lambda: leash(farewell, parent),  # noqa: PLW1509
        )
    return Child(name=name, process=process, log=log)


def stop(*children: Child, grace: float = 10, by: signal.Signals = signal.SIGTERM) -> None:
    """Send the children the signal `by`, wait for up to `grace` seconds, and kill what is left of their groups."""
    for child in children:
        child.process.send_signal(by)
    until = monotonic() + grace
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(max(0, until - monotonic()))
        with suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
