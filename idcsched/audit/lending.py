"""A connection to PostgreSQL that the threads of a process lend each other.

A connection that is new has a server process of its own, which reads up on every table before it first writes to it:
that takes as long as writing a dozen orders. What many threads write one after the other goes through one, which has
done so already.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

__all__ = ["Lending", "lending_start"]

LOOKED_AT_AFTER = 1.0
"""Seconds of rest after which it is asked whether the connection still stands."""

_lends = False


def lending_start() -> None:
    """From now on this process lends connections: it serves requests, and goes on writing."""
    global _lends  # noqa: PLW0603  # one word per process
    _lends = connection.vendor == "postgresql"


class Lending:
    """One connection, for one thread at a time, to which whoever borrows it must see."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lent: BaseDatabaseWrapper | None = None
        self._used_at = -float("inf")

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Inside, the thread's connection is the one that is lent, if this process lends any."""
        if not _lends:
            yield
            return
        own = connections[DEFAULT_DB_ALIAS]
        connections[DEFAULT_DB_ALIAS] = self._sound()
        try:
            yield
        finally:
            connections[DEFAULT_DB_ALIAS] = own
            self._used_at = monotonic()

    def _sound(self) -> BaseDatabaseWrapper:
        """Closed where it has failed or grown old, and opened anew by who uses it."""
        if self._lent is None:
            self._lent = connections.create_connection(DEFAULT_DB_ALIAS)
            self._lent.inc_thread_sharing()
        if self._lent.errors_occurred or monotonic() - self._used_at > LOOKED_AT_AFTER:
            self._lent.close_if_unusable_or_obsolete()
        return self._lent
