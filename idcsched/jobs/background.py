"""Background threads that repeat their work until their process ends."""

import logging
import os
import threading
from collections.abc import Callable
from time import monotonic

from django.db import Error, connection

__all__ = ["Background"]

logger = logging.getLogger(__name__)

NOTICED_WITHIN = 0.25
"""Seconds within which a thread that waits for its next round notices that its process ends."""


class Background:
    """A thread that calls `work` every `seconds`, on a database connection of its own.

    An exception of `work` is logged once per outage, and the next call tries again. When `stop` or the end of the
    process ends the thread, the thread calls `last`, so that nothing handed in before is lost; where that fails, once
    more, on a new database connection. A forked child has no such thread until the child calls `start`.
    """

    def __init__(
        self, name: str, work: Callable[[], object], *, seconds: float, last: Callable[[], object] | None = None
    ) -> None:
        self._name, self._work, self._seconds, self._last = name, work, seconds, last
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failing = False

    @property
    def running(self) -> bool:
        return self._thread is not None  # read for every request; `Thread.is_alive` would take a lock

    def start(self) -> None:
        """Start the thread unless this process has it already."""
        with self._lock:
            if not self.running:
                self._stopping = threading.Event()
                # Not a daemon: the interpreter waits for the thread's last round before it tears the modules down.
                self._thread = threading.Thread(target=self._run, args=(self._stopping,), name=self._name, daemon=False)
                self._thread.start()

    def stop(self, *, seconds: float = 5) -> None:
        """End the thread; return once the thread has ended, at the latest after `seconds`."""
        self._stopping.set()
        if (thread := self._thread) is not None:
            thread.join(seconds)

    def _run(self, stopping: threading.Event) -> None:
        main = threading.main_thread()
        try:
            while self._wait(stopping, main):
                self._attempt(self._work)
            if self._last is not None and not self._attempt(self._last):
                self._attempt(self._last)  # the connection may have been cut off since the round before
        finally:
            connection.close()
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _wait(self, stopping: threading.Event, main: threading.Thread) -> bool:
        """Wait for the next round; return False if `stop` or the end of the process comes first."""
        until = monotonic() + self._seconds
        while (left := until - monotonic()) > 0:
            if stopping.wait(min(left, NOTICED_WITHIN)) or not main.is_alive():
                return False
        return True

    def _attempt(self, work: Callable[[], object]) -> bool:
        """Call `work`; return whether it succeeded."""
        try:
            work()
        except Exception as error:
            if not self._failing:
                logger.warning("%s: %s; it is tried again", self._name, error, exc_info=not isinstance(error, Error))
            self._failing = True
            connection.close()
            return False
        if self._failing:
            logger.warning("%s: works again", self._name)
        self._failing = False
        return True
