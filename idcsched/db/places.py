"""A bulkhead: two threads of each process stay free for requests that call neither the database nor another server.

A thread holds a place while it calls the database or another server. There are two places fewer than threads. A thread
that finds no place free waits for half a second; after a wait in vain, other threads are refused at once for a second.
So a burst of requests is served, and recommendations and `/health/live/` are answered while the database hangs.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from django.conf import settings
from prometheus_client import Counter, Gauge

from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _

__all__ = ["LEFT_FREE", "place"]

LEFT_FREE: Final = 2
"""Threads of each process that stay free for requests which need no place."""
PATIENCE: Final = 0.5
REFUSING_FOR: Final = 1.0

taken = Gauge(
    "idcsched_places_taken",
    "Threads that work on something that may wait for the database or another server.",
    multiprocess_mode="livesum",
)
places = Gauge("idcsched_places", "The most threads that may wait so at a time.", multiprocess_mode="livesum")
refused = Counter("idcsched_places_refused", "Requests that were refused because no place was free.")


class _Places:
    """A semaphore that, after a wait in vain, refuses further waits for a while."""

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(number)
        self._refusing_until = 0.0

    def take(self) -> bool:
        """Take a place; return whether one was free in time."""
        if self._free.acquire(blocking=False):
            return True
        if monotonic() < self._refusing_until:
            return False
        if self._free.acquire(timeout=PATIENCE):
            return True
        self._refusing_until = monotonic() + REFUSING_FOR
        return False

    def give_back(self) -> None:
        self._free.release()


class _ThreadState(threading.local):
    holds_place = False


_here: Final = _ThreadState()
_places: Final = _Places(settings.WEB_THREADS - LEFT_FREE)
places.set(settings.WEB_THREADS - LEFT_FREE)


@contextmanager
def place() -> Iterator[None]:
    """Hold a place while the block runs, unless the thread holds one already; raises Unavailable if none is free."""
    if _here.holds_place:
        yield
        return
    if not _places.take():
        refused.inc()
        raise Unavailable("busy", _("as many requests as may wait for the database at a time do so already"))
    _here.holds_place = True
    try:
        with taken.track_inprogress():
            yield
    finally:
        _here.holds_place = False
        _places.give_back()
