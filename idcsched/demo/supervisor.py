"""The whole system as processes of one machine: web server, Celery worker, beat."""

import signal
import sys
from http import HTTPStatus
from pathlib import Path
from time import monotonic, sleep
from types import FrameType
from urllib.error import URLError
from urllib.request import urlopen

from idcsched.demo.processes import Child, start, stop

__all__ = ["ChildDied", "NotReady", "Supervisor", "ignore_signals", "interrupt_on_signals", "web_command"]

FAREWELLS = {"worker": signal.SIGQUIT}  # stops at once: nobody waits for the results of its tasks any more
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CELERY = [sys.executable, "-m", "celery", "-A", "idcsched.celery"]


class ChildDied(Exception):
    """A process of the system ended by itself."""

    def __init__(self, child: Child) -> None:
        super().__init__(child.name)
        self.child = child


class NotReady(Exception):
    """The system runs but did not become ready in time."""


class Supervisor:
    """Starts the system's processes, watches them, and stops them in order."""

    def __init__(self, *, folder: Path, port: int, logs: Path) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.children: list[Child] = []
        self._folder, self._logs = folder, logs
        self._commands = {
            "web": web_command(port=port),
            "worker": [*CELERY, "worker", "--concurrency", "3", "--without-gossip", "--without-mingle"],
            "beat": [*CELERY, "beat", "--pidfile="],
        }

    def start(self, *names: str) -> None:
        """Start these processes; those started are in `children` even if a later one fails to start."""
        self._logs.mkdir(parents=True, exist_ok=True)
        for name in names:
            log = self._logs / f"{name}.log"
            if log.exists():
                log.replace(log.with_suffix(".log.1"))
            farewell = FAREWELLS.get(name, signal.SIGTERM)
            command = self._commands[name]
            self.children.append(start(name, command, log=log, folder=self._folder, farewell=farewell))

    def wait_until_ready(self, *, seconds: float) -> None:
        """Return once the web server is ready for requests; raises ChildDied, NotReady."""
        until = monotonic() + seconds
        while not self._ready():
            self.check()
            if monotonic() > until:
                raise NotReady(f"{self.address}/health/ready/ did not answer 200 within {seconds:g} s")
            sleep(0.1)

    def _ready(self) -> bool:
        try:
            with urlopen(f"{self.address}/health/ready/", timeout=5) as response:  # noqa: S310 - always http
                return bool(response.status == HTTPStatus.OK)
        except (URLError, OSError):
            return False

    def check(self) -> None:
        """Raise ChildDied if a process has ended."""
        for child in self.children:
            if not child.running:
                raise ChildDied(child)

    def start_again(self) -> list[Child]:
        """Start the processes again that have ended; return the ended ones."""
        ended = [child for child in self.children if not child.running]
        for child in ended:
            self.children.remove(child)
            self.start(child.name)
        return ended

    def stop(self) -> None:
        """Stop all processes, the web server last, since tasks of the others may ask it."""
        stop(*(child for child in self.children if child.name != "web"))
        stop(*(child for child in self.children if child.name == "web"))


def web_command(*, port: int) -> list[str]:
    """Return the command that starts the web server."""
    return [sys.executable, "manage.py", "serve", "--port", str(port)]


def interrupt_on_signals() -> None:
    """Have Ctrl-C, SIGTERM or SIGHUP raise KeyboardInterrupt, again each second until `ignore_signals` is called.

    Again, since Python drops what is raised while it runs a finalizer or the callback of a weak reference.
    """
    for number in (*STOP_SIGNALS, signal.SIGALRM):
        signal.signal(number, _interrupt)


def ignore_signals() -> None:
    """Ignore Ctrl-C, SIGTERM and SIGHUP from now on, so that the processes are stopped without interruption."""
    signal.alarm(0)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.alarm(1)
    raise KeyboardInterrupt
