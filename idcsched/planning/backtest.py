"""Backtests: what a month would have cost if the orders of a period had been decided by another policy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from idcsched.framework.overlay import Allocation
from idcsched.framework.profile import Profile
from metrics_ingest.samples.slots import SLOTS_A_DAY

from .best_course import best_course
from .bills import monthly_costs
from .course import Course, as_done, run
from .period import Period

__all__ = ["BacktestResult", "CourseReport", "Way", "backtest", "course_report"]

IN_TEN_THOUSAND: Final = 10_000
MOST_WAYS: Final = 100


class Way(msgspec.Struct, frozen=True, kw_only=True, rename={"origin": "from", "target": "to"}):
    """How many orders, of how many Mbps in all, stand in the IDCs `to` and not in `from`; without an IDC: unplaced."""

    origin: tuple[str, ...]
    target: tuple[str, ...]
    orders: int
    mbps: float


class CourseReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the orders would have cost under one policy, and where they would stand.

    `added` is what they add to the bills of a month of 30 days, in all, by charge type, by ISP, and by the region of
    the IDC, in the period's currency. `moved`: orders that stand elsewhere than they did in truth; `ways` are the up to
    100 ways of most of them; `moved_from_first` and `ways_from_first` say the same against where the first policy puts
    the orders. `unplaced`: orders that found no place. `failed`: orders that the policy could not decide. `congested`:
    of 10,000 slots of a line, those above the purchased Mbps.
    """

    name: str
    added: float
    by_charge_type: Mapping[str, float]
    by_isp: Mapping[str, float] = {}
    by_region: Mapping[str, float] = {}
    moved: int
    ways: tuple[Way, ...] = ()
    moved_from_first: int = 0
    ways_from_first: tuple[Way, ...] = ()
    unplaced: int
    failed: int
    congested: float


class BacktestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The policies side by side, what was done in truth if anything was, and the optimum if it was asked for.

    `optimum` is the cheapest course that was found knowing all orders beforehand. `decided_by`: how many orders were
    decided by which profile in truth, where that is known. `seconds`: how long all of it took.
    """

    days: int
    orders: int
    currency: str
    without_orders: float
    done: CourseReport | None
    courses: tuple[CourseReport, ...]
    optimum: CourseReport | None = None
    decided_by: Mapping[str, int] = {}
    seconds: float | None = None


def backtest(
    period: Period,
    policies: Mapping[str, Profile],
    *,
    optimum_seconds: float = 0.0,
    progress: Callable[[], None] = lambda: None,
) -> BacktestResult:
    """Decide the orders of the period by each policy and bill the traffic that this makes.

    With `optimum_seconds` the cheapest course is searched for so long, among the places that the first policy's filters
    allow. The search begins with the cheapest of the courses that place the most orders.
    """
    everything = np.arange(len(period.tariffs))
    without = float(np.nansum(monthly_costs(period, everything, period.traffic)))
    courses = {name: run(period, policy, progress=progress) for name, policy in policies.items()}
    first_course = next(iter(courses.values()), None)
    reports = [course_report(name, course, first_course) for name, course in courses.items()]
    optimum = None
    if optimum_seconds and reports:
        first, cheapest = next(iter(policies.values())), min(reports, key=_unplaced_and_added)
        best = best_course(period, first, courses[cheapest.name], seconds=optimum_seconds)
        optimum = course_report("optimum", best)
    return BacktestResult(
        days=period.days,
        orders=len(period.orders),
        currency=period.currency,
        without_orders=round(without, 2),
        done=course_report("done", as_done(period)) if any(order.done for order in period.orders) else None,
        courses=tuple(reports),
        optimum=optimum,
        decided_by=Counter(order.profile for order in period.orders if order.profile),
    )


def _unplaced_and_added(report: CourseReport) -> tuple[int, float]:
    return report.unplaced + report.failed, report.added


def course_report(name: str, course: Course, first: Course | None = None) -> CourseReport:
    """Return the bills that the course adds, and its figures; `first` is the course that it is compared with."""
    period = course.period
    rows = np.array(sorted(course.touched), dtype=np.intp)
    added = monthly_costs(period, rows, course.traffic[rows]) - monthly_costs(period, rows, period.traffic[rows])
    amounts = dict(zip(rows.tolist(), np.nan_to_num(added).tolist(), strict=True))
    by_charge_type = _by([tariff.charge_type for tariff in period.tariffs], amounts)
    placed = _idcs(course.placed)
    ways = _ways(period, _idcs({order.code: order.done for order in period.orders}), placed)
    ways_from_first = _ways(period, _idcs(first.placed), placed) if first else ()
    purchased = np.array([tariff.purchased_mbps for tariff in period.tariffs])
    billed = course.traffic[:, period.lead * SLOTS_A_DAY :]
    return CourseReport(
        name=name,
        added=round(sum(by_charge_type.values()), 2),
        by_charge_type=by_charge_type,
        by_isp=_by(period.isps, amounts),
        by_region=_by(period.regions, amounts),
        moved=sum(way.orders for way in ways),
        ways=ways[:MOST_WAYS],
        moved_from_first=sum(way.orders for way in ways_from_first),
        ways_from_first=ways_from_first[:MOST_WAYS],
        unplaced=sum(not idcs for idcs in placed.values()),
        failed=len(course.failed),
        congested=round(IN_TEN_THOUSAND * float((billed > purchased[:, np.newaxis]).mean()), 2),
    )


def _by(names: Sequence[str], amounts: Mapping[int, float]) -> dict[str, float]:
    """Return the sums of what lines cost, by the names that the lines' rows have."""
    sums: dict[str, float] = {}
    for row, amount in amounts.items():
        sums[names[row]] = sums.get(names[row], 0.0) + amount
    return {name: round(amount, 2) for name, amount in sorted(sums.items())}


def _idcs(placed: Mapping[str, Sequence[Allocation]]) -> Mapping[str, set[str]]:
    """Return the IDCs in which each order stands, by its code."""
    return {code: {allocation.idc for allocation in allocations} for code, allocations in placed.items()}


def _ways(period: Period, before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> tuple[Way, ...]:
    """Return from where to where orders have moved, those of the most orders first; without those not decided."""
    moved: dict[tuple[tuple[str, ...], tuple[str, ...]], list[float]] = defaultdict(list)
    for order in period.orders:
        if order.code not in before or order.code not in after:
            continue
        here, there = before[order.code], after[order.code]
        if here != there:
            moved[tuple(sorted(here)), tuple(sorted(there))].append(order.request.bandwidth)
    ways = [Way(origin=here, target=there, orders=len(mbps), mbps=sum(mbps)) for (here, there), mbps in moved.items()]
    return tuple(sorted(ways, key=lambda way: (-way.orders, -way.mbps, way.origin, way.target)))
