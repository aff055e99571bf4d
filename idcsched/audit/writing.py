"""The one way to write a row: check, save, record in the history, announce in the feed.

The services of the packages above use these functions. A violated constraint is reported in its own words, so that each
rule stands in one place: the model.
"""

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import IntegrityError, connection, transaction
from django.db.models import Model, ProtectedError

from idcsched.feed.services import feed_append
from idcsched.framework.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from idcsched.framework.messages import _

from .models import Recorded
from .naming import refuse_named
from .refusals import constraint_refusal, protected_refusal
from .row_check import row_check
from .services import change_record

__all__ = [
    "below",
    "described",
    "locked",
    "refuse_unknown",
    "row_check",
    "row_create",
    "row_delete",
    "row_update",
    "table_locked",
    "write",
]

Row = TypeVar("Row", bound=Recorded)


@contextmanager
def write() -> Iterator[None]:
    """Open a service's transaction (also as a decorator); the database's refusals are raised as an IdcschedError."""
    try:
        with transaction.atomic():
            yield
    except ProtectedError as error:
        raise protected_refusal(error) from error
    except IntegrityError as error:
        raise constraint_refusal(error) from error


@contextmanager
def below(pointer: str) -> Iterator[None]:
    """Prefix the pointers of refusals raised inside the block with `pointer`, a place in the caller's document."""
    try:
        yield
    except (Conflict, Forbidden) as error:
        error.pointer = pointer + error.pointer
        raise
    except Invalid as error:
        raise Invalid.of(
            FieldError(pointer + item.pointer, item.code, item.detail, item.params) for item in error.errors
        ) from error


def row_create(row: Row) -> Row:
    """Insert a new row; raises Invalid, Conflict."""
    row_check(row)
    row.save(force_insert=True)
    _record(row, before=None, after=described(row))
    return row


def row_update(row: Row, changes: Mapping[str, Any], *, allowed: Set[str]) -> Row:
    """Set the given fields of the row, read anew from the database; without a difference nothing is written.

    Returns the fresh row and leaves the one passed in alone. Raises Invalid, also for a field that is not `allowed`,
    NotFound, Conflict, also `in_use` for a new name where something names the row by the old one.
    """
    refuse_unknown(changes, allowed)
    fresh = locked(row)
    before, key = described(fresh), fresh.audit_key
    for name, value in changes.items():
        setattr(fresh, name, value)
    row_check(fresh)
    after = described(fresh)
    if before != after:
        if fresh.audit_key != key:
            refuse_named(row.audit_kind, key)
        fresh.save(update_fields=sorted(changes))
        _record(fresh, before=before, after=after, key=key)
    return fresh


def row_delete(row: Recorded) -> None:
    """Delete the row; raises NotFound, Conflict `in_use`."""
    fresh = locked(row)
    before, key = described(fresh), fresh.audit_key
    refuse_named(row.audit_kind, key)
    fresh.delete()
    _record(fresh, before=before, after=None, key=key)


def locked(row: Row) -> Row:
    """Return the row, read anew from the database and locked until the transaction ends; raises NotFound."""
    fresh = type(row)._default_manager.select_for_update().filter(pk=row.pk).first()
    if fresh is None:
        raise NotFound("not_found", _("there is no such {kind} any more"), kind=row.audit_kind)
    return fresh


def table_locked(model: type[Model]) -> None:
    """Let no other transaction write this small table until this one ends: for rules that span its rows."""
    if connection.vendor == "postgresql":
        table = connection.ops.quote_name(model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")


def refuse_unknown(changes: Mapping[str, Any], allowed: Set[str]) -> None:
    """Raise Invalid for each name that is no field or may not be set here."""
    unknown = [name for name in changes if name not in allowed]
    if unknown:
        detail = _("there is no field {name} that can be set")
        raise Invalid.of(FieldError(f"/{name}", "unknown_field", detail, {"name": name}) for name in unknown)


def described(row: Recorded) -> dict[str, Any]:
    """Return the row as the history shows it: its values by field name, related rows by their `audit_key`."""
    hidden = row.unrecorded
    return {
        field.name: _readable(getattr(row, field.name))
        for field in row._meta.concrete_fields
        if not field.primary_key and field.name not in hidden
    }


def _readable(value: Any) -> Any:
    if isinstance(value, Recorded):
        return value.audit_key
    return value.copy() if isinstance(value, dict | list) else value


def _record(row: Recorded, *, before: dict[str, Any] | None, after: dict[str, Any] | None, key: str = "") -> None:
    """Record in history and feed under the row's old key; after a rename in the feed under the new key, too."""
    old = key or row.audit_key
    change_record(kind=row.audit_kind, key=old, before=before, after=after)
    for name in dict.fromkeys((old, row.audit_key if after is not None else old)):
        feed_append(topic=row.feed_topic, key=name)
