"""The demo's past orders: what its tenant has held on the lines in the last weeks, and mostly holds no more.

They are made up from a seed and the day of loading. Their traffic is measured on the lines as that of all other orders
is (`ordered_traffic`), so that the shapes of their businesses can be learnt from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Final
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
from django.conf import settings
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.audit.writing import write
from idcsched.framework.capacity import BANDWIDTH, Claim
from idcsched.inventory.models import Line
from idcsched.ledger.taking import Stay, claims_fade, claims_fade_begin, claims_release, claims_take
from idcsched.placement.lifecycle import Action, Move, State, next_state
from idcsched.placement.models import Event, Placement

from .documents import demo

__all__ = ["past_orders_store"]

BUSINESSES: Final = ("live-streaming", "conference", "backup")
SEED: Final = 1
ORDERS: Final = 72
FIRST_DAY, LAST_DAY = 34, 2
"""The orders came in these days before that of loading."""
WORKING_HOURS: Final = (9, 18)
MEAN_STAY: Final = timedelta(days=15)
LEAST_STAY: Final = timedelta(days=2)
CONFIRMED_AFTER: Final = timedelta(minutes=4)
MACHINE_MBPS: Final = 100.0
LEAST_SHARE, MOST_SHARE = 0.01, 0.025
"""The share of a line's purchased bandwidth that an order takes, but for one machine at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PastOrder:
    """An order of `machines` anywhere in `region`, which has stood on a line since `at`.

    It was released at `until`; None: it still holds them.
    """

    number: int
    business: str
    line: Line
    region: str
    machines: int
    at: datetime
    until: datetime | None

    @property
    def mbps(self) -> float:
        return self.machines * MACHINE_MBPS

    @property
    def claim(self) -> Claim:
        return Claim(resource=BANDWIDTH, amount=self.mbps, line=self.line.code)

    @property
    def moves(self) -> Mapping[Move, datetime]:
        """The moves of its placement, each with its time."""
        ended = {} if self.until is None else {Move.RELEASE: self.until, Move.GONE: self.until}
        return {Move.RESERVE: self.at, Move.CONFIRM: self.at + CONFIRMED_AFTER, **ended}


@write()
def past_orders_store(*, tenant: Tenant, now: datetime) -> int:
    """Write the past orders of the tenant as if they had been placed and released in time; return how many they are."""
    orders = sorted(_past_orders(now), key=lambda order: order.at)
    placements = [_placement(order, tenant) for order in orders]
    Placement.objects.bulk_create(placements)
    Event.objects.bulk_create(
        event for order, placement in zip(orders, placements, strict=True) for event in _events(order, placement)
    )
    for order, placement in zip(orders, placements, strict=True):
        _take(order, placement.pk, tenant)
    claims_fade(now=now, over_seconds=settings.BANDWIDTH_FADE.total_seconds())
    return len(orders)


def _past_orders(now: datetime) -> Iterator[_PastOrder]:
    chance = np.random.default_rng(SEED)
    zone = ZoneInfo(settings.BILLING_ZONE)
    lines, today = _lines(), now.astimezone(zone).date()
    above = {region["code"]: region.get("parent") for region in demo("regions")}
    for number in range(1, ORDERS + 1):
        line = lines[chance.integers(len(lines))]
        day = today - timedelta(days=int(chance.integers(LAST_DAY, FIRST_DAY + 1)))
        at = datetime.combine(day, time(int(chance.integers(*WORKING_HOURS)), int(chance.integers(60))), zone)
        until = at + LEAST_STAY + float(chance.exponential()) * MEAN_STAY
        share = float(chance.uniform(LEAST_SHARE, MOST_SHARE))
        yield _PastOrder(
            number=number,
            business=BUSINESSES[number % len(BUSINESSES)],
            line=line,
            region=_outermost(line.idc.region.code, above),
            machines=max(1, round(share * line.purchased_mbps / MACHINE_MBPS)),
            at=at,
            until=until if until < now else None,
        )


def _outermost(region: str, above: Mapping[str, str | None]) -> str:
    """Return the outermost region around one; `above` has what each lies in."""
    while outer := above[region]:
        region = outer
    return region


def _lines() -> list[Line]:
    """Return the lines on which the orders stand: those of the demo's IDCs without a taint."""
    codes = {idc["code"] for idc in demo("idcs")} - {taint["idc"] for taint in demo("taints")}
    lines = Line.objects.filter(idc__code__in=codes).select_related("idc__region", "isp")
    return sorted(lines, key=lambda line: (line.idc.code, line.code))


def _placement(order: _PastOrder, tenant: Tenant) -> Placement:
    idc, isp = order.line.idc, order.line.isp.code
    return Placement(
        id=uuid7(),
        tenant=tenant,
        actor="portal",
        request_id=f"past-order-{order.number}",
        action=Action.RESERVE,
        request={
            "request_id": f"past-order-{order.number}",
            "region": order.region,
            "isp": isp,
            "machines": [{"count": order.machines, "bandwidth_mbps": MACHINE_MBPS}],
            "labels": {"business": order.business},
        },
        state=State.ACTIVE if order.until is None else State.RELEASED,
        version=len(order.moves),
        idc=idc,
        lines=[{"line": order.line.code, "isp": isp, "bandwidth_mbps": order.mbps}],
        business=order.business,
        machine_count=order.machines,
        bandwidth_mbps=order.mbps,
        decision_id=uuid4(),
        created_at=order.at,
        changed_at=max(order.moves.values()),
    )


def _events(order: _PastOrder, placement: Placement) -> Iterable[Event]:
    state = None
    for version, (move, at) in enumerate(order.moves.items(), 1):
        state = next_state(state, move)
        detail: dict[str, Any] = {}
        if move == Move.RESERVE:
            detail = {"idc": order.line.idc.code, "claims": [msgspec.to_builtins(order.claim)]}
        yield Event(
            placement=placement, version=version, at=at, move=move, state=state, actor=placement.actor, detail=detail
        )


def _take(order: _PastOrder, placement: UUID, tenant: Tenant) -> None:
    """Write into the ledger what the order took, and when it gave that back."""
    idc = order.line.idc
    stay = Stay(
        placement=placement,
        idc=idc.code,
        idc_key=idc.pk,
        line_keys={order.line.code: order.line.pk},
        tenant_key=tenant.pk,
        business=order.business,
        machines=order.machines,
        claims=(order.claim,),
    )
    claims_take([stay], at=order.at)
    claims_fade_begin(placement=placement, since=order.moves[Move.CONFIRM])
    if order.until is not None:
        claims_release(
            placement=placement,
            idc=idc.code,
            tenant=tenant.code,
            business=order.business,
            machines=order.machines,
            at=order.until,
        )
