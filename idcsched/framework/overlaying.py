"""What has just been taken, laid over a snapshot: the next decision sees it, and nothing is built anew."""

from collections.abc import Iterable
from typing import Any

from .profile import Profile
from .snapshot import Snapshot
from .standing import Books, Tenancy

__all__ = ["Tenancy", "Words", "derived_of_inventory", "laid_over", "unmoved", "unmoved_words"]

_OF_INVENTORY = frozenset({"label", "numbers", "bills"})
_UNMOVED = _OF_INVENTORY | {"affinity"}

Words = frozenset[tuple[Any, Any]]
"""What plugins say at which points, as it is remembered."""


def unmoved_words(profiles: Iterable[Profile]) -> Words:
    """What is remembered for these profiles and stays true whatever is taken."""
    words: set[tuple[Any, Any]] = set()
    for profile in profiles:
        words |= {(entry.token, point) for entry in profile.entries for point in entry.plugin.unmoved}
        for step in profile.steps:
            if all(point in entry.plugin.unmoved for point, entry in step.entries):
                words |= {(step.token, "step"), (step.token, "sieve")}
    return frozenset(words)


def laid_over(snapshot: Snapshot, tenancies: Iterable[Tenancy], *, keeping: Words = frozenset()) -> Snapshot:
    """The snapshot as it would be if the ledger held these, too; ceilings are not checked.

    Of what plugins have said of it no more is remembered than `keeping`. Raises KeyError for an IDC that is not there.
    """
    books = Books(snapshot)
    for tenancy in tenancies:
        books.take(tenancy)
    return books.close(unmoved(snapshot, keeping))


def derived_of_inventory(snapshot: Snapshot) -> dict[Any, Any]:
    """What was derived from the inventory alone, and stays true while measurements and the ledger move."""
    return _named(snapshot, _OF_INVENTORY)


def unmoved(snapshot: Snapshot, keeping: Words) -> dict[Any, Any]:
    """What is known of a snapshot and stays true whatever is taken."""
    derived = _named(snapshot, _UNMOVED)
    moment = snapshot.derived.get("moment")
    if keeping and moment is not None:
        derived["moment"] = moment.only(keeping)
    return derived


def _named(snapshot: Snapshot, names: frozenset[str]) -> dict[Any, Any]:
    return {
        key: value
        for key, value in list(snapshot.derived.items())
        if (key[0] if isinstance(key, tuple) else key) in names
    }
