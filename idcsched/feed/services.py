"""The writes of the feed, which the services of other packages call inside their transactions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from .models import FeedEntry, Topic
from .reading import FeedNews, tell_on_commit

__all__ = ["feed_append", "feed_extend", "feed_prune"]

NAMED = 100
"""The most keys that one announcement names; for more keys, readers read the whole topic anew."""
IDCS_NAMED = 20_000
"""The most IDC keys that the entries of one announcement hold together: some 120 KB."""
NO_CONTENTS: Mapping[str, str] = MappingProxyType({})


def feed_append(*, topic: str, key: str = "") -> None:
    """Announce that `key` of the topic moved, or, without a key, anything of it. Readers see that after the commit."""
    FeedEntry.objects.create(topic=Topic(topic), key=key)
    tell_on_commit(topic)


def feed_extend(
    *,
    topic: str,
    keys: Iterable[str],
    contents: Mapping[str, str] = NO_CONTENTS,
    idcs: Sequence[int] | None = None,
    tell: bool = True,
) -> tuple[FeedNews, ...]:
    """Announce that all `keys` moved, in one statement; for more than `NAMED`, that anything of the topic may have.

    `contents` tell what moved, by key, to readers that then need not read the rows. `idcs` are the primary keys of the
    only IDCs concerned; without them, or with more than fit (`IDCS_NAMED`), any IDC may be. With `tell` this process
    reads the entries as soon as they are committed. Returns the entries as readers will see them.
    """
    moved = list(dict.fromkeys(keys))
    named = moved if len(moved) <= NAMED else [""]
    named_idcs = None if idcs is None or len(idcs) * len(named) > IDCS_NAMED else list(idcs)
    entries = FeedEntry.objects.bulk_create(
        FeedEntry(topic=Topic(topic), key=key, idcs=named_idcs, content=contents.get(key, "")) for key in named
    )
    if tell:
        tell_on_commit(topic)
    told_idcs = None if named_idcs is None else tuple(named_idcs)
    return tuple(FeedNews(Topic(topic).value, row.key, row.xid, told_idcs, row.content, row.pk) for row in entries)


def feed_prune(*, before: datetime) -> int:
    """Delete entries written before `before`; returns how many. A reader that was away for longer starts anew."""
    return FeedEntry.objects.filter(at__lt=before).delete()[0]
