"""Threads that work behind the answers of a process, again and again, until it ends."""

import logging
import os
import threading
from collections.abc import Callable
from time import monotonic

from django.db import Error, connection

__all__ = ["Background"]

logger = logging.getLogger(__name__)

NOTICED_WITHIN = 0.25
"""Seconds after which a thread that waits for its next round notices that its process ends."""


class Background:
    """Calls `work` every `seconds`, in a thread of its own, on a database connection of its own.

    What `work` raises is logged, once per outage, and the next call tries again. When the process or `stop` ends it,
    `last` is called once more: what was handed in before is not left lying. A forked child has no such thread until
    it starts one itself.
    """

    def __init__(
        self, name: str, work: Callable[[], object], *, seconds: float, last: Callable[[], object] | None = None
    ) -> None:
        self._name, self._work, self._seconds, self._last = name, work, seconds, last
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failing = False

    @property
    def running(self) -> bool:
        return self._thread is not None  # asked with every answer: whether it is alive would take a lock

    def start(self) -> None:
        """Start the thread, where there is none in this process."""
        with self._lock:
            if not self.running:
                self._stopping = threading.Event()
                # No daemon: the interpreter waits for it, so that its last round is done while there is still a house.
                self._thread = threading.Thread(target=self._run, args=(self._stopping,), name=self._name, daemon=False)
                self._thread.start()

    def stop(self, *, seconds: float = 5) -> None:
        """End it; returns once it has ended, at the latest after so many seconds."""
        self._stopping.set()
        if (thread := self._thread) is not None:
            thread.join(seconds)

    def _run(self, stopping: threading.Event) -> None:
        main = threading.main_thread()
        try:
            while self._waited(stopping, main):
                self._tried(self._work)
            if self._last is not None:
                self._tried(self._last)
        finally:
            connection.close()
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _waited(self, stopping: threading.Event, main: threading.Thread) -> bool:
        """Whether the time for the next round has come, and neither `stop` nor the end of the process before it."""
        until = monotonic() + self._seconds
        while (left := until - monotonic()) > 0:
            if stopping.wait(min(left, NOTICED_WITHIN)) or not main.is_alive():
                return False
        return True

    def _tried(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            if not self._failing:
                logger.warning("%s: %s; it is tried again", self._name, error, exc_info=not isinstance(error, Error))
            self._failing = True
            connection.close()
        else:
            if self._failing:
                logger.warning("%s: works again", self._name)
            self._failing = False
