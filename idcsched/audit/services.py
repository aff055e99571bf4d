"""The writes of this room, which the services of all other rooms call inside their transactions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from .context import origin
from .feed import tell_on_commit
from .models import Action, Change, FeedEntry, Topic

__all__ = ["change_record", "changes_record", "feed_append", "feed_extend", "feed_prune"]

NAMED = 100
"""The most keys that one announcement names; for more keys, readers read the whole topic anew."""
IDCS_NAMED = 20_000
"""The most IDC keys that the entries of one announcement hold together: some 120 KB."""


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
    source = origin()
    return Change(
        actor=source.actor,
        via=source.via,
        request_id=source.request_id,
        message=source.message,
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


def feed_append(*, topic: str, key: str = "") -> None:
    """Announce that `key` of the topic moved, or, without a key, anything of it. Readers see that after the commit."""
    FeedEntry.objects.create(topic=Topic(topic), key=key)
    tell_on_commit(topic)


def feed_extend(*, topic: str, keys: Iterable[str], idcs: Sequence[int] | None = None, tell: bool = True) -> int:
    """Announce that all `keys` moved, in one statement; for more than `NAMED`, that anything of the topic may have.

    `idcs` are the primary keys of the only IDCs concerned; without them, or with more than fit (`IDCS_NAMED`), any IDC
    may be. With `tell` this process reads the entries as soon as they are committed. Returns the running transaction's
    mark, which `Moment.holds` understands; 0 where nothing moved.
    """
    moved = list(dict.fromkeys(keys))
    named = moved if len(moved) <= NAMED else [""]
    named_idcs = None if idcs is None or len(idcs) * len(named) > IDCS_NAMED else list(idcs)
    entries = FeedEntry.objects.bulk_create(FeedEntry(topic=Topic(topic), key=key, idcs=named_idcs) for key in named)
    if tell:
        tell_on_commit(topic)
    return (entries[-1].xid or entries[-1].pk) if entries else 0


def feed_prune(*, before: datetime) -> int:
    """Delete entries written before `before`; returns how many. A reader that was away for longer starts anew."""
    return FeedEntry.objects.filter(at__lt=before).delete()[0]
