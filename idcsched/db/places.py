"""A bulkhead: of the threads of a process, two are never taken by what waits, so that what asks nobody is answered.

Whatever asks the database or another server takes a place while it does. There are two places fewer than threads. Who
finds all of them taken waits half a second; after one has waited in vain, others are refused at once for a second. So a
burst of requests is served, and recommendations and `/health/live/` are answered while the database hangs.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from django.conf import settings
from prometheus_client import Gauge

from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _

__all__ = ["LEFT_FREE", "place"]

LEFT_FREE: Final = 2
"""Threads that are kept for requests which need no place."""
PATIENCE: Final = 0.5
REFUSING_FOR: Final = 1.0

taken = Gauge(
    "idcsched_places_taken",
    "Threads that work on something that may wait for the database or another server.",
    multiprocess_mode="livesum",
)


class _Places:
    """The places of this process."""

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(number)
        self._refusing_until = 0.0

    def take(self) -> bool:
        """Whether a place could be had."""
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


class _Here(threading.local):
    holds_place = False


_here: Final = _Here()
_places: Final = _Places(settings.WEB_THREADS - LEFT_FREE)


@contextmanager
def place() -> Iterator[None]:
    """Hold a place while the block runs; a thread that holds one keeps it. Raises Unavailable where all are taken."""
    if _here.holds_place:
        yield
        return
    if not _places.take():
        raise Unavailable("busy", _("as many requests as may wait for the database at a time do so already"))
    _here.holds_place = True
    try:
        with taken.track_inprogress():
            yield
    finally:
        _here.holds_place = False
        _places.give_back()
