"""When tokens were last used: noted behind the answers, at most once a minute each, and never in their way."""

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError

from idcsched.jobs.background import Background

from .services import token_touch

__all__ = ["TokenUse", "token_use"]

logger = logging.getLogger(__name__)

EVERY = timedelta(minutes=1)
REMEMBERED = 10_000
WRITE_EVERY = 5.0


class TokenUse:
    """Remembers in this process which tokens were noted lately, so that most uses cost no query.

    A thread, which starts with the first note, writes what was noted.
    """

    def __init__(self) -> None:
        self._noted: dict[int, datetime] = {}
        self._due: dict[int, datetime] = {}
        self._thread = Background("noting the use of tokens", self.flush, seconds=WRITE_EVERY, last=self.flush)

    def stop(self) -> None:
        """What was noted is written before this returns."""
        self._thread.stop()

    def note(self, token_id: int | None, now: datetime) -> None:
        """A token was used (None: it was a session). It never raises."""
        if token_id is None:
            return
        last = self._noted.get(token_id)
        if last is not None and now - last < EVERY:
            return
        if len(self._noted) >= REMEMBERED:
            self._noted.clear()
        self._noted[token_id] = self._due[token_id] = now
        if not self._thread.running:
            self._thread.start()

    def flush(self) -> None:
        """Write what was noted."""
        due, self._due = self._due, {}
        for token_id, now in list(due.items()):
            try:
                token_touch(token_id=token_id, now=now)
            except DatabaseError:
                logger.warning("the use of token %s could not be noted", token_id, exc_info=True)


token_use = TokenUse()
