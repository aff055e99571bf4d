"""What has just been taken, laid over a snapshot: the next decision sees it, and nothing is built anew."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .capacity import demand, room
from .claiming import BANDWIDTH_RESOURCE, Claim
from .facts import HeadcountFact
from .normalize import DECIMALS
from .profile import Profile
from .snapshot import Idcs, Lines, Snapshot

__all__ = ["Tenancy", "Words", "derived_of_inventory", "laid_over", "unmoved_words"]

_OF_INVENTORY = frozenset({"label", "numbers", "all purchased", "bills", "tariff"})
_UNMOVED = _OF_INVENTORY | {"affinity"}

Words = frozenset[tuple[Any, Any]]
"""What plugins say at which points, as it is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenancy:
    """What somebody takes of one IDC, and how many machines come to stand there for whom."""

    idc: str
    claims: tuple[Claim, ...]
    tenant: str = ""
    business: str = ""
    machines: int = 0


def unmoved_words(profiles: Iterable[Profile]) -> Words:
    """What is remembered for these profiles and stays true whatever is taken."""
    words: set[tuple[Any, Any]] = set()
    for profile in profiles:
        words |= {(entry.token, point) for entry in profile.entries for point in entry.plugin.unmoved}
        for step in profile.steps:
            if all(point in entry.plugin.unmoved for point, entry in step.entries):
                words.add((step.token, "step"))
    return frozenset(words)


def laid_over(snapshot: Snapshot, tenancies: Iterable[Tenancy], *, keeping: Words = frozenset()) -> Snapshot:
    """The snapshot as it would be if the ledger held these, too; ceilings are not checked.

    Of what plugins have said of it no more is remembered than `keeping`. Raises KeyError for an IDC that is not there.
    """
    found = list(tenancies)
    stock = [(each, claim) for each in found for claim in each.claims if claim.line is None]
    bandwidth = [(each, claim) for each in found for claim in each.claims if claim.line is not None]
    counted = tuple(
        HeadcountFact(idc=each.idc, tenant=each.tenant, business=each.business, machines=each.machines)
        for each in found
        if each.machines
    )
    return replace(
        snapshot,
        idcs=_with_stock_taken(snapshot.idcs, stock),
        lines=_with_bandwidth_taken(snapshot, bandwidth),
        headcounts=(*snapshot.headcounts, *counted),
        derived=_unmoved(snapshot, keeping),
    )


def derived_of_inventory(snapshot: Snapshot) -> dict[Any, Any]:
    """What was derived from the inventory alone, and stays true while measurements and the ledger move."""
    return _named(snapshot, _OF_INVENTORY)


def _unmoved(snapshot: Snapshot, keeping: Words) -> dict[Any, Any]:
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


def _with_stock_taken(idcs: Idcs, claims: list[tuple[Tenancy, Claim]]) -> Idcs:
    if not claims:
        return idcs
    taken = dict(idcs.taken)
    for resource in {claim.resource for _, claim in claims}:
        taken[resource] = taken[resource].copy()
    for tenancy, claim in claims:
        column, row = taken[claim.resource], idcs.row_of[tenancy.idc]
        column[row] = round(column[row] + claim.amount, DECIMALS)
    for column in taken.values():
        column.flags.writeable = False
    return replace(idcs, taken=taken)


def _with_bandwidth_taken(snapshot: Snapshot, claims: list[tuple[Tenancy, Claim]]) -> Lines:
    if not claims:
        return snapshot.lines
    lines = snapshot.lines
    pending, ordered, left = lines.pending.copy(), lines.ordered.copy(), lines.room.copy()
    touched = np.array([_place(snapshot, tenancy.idc, claim) for tenancy, claim in claims], dtype=np.intp)
    for place, (_, claim) in zip(touched.tolist(), claims, strict=True):
        pending[place] = round(pending[place] + claim.amount, DECIMALS)
        ordered[place] = round(ordered[place] + claim.amount, DECIMALS)
    use = demand(lines.used[touched], pending[touched], ordered[touched], snapshot.usage)
    left[touched] = room(lines.purchased[touched], lines.max_level[touched], *use)
    for column in (pending, ordered, left):
        column.flags.writeable = False
    return replace(lines, pending=pending, ordered=ordered, room=left)


def _place(snapshot: Snapshot, idc: str, claim: Claim) -> int:
    """Where the line stands among all lines."""
    if claim.resource != BANDWIDTH_RESOURCE or claim.line is None:
        raise ValueError(f"a line has no {claim.resource}")
    first, lines = snapshot.lines.first, snapshot.lines.codes
    row = snapshot.idcs.row_of[idc]
    return lines.index(claim.line, int(first[row]), int(first[row + 1]))
