"""Forecasts of the figure that bills the running month, and of the day on which a line is full: pure functions.

**The month.** Let w be the share of the month that has passed, M the figure that the line's charge type bills by, of
the month so far, and R the same figure of the last 30 days. The forecast is

    w · M + (1 − w) · max(M, R)

Early in a month M rests on a day or two, so R counts; a month that began higher than the last 30 days keeps M; at the
end only M is left. The interval is meant to hold the month's figure four times in five. It is

    forecast ± 1.28 · s · √(1 − w), and beyond it (1 − w) · g · d on the side to which the trend leads

where d is the days that are left, and s and g are the spread and the daily slope of the trend through the days' figures
of the same kind: percentiles, peaks, fifth-highest values or means. A month's figure varies less than a day's, so the
interval is rather too wide than too narrow. Where a month's highest days are billed, the interval reaches further up:
by 1.92 · s instead of 1.28 · s, and by all of g · d, since a growing line has its highest days last. Neither forecast
nor interval lies below the commit, and a fixed line bills what was purchased.

**Full.** The trend is a Theil–Sen line through the percentiles of the last 28 whole days: the median of the slopes
between any two days. The days until the high-water mark are the distance from the trend's height today up to the mark,
divided by the slope. A line that does not grow has none, nor has one that would take over a year: 28 days say nothing
about that.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

__all__ = ["FARTHEST_DAYS", "DailyTrend", "Forecast", "forecast"]

FOUR_IN_FIVE: Final = 1.28
"""Four fifths of a normal distribution lie within so many standard deviations."""
HIGHER: Final = 1.5
"""The factor by which the interval reaches further up where a month's highest days are billed."""
FARTHEST_DAYS: Final = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTrend:
    """The slope per day and the spread of the trend line through the days' figures of one kind."""

    slope: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The month's figure, with the interval that holds it four times in five; None where too few days are known."""

    mbps: float
    low: float | None
    high: float | None


def forecast(
    *,
    month: float | None,
    rolling: float,
    passed: float,
    days_left: float,
    sway: DailyTrend | None,
    commit: float = 0.0,
    highest: bool = False,
) -> Forecast:
    """Forecast the running month from its figure so far, `month` (None: no value yet), and that of the last 30 days.

    `passed` is the share of the month that is over, 0..1; `highest` says that the charge type bills a month's highest
    days.
    """
    so_far = rolling if month is None else month
    left = 1.0 if month is None else 1.0 - passed
    mbps = (1.0 - left) * so_far + left * max(so_far, rolling)
    if sway is None:
        return Forecast(mbps=max(mbps, commit), low=None, high=None)
    reach, drift = FOUR_IN_FIVE * sway.spread * sqrt(left), sway.slope * days_left
    low, high = mbps - reach + min(left * drift, 0.0), mbps + reach + max(left * drift, 0.0)
    if highest:
        high = mbps + HIGHER * reach + max(drift, 0.0)
    return Forecast(mbps=max(mbps, commit), low=max(low, commit), high=max(high, commit))
