"""The times at which tokens were last used: a thread writes them, each token's at most once a minute."""

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
    """The uses of tokens in this process; those that were noted lately cost no query.

    A thread, which starts with the first note, writes the notes to the database.
    """

    def __init__(self) -> None:
        self._noted: dict[int, datetime] = {}
        self._due: dict[int, datetime] = {}
        self._thread = Background("noting the use of tokens", self.flush, seconds=WRITE_EVERY, last=self.flush)

    def stop(self) -> None:
        """Write what was noted, and end the thread."""
        self._thread.stop()

    def note(self, token_id: int | None, now: datetime) -> None:
        """Note the use of a token (None: of a session, which is not noted); never raises."""
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

    def forget(self) -> None:
        """Note the next use of every token; for tests, whose rows go without a trace."""
        self._noted.clear()

    def flush(self) -> None:
        """Write what was noted to the database."""
        due, self._due = self._due, {}
        for token_id, now in list(due.items()):
            try:
                token_touch(token_id=token_id, now=now)
            except DatabaseError:
                logger.warning("the use of token %s could not be noted", token_id, exc_info=True)


token_use = TokenUse()
