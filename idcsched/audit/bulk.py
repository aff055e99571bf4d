"""Writing many rows of one kind at once, in a few statements, by the rules by which `audit.writing` writes one.

Each row may have a pointer: its place in the caller's document, below which everything that is wrong with it is said.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.db import IntegrityError, transaction

from idcsched.framework.errors import Conflict, FieldError, Invalid, NotFound
from idcsched.framework.messages import _

from .models import Recorded
from .refusals import constraint_refusal
from .row_check import row_check
from .services import changes_record, feed_extend
from .writing import below, described, refuse_unknown

__all__ = ["ENOUGH", "each", "places", "rows_check", "rows_create", "rows_insert", "rows_update"]

Row = TypeVar("Row", bound=Recorded)
Item = TypeVar("Item")
Made = TypeVar("Made")

ENOUGH = 100
"""As many wrong things as anybody wants to read at once."""
BATCH = 1000
WIDE_BATCH = 200
"""An UPDATE of many rows names each row once per field."""


def places(items: Sequence[Any]) -> list[str]:
    """The pointers of a list's items."""
    return [f"/{index}" for index in range(len(items))]


def each(items: Iterable[Item], pointers: Iterable[str], do: Callable[[Item], Made]) -> list[Made]:
    """`do` of every item; raises one Invalid with all that was refused, at the items' pointers."""
    made: list[Made] = []
    errors: list[FieldError] = []
    for item, pointer in zip(items, pointers, strict=True):
        try:
            with below(pointer):
                made.append(do(item))
        except Invalid as error:
            errors.extend(error.errors)
            if len(errors) >= ENOUGH:
                break
    if errors:
        raise Invalid.of(errors)
    return made


def rows_check(rows: Sequence[Row], pointers: Sequence[str]) -> None:
    """`row_check` of every row; raises Invalid."""
    each(rows, pointers, row_check)


def rows_create(rows: Sequence[Row], pointers: Sequence[str] = ()) -> list[Row]:
    """Insert new rows of one kind, all or none; raises Invalid, Conflict."""
    rows_check(rows, pointers or [""] * len(rows))
    return rows_insert(rows, pointers)


def rows_insert(rows: Sequence[Row], pointers: Sequence[str] = ()) -> list[Row]:
    """The same for rows that have been checked."""
    if not rows:
        return []
    model = type(rows[0])
    _batched(rows, pointers, BATCH, model._default_manager.bulk_create)
    changes_record(kind=model.audit_kind, changes=((row.audit_key, None, described(row)) for row in rows))
    feed_extend(topic=model.feed_topic, keys=(row.audit_key for row in rows))
    return list(rows)


def rows_update(
    updates: Sequence[tuple[Row, Mapping[str, Any]]], *, allowed: Set[str], pointers: Sequence[str] = ()
) -> list[Row]:
    """Set those fields of each row as it stands in the database now, as `row_update` does, all or none.

    Gives the fresh rows in the same order. No row may stand there twice. Raises Invalid, NotFound, Conflict.
    """
    if not updates:
        return []
    pointers = pointers or [""] * len(updates)
    each(updates, pointers, lambda update: refuse_unknown(update[1], allowed))
    fresh = _locked([row for row, _ in updates])
    was = [(row.audit_key, described(row)) for row in fresh]
    for row, (_row, changes) in zip(fresh, updates, strict=True):
        for name, value in changes.items():
            setattr(row, name, value)
    rows_check(fresh, pointers)
    moved = [index for index, row in enumerate(fresh) if described(row) != was[index][1]]
    _save([fresh[index] for index in moved], [set(updates[index][1]) for index in moved], [pointers[i] for i in moved])
    _record_updates([fresh[index] for index in moved], [was[index] for index in moved])
    return fresh


def _locked(rows: Sequence[Row]) -> list[Row]:
    """The rows as they stand in the database with what they refer to, held until the transaction ends.

    Held first, read then: to a row that had to be waited for, PostgreSQL would have joined what it referred to before.
    """
    model = type(rows[0])
    references = [field.name for field in model._meta.concrete_fields if field.is_relation]
    all_rows = model._default_manager.order_by("pk")
    found: dict[Any, Row] = {}
    for keys in _slices(sorted(row.pk for row in rows), BATCH):
        list(all_rows.select_for_update().filter(pk__in=keys).values_list("pk"))
        found |= {row.pk: row for row in all_rows.select_related(*references).filter(pk__in=keys)}
    if len(found) < len(rows):
        raise NotFound("not_found", _("there is no such {kind} any more"), kind=model.audit_kind)
    return [found[row.pk] for row in rows]


def _save(rows: Sequence[Row], names: Sequence[Set[str]], pointers: Sequence[str]) -> None:
    """Rows of which the same fields were set go together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, of in enumerate(names):
        groups.setdefault(tuple(sorted(of)), []).append(index)
    for fields, members in groups.items():
        write = partial(type(rows[0])._default_manager.bulk_update, fields=fields)
        _batched([rows[index] for index in members], [pointers[index] for index in members], WIDE_BATCH, write)


def _record_updates(rows: Sequence[Row], was: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """As `row_update` does: in the history under the old name, in the feed under a new one, too."""
    if not rows:
        return
    model = type(rows[0])
    changes = ((key, before, described(row)) for row, (key, before) in zip(rows, was, strict=True))
    changes_record(kind=model.audit_kind, changes=changes)
    feed_extend(topic=model.feed_topic, keys=(*(key for key, _ in was), *(row.audit_key for row in rows)))


def _batched(rows: Sequence[Row], pointers: Sequence[str], size: int, write: Callable[[Sequence[Row]], object]) -> None:
    """Write batch after batch; what the database refuses is said of the very row."""
    start = 0
    for batch in _slices(rows, size):
        try:
            with transaction.atomic():
                write(batch)
        except IntegrityError as error:
            if pointers:
                _blame(batch, pointers[start : start + len(batch)], write)
            raise constraint_refusal(error) from error
        start += len(batch)


def _blame(rows: Sequence[Row], pointers: Sequence[str], write: Callable[[Sequence[Row]], object]) -> None:
    """Raise what the database says about the rows that it refuses, as far as it is about single rows."""
    errors: list[FieldError] = []
    for pointer, error in islice(_refused(rows, pointers, write), ENOUGH):
        refusal = constraint_refusal(error)
        if isinstance(refusal, Invalid):
            errors += [replace(item, pointer=pointer + item.pointer) for item in refusal.errors]
        elif isinstance(refusal, Conflict):
            refusal.pointer = pointer
            raise refusal from error
    if errors:
        raise Invalid.of(errors)


def _refused(
    rows: Sequence[Row], pointers: Sequence[str], write: Callable[[Sequence[Row]], object]
) -> Iterator[tuple[str, IntegrityError]]:
    """The single rows that the database does not take, found by halving."""
    try:
        with transaction.atomic():
            write(rows)
    except IntegrityError as error:
        if len(rows) == 1:
            yield pointers[0], error
            return
        middle = len(rows) // 2
        yield from _refused(rows[:middle], pointers[:middle], write)
        yield from _refused(rows[middle:], pointers[middle:], write)


def _slices(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))
