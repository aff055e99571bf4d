"""Where the demo's past orders stand: decided one after the other, as if idcsched had run in the last weeks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from uuid_utils.compat import uuid7

from idcsched.framework.building import build_snapshot
from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.decoding import convert
from idcsched.framework.overlay import Allocation
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.request import Request
from idcsched.framework.snapshot import MetricColumn, Snapshot
from idcsched.framework.spreading import allocations_of, solve
from idcsched.planning.course import Course
from idcsched.planning.period import PastOrder, Period
from idcsched.scheduling.deciding import labels_of
from idcsched.scheduling.world import load_world
from metrics_ingest.billing.calendar import midnight
from metrics_ingest.samples.slots import Values

from .ordered_traffic import slots_with_traffic
from .past_orders import CONFIRMED_AFTER, FIRST_DAY, AskedOrder
from .source import history, line_traffic, readings_at
from .traffic import slot_of, use_of_business

__all__ = ["DecidedOrder", "course_taken", "id_of"]

LEAD: Final = 31
"""The days before those of the orders: the first order, too, sees 30 whole days of traffic."""
NO_FLOW: Final = np.zeros(HOURS_A_WEEK)
"""What is to be expected of an order in each hour of the week; what is measured of it counts instead."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecidedOrder:
    """An order that found a place: what it was decided on, and what it took."""

    asked: AskedOrder
    question: Question
    allocation: Allocation


def course_taken(orders: Sequence[AskedOrder], *, policy: Profile, tenant: str, now: datetime) -> list[DecidedOrder]:
    """Decide the orders by the policy, each given where the earlier ones stand; those that find no place are left out.

    The inventory is that of the database, which has no orders yet. Deciding writes nothing.
    """
    period = _period(orders, tenant, now)
    course, taken = Course(period), []
    for asked, order in zip(orders, period.orders, strict=True):
        question = course.question(order, policy)
        solution = solve(question)
        allocations = allocations_of(solution, tenant=tenant, business=asked.business)
        course.take(order, allocations)
        if allocations:
            (allocation,) = allocations  # one, since the orders ask for no spread
            taken.append(DecidedOrder(asked=asked, question=question, allocation=allocation))
    return taken


def id_of(at: datetime) -> UUID:
    """Return an id as it would have been made at that time, since lists show what has the latest id first."""
    return uuid7(nanoseconds=int(at.timestamp() * 1e9))


class _MeasuredPeriod(Period):
    """A period in which of each order flows what the demo measures of it, and not what is to be expected of it."""

    def flows(self, order: PastOrder, allocations: Iterable[Allocation]) -> Iterator[tuple[int, slice, Values]]:
        begin, until = (datetime.fromtimestamp(seconds, UTC) for seconds in (order.at, order.until))
        first = slot_of(self.start.timestamp())
        slots = slots_with_traffic(begin + CONFIRMED_AFTER, until, first=first, count=self.traffic.shape[1])
        use = use_of_business(order.labels["business"], first=first + slots.start, count=slots.stop - slots.start)
        for allocation in allocations:
            for claim in allocation.claims:
                if claim.line is not None:
                    yield self.lines[allocation.idc, claim.line], slots, (claim.amount * use).astype(np.float32)


def _period(orders: Sequence[AskedOrder], tenant: str, now: datetime) -> Period:
    """Return the weeks of the orders, and the month before, with what has flowed on the demo's lines by itself."""
    zone = ZoneInfo(settings.BILLING_ZONE)
    start = midnight(now.astimezone(zone).date() - timedelta(days=FIRST_DAY + LEAD), zone)
    first, until = slot_of(start.timestamp()), slot_of(now.timestamp())
    lines = list(line_traffic())
    base = build_snapshot(load_world(), id="", built_at=now.timestamp())
    return _MeasuredPeriod(
        lines={line: row for row, line in enumerate(lines)},
        tariffs=(),
        isps=(),
        regions=(),
        traffic=np.array([history(line, first=first, until=until) for line in lines]),
        start=start,
        zone=zone,
        lead=LEAD,
        orders=tuple(_order(asked, tenant, base) for asked in orders),
        fade=settings.BANDWIDTH_FADE.total_seconds(),
        currency=settings.CURRENCY,
    )


def _order(asked: AskedOrder, tenant: str, base: Snapshot) -> PastOrder:
    request = convert(asked.document, Request)
    return PastOrder(
        code=asked.code,
        at=asked.at.timestamp(),
        until=asked.until.timestamp(),
        request=request,
        labels=labels_of(request, tenant),
        flow=NO_FLOW,
        snapshot=partial(_as_of, base, asked.at),
    )


def _as_of(base: Snapshot, at: datetime) -> Snapshot:
    """Return the inventory with what the IDCs measured at that time."""
    columns = {
        code: (np.full(base.size, np.nan), np.full(base.size, np.nan))
        for code, column in base.metrics.items()
        if column.fact.scope == "idc"
    }
    for sample in readings_at(at):
        values, times = columns[sample.metric]
        row = base.idcs.row_of[sample.idc]
        values[row], times[row] = sample.value, at.timestamp()
    measured = {
        code: MetricColumn(fact=base.metrics[code].fact, values=values, at=times)
        for code, (values, times) in columns.items()
    }
    return replace(base, id=str(id_of(at)), built_at=at.timestamp(), metrics={**base.metrics, **measured})
