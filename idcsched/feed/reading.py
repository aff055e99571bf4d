"""Reading the change feed, so that no entry is missed and none is read twice.

Rows get their numbers before their transactions commit: a reader that asks for rows "greater than the last seen" skips
a row that was numbered early and committed late. On PostgreSQL each entry therefore carries its transaction's number,
and a reader remembers which transactions were open at its last poll: the next poll returns the entries of those and of
all later transactions. However long a transaction stays open, no poll returns an entry twice. SQLite has one writer at
a time, so that rows commit in the order of their numbers.
"""

import json
from collections.abc import Callable
from functools import cache
from itertools import count
from threading import Lock
from typing import Any, NamedTuple, Protocol

from django.db import connection, transaction

from .models import Topic

__all__ = [
    "FeedNews",
    "FeedReader",
    "Moment",
    "add_commit_listener",
    "commits_begun_here",
    "commits_ended_here",
    "remove_commit_listener",
    "tell_on_commit",
]

POSTGRESQL_START = "SELECT pg_current_snapshot()::text, pg_current_xact_id_if_assigned()::text::bigint"
POSTGRESQL_NEWS = """
    SELECT moment.seen, moment.own, entry.id, entry.xid, entry.topic, entry.key, entry.idcs, entry.content
    FROM (SELECT pg_current_snapshot()::text AS seen, pg_current_xact_id_if_assigned()::text::bigint AS own) AS moment
    LEFT JOIN audit_feedentry AS entry ON entry.xid >= %s OR entry.xid = ANY(%s)
    ORDER BY entry.id
"""
SQLITE_START = "SELECT coalesce(max(id), 0) FROM audit_feedentry"
SQLITE_NEWS = "SELECT id, topic, key, idcs, content FROM audit_feedentry WHERE id > %s ORDER BY id"

Listener = Callable[[str], None]

_commits = count(1)
_last_begun = _last_told = 0
_counting = Lock()
_listeners: list[Listener] = []


def tell_on_commit(topic: str = "") -> None:
    """Call this process's listeners once the running transaction commits."""
    tell = _teller(topic)
    if all(hook is not tell for _, hook, *_ in connection.run_on_commit):  # once per transaction and topic
        transaction.on_commit(tell, robust=True)


@cache
def _teller(topic: str) -> Callable[[], None]:
    def tell() -> None:
        global _last_begun, _last_told  # noqa: PLW0603  # counters of the process, which only grow
        with _counting:
            _last_begun = number = next(_commits)
        try:
            for listener in tuple(_listeners):
                listener(topic)
        finally:
            with _counting:
                _last_told = max(_last_told, number)

    return tell


def add_commit_listener(listener: Listener) -> None:
    """Call `listener` with the topic of each announced commit, in the committing thread, before that thread goes on.

    `commits_ended_here` counts the commit only after that, so that no other thread waits for what the listener does.
    """
    remove_commit_listener(listener)
    _listeners.append(listener)


def remove_commit_listener(listener: Listener) -> None:
    """Remove the listener, if it is registered."""
    if listener in _listeners:
        _listeners.remove(listener)


def commits_ended_here() -> int:
    """Return the number of the last commit that this process has told its listeners of; a new number means news."""
    return _last_told


def commits_begun_here() -> int:
    """Return the number of this process's last announced commit, told or about to be; a read from now on shows it."""
    return _last_begun


class FeedNews(NamedTuple):
    """One entry of the feed: what moved; an empty key means anything of the topic.

    `xid` is the writing transaction's number, where the database has such numbers; `idcs` are the primary keys of the
    IDCs that are concerned, None: any. `content` tells what moved where the rows need not be read; `number` is the
    entry's own.
    """

    topic: str
    key: str
    xid: int | None = None
    idcs: tuple[int, ...] | None = None
    content: str = ""
    number: int = 0

    @property
    def mark(self) -> int:
        """The transaction, as `Moment.holds` understands it."""
        return self.xid or self.number


EVERYTHING = tuple(FeedNews(topic, "") for topic in Topic.values)


class Moment(Protocol):
    """The transactions that a reader had seen at one time."""

    def holds(self, mark: int) -> bool:
        """Return whether the transaction `mark` is among them."""


class _SqliteMoment(NamedTuple):
    """The number of the last entry that was seen, which is enough since writers commit one after the other."""

    number: int

    def holds(self, mark: int) -> bool:
        return mark <= self.number


class _PostgresqlMoment(NamedTuple):
    """The transactions that were over: those below `until` and not in `running`, hence all below `oldest`."""

    oldest: int
    until: int
    running: tuple[int, ...]

    @classmethod
    def of(cls, seen: str, own: int | None) -> "_PostgresqlMoment":
        """Parse PostgreSQL's `xmin:xmax:xip,…`, which leaves out the reader's own transaction."""
        oldest, until, running = seen.split(":")
        numbers = {int(number) for number in running.split(",") if number}
        return cls(int(oldest), int(until), tuple(sorted(numbers | ({own} if own else set()))))

    def holds(self, mark: int) -> bool:
        return mark < self.until and mark not in self.running


class FeedReader:
    """One reader's position in the feed. Not thread-safe.

    The first poll reports every topic, since nothing has been read yet; so does a poll that finds the database restored
    to an earlier state. A caller that reads the rows after the poll that reported them misses nothing. Each poll is one
    query.
    """

    def __init__(self) -> None:
        self._moment: _PostgresqlMoment | None = None
        self._number: int | None = None
        self._own_entries: frozenset[int] = frozenset()

    @property
    def oldest(self) -> int | None:
        """The oldest transaction that was open at the last poll; rows read after the poll show all older ones."""
        return None if self._moment is None else self._moment.oldest

    @property
    def moment(self) -> Moment:
        """The transactions that the last poll had seen."""
        return self._moment or _SqliteMoment(self._number or 0)

    def is_over(self, entry: FeedNews) -> bool:
        """Return whether the transaction of a polled entry is over, and not this connection's own, which may fail."""
        return not connection.in_atomic_block if self._moment is None else self._moment.holds(entry.mark)

    def poll(self) -> frozenset[str]:
        """Return the topics in which something moved since the last poll."""
        return frozenset(entry.topic for entry in self.poll_entries())

    def poll_entries(self) -> tuple[FeedNews, ...]:
        """Return the entries since the last poll, in the order in which they were written."""
        return self._poll_postgresql() if connection.vendor == "postgresql" else self._poll_sqlite()

    def _poll_postgresql(self) -> tuple[FeedNews, ...]:
        if self._moment is None:
            self._moment = _PostgresqlMoment.of(*_rows(POSTGRESQL_START)[0])
            return EVERYTHING
        rows = _rows(POSTGRESQL_NEWS, self._moment.until, list(self._moment.running))
        before, self._moment = self._moment, _PostgresqlMoment.of(*rows[0][:2])
        if self._moment.until < before.until:
            return EVERYTHING
        entries = {
            number: FeedNews(topic, key, xid, _keys(idcs), content, number)
            for _, _, number, xid, topic, key, idcs, content in rows
            if number is not None
        }
        news = tuple(entry for number, entry in entries.items() if number not in self._own_entries)
        # While the reader's own transaction is open, every query returns its entries again.
        self._own_entries = frozenset(number for number, entry in entries.items() if not self._moment.holds(entry.mark))
        return news

    def _poll_sqlite(self) -> tuple[FeedNews, ...]:
        if self._number is None:
            self._number = _rows(SQLITE_START)[0][0]
            return EVERYTHING
        rows = _rows(SQLITE_NEWS, self._number)
        if rows:
            self._number = rows[-1][0]
        return tuple(
            FeedNews(topic, key, None, _keys(idcs), content, number) for number, topic, key, idcs, content in rows
        )


def _keys(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(json.loads(text))


def _rows(sql: str, *params: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[Any] = cursor.fetchall()
        return rows
