"""Find the IDCs where a request that fits nowhere would fit once other orders release enough capacity."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from .capacity import BANDWIDTH, Claim
from .decision import Decision
from .facts import STOCK_RESOURCES
from .labels import Rows
from .normalize import DECIMALS
from .overlay import Tenancy
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


def nearest_claims(decision: Decision) -> Tenancy | None:
    """Return the request's claims in the IDC of the smallest shortfall that released capacity alone would cover."""
    lacking = list(_lacking(decision))
    return _needed(decision, min(lacking)[1]) if lacking else None


def free_part_of(snapshot: Snapshot, wanted: Tenancy) -> Tenancy:
    """Return the part of `wanted` that is free; laid over the snapshot, it is kept from all other requests."""
    row = snapshot.idcs.row_of[wanted.idc]
    left = ((claim, min(claim.amount, _free(snapshot, row, claim))) for claim in wanted.claims)
    claims = (Claim(resource=claim.resource, amount=amount, line=claim.line) for claim, amount in left if amount > 0)
    return Tenancy(idc=wanted.idc, claims=tuple(claims))


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
        row = int(cycle.row_numbers[position])
        failing = [judgement for judgement in decision.judgements if not judgement.keep[position]]
        lacks = [_lack(cycle.snapshot, row, dict(judgement.numbers(position))) for judgement in failing]
        if np.isfinite(lacks).all():
            yield max(lacks, default=0.0), position


def _needed(decision: Decision, position: int) -> Tenancy:
    """Return the request's claims at a position: bandwidth of the lines that it would use, and limited stock."""
    cycle, request = decision.cycle, decision.cycle.request
    row, snapshot = int(cycle.row_numbers[position]), cycle.snapshot
    codes, need = snapshot.lines.codes, round(request.bandwidth, DECIMALS)
    lines = (codes[line] for line in (cycle.lines.of(position) if need else ()))
    stock = ((name, round(request.need(name), DECIMALS)) for name in STOCK_RESOURCES)
    limited = ((name, amount) for name, amount in stock if amount and not np.isnan(snapshot.stock.total[name][row]))
    claims = (
        *(Claim(resource=BANDWIDTH, amount=need, line=line) for line in lines),
        *(Claim(resource=name, amount=amount) for name, amount in limited),
    )
    return Tenancy(idc=snapshot.idcs.codes[row], claims=claims)


def _free(snapshot: Snapshot, row: int, claim: Claim) -> float:
    if claim.line is None:
        return float(snapshot.stock.total[claim.resource][row] - snapshot.stock.taken[claim.resource][row])
    return float(snapshot.lines.room[_line(snapshot, row, claim.line)])


def _lack(snapshot: Snapshot, row: int, numbers: Mapping[str, Any]) -> float:
    """Return the part of the need that is missing; infinite where released capacity would not cover it."""
    need, short_by = numbers.get("need"), numbers.get("short_by")
    if not need or short_by is None or short_by > _held(snapshot, row, numbers):
        return np.inf
    return float(short_by) / float(need)


def _held(snapshot: Snapshot, row: int, numbers: Mapping[str, Any]) -> float:
    """Return how much of the missing resource others hold."""
    if numbers.get("resource") in snapshot.stock.taken:
        return float(snapshot.stock.taken[numbers["resource"]][row])
    line = _line(snapshot, row, numbers.get("line"))
    return 0.0 if line is None else float(snapshot.lines.pending[line])


def _line(snapshot: Snapshot, row: int, code: str | None) -> int | None:
    """Return the number of the row's line with this code."""
    first, last = (int(number) for number in snapshot.lines.first[row : row + 2])
    codes = snapshot.lines.codes[first:last]
    return first + codes.index(code) if code in codes else None
