"""Monthly bills: what a month on a line costs with and without an order, from the line's last 30 whole days.

The rules are those of real bills (`metrics_ingest.billing`), with hourly means in place of 5-minute values. A month has
30 days. Prices of the daily types are per Mbps and day, that of volume per GB, the others per Mbps and month. What is
billed is the measured figure or the commit, whichever is larger:

- `p95_month`: of n known hours the one at index n // 20 in descending order; of 720 the highest 36 are dropped.
- `fourth_peak_month`: the fourth-highest daily peak; a day's peak is its highest hour.
- `enhanced_95`: the mean of the five highest daily peaks. A real bill takes each day's 5th-highest value; the highest
  hour has twelve of them, so that by the hour this is the highest hour.
- `daily_peak`: the peak of each day, compared with the commit day by day.
- `daily_peak_average`: the mean of the daily peaks, for each day.
- `volume`: the mean, all month long. `fixed`: what was purchased, whatever flows; there is no commit.

Traffic that is uneven within an hour has higher peaks on the real bill than here: a line that is billed by peaks may
have used up its commit although by the hour it has not. Gaps are left out, and a day without values is billed like the
mean of the others; a real bill has the commit for it under `daily_peak`, which the days to come will not cost.

Days begin at midnight in the billing zone, as on real bills. If clocks were changed within the 30 days, the hours
before the change count as one hour earlier or later than they were.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .billing import DAYS_A_MONTH
from .normalize import Floats, rounded

__all__ = ["HOURS_A_MONTH", "LEAST_HOURS", "OrderBills", "Tariffs", "monthly_bills", "order_bills"]

HOURS_A_DAY = 24
HOURS_A_MONTH = DAYS_A_MONTH * HOURS_A_DAY
LEAST_HOURS = 14 * HOURS_A_DAY
"""Two weeks: fewer known hours are no bill, because each hour of the week should have been seen twice. The percentile
then drops 16 hours, several evenings' worth, and the four or five highest days are the smaller part of the days."""
_DROPPED = 20  # one hour in this many is dropped from the top
_ENHANCED_DAYS = 5
_GB_A_MONTH = DAYS_A_MONTH * 86_400 / 8000  # what 1 Mbps carries at all hours; 8000 Mbit are a GB
_LINES_AT_ONCE = 250  # their hours and one copy fit into the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariffs:
    """The terms of contracts that bills depend on, one entry a line; NaN: no commit, or a price that is not known."""

    charge_types: npt.NDArray[np.str_]
    purchased: Floats
    commit: Floats
    price_per_mbps: Floats
    price_per_gb: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBills:
    """A month's bill of each line without and with an order, and the difference; NaN where it can't be said."""

    without: Floats
    with_order: Floats
    added: Floats


def monthly_bills(
    hours: npt.NDArray[np.floating[Any]],
    tariffs: Tariffs,
    added: Floats | float = 0.0,
    *,
    pending: Floats | float = 0.0,
) -> Floats:
    """Return each line's bill of a month that is like its last 30 days.

    `hours` are the mean Mbps of each line (a row) in the 720 hours of these days, oldest first; NaN: a gap. On top come
    `pending` (one number, or one a line), which flows all the time, and `added` (one number, one an hour, or one a line
    and hour). NaN where the price, the charge type or too much of the history is unknown; a `fixed` line needs none.
    """
    bills = np.where(tariffs.charge_types == "fixed", tariffs.purchased * tariffs.price_per_mbps, np.nan)
    commit = np.nan_to_num(tariffs.commit, nan=0.0)
    steady, extra = np.broadcast_to(pending, len(hours)), np.atleast_2d(added)
    enough = np.count_nonzero(~np.isnan(hours), axis=1) >= LEAST_HOURS
    for charge_type in ("p95_month", "fourth_peak_month", "enhanced_95", "daily_peak", "daily_peak_average", "volume"):
        price = tariffs.price_per_gb if charge_type == "volume" else tariffs.price_per_mbps
        billable = np.flatnonzero((tariffs.charge_types == charge_type) & enough)
        for start in range(0, billable.size, _LINES_AT_ONCE):
            lines = billable[start : start + _LINES_AT_ONCE]
            load = np.add(hours[lines], steady[lines, None], dtype=np.float64)
            load += extra if len(extra) == 1 else extra[lines]
            bills[lines] = _quantity(charge_type, load, commit[lines]) * price[lines]
    return bills


def order_bills(
    hours: npt.NDArray[np.floating[Any]],
    tariffs: Tariffs,
    mbps: Floats | float,
    shape: Floats | None = None,
    *,
    weekday: int,
    pending: Floats | float = 0.0,
) -> OrderBills:
    """Return each line's bills without and with an order of `mbps` (one number, or one a line; not negative).

    `shape` has the shares of `mbps` that flow in the 168 hours of a week from Monday 00:00 on; None: all of it in each
    hour. `weekday` is that of the first day, 0 for a Monday. The difference is never negative, and where `mbps` grows
    it does not fall.
    """
    shares = np.ones(1) if shape is None else np.resize(np.roll(shape, -weekday * HOURS_A_DAY), HOURS_A_MONTH)
    added = np.reshape(mbps, (-1, 1)) * shares
    without = monthly_bills(hours, tariffs, pending=pending)
    with_order = monthly_bills(hours, tariffs, added, pending=pending)
    return OrderBills(without=without, with_order=with_order, added=rounded(with_order - without))


def _quantity(charge_type: str, load: Floats, commit: Floats) -> Floats:
    """Return what is billed of each line's 720 hours, in the unit of the charge type's price."""
    if charge_type == "p95_month":
        return np.maximum(_percentile_95(load), commit)
    if charge_type == "volume":
        return np.maximum(_means(load), commit) * _GB_A_MONTH
    peaks: Floats = np.fmax.reduce(load.reshape(-1, DAYS_A_MONTH, HOURS_A_DAY), axis=2)
    if charge_type == "daily_peak":
        return _means(np.maximum(peaks, commit[:, None])) * DAYS_A_MONTH
    if charge_type == "daily_peak_average":
        return np.maximum(_means(peaks), commit) * DAYS_A_MONTH
    highest = -np.sort(-peaks, axis=1)  # gaps come last; LEAST_HOURS make up 14 days or more
    peak = highest[:, 3] if charge_type == "fourth_peak_month" else highest[:, :_ENHANCED_DAYS].mean(axis=1)
    return np.maximum(peak, commit)


def _percentile_95(load: Floats) -> Floats:
    """Return the value at index n // 20 of each row's n known values in descending order."""
    place = np.count_nonzero(~np.isnan(load), axis=1) // _DROPPED
    lowest = HOURS_A_MONTH - 1 - HOURS_A_MONTH // _DROPPED  # no place lies below this one, in ascending order
    top = np.sort(np.partition(np.fmax(load, -np.inf), lowest, axis=1)[:, lowest:], axis=1)
    percentiles: Floats = np.take_along_axis(top, -1 - place[:, None], axis=1)[:, 0]
    return percentiles


def _means(values: Floats) -> Floats:
    """Return the mean of each row's known values."""
    known = ~np.isnan(values)
    means: Floats = np.where(known, values, 0.0).sum(axis=1) / np.count_nonzero(known, axis=1)
    return means
