"""Find the IDCs where a request that fits nowhere would fit once other orders release enough capacity."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from .capacity import BANDWIDTH, Claim, shortfall
from .columns import STOCK_RESOURCES
from .context import Cycle
from .decision import Decision
from .labels import Rows
from .overlay import Allocation
from .snapshot import Snapshot

__all__ = ["free_part_of", "idcs_awaited", "nearest_claims"]

GIVEN_BACK = "ledger"
"""The cure (`Reason.cures`) of a rejection for lack of capacity that other orders hold."""
MOST_AWAITED = 200
MOST_LOOKED_AT = 1000


def idcs_awaited(decision: Decision, *, at_most: int = MOST_AWAITED) -> tuple[str, ...]:
    """Return the IDCs where the request would fit if others released capacity, the smallest shortfall first."""
    rows, codes = decision.cycle.row_numbers, decision.cycle.snapshot.idcs.codes
    return tuple(codes[rows[position]] for _, position in sorted(_lacking(decision))[:at_most])


def nearest_claims(decision: Decision) -> Allocation | None:
    """Return the request's claims in the IDC of the smallest shortfall that released capacity alone would cover."""
    lacking = list(_lacking(decision))
    return _needed(decision, min(lacking)[1]) if lacking else None


def free_part_of(snapshot: Snapshot, wanted: Allocation) -> Allocation:
    """Return the part of `wanted` that is free; laid over the snapshot, it is kept from all other requests."""
    row = snapshot.idcs.row_of[wanted.idc]
    left = ((claim, min(claim.amount, _free(snapshot, row, claim))) for claim in wanted.claims)
    claims = (Claim(resource=claim.resource, amount=amount, line=claim.line) for claim, amount in left if amount > 0)
    return Allocation(idc=wanted.idc, claims=tuple(claims))


def _short_of_capacity(decision: Decision) -> Rows:
    """Return the positions that are rejected only for lack of capacity that others hold."""
    other_filters = (judgement.keep for judgement in decision.judgements if GIVEN_BACK not in judgement.reason.cures)
    keep_others = np.ones(decision.cycle.size, dtype=np.bool_)
    for keep in other_filters:
        keep_others &= keep
    return np.flatnonzero(keep_others)


def _lacking(decision: Decision) -> Iterator[tuple[float, int]]:
    """Yield (shortfall as a part of the need, position) where released capacity would cover the shortfall."""
    cycle = decision.cycle
    for position in islice(_short_of_capacity(decision).tolist(), MOST_LOOKED_AT):
        failing = [judgement for judgement in decision.judgements if not judgement.keep[position]]
        lacks = [_lack(cycle, position, dict(judgement.numbers(position))) for judgement in failing]
        if np.isfinite(lacks).all():
            yield max(lacks, default=0.0), position


def _needed(decision: Decision, position: int) -> Allocation:
    """Return the request's claims at a position: bandwidth of the lines that it would use, and limited stock."""
    cycle, request = decision.cycle, decision.cycle.request
    row, snapshot = int(cycle.row_numbers[position]), cycle.snapshot
    codes, need = snapshot.lines.codes, request.bandwidth
    lines = (codes[line] for line in (_lines(cycle, position) if need else ()))
    stock = ((name, request.need(name)) for name in STOCK_RESOURCES)
    limited = ((name, amount) for name, amount in stock if amount and not np.isnan(snapshot.stock.total[name][row]))
    claims = (
        *(Claim(resource=BANDWIDTH, amount=need, line=line) for line in lines),
        *(Claim(resource=name, amount=amount) for name, amount in limited),
    )
    return Allocation(idc=snapshot.idcs.codes[row], claims=claims)


def _free(snapshot: Snapshot, row: int, claim: Claim) -> float:
    if claim.line is None:
        return float(snapshot.stock.total[claim.resource][row] - snapshot.stock.taken[claim.resource][row])
    return float(snapshot.lines.room[snapshot.lines.number(row, claim.line)])


def _lack(cycle: Cycle, position: int, numbers: Mapping[str, Any]) -> float:
    """Return the part of the need that is missing; infinite where released capacity would not cover it."""
    need = numbers.get("need")
    if not need or numbers.get("short_by") is None:
        return np.inf
    missing = _missing_and_held(cycle, position, numbers)
    return max([short_by / need if short_by <= held else np.inf for short_by, held in missing], default=np.inf)


def _missing_and_held(cycle: Cycle, position: int, numbers: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return how much is missing, and how much of the same others hold: of the stock, or of each line."""
    if "line" in numbers:
        rooms = cycle.eligible_lines(position)
        return [_of_line(cycle, line, rooms[line]) for line in _lines(cycle, position)]
    taken = cycle.snapshot.stock.taken.get(numbers.get("resource", ""))
    return [(float(numbers["short_by"]), 0.0 if taken is None else taken.item(int(cycle.row_numbers[position])))]


def _lines(cycle: Cycle, position: int) -> tuple[int, ...]:
    """Return the lines that the request would use once others release capacity.

    Where the chosen line lacks more than others hold of it, this is the line that lacks least of those whose holders
    can cover it.
    """
    chosen = cycle.lines.of(position)
    if cycle.line_policy.match == "all" or cycle.lines.carries[position]:
        return chosen
    lacking = [(_of_line(cycle, line, room), line) for line, room in cycle.eligible_lines(position).items()]
    coverable = [(short_by, line) for (short_by, held), line in lacking if short_by <= held]
    return (min(coverable)[1],) if coverable else chosen


def _of_line(cycle: Cycle, line: int, room: float) -> tuple[float, float]:
    """Return how much is missing of a line, infinite where its use is unknown, and how much others hold of it."""
    short_by = np.inf if np.isnan(room) else shortfall(cycle.need, room)["short_by"]
    return short_by, cycle.snapshot.lines.pending.item(line)
