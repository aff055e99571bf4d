"""Made-up traffic and orders of known shapes, as the database holds them after some weeks."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import uuid4

import numpy as np

from idcsched.accounts.models import Tenant
from idcsched.demo.traffic import SHAPES
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.ledger.models import Claim, Holding
from idcsched.placement.models import Placement
from metrics_ingest.models import Metric
from metrics_ingest.services import history_store

__all__ = ["BusinessOrders", "history_make", "week"]

ZONE_HOURS = 8
"""Hours of the billing zone, Asia/Shanghai, before UTC."""
BusinessOrders = Mapping[tuple[str, str], Sequence[str]]
"""The shapes of a tenant's business, one order after the other."""


def week(name: str) -> np.ndarray:
    """Return one of the demo's shapes at the 168 hours of a week."""
    hours = np.array([*SHAPES[name].weekday * 5, *SHAPES[name].weekend * 2])
    return hours / hours.max()


def history_make(
    orders: BusinessOrders, *, now: datetime, days: int = 30, lines: int = 12, each: int = 30, mbps: float = 300.0
) -> None:
    """Write lines with traffic of their own, and on them `each` orders of every business, which come and mostly go."""
    chance = np.random.default_rng(5)
    start = now - timedelta(days=days)
    local = [start + timedelta(hours=hour + ZONE_HOURS) for hour in range(24 * days)]
    hours_of_week = np.array([at.weekday() * 24 + at.hour for at in local])
    traffic = chance.uniform(1500, 3000, (lines, 1)) * week("office")[hours_of_week]
    rows = _lines(lines)
    holdings = Holding.objects.bulk_create(Holding(idc=line.idc, line=line, resource="bandwidth_mbps") for line in rows)
    placements, claims = [], []
    for (tenant, business), shapes in orders.items():
        owner, _ = Tenant.objects.get_or_create(code=tenant)
        for number in range(each):
            row, begin = int(chance.integers(lines)), int(chance.integers(-48, 24 * days))
            end = begin + int(chance.exponential(24 * 20)) + 24
            shape = week(shapes[number % len(shapes)])
            stay = slice(max(begin, 0), min(end, 24 * days))
            traffic[row, stay] += 0.7 * mbps * shape[hours_of_week[stay]]
            placement = _placement(owner, business, rows[row], start + timedelta(hours=begin))
            claim = Claim(placement=placement.pk, holding=holdings[row], amount=mbps, remaining=0.0, taken_after=mbps)
            claim.created_at, claim.fading_since = placement.created_at, placement.created_at
            claim.released_at = start + timedelta(hours=end) if end < 24 * days else None
            placements.append(placement)
            claims.append(claim)
    Placement.objects.bulk_create(placements)
    Claim.objects.bulk_create(claims)
    metric = Metric.objects.get(code="bandwidth_mbps")
    traffic = np.repeat(traffic, 12, axis=1) * (1 + chance.normal(0, 0.03, (lines, 24 * days * 12)))
    for line, values in zip(rows, traffic, strict=True):
        history_store(metric=metric, idc=line.idc, line=line, start=start, values=values)


def _lines(count: int) -> list[Line]:
    region_create(code="A")
    isp_create(code="ct")
    for number in range(count):
        lines = [{"isp": "ct", "purchased_mbps": 20000, "price_per_mbps": 20}]
        idc_create(code=f"idc-{number}", region="A", lines=lines)
    return list(Line.objects.select_related("idc").order_by("id"))


def _placement(tenant: Tenant, business: str, line: Line, at: datetime) -> Placement:
    return Placement(
        tenant=tenant,
        business=business,
        action="reserve",
        request={},
        state="active",
        idc=line.idc,
        decision_id=uuid4(),
        created_at=at,
    )
