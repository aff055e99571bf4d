"""Reading the feed, so that no change is missed and none is made up.

Numbers of rows are handed out before their transactions commit: whoever asks for rows "greater than the last
seen" skips a row that was numbered early and committed late. On PostgreSQL each entry therefore carries its
transaction's number, and a poll reads again whatever transactions, open at the previous poll, may have written
since; entries seen twice are dropped by their id. SQLite has one writer at a time: there rows commit in order.
"""

from typing import Any, NamedTuple

from django.db import connection

from .models import Topic

__all__ = ["FeedReader", "Moved"]

POSTGRESQL_START = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
POSTGRESQL_NEWS = """
    SELECT horizon.xmin, entry.id, entry.xid, entry.topic, entry.key
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin) AS horizon
    LEFT JOIN audit_feedentry AS entry ON entry.xid >= %s
    ORDER BY entry.id
"""
SQLITE_START = "SELECT coalesce(max(id), 0) FROM audit_feedentry"
SQLITE_NEWS = "SELECT id, topic, key FROM audit_feedentry WHERE id > %s ORDER BY id"


class Moved(NamedTuple):
    """One entry: what moved; an empty key means anything of the topic."""

    topic: str
    key: str


EVERYTHING = tuple(Moved(topic, "") for topic in Topic.values)


class FeedReader:
    """One reader's place in the feed. Not for use by two threads at once.

    The first poll reports every topic: nothing has been read yet. Read what an entry is about after the poll
    that reported it, and nothing is missed. Each poll is one query.
    """

    def __init__(self) -> None:
        self._position: int | None = None
        self._seen: dict[int, int] = {}

    def poll(self) -> frozenset[str]:
        """The topics in which something moved since the last poll."""
        return frozenset(entry.topic for entry in self.poll_entries())

    def poll_entries(self) -> tuple[Moved, ...]:
        """What moved since the last poll, in the order in which it was written down."""
        postgresql = connection.vendor == "postgresql"
        if self._position is None:
            self._position = _one(POSTGRESQL_START if postgresql else SQLITE_START)
            return EVERYTHING
        return self._poll_postgresql(self._position) if postgresql else self._poll_sqlite(self._position)

    def _poll_postgresql(self, position: int) -> tuple[Moved, ...]:
        """Entries of transactions that were not over at the last poll, less those seen already."""
        rows = _rows(POSTGRESQL_NEWS, position)
        self._position = horizon = rows[0][0]
        found = {id_: (xid, Moved(topic, key)) for _, id_, xid, topic, key in rows if id_ is not None}
        news = tuple(entry for id_, (_, entry) in found.items() if id_ not in self._seen)
        self._seen = {id_: xid for id_, (xid, _) in found.items() if xid >= horizon}
        return news

    def _poll_sqlite(self, position: int) -> tuple[Moved, ...]:
        rows = _rows(SQLITE_NEWS, position)
        if rows:
            self._position = rows[-1][0]
        return tuple(Moved(topic, key) for _, topic, key in rows)


def _one(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        found: int = cursor.fetchone()[0]
        return found


def _rows(sql: str, *params: int) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        found: list[Any] = cursor.fetchall()
        return found
