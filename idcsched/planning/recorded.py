"""The last days as a period: the traffic that was measured, and the orders that were placed, with their records."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from django.db.models import QuerySet

from idcsched.framework.capacity import Claim
from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.overlay import Allocation
from idcsched.framework.recording import Inputs
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.models import Line
from idcsched.ledger.models import Claim as LedgerClaim
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision
from idcsched.scheduling.replay import recorded_inputs
from metrics_ingest.billing.calendar import midnight
from metrics_ingest.billing.charges import Tariff
from metrics_ingest.builtin import BANDWIDTH
from metrics_ingest.models import Metric
from metrics_ingest.samples.checking import KEPT
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, Values, slots_between, utc_midnight
from metrics_ingest.samples.storage import history_read

from .period import PastOrder, Period

__all__ = ["MOST_DAYS", "recorded_period"]

MOST_DAYS: Final = KEPT.days - 1
"""Measurements are kept for 40 days, the first of which is not whole."""
MOST_LEAD: Final = 30
BATCH: Final = 250
"""The lines whose measurements are read together."""


def recorded_period(*, days: int, now: datetime, decisions: QuerySet[Decision]) -> Period:
    """Return the last `days` whole days, with the orders that came of those decisions and still have their records.

    Other orders, and those of which no record is left, are a part of the traffic. Raises Invalid without any order.
    """
    zone = ZoneInfo(settings.BILLING_ZONE)
    lead = min(MOST_LEAD, MOST_DAYS - days)
    today = now.astimezone(zone).date()
    start = midnight(today - timedelta(days=days + lead), zone)
    lines = list(Line.objects.select_related("idc__region", "isp").order_by("id"))
    period = Period(
        lines={(line.idc.code, line.code): row for row, line in enumerate(lines)},
        tariffs=tuple(_tariff(line) for line in lines),
        isps=tuple(line.isp.code for line in lines),
        regions=tuple(line.idc.region.code for line in lines),
        traffic=_measured(lines, start, (days + lead) * SLOTS_A_DAY),
        start=start,
        zone=zone,
        lead=lead,
        orders=tuple(_orders(decisions, midnight(today - timedelta(days=days), zone), midnight(today, zone))),
        fade=settings.BANDWIDTH_FADE.total_seconds(),
        currency=settings.CURRENCY,
    )
    if not period.orders:
        raise Invalid("nothing_to_test", _("no order of these days that was placed has a record"), "/days")
    for order in period.orders:
        for row, slots, mbps in period.flows(order, order.done):
            period.traffic[row, slots] = np.maximum(period.traffic[row, slots] - mbps, 0.0)
    return period


def _tariff(line: Line) -> Tariff:
    return Tariff(
        charge_type=line.charge_type,
        purchased_mbps=line.purchased_mbps,
        commit_mbps=line.commit_mbps,
        price_per_mbps=line.price_per_mbps,
        price_per_gb=line.price_per_gb,
    )


def _measured(lines: Sequence[Line], start: datetime, slots: int) -> Values:
    """Return the measurements of the lines, which are sorted by key, from `start` on."""
    metric = Metric.objects.values_list("pk", flat=True).get(code=BANDWIDTH)
    first = start.date()
    days = (start + slots * SLOT).date().toordinal() - first.toordinal() + 1
    offset = slots_between(utc_midnight(first), start)
    ids = np.array([line.pk for line in lines], dtype=np.int64)
    measured = np.empty((len(lines), slots), dtype=np.float32)
    for batch in range(0, len(lines), BATCH):
        values = history_read(metric, ids[batch : batch + BATCH], first, days)
        measured[batch : batch + BATCH] = values[:, offset : offset + slots]
    return measured


def _orders(decisions: QuerySet[Decision], since: datetime, until: datetime) -> Iterator[PastOrder]:
    """Yield the orders that came of the decisions of that time, in their sequence."""
    placed = decisions.filter(placement__isnull=False, inputs__isnull=False, created_at__range=(since, until))
    taken = _taken(placed, until)
    for decision in placed.order_by("created_at", "id").iterator(chunk_size=200):
        if decision.pk not in taken:
            continue  # what it held was never claimed, or is not of this installation
        allocations, ends = taken[decision.pk]
        inputs = recorded_inputs(decision)
        yield PastOrder(
            code=str(decision.pk),
            at=decision.created_at.timestamp(),
            until=ends,
            request=inputs.request,
            labels=inputs.labels,
            flow=_flow(inputs),
            snapshot=_Recorded(decision.pk),
            replies=inputs.replies_by_entry(),
            done=allocations,
            profile=decision.profile,
        )


class _Recorded:
    """The snapshot that a decision was made on, read when it is asked for."""

    def __init__(self, key: UUID) -> None:
        self._key = key

    def __call__(self) -> Snapshot:
        return recorded_inputs(Decision.objects.get(pk=self._key)).snapshot()


def _flow(inputs: Inputs) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the parts of the ordered Mbps that flow in the hours of a week: all of it where no shape was known."""
    known = {} if inputs.shape is None else {(inputs.shape.tenant, inputs.shape.business): inputs.shape}
    hours = order_shape(inputs.request, inputs.labels, known).hours
    return np.ones(HOURS_A_WEEK) if hours is None else hours


def _taken(decisions: QuerySet[Decision], until: datetime) -> Mapping[UUID, tuple[tuple[Allocation, ...], float]]:
    """Return what each decision's placements took, and until when the last of them held it."""
    placements = {
        row["id"]: row
        for row in Placement.objects.filter(decision_id__in=decisions.values("pk"))
        .order_by("id")
        .values("id", "decision_id", "tenant__code", "business", "machine_count", "idc__code")
    }
    claims: dict[UUID, list[Claim]] = defaultdict(list)
    ends: dict[UUID, float] = {}
    rows = LedgerClaim.objects.filter(placement__in=placements).order_by("id")
    for placement, amount, resource, line, released in rows.values_list(
        "placement", "amount", "holding__resource", "holding__line__code", "released_at"
    ):
        claims[placement].append(Claim(resource=resource, amount=amount, line=line))
        decision = placements[placement]["decision_id"]
        ends[decision] = max(ends.get(decision, 0.0), (released or until).timestamp())
    taken: dict[UUID, tuple[Allocation, ...]] = defaultdict(tuple)
    for key, row in placements.items():
        if key in claims:
            taken[row["decision_id"]] += (
                Allocation(
                    idc=row["idc__code"],
                    claims=tuple(claims[key]),
                    tenant=row["tenant__code"],
                    business=row["business"],
                    machines=row["machine_count"],
                ),
            )
    return {decision: (allocations, ends[decision]) for decision, allocations in taken.items()}
