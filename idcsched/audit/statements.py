"""Several writes at once: one transaction and, on PostgreSQL, one round trip.

For the few writes that many clients wait for. Whatever one of the statements violates undoes all of them, so that
a constraint can serve as the guard of the whole.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.db.models import (
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    TextField,
    UUIDField,
)

from .feed import mark, tell_on_commit
from .models import FeedEntry, Topic

__all__ = [
    "SHAPES",
    "Statement",
    "announcements",
    "insertion",
    "places",
    "rounded",
    "run_together",
    "stored",
    "typed",
]


PLAIN = (CharField, TextField, IntegerField, FloatField, BooleanField)
"""Every driver takes their values as they are."""
SHAPES = 32
"""So many texts of one statement are remembered: it has as many as there are numbers of rows."""


class Statement(NamedTuple):
    """SQL that PostgreSQL and SQLite both understand, and what fills its `%s`."""

    sql: str
    params: Sequence[Any]


def insertion(rows: Sequence[Any], *, into: type[Model] | None = None, unless_there: bool = False) -> Statement:
    """The INSERT of new rows, their keys included; their defaults must be filled already.

    They are rows of the model, or anything that has an attribute for each of its columns, which costs much less.
    `unless_there`: a row that is there already stays as it is. Documents may be given as encoded JSON.
    """
    model: type[Model] = into or type(rows[0])
    table = _table(model)
    values = [table.values(row) for row in rows]
    sql = f"INSERT INTO {table.columns} VALUES {places(len(values[0]), len(rows))}"  # noqa: S608 - our own names
    if unless_there:
        sql += " ON CONFLICT DO NOTHING"
    return Statement(sql, [*chain.from_iterable(values)])


def places(width: int, rows: int) -> str:
    """So many rows of so many values, as they stand after VALUES."""
    row = f"({', '.join(['%s'] * width)})"
    return ", ".join([row] * rows)


def run_together(statements: Iterable[Statement], *, then: Callable[[int], object] | None = None) -> None:
    """All of them or none, in this order; raises IntegrityError.

    Once that commits, readers of the feed in this process are told to look; with `then`, it is called with the
    transaction's mark instead, to see to it that they need not.
    """
    found = [*statements, *([Statement(mark(), ())] if then else ())]
    if on_postgresql():  # several statements in one message
        found = [Statement(";\n".join(sql for sql, _ in found), [value for _, params in found for value in params])]
    one_message = len(found) == 1 and not connection.in_atomic_block  # which is a transaction by itself
    with nullcontext() if one_message else transaction.atomic(), connection.cursor() as cursor:
        for sql, params in found:
            cursor.execute(sql, params)
        if then is None:
            tell_on_commit()
        else:
            transaction.on_commit(partial(then, cursor.fetchone()[0]))


def announcements(topic: str, keys: Sequence[str], at: datetime) -> Statement:
    """The feed entries that say so of each key, once all of it commits."""
    said = stored(FeedEntry, "at", at), Topic(topic).value
    return Statement(_announced(len(keys)), [value for key in keys for value in (*said, key)])


@lru_cache(maxsize=SHAPES)
def _announced(keys: int) -> str:
    number = "pg_current_xact_id()::text::bigint" if on_postgresql() else "NULL"
    return f"INSERT INTO audit_feedentry (at, topic, key, xid) VALUES {', '.join([f'(%s, %s, %s, {number})'] * keys)}"  # noqa: S608


def stored(model: type[Model], name: str, value: Any) -> Any:
    """A value as the column of that field takes it."""
    convert = _stored_as(model, name)
    return convert(value) if convert else value


@cache
def typed(model: type[Model], name: str) -> str:
    """The place of a value of that field where no column of a table says of what type it is."""
    return f"%s::{model._meta.get_field(name).db_type(connection)}" if on_postgresql() else "%s"


def rounded(sql: str, decimals: int) -> str:
    """The SQL of a sum without the dust that floating point leaves behind."""
    return f"ROUND(({sql})::numeric, {decimals})::float8" if on_postgresql() else f"ROUND({sql}, {decimals})"


@cache
def on_postgresql() -> bool:
    """Which of the two databases it is, which never changes: asking Django costs more than a column's value."""
    return connection.vendor == "postgresql"


@cache
def _stored_as(model: type[Model], name: str) -> Callable[[Any], Any] | None:
    return _conversion(model._meta.get_field(name))  # type: ignore[arg-type]


class _Table(NamedTuple):
    """Where the rows of one model go. A key that the database counts is left out."""

    columns: str
    read: Callable[[Any], Sequence[Any]]
    converted: Sequence[tuple[int, Callable[[Any], Any]]]
    """The columns, by number, of which the driver does not take the values as they are."""

    def values(self, row: Any) -> list[Any]:
        found = [*self.read(row)]
        for place, convert in self.converted:
            found[place] = convert(found[place])
        return found


@cache
def _table(model: type[Model]) -> _Table:
    fields = [field for field in model._meta.concrete_fields if not (field.primary_key and field.db_returning)]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    found = ((place, _conversion(field)) for place, field in enumerate(fields))
    return _Table(
        columns=f"{connection.ops.quote_name(model._meta.db_table)} ({names})",
        read=attrgetter(*(field.attname for field in fields)),
        converted=[(place, convert) for place, convert in found if convert],
    )


def _conversion(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    """From a value to what the column takes; None: they are the same."""
    kind = field.target_field if isinstance(field, ForeignKey) else field
    if isinstance(kind, PLAIN):
        return None
    if isinstance(kind, JSONField):
        return _encoded
    if isinstance(kind, UUIDField | DateTimeField) and on_postgresql():
        return _as_text
    return lambda value: field.get_db_prep_save(value, connection)


def _as_text(value: UUID | datetime | str | None) -> str | None:
    """What the driver would make of it, in a fraction of the time."""
    if value is None:
        return None
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _encoded(document: Any) -> str | None:
    if document is None:
        return None
    return (bytes(document) if isinstance(document, msgspec.Raw) else msgspec.json.encode(document)).decode()
