"""Placements and callbacks that a caller may see, and the orders whose traffic lines carry."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from django.conf import settings
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from idcsched.accounts.roles import Principal
from idcsched.framework.normalize import DECIMALS
from idcsched.ledger.models import Claim

from .lifecycle import HOLDING
from .models import Delivery, Placement

__all__ = [
    "OrderOnLine",
    "PlacementTotals",
    "Standing",
    "deliveries_visible",
    "orders_on_lines",
    "placements_totals",
    "placements_visible",
    "standing_in",
]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What stands somewhere now."""

    orders: int
    machines: int
    bandwidth_mbps: float


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """`per_month` is the sum of what each order, as it was decided, adds to the bandwidth bill of a month; of
    `without_bill` of them that is not known."""

    placements: int
    machines: int
    bandwidth_mbps: float
    per_month: float
    without_bill: int


class IdcTotals(Totals, frozen=True, kw_only=True):
    """The totals of one IDC; null: of placements that stand nowhere."""

    idc: str | None


class PlacementTotals(Totals, frozen=True, kw_only=True):
    """The totals of some placements, in all and in each IDC, the dearest first."""

    currency: str
    idcs: tuple[IdcTotals, ...]


def placements_visible(principal: Principal) -> QuerySet[Placement]:
    """Return the placements that the caller may see: callers who are bound to a tenant see those of their tenant."""
    placements = Placement.objects.all()
    return placements if principal.all_tenants else placements.filter(tenant__code=principal.tenant)


def standing_in(idcs: Iterable[int], principal: Principal) -> Standing:
    """Return what holds capacity in some IDCs, by their primary keys, as far as the caller may see it."""
    there = placements_visible(principal).filter(idc__in=list(idcs), state__in=sorted(HOLDING)).order_by()
    sums = there.aggregate(orders=Count("pk"), machines=Sum("machine_count"), mbps=Sum("bandwidth_mbps"))
    return Standing(orders=sums["orders"], machines=sums["machines"] or 0, bandwidth_mbps=sums["mbps"] or 0.0)


def deliveries_visible(principal: Principal) -> QuerySet[Delivery]:
    """Return the callbacks of the placements that the caller may see."""
    deliveries = Delivery.objects.all()
    return deliveries if principal.all_tenants else deliveries.filter(placement__tenant__code=principal.tenant)


def placements_totals(placements: QuerySet[Placement]) -> PlacementTotals:
    """Return what the placements are together, and in each IDC, in one query."""
    rows = (
        placements.order_by()
        .values("idc__code")
        .annotate(
            placements=Count("pk"),
            machines=Sum("machine_count"),
            mbps=Sum("bandwidth_mbps"),
            amount=Sum("bill_per_month"),
            billed=Count("bill_per_month"),
        )
    )
    idcs = [
        IdcTotals(
            idc=row["idc__code"],
            placements=row["placements"],
            machines=row["machines"],
            bandwidth_mbps=round(row["mbps"], DECIMALS),
            per_month=round(row["amount"] or 0.0, 2),
            without_bill=row["placements"] - row["billed"],
        )
        for row in rows
    ]
    return PlacementTotals(
        currency=settings.CURRENCY,
        placements=sum(idc.placements for idc in idcs),
        machines=sum(idc.machines for idc in idcs),
        bandwidth_mbps=round(sum(idc.bandwidth_mbps for idc in idcs), DECIMALS),
        per_month=round(sum(idc.per_month for idc in idcs), 2),
        without_bill=sum(idc.without_bill for idc in idcs),
        idcs=tuple(sorted(idcs, key=lambda idc: (-idc.per_month, idc.idc or ""))),
    )


class OrderOnLine(NamedTuple):
    """What an order holds of a line, and how long traffic has flowed for it: `since` and, if it was released, `until`.

    `line` and `tenant` are primary keys; `tenant` is None where the placement is no longer on record.
    """

    line: int
    tenant: int | None
    business: str
    since: datetime
    until: datetime | None
    mbps: float


def orders_on_lines(*, start: datetime, end: datetime) -> Iterator[OrderOnLine]:
    """Yield the orders whose traffic lines carried at some time between `start` and `end`, as they were claimed.

    An order carries traffic from when its machines are up, which is when its claim began to fade, until it is released.
    """
    placement = Placement.objects.filter(pk=OuterRef("placement"))
    carrying = Claim.objects.filter(holding__line__isnull=False, fading_since__lt=end)
    carrying = carrying.filter(Q(released_at__isnull=True) | Q(released_at__gt=start))
    rows: Iterator[tuple[Any, ...]] = (
        carrying.order_by("id")
        .annotate(
            tenant=Subquery(placement.values("tenant_id")[:1]), business=Subquery(placement.values("business")[:1])
        )
        .values_list("holding__line_id", "tenant", "business", "fading_since", "released_at", "amount")
        .iterator(chunk_size=5000)
    )
    for line, tenant, business, since, until, mbps in rows:
        yield OrderOnLine(line, tenant, business or "", since, until, mbps)
