"""Several writes at once: one transaction and, on PostgreSQL, one round trip.

For the few writes that many clients wait for. Whatever one of the statements violates undoes all of them, so that
a constraint can serve as the guard of the whole.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple

import msgspec
from django.db import connection, transaction
from django.db.models import BooleanField, CharField, Field, FloatField, IntegerField, Model, TextField

from .feed import mark, tell_on_commit
from .models import FeedEntry, Topic

__all__ = ["Statement", "announcements", "insertion", "rounded", "run_together", "stored", "typed"]


PLAIN = (CharField, TextField, IntegerField, FloatField, BooleanField)
TAKEN_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


class Statement(NamedTuple):
    """SQL that PostgreSQL and SQLite both understand, and what fills its `%s`."""

    sql: str
    params: Sequence[Any]


def insertion(rows: Sequence[Model], *, unless_there: bool = False) -> Statement:
    """The INSERT of new rows of one model, their keys included; their defaults must be filled already.

    `unless_there`: a row that is there already stays as it is. Documents may be given as encoded JSON.
    """
    columns, fields = _columns(type(rows[0]))
    row = f"({', '.join(['%s'] * len(fields))})"
    sql = f"INSERT INTO {columns} VALUES {', '.join([row] * len(rows))}"  # noqa: S608 - names of this project's own
    if unless_there:
        sql += " ON CONFLICT DO NOTHING"
    return Statement(sql, [_stored(field, each) for each in rows for field in fields])


def run_together(statements: Iterable[Statement], *, then: Callable[[int], object] | None = None) -> None:
    """All of them or none, in this order; raises IntegrityError.

    Once that commits, readers of the feed in this process are told to look; with `then`, it is called with the
    transaction's mark instead, to see to it that they need not.
    """
    found = [*statements, *([Statement(mark(), ())] if then else ())]
    if connection.vendor == "postgresql":  # several statements in one message
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
    number = "pg_current_xact_id()::text::bigint" if connection.vendor == "postgresql" else "NULL"
    rows = ", ".join([f"(%s, %s, %s, {number})"] * len(keys))
    said = stored(FeedEntry, "at", at), Topic(topic).value
    sql = f"INSERT INTO audit_feedentry (at, topic, key, xid) VALUES {rows}"  # noqa: S608
    return Statement(sql, [value for key in keys for value in (*said, key)])


def stored(model: type[Model], name: str, value: Any) -> Any:
    """A value as the column of that field takes it."""
    return model._meta.get_field(name).get_db_prep_save(value, connection)  # type: ignore[union-attr]


def typed(model: type[Model], name: str) -> str:
    """The place of a value of that field where no column of a table says of what type it is."""
    if connection.vendor == "postgresql":
        return f"%s::{model._meta.get_field(name).db_type(connection)}"
    return "%s"


def rounded(sql: str, decimals: int) -> str:
    """The SQL of a sum without the dust that floating point leaves behind."""
    if connection.vendor == "postgresql":
        return f"ROUND(({sql})::numeric, {decimals})::float8"
    return f"ROUND({sql}, {decimals})"


@cache
def _columns(model: type[Model]) -> tuple[str, tuple["Field[Any, Any]", ...]]:
    """The table with its columns, quoted, and the fields in that order; a key that the database counts is left out."""
    fields = tuple(field for field in model._meta.concrete_fields if not (field.primary_key and field.db_returning))
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    return f"{connection.ops.quote_name(model._meta.db_table)} ({names})", fields


def _stored(field: "Field[Any, Any]", row: Model) -> Any:
    """The value as the column takes it; most are of a kind that the driver takes as it is."""
    value = getattr(row, field.attname)
    if type(value) in TAKEN_AS_IT_IS and isinstance(field, PLAIN):
        return value
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    return field.get_db_prep_save(value, connection)
