"""The course of a period under one policy: its orders decided in sequence, each given where the earlier ones stand."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from django.conf import settings

from idcsched.framework.building import busiest_hours, lines_with_room, stock_with_left
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.columns import HOURS_A_WEEK
from idcsched.framework.errors import IdcschedError
from idcsched.framework.facts import HeadcountFact, History
from idcsched.framework.labels import Rows
from idcsched.framework.monthly_bill import HOURS_A_MONTH
from idcsched.framework.overlay import Allocation
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.snapshot import Headcounts, Lines, Snapshot
from idcsched.framework.spreading import allocations_of, solve
from metrics_ingest.billing.figures import hour_means, measured_of_days
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, SLOTS_AN_HOUR, Values

from .holdings import Holdings, Key
from .period import PastOrder, Period

__all__ = ["Course", "as_done", "run"]

HOURS_A_DAY = 24


class Course:
    """Where the orders of a period stand, and the traffic that this makes.

    `placed` has what each order took, by its code; empty: it found no place. `failed` names those that could not be
    decided, since the policy does not know a scorer that they name or would ask an outside service. `touched` are the
    rows of the lines on which any stood.
    """

    def __init__(self, period: Period) -> None:
        self.period = period
        self.traffic: Values = period.traffic.copy()
        self.placed: dict[str, tuple[Allocation, ...]] = {}
        self.failed: set[str] = set()
        self.touched: set[int] = set()
        self._here, self._truth = _Allocations(), _Allocations()
        for order in period.orders:
            self._truth.add(order, order.done)
        self._history: tuple[int, History] | None = None
        """What the lines carried in the 30 days before a day, with the number of that day."""

    def take(self, order: PastOrder, allocations: Iterable[Allocation]) -> None:
        """Let the order stand where the allocations say, and its traffic flow there."""
        taken = self.placed[order.code] = tuple(allocations)
        self._here.add(order, taken)
        for row, slots, mbps in self.period.flows(order, taken):
            self.traffic[row, slots] += mbps
            self.touched.add(row)
            if self._history is not None and slots.start < self._history[0] * SLOTS_A_DAY:
                self._history = None

    def question(self, order: PastOrder, policy: Profile) -> Question:
        """Return what the order asks when it comes, if the earlier ones stood as they do here."""
        return Question(
            order.request,
            self.seen_by(order),
            policy,
            now=order.at,
            reference=order.code,
            labels=order.labels,
            replies=order.replies,
        )

    def seen_by(self, order: PastOrder) -> Snapshot:
        """Return what would be known when the order comes, if the earlier ones stood as they do here."""
        snapshot = order.snapshot()
        rows = _rows(self.period, snapshot)
        lines, bandwidth = self._lines(order, snapshot, rows), snapshot.metrics[BANDWIDTH]
        latest = np.where(rows >= 0, self._last(rows, order.at, 1)[:, 0], bandwidth.values)
        measured = replace(bandwidth, values=latest, at=np.where(np.isnan(latest), np.nan, order.at))
        taken = {name: column.copy() for name, column in snapshot.stock.taken.items()}
        for (idc, resource), amount in _difference(self._here.stock, self._truth.stock, order.at).items():
            if idc in snapshot.idcs.row_of:
                taken[resource][snapshot.idcs.row_of[idc]] += amount
        return replace(
            snapshot,
            metrics={**snapshot.metrics, BANDWIDTH: measured},
            lines=lines_with_room(lines, measured, snapshot.usage),
            history=self._history_at(rows, order.at),
            stock=stock_with_left(snapshot.stock.total, taken),
            headcounts=Headcounts(tuple(self._headcounts(order, snapshot))),
        )

    def _lines(self, order: PastOrder, snapshot: Snapshot, rows: Rows) -> Lines:
        """Return the lines with the figures that their traffic makes, and with what the orders hold of them."""
        lines, known = snapshot.lines, rows >= 0
        week = settings.BANDWIDTH_WINDOW // SLOT
        percentile, _ = percentile_95(self._last(rows, order.at, week))
        hour = self.period.slot(order.at) // SLOTS_AN_HOUR
        until = int(self.period.hour_of_slot[min(hour * SLOTS_AN_HOUR, self.period.hour_of_slot.size - 1)])
        hours = np.roll(self._hours(rows, hour, HOURS_A_WEEK), until, axis=1)
        pending, ordered = lines.pending.copy(), lines.ordered.copy()
        pending[known] = ordered[known] = 0.0
        position = {row: line for line, row in enumerate(rows.tolist()) if row >= 0}
        held, fresh = self._here.lines.at(order.at), self._here.lines.fading(order.at, self.period.fade)
        for amounts, column in ((held, ordered), (fresh, pending)):
            for key, amount in amounts.items():
                line = position.get(self.period.lines.get(key, -1))
                if line is not None:
                    column[line] = amount
        return replace(
            lines,
            percentile=np.where(known, percentile, lines.percentile),
            busy_bits=np.where(known[:, np.newaxis], busiest_hours(hours), lines.busy_bits),
            pending=pending,
            ordered=ordered,
        )

    def _history_at(self, rows: Rows, at: float) -> History:
        """Return the last 30 whole days by the hour, which are the same for all orders of a day."""
        day = self.period.slot(at) // SLOTS_A_DAY
        if self._history is None or self._history[0] != day:
            self._history = day, self._history_before(day)
        return self._history[1].of_lines(rows)

    def _history_before(self, day: int) -> History:
        """Return the 30 days before a day, of all lines of the period and then of one that it does not have."""
        rows = np.append(np.arange(len(self.traffic)), -1)
        days = self._window(rows, day * SLOTS_A_DAY, HOURS_A_MONTH * SLOTS_AN_HOUR)
        first = int(self.period.hour_of_slot[0]) // HOURS_A_DAY
        weekday = (first + day - HOURS_A_MONTH // HOURS_A_DAY) % 7
        return History(hours=hour_means(days), weekday=weekday, measured=measured_of_days(days))

    def _hours(self, rows: Rows, until: int, count: int) -> Values:
        """Return the means of the `count` hours before an hour, counted from the period's start."""
        return hour_means(self._window(rows, until * SLOTS_AN_HOUR, count * SLOTS_AN_HOUR))

    def _last(self, rows: Rows, at: float, count: int) -> Values:
        """Return the last `count` values before a time."""
        return self._window(rows, self.period.slot(at), count)

    def _window(self, rows: Rows, end: int, count: int) -> Values:
        """Return the `count` slots before a slot; NaN before the period, and of lines (row −1) that are not in it."""
        window = np.full((rows.size, count), np.nan, dtype=np.float32)
        known, first = rows >= 0, max(0, end - count)
        window[known, count - (end - first) :] = self.traffic[rows[known], first:end]
        return window

    def _headcounts(self, order: PastOrder, snapshot: Snapshot) -> Iterable[HeadcountFact]:
        machines = Counter(
            {(fact.idc, fact.tenant, fact.business): fact.machines for fact in snapshot.headcounts.facts}
        )
        for key, count in _difference(self._here.machines, self._truth.machines, order.at).items():
            machines[key] += round(count)
        for (idc, tenant, business), count in machines.items():
            if count > 0 and idc in snapshot.idcs.row_of:
                yield HeadcountFact(idc=idc, tenant=tenant, business=business, machines=count)


class _Allocations:
    """What orders hold: Mbps of an IDC's lines, its stock by resource, and machines there by tenant and business."""

    def __init__(self) -> None:
        self.lines = Holdings[tuple[str, str]]()
        self.stock = Holdings[tuple[str, str]]()
        self.machines = Holdings[tuple[str, str, str]]()

    def add(self, order: PastOrder, allocations: Iterable[Allocation]) -> None:
        since, until = order.at, order.until
        for allocation in allocations:
            idc, claims = allocation.idc, allocation.claims
            on_lines = [((idc, claim.line), claim.amount) for claim in claims if claim.line is not None]
            of_stock = [((idc, claim.resource), claim.amount) for claim in claims if claim.line is None]
            machines = ((idc, allocation.tenant, allocation.business), allocation.machines)
            self.lines.add(on_lines, since=since, until=until)
            self.stock.add(of_stock, since=since, until=until)
            self.machines.add([machines], since=since, until=until)


def _difference(here: Holdings[Key], truth: Holdings[Key], at: float) -> Mapping[Key, float]:
    """Return what the earlier orders hold here less what they held in truth, which is what the snapshot has."""
    held, held_in_truth = here.at(at), truth.at(at, with_newest=False)
    return {key: held.get(key, 0.0) - held_in_truth.get(key, 0.0) for key in {**held, **held_in_truth}}


def run(period: Period, policy: Profile, *, progress: Callable[[], None] = lambda: None) -> Course:
    """Decide the orders of the period by the policy; `progress` is called after each."""
    course = Course(period)
    for order in period.orders:
        try:
            solution = solve(course.question(order, policy))
            tenant, business = order.labels.get("tenant", ""), order.labels.get("business", "")
            course.take(order, allocations_of(solution, tenant=tenant, business=business))
        except IdcschedError:
            course.failed.add(order.code)
        progress()
    return course


def as_done(period: Period) -> Course:
    """Return the course that was taken in truth."""
    course = Course(period)
    for order in period.orders:
        course.take(order, order.done)
    return course


def _rows(period: Period, snapshot: Snapshot) -> Rows:
    """Return the row in the period of each line of the snapshot; −1: the period does not have it."""
    codes, lines = snapshot.idcs.codes, snapshot.lines
    pairs = zip(lines.idc.tolist(), lines.codes, strict=True)
    return np.array([period.lines.get((codes[idc], line), -1) for idc, line in pairs], dtype=np.intp)
