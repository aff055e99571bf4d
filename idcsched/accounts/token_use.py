"""When tokens were last used: noted behind the answers, at most once a minute each, and never in their way."""

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError

from .services import token_touch

__all__ = ["TokenUse", "token_use"]

logger = logging.getLogger(__name__)

EVERY = timedelta(minutes=1)
REMEMBERED = 10_000


class TokenUse:
    """Remembers in this process which tokens were noted lately, so that most uses cost no query."""

    def __init__(self) -> None:
        self._noted: dict[int, datetime] = {}

    def note(self, token_id: int | None, now: datetime) -> None:
        """A token was used (None: it was a session). Call it once the answer is out; it never raises."""
        if token_id is None:
            return
        last = self._noted.get(token_id)
        if last is not None and now - last < EVERY:
            return
        if len(self._noted) >= REMEMBERED:
            self._noted.clear()
        self._noted[token_id] = now
        try:
            token_touch(token_id=token_id, now=now)
        except DatabaseError:
            logger.warning("the use of token %s could not be noted", token_id, exc_info=True)


token_use = TokenUse()
