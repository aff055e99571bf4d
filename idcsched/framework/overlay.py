"""Lay newly taken capacity over a snapshot, so that the next decision sees it without reading the ledger."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec
import numpy as np

from .building import lines_with_room
from .capacity import BANDWIDTH, Claim, stock_left
from .facts import HeadcountFact
from .memory import sealed
from .normalize import Floats, rounded
from .snapshot import Headcounts, Snapshot, Stock

__all__ = ["Allocation", "with_allocations"]


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """What one order takes of an IDC: its claims, and how many machines of a tenant and a business it adds."""

    idc: str
    claims: tuple[Claim, ...]
    tenant: str = ""
    business: str = ""
    machines: int = 0


def with_allocations(snapshot: Snapshot, allocations: Iterable[Allocation]) -> Snapshot:
    """Return the snapshot as it would be if the ledger held these allocations, too; ceilings are not checked.

    Raises KeyError for an unknown IDC, ValueError for an unknown line.
    """
    lines = snapshot.lines
    pending, ordered = lines.pending.copy(), lines.ordered.copy()
    stock, taken = snapshot.stock, dict[str, Floats]()
    headcounts: list[HeadcountFact] = []
    moved: list[int] = []
    for allocation in allocations:
        row = snapshot.idcs.row_of[allocation.idc]
        for claim in allocation.claims:
            if claim.line is None:
                if claim.resource not in taken:
                    taken[claim.resource] = stock.taken[claim.resource].copy()
                taken[claim.resource][row] = rounded(taken[claim.resource][row] + claim.amount)
            else:
                line = _line_of(snapshot, row, claim)
                pending[line] = rounded(pending[line] + claim.amount)
                ordered[line] = rounded(ordered[line] + claim.amount)
                moved.append(line)
        if allocation.machines:
            headcounts.append(_headcount(allocation))
    bandwidth = snapshot.metrics.get(BANDWIDTH)
    booked = replace(lines, pending=sealed(pending), ordered=sealed(ordered))
    return replace(
        snapshot,
        stock=Stock(
            total=stock.total,
            taken={**stock.taken, **sealed(taken)},
            left={**stock.left, **sealed({name: stock_left(stock.total[name], taken[name]) for name in taken})},
        ),
        lines=lines_with_room(booked, bandwidth, snapshot.usage, np.array(moved, dtype=np.intp)),
        headcounts=Headcounts((*snapshot.headcounts.facts, *headcounts)) if headcounts else snapshot.headcounts,
    )


def _line_of(snapshot: Snapshot, row: int, claim: Claim) -> int:
    if claim.resource != BANDWIDTH or claim.line is None:
        raise ValueError(f"a line has no {claim.resource}")
    return snapshot.lines.number(row, claim.line)


def _headcount(allocation: Allocation) -> HeadcountFact:
    return HeadcountFact(
        idc=allocation.idc, tenant=allocation.tenant, business=allocation.business, machines=allocation.machines
    )
