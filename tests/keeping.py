"""Rows that take long to make are made now and then by each process, and otherwise written again from a copy."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from time import monotonic
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.db import connection, transaction

from idcsched.accounts.token_use import token_use
from idcsched.scheduling.live import Held, live
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.snapshot_archive import pictures

__all__ = ["Kept"]

T = TypeVar("T")
Rows = Mapping[str, Sequence[tuple[object, ...]]]
FOR_SECONDS = 60.0
"""So old the times in the rows may be: a sample of then passes for one of now."""
LAST_NEWS = "SELECT max(id) FROM audit_feedentry"


class Kept(Generic[T]):
    """Rows that many tests share, with the live picture of them.

    They come first in a test, or right after those that they are kept `upon`, because their primary keys must still be
    free. Their keys are those of the first time, and so lower than those of rows that the test wrote itself. They are
    free: SQLite takes keys back with the transaction that used them, and PostgreSQL gives them to no other row.
    """

    def __init__(self, upon: "Kept[Any] | None" = None) -> None:
        self._upon = upon
        self.made_at = -float("inf")
        self._statements: list[tuple[str, list[object]]] = []
        self._news: int | None = None
        self._live: Held | None = None
        self._said: list[T] = []

    def write(self, make: Callable[[], T]) -> T:
        """Return what `make` returns. It is called now and then; in between, the rows that it changed are written
        again.
        """
        oldest = max(monotonic() - FOR_SECONDS, self._upon.made_at if self._upon else 0.0)
        if self.made_at > oldest:
            self._again()
        else:
            self._made(make)
        return self._said[0]

    def _made(self, make: Callable[[], T]) -> None:
        columns: dict[str, list[str]] = {}
        before, self._news = _rows(columns), _last_news()
        self._said = [make()]
        recorder.flush()
        token_use.flush()
        live.catch_up()
        after = _rows(columns)
        self._statements = _statements(before, after, columns)
        self._live = live.held()
        self.made_at = monotonic()

    def _again(self) -> None:
        alone = _last_news() == self._news
        with transaction.atomic(), connection.cursor() as cursor:  # references are checked at the end of it
            for statement, values in self._statements:
                cursor.execute(statement, values)
        pictures.forget()
        token_use.forget()
        if alone and self._live:
            live.resume(self._live)
        else:
            live.forget()


def _last_news() -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(LAST_NEWS)
        found: int | None = cursor.fetchone()[0]
        return found


def _rows(columns: dict[str, list[str]]) -> Rows:
    """All rows, without the columns that the database works out itself."""
    found, quoted = {}, connection.ops.quote_name
    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(f"SELECT * FROM {quoted(table)} LIMIT 0")
            columns[table] = [column[0] for column in cursor.description if (table, column[0]) not in _generated()]
            cursor.execute(f"SELECT {', '.join(map(quoted, columns[table]))} FROM {quoted(table)}")
            found[table] = [tuple(map(_as_sent, row)) for row in cursor.fetchall()]
    return found


@cache
def _generated() -> frozenset[tuple[str, str]]:
    return frozenset(
        (model._meta.db_table, field.column)
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.local_fields
        if field.generated
    )


def _as_sent(value: object) -> object:
    """A decoded `json` document as the text that it is written with; any other value as it is."""
    return json.dumps(value) if isinstance(value, dict) else value


def _statements(before: Rows, after: Rows, columns: Mapping[str, list[str]]) -> list[tuple[str, list[object]]]:
    """The statements that turn one set of rows into the other: rows that are gone or differ are deleted, new ones
    written.
    """
    quoted = connection.ops.quote_name
    deleted, written = [], []
    for table, names in columns.items():
        gone = [row for row in before[table] if row not in after[table]]
        new = [row for row in after[table] if row not in before[table]]
        if gone:
            with connection.cursor() as cursor:
                key = connection.introspection.get_primary_key_column(cursor, table)
            place = names.index(key)
            keys: list[object] = [row[place] for row in gone]
            marks = ", ".join(["%s"] * len(keys))
            deleted.append((f"DELETE FROM {quoted(table)} WHERE {quoted(key)} IN ({marks})", keys))
        if new:
            row_marks = ", ".join([f"({', '.join(['%s'] * len(names))})"] * len(new))
            into = f"{quoted(table)} ({', '.join(map(quoted, names))})"
            written.append((f"INSERT INTO {into} VALUES {row_marks}", [value for row in new for value in row]))
    if connection.vendor != "postgresql":
        return deleted + written
    with connection.cursor() as cursor:  # one message with the values in it, put together once
        whole = "; ".join(cursor.mogrify(*each).decode() for each in deleted + written)
    return [(whole.replace("%", "%%"), [])] if whole else []
