"""Backtests: what a month would have cost if the orders of a period had been decided by another policy."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from idcsched.framework.profile import Profile
from metrics_ingest.samples.slots import SLOTS_A_DAY

from .best_course import best_course
from .bills import monthly_costs
from .course import Course, as_done, run
from .period import Period

__all__ = ["BacktestResult", "CourseReport", "backtest", "course_report"]

IN_TEN_THOUSAND = 10_000


class CourseReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one policy would have made of the orders.

    `added` is what they add to the bills of a month of 30 days, in all and by charge type, in the period's currency.
    `moved`: orders that stand elsewhere than they did in truth. `unplaced`: orders that found no place. `failed`:
    orders that the policy could not decide. `congested`: of 10,000 slots of a line, those above the purchased Mbps.
    """

    name: str
    added: float
    by_charge_type: Mapping[str, float]
    moved: int
    unplaced: int
    failed: int
    congested: float


class BacktestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The policies side by side, what was done in truth if anything was, and the optimum if it was asked for.

    `optimum` is the cheapest course that was found knowing all orders beforehand.
    """

    days: int
    orders: int
    currency: str
    without_orders: float
    done: CourseReport | None
    courses: tuple[CourseReport, ...]
    optimum: CourseReport | None = None


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
    reports = [course_report(name, course) for name, course in courses.items()]
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
    )


def _unplaced_and_added(report: CourseReport) -> tuple[int, float]:
    return report.unplaced + report.failed, report.added


def course_report(name: str, course: Course) -> CourseReport:
    """Return the bills that the course adds, and its figures."""
    period = course.period
    rows = np.array(sorted(course.touched), dtype=np.intp)
    added = monthly_costs(period, rows, course.traffic[rows]) - monthly_costs(period, rows, period.traffic[rows])
    by_type: dict[str, float] = {}
    for row, amount in zip(rows.tolist(), np.nan_to_num(added).tolist(), strict=True):
        charge_type = period.tariffs[row].charge_type
        by_type[charge_type] = by_type.get(charge_type, 0.0) + amount
    shown = {charge_type: round(amount, 2) for charge_type, amount in sorted(by_type.items())}
    done = {order.code: {tenancy.idc for tenancy in order.done} for order in period.orders}
    placed = {code: {tenancy.idc for tenancy in tenancies} for code, tenancies in course.placed.items()}
    purchased = np.array([tariff.purchased_mbps for tariff in period.tariffs])
    billed = course.traffic[:, period.lead * SLOTS_A_DAY :]
    return CourseReport(
        name=name,
        added=round(sum(shown.values()), 2),
        by_charge_type=shown,
        moved=sum(placed[code] != done[code] for code in placed),
        unplaced=sum(not idcs for idcs in placed.values()),
        failed=len(course.failed),
        congested=round(IN_TEN_THOUSAND * float((billed > purchased[:, np.newaxis]).mean()), 2),
    )
