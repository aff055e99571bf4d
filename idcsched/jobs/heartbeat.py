"""The heartbeat of a worker or of beat: a row that the process updates every few seconds."""

import logging
import time

from django.db import Error, connection
from django.utils import timezone

from idcsched.jobs.models import ProcessKind
from idcsched.jobs.services import heartbeat_forget, heartbeat_note

__all__ = ["EVERY_SECONDS", "Heartbeat"]

logger = logging.getLogger(__name__)

EVERY_SECONDS = 10.0


class Heartbeat:
    """The heartbeat of one process: written every ten seconds at most, however often `beat` is called; never raises."""

    def __init__(self, trade: ProcessKind) -> None:
        self._trade = trade
        self._next = 0.0

    def beat(self, name: str) -> None:
        """Record that the process of this name is alive."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY_SECONDS
        try:
            heartbeat_note(trade=self._trade, name=name, now=timezone.now())
        except Error as error:
            logger.warning("no sign of life could be written: %s", error)
        finally:
            connection.close()  # a worker's children must not inherit it

    def stop(self, name: str) -> None:
        """Delete the heartbeat, since the process ends in order."""
        try:
            heartbeat_forget(trade=self._trade, name=name)
        except Error as error:
            logger.warning("the last sign of life could not be taken back: %s", error)
