"""A deadline for every answer of PostgreSQL, also of a server that is frozen.

The database's own time-outs do not help against a frozen server: the kernel of its machine goes on acknowledging
packets, and `statement_timeout` is counted by the server itself. So a process that calls `watch` has a thread that
looks for statements which have taken too long, and shuts down the socket of their connection. The statement then fails
with OperationalError, as if the server had died.

A server that can only be read, such as a standby after a fail-over, is treated alike in every process: a statement that
would write fails with OperationalError and its connection is closed, so that the next one may reach the new primary.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, Final

from psycopg2 import InterfaceError, OperationalError
from psycopg2.errors import ReadOnlySqlTransaction
from psycopg2.extensions import connection as Psycopg2Connection  # noqa: N812  # a class with a small name
from psycopg2.extensions import cursor as Psycopg2Cursor  # noqa: N812

from idcsched.jobs.background import Background

__all__ = ["WATCHED", "DeadlineConnection", "watch"]

LOOK_EVERY: Final = 0.25

_lock: Final = threading.Lock()
_running: Final[dict[int, tuple[Psycopg2Connection, float]]] = {}
"""By thread: the connection on which it waits for the server, and since when."""


def watch(*, seconds: float) -> Background:
    """Limit every statement of this process to so many seconds, until the returned thread stops."""
    thread = Background("the database's deadline", partial(_look, seconds), seconds=LOOK_EVERY)
    thread.start()
    return thread


def _look(seconds: float) -> None:
    oldest = monotonic() - seconds
    with _lock:  # no statement ends meanwhile, so that its file descriptor can't have become another socket's
        for connection, since in _running.values():
            if since < oldest:
                _shut_down(connection)


def _shut_down(connection: Psycopg2Connection) -> None:
    with suppress(OSError, InterfaceError), socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)


@contextmanager
def _watched(connection: Psycopg2Connection) -> Iterator[None]:
    thread = threading.get_ident()
    with _lock:
        _running[thread] = connection, monotonic()
    try:
        yield
    except ReadOnlySqlTransaction as error:
        connection.close()
        raise OperationalError(str(error)) from error
    finally:
        with _lock:
            del _running[thread]


class DeadlineCursor(Psycopg2Cursor):
    """A cursor whose calls are watched while they wait for the server."""

    def execute(self, *args: Any, **kwargs: Any) -> None:
        with _watched(self.connection):
            super().execute(*args, **kwargs)

    def executemany(self, *args: Any, **kwargs: Any) -> None:
        with _watched(self.connection):
            super().executemany(*args, **kwargs)

    def copy_expert(self, *args: Any, **kwargs: Any) -> None:
        with _watched(self.connection):
            super().copy_expert(*args, **kwargs)

    def fetchmany(self, *args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
        with _watched(self.connection):
            return super().fetchmany(*args, **kwargs)


class DeadlineConnection(Psycopg2Connection):
    """A connection whose commits and rollbacks are watched."""

    def commit(self) -> None:
        with _watched(self):
            super().commit()

    def rollback(self) -> None:
        with _watched(self):
            super().rollback()


WATCHED: Final = {"connection_factory": DeadlineConnection, "cursor_factory": DeadlineCursor}
"""The options of psycopg2 by which Django makes watched connections."""
