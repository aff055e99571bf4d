"""Lay newly taken capacity over a snapshot, so that the next decision sees it without reading the ledger."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from .building import lines_with_room
from .capacity import BANDWIDTH, Claim, stock_left
from .facts import HeadcountFact
from .memory import sealed
from .normalize import Floats, rounded
from .snapshot import Headcounts, Snapshot, Stock

__all__ = ["Tenancy", "with_tenancies"]


class Tenancy(msgspec.Struct, frozen=True, kw_only=True):
    """What one order takes of an IDC: its claims, and how many machines of a tenant and a business it adds."""

    idc: str
    claims: tuple[Claim, ...]
    tenant: str = ""
    business: str = ""
    machines: int = 0


def with_tenancies(snapshot: Snapshot, tenancies: Iterable[Tenancy]) -> Snapshot:
    """Return the snapshot as it would be if the ledger held these tenancies, too; ceilings are not checked.

    Raises KeyError for an unknown IDC, ValueError for an unknown line.
    """
    lines = snapshot.lines
    pending, ordered = lines.pending.copy(), lines.ordered.copy()
    stock, taken = snapshot.stock, dict[str, Floats]()
    headcounts: list[HeadcountFact] = []
    for tenancy in tenancies:
        row = snapshot.idcs.row_of[tenancy.idc]
        for claim in tenancy.claims:
            if claim.line is None:
                if claim.resource not in taken:
                    taken[claim.resource] = stock.taken[claim.resource].copy()
                taken[claim.resource][row] = rounded(taken[claim.resource][row] + claim.amount)
            else:
                line = _line_of(snapshot, row, claim)
                pending[line] = rounded(pending[line] + claim.amount)
                ordered[line] = rounded(ordered[line] + claim.amount)
        if tenancy.machines:
            headcounts.append(_headcount(tenancy))
    bandwidth = snapshot.metrics.get(BANDWIDTH)
    return replace(
        snapshot,
        stock=Stock(
            total=stock.total,
            taken={**stock.taken, **sealed(taken)},
            left={**stock.left, **sealed({name: stock_left(stock.total[name], taken[name]) for name in taken})},
        ),
        lines=sealed(lines_with_room(replace(lines, pending=pending, ordered=ordered), bandwidth, snapshot.usage)),
        headcounts=Headcounts((*snapshot.headcounts.facts, *headcounts)) if headcounts else snapshot.headcounts,
    )


def _line_of(snapshot: Snapshot, row: int, claim: Claim) -> int:
    if claim.resource != BANDWIDTH or claim.line is None:
        raise ValueError(f"a line has no {claim.resource}")
    first = snapshot.lines.first
    return snapshot.lines.codes.index(claim.line, first.item(row), first.item(row + 1))


def _headcount(tenancy: Tenancy) -> HeadcountFact:
    return HeadcountFact(idc=tenancy.idc, tenant=tenancy.tenant, business=tenancy.business, machines=tenancy.machines)
