"""Reading the feed, so that no change is missed and none is made up.

Numbers of rows are handed out before their transactions commit: whoever asks for rows "greater than the last
seen" skips a row that was numbered early and committed late. On PostgreSQL each entry therefore carries its
transaction's number, and a reader remembers which transactions were not over when it last read: what they have
written since is news, and so is what transactions did that began later. However long a transaction stays open,
no poll reads anything twice. SQLite has one writer at a time: there rows commit in order.
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
    "FeedReader",
    "Moment",
    "Moved",
    "commits_begun",
    "commits_here",
    "heed_commits",
    "heed_no_more",
    "tell_on_commit",
]

POSTGRESQL_START = "SELECT pg_current_snapshot()::text, pg_current_xact_id_if_assigned()::text::bigint"
POSTGRESQL_NEWS = """
    SELECT moment.seen, moment.own, entry.id, entry.xid, entry.topic, entry.key, entry.idcs
    FROM (SELECT pg_current_snapshot()::text AS seen, pg_current_xact_id_if_assigned()::text::bigint AS own) AS moment
    LEFT JOIN audit_feedentry AS entry ON entry.xid >= %s OR entry.xid = ANY(%s)
    ORDER BY entry.id
"""
SQLITE_START = "SELECT coalesce(max(id), 0) FROM audit_feedentry"
SQLITE_NEWS = "SELECT id, topic, key, idcs FROM audit_feedentry WHERE id > %s ORDER BY id"

Listener = Callable[[str], None]

_commits = count(1)
_begun = _told = 0
_noting = Lock()
_listeners: list[Listener] = []


def tell_on_commit(topic: str = "") -> None:
    """Let readers in this process know, once the running transaction commits, that there is news of its own."""
    note = _noted(topic)
    if all(hook is not note for _, hook, *_ in connection.run_on_commit):  # a transaction tells it once
        transaction.on_commit(note, robust=True)


@cache
def _noted(topic: str) -> Callable[[], None]:
    def note() -> None:
        global _begun, _told  # noqa: PLW0603  # numbers of the process, which only grow
        with _noting:
            _begun = number = next(_commits)
        try:
            for listener in tuple(_listeners):
                listener(topic)
        finally:
            with _noting:
                _told = max(_told, number)

    return note


def heed_commits(listener: Listener) -> None:
    """Call it with the topic of each, in the thread that has committed and before that goes on.

    Nobody knows of the news yet: what is done about them there, nobody else need wait for.
    """
    heed_no_more(listener)
    _listeners.append(listener)


def heed_no_more(listener: Listener) -> None:
    """Call it no more, if it was called."""
    if listener in _listeners:
        _listeners.remove(listener)


def commits_here() -> int:
    """How often this process has told of news that it committed: who remembers the figure knows when to read again."""
    return _told


def commits_begun() -> int:
    """How often it has committed news, those counted of which it is just about to tell. What is read now shows all."""
    return _begun


class Moved(NamedTuple):
    """One entry: what moved; an empty key means anything of the topic.

    `xid` is the number of the transaction that moved it, where the database has such numbers; `idcs` are the primary
    keys of the IDCs of which it moved, None: of any.
    """

    topic: str
    key: str
    xid: int | None = None
    idcs: tuple[int, ...] | None = None


EVERYTHING = tuple(Moved(topic, "") for topic in Topic.values)


class Moment(Protocol):
    """What a reader had seen at one time."""

    def holds(self, mark: int) -> bool:
        """Whether the transaction of that mark was among it."""


class _Count(NamedTuple):
    """The last entry: transactions that write commit one after the other."""

    number: int

    def holds(self, mark: int) -> bool:
        return mark <= self.number


class _Moment(NamedTuple):
    """Which transactions were over: those below `until` that are not among `running`, so all below `oldest`."""

    oldest: int
    until: int
    running: tuple[int, ...]

    @classmethod
    def of(cls, seen: str, own: int | None) -> "_Moment":
        """From PostgreSQL's `xmin:xmax:xip,…`, which leaves out the reader's own transaction."""
        oldest, until, running = seen.split(":")
        numbers = {int(number) for number in running.split(",") if number}
        return cls(int(oldest), int(until), tuple(sorted(numbers | ({own} if own else set()))))

    def holds(self, mark: int) -> bool:
        return mark < self.until and mark not in self.running


class FeedReader:
    """One reader's place in the feed. Not for use by two threads at once.

    The first poll reports every topic: nothing has been read yet. So does one that finds itself on a database that
    was put back to an earlier state. Read what an entry is about after the poll that reported it, and nothing is
    missed. Each poll is one query.
    """

    def __init__(self) -> None:
        self._moment: _Moment | None = None
        self._number: int | None = None
        self._own: frozenset[int] = frozenset()

    @property
    def oldest(self) -> int | None:
        """The oldest transaction that was not over at the last poll: what is read after it lacks nothing older."""
        return None if self._moment is None else self._moment.oldest

    @property
    def moment(self) -> Moment:
        """What the last poll had seen."""
        return self._moment or _Count(self._number or 0)

    def poll(self) -> frozenset[str]:
        """The topics in which something moved since the last poll."""
        return frozenset(entry.topic for entry in self.poll_entries())

    def poll_entries(self) -> tuple[Moved, ...]:
        """What moved since the last poll, in the order in which it was written down."""
        return self._poll_postgresql() if connection.vendor == "postgresql" else self._poll_sqlite()

    def _poll_postgresql(self) -> tuple[Moved, ...]:
        if self._moment is None:
            self._moment = _Moment.of(*_rows(POSTGRESQL_START)[0])
            return EVERYTHING
        rows = _rows(POSTGRESQL_NEWS, self._moment.until, list(self._moment.running))
        before, self._moment = self._moment, _Moment.of(*rows[0][:2])
        if self._moment.until < before.until:
            return EVERYTHING
        found = {
            id_: Moved(topic, key, xid, _keys(idcs)) for _, _, id_, xid, topic, key, idcs in rows if id_ is not None
        }
        news = tuple(entry for id_, entry in found.items() if id_ not in self._own)
        # Only what the reader's own transaction has written comes again while it is open.
        self._own = frozenset(id_ for id_, entry in found.items() if not self._moment.holds(entry.xid or 0))
        return news

    def _poll_sqlite(self) -> tuple[Moved, ...]:
        if self._number is None:
            self._number = _rows(SQLITE_START)[0][0]
            return EVERYTHING
        rows = _rows(SQLITE_NEWS, self._number)
        if rows:
            self._number = rows[-1][0]
        return tuple(Moved(topic, key, None, _keys(idcs)) for _, topic, key, idcs in rows)


def _keys(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(json.loads(text))


def _rows(sql: str, *params: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        found: list[Any] = cursor.fetchall()
        return found
