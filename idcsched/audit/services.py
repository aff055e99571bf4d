"""Functions that record changes; the services of other packages call them inside their transactions."""

from collections.abc import Iterable, Mapping
from typing import Any

from .context import origin
from .models import Action, Change

__all__ = ["change_record", "changes_record"]


def change_record(
    *, kind: str, key: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Change | None:
    """Record a change with its origin; returns None where nothing has changed.

    `before` is None for a creation, `after` for a deletion; of an update only the fields that differ are recorded.
    """
    change = _change(kind, key, before, after)
    if change is not None:
        change.save(force_insert=True)
    return change


def changes_record(
    *, kind: str, changes: Iterable[tuple[str, Mapping[str, Any] | None, Mapping[str, Any] | None]]
) -> None:
    """Record many changes (key, before, after) of one kind, each as `change_record` does."""
    rows = (_change(kind, key, before, after) for key, before, after in changes)
    Change.objects.bulk_create((row for row in rows if row is not None), batch_size=1000)


def _change(kind: str, key: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Change | None:
    if before is None and after is None:
        raise ValueError("a change needs a before or an after")
    action, before, after = _difference(before, after)
    if action is Action.UPDATE and not before and not after:
        return None
    change_origin = origin()
    return Change(
        actor=change_origin.actor,
        via=change_origin.via,
        request_id=change_origin.request_id,
        message=change_origin.message,
        action=action,
        kind=kind,
        key=key,
        before=before,
        after=after,
    )


def _difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[Action, dict[str, Any] | None, dict[str, Any] | None]:
    if before is None:
        return Action.CREATE, None, dict(after or {})
    if after is None:
        return Action.DELETE, dict(before), None
    missing = object()
    differing = [name for name in {**before, **after} if before.get(name, missing) != after.get(name, missing)]
    return (
        Action.UPDATE,
        {name: before[name] for name in differing if name in before},
        {name: after[name] for name in differing if name in after},
    )
