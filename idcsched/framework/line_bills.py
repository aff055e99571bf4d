"""What an order adds to the bills of a snapshot's lines: by the formula of `billing`, and by their last 30 days or,
where little of these is known, by the week that they make up."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .billing import FREE, MEAN_OF_PEAK, SCARCITY, AddedBill, added_bill
from .columns import HOURS_A_WEEK
from .context import Cycle
from .labels import Rows
from .lines import NO_LINE
from .monthly_bill import (
    EXACT,
    HOURS_A_MONTH,
    NOT_ASKED,
    WEEKLY,
    MonthBills,
    MonthFigures,
    OrderBills,
    Tariffs,
    order_bills,
)
from .normalize import Floats
from .snapshot import Lines

__all__ = ["billable_share", "line_bills", "months_with"]


def line_bills(
    lines: Lines, chosen: Rows, need: float, shape: Floats | None, *, free: float = FREE, scarcity: float = SCARCITY
) -> AddedBill:
    """Return what `need` Mbps of that shape add to the bill of each chosen line; NaN where there is none."""
    return added_bill(
        need,
        billable_share(lines, chosen, shape),
        price=np.where(chosen == NO_LINE, np.nan, lines.price[chosen]),
        load=lines.load[chosen],
        paid=lines.paid[chosen],
        purchased=lines.purchased[chosen],
        flat_rate=lines.flat_rate[chosen],
        free=free,
        scarcity=scarcity,
    )


def months_with(ctx: Cycle, chosen: Rows) -> MonthBills:
    """Return the bill of a month of each chosen line, without the request and with it.

    It is that of the line's last 30 days; where less than two weeks of these are known, that of a month which repeats
    the mean week of what is known. By volume, what is pending and a request of unknown shape flow at the mean that is
    assumed of orders. What was worked out before in the same decision is not worked out again.
    """
    lines, history = ctx.snapshot.lines, ctx.snapshot.history
    months = ctx.months.get(ctx.need) or ctx.months.setdefault(ctx.need, MonthBills.of_lines(len(lines.codes)))
    asked = chosen[(chosen != NO_LINE) & (months.method[chosen] == NOT_ASKED)]
    if history is None or not asked.size:
        return months.take(chosen)
    bills = _order_bills(ctx, asked, history.hours, history.figures, asked)
    unknown = np.isnan(bills.with_order)
    short = unknown & (history.figures.known_hours[asked] > 0)
    if short.any():
        weeks = _repeated_weeks(history.hours[asked[short]])
        weekly = _order_bills(ctx, asked[short], weeks, MonthFigures.of(weeks), np.arange(len(weeks)))
        bills.without[short], bills.with_order[short] = weekly.without, weekly.with_order
    months.put(asked, np.where(unknown, WEEKLY, EXACT), bills)
    return months.take(chosen)


def _order_bills(
    ctx: Cycle, chosen: Rows, hours: npt.NDArray[np.floating[Any]], figures: MonthFigures, of: Rows
) -> OrderBills:
    lines, history = ctx.snapshot.lines, ctx.snapshot.history
    flows = np.where(lines.by_volume[chosen], MEAN_OF_PEAK, 1.0)
    return order_bills(
        hours,
        figures,
        of,
        Tariffs.of(lines, chosen),
        ctx.need * flows if ctx.shape.hours is None else ctx.need,
        ctx.shape.hours,
        weekday=history.weekday if history else 0,
        pending=flows * (lines.load[chosen] - lines.used[chosen]),
    )


def _repeated_weeks(hours: npt.NDArray[np.floating[Any]]) -> Floats:
    """Return, for each line, a month that repeats the mean week of its known hours."""
    weeks = -(-HOURS_A_MONTH // HOURS_A_WEEK)
    padding = np.full((len(hours), weeks * HOURS_A_WEEK - HOURS_A_MONTH), np.nan)
    by_week = np.hstack([hours, padding]).reshape(-1, weeks, HOURS_A_WEEK)
    known = np.count_nonzero(~np.isnan(by_week), axis=1)
    means = np.where(known > 0, np.nansum(by_week, axis=1) / np.maximum(known, 1), np.nan)
    return np.tile(means, weeks)[:, :HOURS_A_MONTH]


def billable_share(lines: Lines, chosen: Rows, shape: Floats | None) -> Floats:
    """Return the part of an order that each line would bill if it had no commit, by the order's 168 hours.

    That is what flows in the line's busiest hours, all of it where these or the order's hours are not known. By volume
    it is the mean, as a multiple of the mean that the line's price per Mbps is for.
    """
    if shape is None:
        return np.ones(chosen.size)
    busiest = lines.busiest_of(chosen).astype(np.float64)
    hours = busiest.sum(axis=1)
    in_busiest = np.where(hours > 0, (busiest @ shape) / np.maximum(hours, 1), 1.0)
    return np.where(lines.by_volume[chosen], shape.mean() / MEAN_OF_PEAK, in_busiest)
