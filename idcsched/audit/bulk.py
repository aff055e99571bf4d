"""Writing many rows of one kind in a few statements, by the same rules as `audit.writing` writes one row.

Each row may have a pointer: its place in the caller's document, below which the row's errors are reported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.db import IntegrityError, transaction

from idcsched.feed.services import feed_extend
from idcsched.framework.errors import Conflict, FieldError, Invalid, NotFound
from idcsched.framework.messages import _

from .models import Recorded
from .naming import refuse_named
from .refusals import constraint_refusal
from .row_check import row_check
from .services import changes_record
from .writing import below, described, refuse_unknown

__all__ = ["ENOUGH", "apply_to_each", "places", "rows_check", "rows_create", "rows_insert", "rows_update"]

Row = TypeVar("Row", bound=Recorded)
Item = TypeVar("Item")
Result = TypeVar("Result")

ENOUGH = 100
"""The most errors that are reported at once."""
BATCH = 1000
"""Rows per INSERT or SELECT."""
WIDE_BATCH = 200
"""Rows per UPDATE: fewer, as the statement grows with rows times fields."""


def places(items: Sequence[Any]) -> list[str]:
    """Return the JSON pointers of a list's items."""
    return [f"/{index}" for index in range(len(items))]


def apply_to_each(items: Iterable[Item], pointers: Iterable[str], do: Callable[[Item], Result]) -> list[Result]:
    """Return the results of `do` for every item; raises one Invalid with all refusals, each at its item's pointer."""
    results: list[Result] = []
    errors: list[FieldError] = []
    for item, pointer in zip(items, pointers, strict=True):
        try:
            with below(pointer):
                results.append(do(item))
        except Invalid as error:
            errors.extend(error.errors)
            if len(errors) >= ENOUGH:
                break
    if errors:
        raise Invalid.of(errors)
    return results


def rows_check(rows: Sequence[Row], pointers: Sequence[str]) -> None:
    """Check every row with `row_check`; raises Invalid."""
    apply_to_each(rows, pointers, row_check)


def rows_create(rows: Sequence[Row], pointers: Sequence[str] = ()) -> list[Row]:
    """Insert new rows of one kind, all or none; raises Invalid, Conflict."""
    rows_check(rows, pointers or [""] * len(rows))
    return rows_insert(rows, pointers)


def rows_insert(rows: Sequence[Row], pointers: Sequence[str] = ()) -> list[Row]:
    """Insert new rows as `rows_create` does, but without `rows_check`, which the caller has called."""
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
    """Set fields of many rows, all or none: each of `updates` is a row and its new values, as for `row_update`.

    Returns the rows, read anew from the database, in the same order. `updates` may name no row twice. Raises Invalid,
    NotFound, Conflict.
    """
    if not updates:
        return []
    pointers = pointers or [""] * len(updates)
    apply_to_each(updates, pointers, lambda update: refuse_unknown(update[1], allowed))
    fresh = _locked([row for row, _ in updates])
    originals = [(row.audit_key, described(row)) for row in fresh]
    for row, (_row, changes) in zip(fresh, updates, strict=True):
        for name, value in changes.items():
            setattr(row, name, value)
    rows_check(fresh, pointers)
    changed = [index for index, row in enumerate(fresh) if described(row) != originals[index][1]]
    for index in changed:
        if fresh[index].audit_key != (key := originals[index][0]):
            with below(pointers[index]):
                refuse_named(fresh[index].audit_kind, key)
    _save(
        [fresh[index] for index in changed],
        [set(updates[index][1]) for index in changed],
        [pointers[i] for i in changed],
    )
    _record_updates([fresh[index] for index in changed], [originals[index] for index in changed])
    return fresh


def _locked(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, read anew with the rows that they refer to, and locked until the transaction ends.

    One query locks the rows, then another reads them with their references. A single query that had to wait for the
    lock would return the referenced rows as they were before the wait.
    """
    model = type(rows[0])
    references = [field.name for field in model._meta.concrete_fields if field.is_relation]
    all_rows = model._default_manager.order_by("pk")
    by_key: dict[Any, Row] = {}
    for keys in _slices(sorted(row.pk for row in rows), BATCH):
        list(all_rows.select_for_update().filter(pk__in=keys).values_list("pk"))
        by_key |= {row.pk: row for row in all_rows.select_related(*references).filter(pk__in=keys)}
    if len(by_key) < len(rows):
        raise NotFound("not_found", _("there is no such {kind} any more"), kind=model.audit_kind)
    return [by_key[row.pk] for row in rows]


def _save(rows: Sequence[Row], field_names: Sequence[Set[str]], pointers: Sequence[str]) -> None:
    """Group the rows by the fields that their changes set, and write each group together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, names in enumerate(field_names):
        groups.setdefault(tuple(sorted(names)), []).append(index)
    for fields, members in groups.items():
        write = partial(type(rows[0])._default_manager.bulk_update, fields=fields)
        _batched([rows[index] for index in members], [pointers[index] for index in members], WIDE_BATCH, write)


def _record_updates(rows: Sequence[Row], originals: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Record each update in the history under the row's old key, and in the feed under its old and its new key."""
    if not rows:
        return
    model = type(rows[0])
    changes = ((key, before, described(row)) for row, (key, before) in zip(rows, originals, strict=True))
    changes_record(kind=model.audit_kind, changes=changes)
    feed_extend(topic=model.feed_topic, keys=(*(key for key, _ in originals), *(row.audit_key for row in rows)))


def _batched(rows: Sequence[Row], pointers: Sequence[str], size: int, write: Callable[[Sequence[Row]], object]) -> None:
    """Write batch after batch; a refusal by the database is raised with the pointer of the very row."""
    start = 0
    for batch in _slices(rows, size):
        try:
            with transaction.atomic():
                write(batch)
        except IntegrityError as error:
            if pointers:
                _blame(batch, pointers[start : start + len(batch)], write)
            raise constraint_refusal(error) from error  # without pointers, or no single row was refused again
        start += len(batch)


def _blame(rows: Sequence[Row], pointers: Sequence[str], write: Callable[[Sequence[Row]], object]) -> None:
    """Raise the database's refusals of single rows, each at its row's pointer; return if there are none."""
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
    """Yield the pointer and the error of each row that the database refuses, found by bisection."""
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
