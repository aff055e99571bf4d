"""What stretches of bandwidth come to: pure functions over one row a line, one column a slot, NaN where there is a gap.

A gap is no value: it is counted nowhere, least of all as zero, and each figure comes with the number of values that it
rests on. What rests on none is NaN.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.percentile import percentile_95_sorted
from metrics_ingest.samples.batch import Floats, Integers
from metrics_ingest.samples.slots import HOURS_A_WEEK, SLOTS_AN_HOUR, Values

__all__ = [
    "DayFigures",
    "PeakFigures",
    "Trend",
    "day_figures",
    "hour_means",
    "means",
    "peak_figures",
    "theil_sen",
    "week_profile",
]

FIFTH: Final = 5
FOURTH: Final = 4
ENHANCED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """One row a line, one column a billing day; `fifth` is the day's 5th-highest value, of fewer the lowest."""

    peak: Floats
    fifth: Floats
    p95: Floats
    mean: Floats
    covered: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakFigures:
    """What days' peaks come to, for each line. Of fewer days than a rank needs, the lowest counts."""

    fourth_peak: Floats
    enhanced_95: Floats
    daily_peak_average: Floats
    days: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """For each row a robust straight line: its slope, and its height at the place after the last column."""

    level: Floats
    slope: Floats
    spread: Floats


def day_figures(slots: Values, calendar: Calendar) -> DayFigures:
    """Each billing day's figures."""
    padded = np.concatenate([slots, np.full((len(slots), 1), np.nan, dtype=np.float32)], axis=1)
    days = padded[:, calendar.day_slots]  # −1 takes the NaN at the end
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
    """Over the days chosen."""
    peaks, fifths = np.sort(days.peak[:, chosen], axis=-1), np.sort(days.fifth[:, chosen], axis=-1)
    known = np.count_nonzero(~np.isnan(peaks), axis=-1)
    rank = known[:, None] - np.arange(peaks.shape[1])  # of the highest 1, of the next 2
    return PeakFigures(
        fourth_peak=_ranked(peaks, known, FOURTH),
        enhanced_95=means(np.where(rank <= ENHANCED, fifths, np.nan)),
        daily_peak_average=means(peaks),
        days=known,
    )


def hour_means(slots: Values) -> Values:
    """The mean of each hour; the slots are whole hours."""
    return means(slots.reshape(len(slots), -1, SLOTS_AN_HOUR)).astype(np.float32)


def week_profile(slots: Values, hours_of_week: Integers) -> Values:
    """Each row's mean by hour of the week."""
    place = np.zeros((len(hours_of_week), HOURS_A_WEEK), dtype=np.float32)
    place[np.arange(len(hours_of_week)), hours_of_week] = 1.0
    known = ~np.isnan(slots)
    sums, counts = np.where(known, slots, 0.0) @ place, known.astype(np.float32) @ place
    return _quotient(sums, counts).astype(np.float32)


def means(values: npt.NDArray[np.floating[Any]]) -> Floats:
    """The mean over the last axis."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=-1, dtype=np.float64)
    return _quotient(sums, np.count_nonzero(known, axis=-1))


def theil_sen(days: Floats, *, least: int) -> Trend:
    """The median of the slopes between any two days, and the line of that slope with as many days above as below.

    One day gone wild, or ten of thirty, do not bend it. `spread` is how far days lie off the line: 1.4826 times the
    median distance, which for normal noise is its standard deviation. NaN where fewer than `least` days are known.
    """
    enough = np.where(np.count_nonzero(~np.isnan(days), axis=-1) >= least, 0.0, np.nan)
    earlier, later = np.triu_indices(days.shape[1], k=1)
    slope = _median((days[:, later] - days[:, earlier]) / (later - earlier)) + enough
    at = np.arange(days.shape[1]) - days.shape[1]
    level = _median(days - slope[:, None] * at)
    off = days - level[:, None] - slope[:, None] * at
    return Trend(level=level, slope=slope, spread=1.4826 * _median(np.abs(off)))


def _median(values: Floats) -> Floats:
    known = np.count_nonzero(~np.isnan(values), axis=-1)
    upwards = np.sort(values, axis=-1)
    places = np.stack([np.maximum(known - 1, 0) // 2, np.minimum(known // 2, values.shape[-1] - 1)], axis=-1)
    found: Floats = np.take_along_axis(upwards, places, axis=-1).mean(axis=-1)
    return found


def _ranked(upwards: npt.NDArray[Any], known: Integers, rank: int) -> Floats:
    """The value of that rank from above, or the lowest where there are fewer; gaps stand last."""
    place = np.maximum(known - rank, 0)
    return np.take_along_axis(upwards, place[..., None], axis=-1)[..., 0].astype(np.float64)


def _quotient(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Floats:
    found = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found
