"""Bandwidth figures: pure functions over arrays with one row per line and one column per slot, NaN for a gap.

Gaps are left out, never counted as zero. Each figure comes with the number of values that it rests on, and is NaN where
that number is zero.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.percentile import percentile_95, percentile_95_sorted
from metrics_ingest.samples.batch import Floats, Integers
from metrics_ingest.samples.slots import HOURS_A_WEEK, SLOTS_A_DAY, SLOTS_AN_HOUR, Values

__all__ = [
    "DayFigures",
    "PeakFigures",
    "Trend",
    "day_figures",
    "hour_means",
    "means",
    "measured_of_days",
    "peak_figures",
    "theil_sen",
    "week_profile",
]

FIFTH: Final = 5
FOURTH: Final = 4
ENHANCED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """Figures of billing days: one row per line, one column per day.

    `fifth` is the day's 5th-highest value, or the lowest of fewer values.
    """

    peak: Floats
    fifth: Floats
    p95: Floats
    mean: Floats
    covered: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakFigures:
    """Each line's figures computed from its days' peaks; of fewer days than a rank needs, the lowest counts."""

    fourth_peak: Floats
    enhanced_95: Floats
    daily_peak_average: Floats
    days: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A Theil–Sen line per row: its height one column after the last, its slope per column, the spread about it."""

    level: Floats
    slope: Floats
    spread: Floats


def day_figures(slots: Values, calendar: Calendar) -> DayFigures:
    """Compute the figures of each billing day."""
    padded = np.concatenate([slots, np.full((len(slots), 1), np.nan, dtype=np.float32)], axis=1)
    days = padded[:, calendar.day_slots]  # index −1, which stands for no slot, picks the NaN column at the end
    covered = np.count_nonzero(~np.isnan(days), axis=-1)
    upwards = np.sort(days, axis=-1)
    return DayFigures(
        peak=_ranked(upwards, covered, 1),
        fifth=_ranked(upwards, covered, FIFTH),
        p95=percentile_95_sorted(upwards, covered),
        mean=means(days),
        covered=covered,
    )


def peak_figures(days: DayFigures, chosen: slice) -> PeakFigures:
    """Compute the figures of the chosen days' peaks."""
    peaks, fifths = np.sort(days.peak[:, chosen], axis=-1), np.sort(days.fifth[:, chosen], axis=-1)
    known = np.count_nonzero(~np.isnan(peaks), axis=-1)
    rank = known[:, None] - np.arange(peaks.shape[1])  # the highest peak has rank 1
    return PeakFigures(
        fourth_peak=_ranked(peaks, known, FOURTH),
        enhanced_95=means(np.where(rank <= ENHANCED, fifths, np.nan)),
        daily_peak_average=means(peaks),
        days=known,
    )


def hour_means(slots: Values) -> Values:
    """Return the mean of each hour; the slots must make up whole hours."""
    return means(slots.reshape(len(slots), -1, SLOTS_AN_HOUR)).astype(np.float32)


def measured_of_days(slots: Values) -> Values:
    """Return what contracts measure of whole days: the 95th percentile of all, each day's peak, each day's 5th-highest.

    A row a line: one column, then a column a day, then another one a day. Of a day with fewer values the lowest counts.
    """
    upwards = np.sort(slots.reshape(len(slots), -1, SLOTS_A_DAY), axis=-1)
    covered = np.count_nonzero(~np.isnan(upwards), axis=-1)
    percentiles, _covered = percentile_95(slots)
    return np.hstack(
        [percentiles[:, None], _ranked(upwards, covered, 1), _ranked(upwards, covered, FIFTH)], dtype=np.float32
    )


def week_profile(slots: Values, hours_of_week: Integers) -> Values:
    """Return each row's mean by hour of the week."""
    one_hot = np.zeros((len(hours_of_week), HOURS_A_WEEK), dtype=np.float32)
    one_hot[np.arange(len(hours_of_week)), hours_of_week] = 1.0
    known = ~np.isnan(slots)
    sums, counts = np.where(known, slots, 0.0) @ one_hot, known.astype(np.float32) @ one_hot
    return _quotient(sums, counts).astype(np.float32)


def means(values: npt.NDArray[np.floating[Any]]) -> Floats:
    """Return the mean of the known values over the last axis."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=-1, dtype=np.float64)
    return _quotient(sums, np.count_nonzero(known, axis=-1))


def theil_sen(days: Floats, *, least: int) -> Trend:
    """Fit a Theil–Sen line to each row: the median slope between any two days, as many days above it as below.

    Outliers, even ten of thirty days, hardly move the line. `spread` is 1.4826 times the median distance of days from
    the line, which for normal noise is the standard deviation. NaN where fewer than `least` days are known.
    """
    nan_if_few = np.where(np.count_nonzero(~np.isnan(days), axis=-1) >= least, 0.0, np.nan)
    earlier, later = np.triu_indices(days.shape[1], k=1)
    slope = _median((days[:, later] - days[:, earlier]) / (later - earlier)) + nan_if_few
    offsets = np.arange(days.shape[1]) - days.shape[1]
    level = _median(days - slope[:, None] * offsets)
    residuals = days - level[:, None] - slope[:, None] * offsets
    return Trend(level=level, slope=slope, spread=1.4826 * _median(np.abs(residuals)))


def _median(values: Floats) -> Floats:
    known = np.count_nonzero(~np.isnan(values), axis=-1)
    upwards = np.sort(values, axis=-1)
    middle = np.stack([np.maximum(known - 1, 0) // 2, np.minimum(known // 2, values.shape[-1] - 1)], axis=-1)
    medians: Floats = np.take_along_axis(upwards, middle, axis=-1).mean(axis=-1)
    return medians


def _ranked(upwards: npt.NDArray[Any], known: Integers, rank: int) -> Floats:
    """Return the value of that rank, counted from the highest, or the lowest of fewer values; gaps are sorted last."""
    place = np.maximum(known - rank, 0)
    return np.take_along_axis(upwards, place[..., None], axis=-1)[..., 0].astype(np.float64)


def _quotient(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Floats:
    quotients = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=quotients, where=counts > 0)
    return quotients
