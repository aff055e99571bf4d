"""What an order adds to the bills of a snapshot's lines: by the formula of `billing`, by their last 30 days, and, where
little of these is known, by the week that they make up."""

import numpy as np

from .billing import FREE, MEAN_OF_PEAK, SCARCITY, AddedBill, added_bill
from .facts import History
from .labels import Rows
from .lines import NO_LINE
from .monthly_bill import HOURS_A_MONTH, OrderBills, Tariffs, order_bills
from .normalize import Floats
from .snapshot import HOURS_A_WEEK, Lines

__all__ = ["billable_share", "exact_line_bills", "line_bills", "weekly_line_bills"]


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


def exact_line_bills(
    lines: Lines, history: History | None, chosen: Rows, need: float, shape: Floats | None
) -> OrderBills:
    """Return the bills of the last 30 days of each chosen line, without and with `need` Mbps of that shape.

    By volume, what is pending and an order of unknown shape flow at the mean that is assumed of orders.
    """
    return _bills_of(_hours(history, chosen), lines, history, chosen, need, shape)


def weekly_line_bills(
    lines: Lines, history: History | None, chosen: Rows, need: float, shape: Floats | None
) -> OrderBills:
    """Return the same for a month that repeats the mean week of what is known of the last 30 days."""
    hours = _hours(history, chosen)
    weeks = -(-HOURS_A_MONTH // HOURS_A_WEEK)
    padding = np.full((len(hours), weeks * HOURS_A_WEEK - HOURS_A_MONTH), np.nan)
    by_week = np.hstack([hours, padding]).reshape(-1, weeks, HOURS_A_WEEK)
    known = np.count_nonzero(~np.isnan(by_week), axis=1)
    means = np.where(known > 0, np.nansum(by_week, axis=1) / np.maximum(known, 1), np.nan)
    return _bills_of(np.tile(means, weeks)[:, :HOURS_A_MONTH], lines, history, chosen, need, shape)


def _hours(history: History | None, chosen: Rows) -> Floats:
    if history is None:
        return np.full((chosen.size, HOURS_A_MONTH), np.nan)
    hours: Floats = np.where((chosen != NO_LINE)[:, np.newaxis], history.hours[chosen], np.nan)
    return hours


def _bills_of(
    hours: Floats, lines: Lines, history: History | None, chosen: Rows, need: float, shape: Floats | None
) -> OrderBills:
    flows = np.where(lines.by_volume[chosen], MEAN_OF_PEAK, 1.0)
    return order_bills(
        hours,
        Tariffs(
            charge_types=np.array([lines.charge_types[line] for line in chosen.tolist()], dtype=np.str_),
            purchased=lines.purchased[chosen],
            commit=lines.commit[chosen],
            price_per_mbps=lines.price_per_mbps[chosen],
            price_per_gb=lines.price_per_gb[chosen],
        ),
        need * flows if shape is None else need,
        shape,
        weekday=history.weekday if history else 0,
        pending=flows * (lines.load[chosen] - lines.used[chosen]),
    )


def billable_share(lines: Lines, chosen: Rows, shape: Floats | None) -> Floats:
    """Return the part of an order that each line would bill if it had no commit, by the order's 168 hours.

    That is what flows in the line's busiest hours, all of it where these or the order's hours are not known. By volume
    it is the mean, as a multiple of the mean that the line's price per Mbps is for.
    """
    if shape is None:
        return np.ones(chosen.size)
    busiest = lines.busiest_of(chosen)
    hours = busiest.sum(axis=1)
    in_busiest = np.where(hours > 0, (busiest @ shape) / np.maximum(hours, 1), 1.0)
    return np.where(lines.by_volume[chosen], shape.mean() / MEAN_OF_PEAK, in_busiest)
