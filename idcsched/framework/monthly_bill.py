"""Monthly bills: what a month on a line costs with and without an order, from the line's last 30 whole days.

The rules are those of real bills (`metrics_ingest.billing`), with hourly means in place of 5-minute values. A month has
30 days. Prices of the daily types are per Mbps and day, that of volume per GB, the others per Mbps and month. What is
billed is the measured figure or the commit, whichever is larger:

- `p95_month`: of n known hours the one at index n // 20 in descending order; of 720 the highest 36 are dropped.
- `fourth_peak_month`: the fourth-highest daily peak; a day's peak is its highest hour.
- `enhanced_95`: the mean of the five highest of the days' 5th-highest values. By the hour a day's is its highest hour,
  which has twelve values.
- `daily_peak`: the peak of each day, compared with the commit day by day.
- `daily_peak_average`: the mean of the daily peaks, for each day.
- `volume`: the mean, all month long. `fixed`: what was purchased, whatever flows; there is no commit.

Real bills measure five-minute values, which differ from the means of hours. Where these days' own five-minute values
are known, what they measured more (or less) than the hours is added to the bill without the order and to that with it.
So the bill without is the real one; that with an order is exact where the order flows at all hours, and otherwise
supposes that an hour which the order makes the highest is as uneven as the highest was.

Gaps are left out, and a day without values is billed like the
mean of the others; a real bill has the commit for it under `daily_peak`, which the days to come will not cost.

Days begin at midnight in the billing zone, as on real bills. If clocks were changed within the 30 days, the hours
before the change count as one hour earlier or later than they were.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .billing import DAYS_A_MONTH
from .columns import LineColumns
from .labels import Rows
from .normalize import Floats, rounded

__all__ = [
    "EXACT",
    "HOURS_A_MONTH",
    "LEAST_HOURS",
    "MEASURED",
    "NOT_ASKED",
    "WEEKLY",
    "MonthBills",
    "MonthFigures",
    "OrderBills",
    "Tariffs",
    "order_bills",
]

HOURS_A_DAY = 24
HOURS_A_MONTH = DAYS_A_MONTH * HOURS_A_DAY
LEAST_HOURS = 14 * HOURS_A_DAY
"""Two weeks: fewer known hours are no bill, because each hour of the week should have been seen twice. The percentile
then drops 16 hours, several evenings' worth, and the four or five highest days are the smaller part of the days."""
NOT_ASKED, WEEKLY, EXACT = range(3)
METERED = ("p95_month", "fourth_peak_month", "enhanced_95", "daily_peak", "daily_peak_average", "volume")
MEASURED = 1 + 2 * DAYS_A_MONTH
"""How many figures of five-minute values a line has."""
_DROPPED = 20  # one hour in this many is dropped from the top
_TOP = 2 * HOURS_A_MONTH // _DROPPED  # with a moderate order, too, the percentile is one of so many highest hours
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

    @classmethod
    def of(cls, lines: "LineColumns | Tariffs", rows: Rows) -> "Tariffs":
        """Return the terms of some of the lines."""
        return cls(**{field.name: getattr(lines, field.name)[rows] for field in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBills:
    """A month's bill of each line without and with an order; NaN where it can't be said."""

    without: Floats
    with_order: Floats

    @property
    def added(self) -> Floats:
        """What the order adds to each bill."""
        return rounded(self.with_order - self.without)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthBills(OrderBills):
    """Bills as far as they were asked for. `method`: from which hours they are."""

    method: npt.NDArray[np.int8]

    @classmethod
    def of_lines(cls, count: int) -> "MonthBills":
        """Return the bills of so many lines, none of which was asked for."""
        return cls(
            without=np.full(count, np.nan),
            with_order=np.full(count, np.nan),
            method=np.full(count, NOT_ASKED, dtype=np.int8),
        )

    def put(self, lines: Rows, method: Rows, bills: OrderBills) -> None:
        """Note the bills of some lines, and from which hours each is."""
        self.without[lines], self.with_order[lines] = bills.without, bills.with_order
        self.method[lines] = method  # last: another thread that reads it finds the bills

    def take(self, lines: Rows) -> "MonthBills":
        """Return the bills of some lines; −1 is no line."""
        no_line = lines < 0
        return MonthBills(
            without=np.where(no_line, np.nan, self.without[lines]),
            with_order=np.where(no_line, np.nan, self.with_order[lines]),
            method=self.method[lines],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthFigures:
    """What contracts measure of each line's 720 hours; NaN where less than LEAST_HOURS are known.

    Where the same flows on top at all hours, each figure is higher by just that. `…_rise` is how much more was measured
    by five-minute values; 0 where these are not known. A day whose highest hour had 800 Mbps on average, and whose
    highest five minutes had 950, has a `peak_rise` of 150.
    """

    known_hours: Rows
    percentile: Floats
    percentile_rise: Floats
    mean: Floats
    peaks: Floats
    """A column a day: its highest hour; NaN where nothing is known of it."""
    peak_rise: npt.NDArray[np.float32]
    """A column a day: how much higher its peak was."""
    fifth_rise: npt.NDArray[np.float32]
    """A column a day: how much higher its 5th-highest value was."""
    top: npt.NDArray[np.int16]
    """The numbers of the highest hours, the lowest of these first."""
    highest: npt.NDArray[np.floating[Any]]
    """What flows in these."""

    @classmethod
    def of(
        cls, hours: npt.NDArray[np.floating[Any]], measured: npt.NDArray[np.float32] | None = None
    ) -> "MonthFigures":
        """Return the figures of some lines' hours (a row a line); NaN: a gap.

        `measured` are the figures of the same days by five-minute values: the 95th percentile of all, each day's peak,
        and each day's 5th-highest value; NaN where one is not known.
        """
        known_hours = np.count_nonzero(~np.isnan(hours), axis=1)
        percentile, mean = np.full(len(hours), np.nan), np.full(len(hours), np.nan)
        peaks = np.full((len(hours), DAYS_A_MONTH), np.nan)
        top, highest = np.zeros((len(hours), _TOP), dtype=np.int16), np.zeros((len(hours), _TOP), dtype=hours.dtype)
        for lines in _portions(np.flatnonzero(known_hours >= LEAST_HOURS)):
            load = hours[lines].astype(np.float64)
            percentile[lines], mean[lines], peaks[lines] = _percentile_95(load), _means(load), _daily_peaks(load)
            top[lines] = np.argpartition(np.fmax(load, -np.inf), -_TOP, axis=1)[:, -_TOP:]
            highest[lines] = np.take_along_axis(hours[lines], top[lines].astype(np.intp), axis=1)
        if measured is None:
            measured = np.full((len(hours), MEASURED), np.nan, dtype=np.float32)
        by_day = measured[:, 1:].reshape(len(hours), 2, DAYS_A_MONTH)
        return cls(
            known_hours=known_hours,
            percentile=percentile,
            percentile_rise=np.nan_to_num(measured[:, 0] - percentile),
            mean=mean,
            peaks=peaks,
            peak_rise=np.nan_to_num(by_day[:, 0] - peaks).astype(np.float32),
            fifth_rise=np.nan_to_num(by_day[:, 1] - peaks).astype(np.float32),
            top=top,
            highest=highest,
        )

    def by_hour(self, charge_type: str, lines: Rows) -> Floats:
        """Return what a contract of that type measures of the hours."""
        if charge_type == "p95_month":
            return self.percentile[lines]
        return self.mean[lines] if charge_type == "volume" else self.peaks[lines]

    def rise(self, charge_type: str, lines: Rows) -> npt.NDArray[np.floating[Any]]:
        """Return how much more it measures of the five-minute values."""
        if charge_type == "p95_month":
            return self.percentile_rise[lines]
        if charge_type == "volume":
            return np.zeros(lines.size)
        return self.fifth_rise[lines] if charge_type == "enhanced_95" else self.peak_rise[lines]


def order_bills(
    hours: npt.NDArray[np.floating[Any]],
    figures: MonthFigures,
    of: Rows,
    tariffs: Tariffs,
    mbps: Floats | float,
    shape: Floats | None = None,
    *,
    weekday: int,
    pending: Floats | float = 0.0,
) -> OrderBills:
    """Return the bills of some lines without and with an order of `mbps` (one number, or one a line; not negative).

    `hours` are the mean Mbps of lines (a row each) in their last 30 days, oldest first, `figures` those of them, and
    `of` the rows that are asked for; `weekday` is that of the first day, 0 for a Monday. `shape` has the shares of
    `mbps` that flow in the 168 hours of a week from Monday 00:00 on; None: all of it in each hour. `pending` (one
    number, or one a line) flows all the time in both bills. The difference is never negative, and where `mbps` grows it
    does not fall. NaN where the price, the charge type or too much of the hours is unknown; a `fixed` line needs none.
    """
    steady, order = np.broadcast_to(pending, of.size), np.broadcast_to(mbps, of.size)
    shares = None if shape is None else np.resize(np.roll(shape, -weekday * HOURS_A_DAY), HOURS_A_MONTH)
    commit, enough = np.nan_to_num(tariffs.commit, nan=0.0), figures.known_hours[of] >= LEAST_HOURS
    without = np.where(tariffs.charge_types == "fixed", tariffs.purchased * tariffs.price_per_mbps, np.nan)
    with_order = without.copy()
    for charge_type in METERED:
        price = tariffs.price_per_gb if charge_type == "volume" else tariffs.price_per_mbps
        for lines in _portions(np.flatnonzero((tariffs.charge_types == charge_type) & enough)):
            rows, flow = of[lines], order[lines]
            standing = _raised(figures.by_hour(charge_type, rows), steady[lines])
            if shares is None:
                carrying = _raised(standing, flow)
            elif charge_type == "p95_month":
                carrying = _percentile_with(hours, figures, rows, steady[lines], flow, shares)
            else:
                carrying = _measured(charge_type, _load(hours[rows], steady[lines], flow, shares))
            rise = figures.rise(charge_type, rows)
            without[lines] = _quantity(charge_type, standing + rise, commit[lines]) * price[lines]
            with_order[lines] = _quantity(charge_type, carrying + rise, commit[lines]) * price[lines]
    return OrderBills(without=without, with_order=with_order)


def _portions(lines: Rows) -> Iterator[Rows]:
    for start in range(0, lines.size, _LINES_AT_ONCE):
        yield lines[start : start + _LINES_AT_ONCE]


def _raised(measured: Floats, mbps: Floats) -> Floats:
    """Return what is measured where so much flows on top at all hours."""
    return measured + (mbps if measured.ndim == 1 else mbps[:, None])


def _load(hours: npt.NDArray[np.floating[Any]], steady: Floats, order: Floats, shares: Floats) -> Floats:
    """Return what each line carries with the order in the hours that the shares are for."""
    load: Floats = np.add(hours, steady[:, None], dtype=np.float64) + order[:, None] * shares
    return load


def _percentile_with(
    hours: npt.NDArray[np.floating[Any]],
    figures: MonthFigures,
    rows: Rows,
    steady: Floats,
    order: Floats,
    shares: Floats,
) -> Floats:
    """Return the 95th percentile of the month of those rows with the order.

    Mostly it is among the highest hours without it; where the order may lift another hour above these, all count.
    """
    highest = figures.highest[rows]
    load = np.sort(_load(highest, steady, order, shares.take(figures.top[rows])), axis=1)
    percentiles = load[np.arange(rows.size), -1 - figures.known_hours[rows] // _DROPPED]
    unsure = np.flatnonzero(highest[:, 0] + steady + order * shares.max() > percentiles)
    percentiles[unsure] = _percentile_95(_load(hours[rows[unsure]], steady[unsure], order[unsure], shares))
    return percentiles


def _measured(charge_type: str, load: Floats) -> Floats:
    """Return what a contract of that type, other than the percentile, measures of each line's 720 hours."""
    return _means(load) if charge_type == "volume" else _daily_peaks(load)


def _quantity(charge_type: str, measured: Floats, commit: Floats) -> Floats:
    """Return what is billed of it, in the unit of the charge type's price."""
    if charge_type == "p95_month":
        return np.maximum(measured, commit)
    if charge_type == "volume":
        return np.maximum(measured, commit) * _GB_A_MONTH
    if charge_type == "daily_peak":
        return _means(np.maximum(measured, commit[:, None])) * DAYS_A_MONTH
    if charge_type == "daily_peak_average":
        return np.maximum(_means(measured), commit) * DAYS_A_MONTH
    highest = -np.sort(-measured, axis=1)  # gaps come last; LEAST_HOURS make up 14 days or more
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


def _daily_peaks(load: Floats) -> Floats:
    """Return each day's highest hour; NaN where none is known."""
    peaks: Floats = np.fmax.reduceat(load, range(0, HOURS_A_MONTH, HOURS_A_DAY), axis=1)
    return peaks
