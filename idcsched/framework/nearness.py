"""Where a request that fits nowhere would fit first, if only enough were given back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .claiming import BANDWIDTH_RESOURCE, Claim
from .decision import Decision
from .facts import STOCK_RESOURCES
from .overlaying import Tenancy
from .snapshot import Snapshot

__all__ = ["all_of", "nearest"]


def nearest(decision: Decision) -> str | None:
    """The IDC that lacks the least, among those that lack nothing but what others hold there."""
    found: list[tuple[float, int]] = []
    cycle = decision.cycle
    for position, row in enumerate(cycle.row_numbers.tolist()):
        failing = [judgement for judgement in decision.judgements if not judgement.keep[position]]
        lacks = [_lack(cycle.snapshot, row, dict(judgement.numbers(position))) for judgement in failing]
        if lacks and np.isfinite(lacks).all():
            found.append((max(lacks), row))
    return cycle.snapshot.idcs.codes[min(found)[1]] if found else None


def all_of(snapshot: Snapshot, idc: str) -> Tenancy:
    """Everything that is left there: laid over the snapshot, nobody else finds it."""
    row, lines = snapshot.idcs.row_of[idc], snapshot.lines
    free = {name: float(snapshot.idcs.stock[name][row] - snapshot.idcs.taken[name][row]) for name in STOCK_RESOURCES}
    claims = [Claim(resource=name, amount=amount) for name, amount in free.items() if amount > 0]
    claims.extend(
        Claim(resource=BANDWIDTH_RESOURCE, amount=float(lines.room[line]), line=lines.codes[line])
        for line in range(int(lines.first[row]), int(lines.first[row + 1]))
        if lines.room[line] > 0
    )
    return Tenancy(idc=idc, claims=tuple(claims))


def _lack(snapshot: Snapshot, row: int, numbers: Mapping[str, Any]) -> float:
    """Which part of its need is missing there; infinite where giving back does not help."""
    need, short_by = numbers.get("need"), numbers.get("short_by")
    if not need or short_by is None or short_by > _held(snapshot, row, numbers):
        return np.inf
    return float(short_by) / float(need)


def _held(snapshot: Snapshot, row: int, numbers: Mapping[str, Any]) -> float:
    """What others hold of what it lacks."""
    if numbers.get("resource") in snapshot.idcs.taken:
        return float(snapshot.idcs.taken[numbers["resource"]][row])
    first, last = (int(place) for place in snapshot.lines.first[row : row + 2])
    codes = snapshot.lines.codes[first:last]
    line = numbers.get("line")
    return float(snapshot.lines.pending[first + codes.index(line)]) if line in codes else 0.0
