"""What the running month will be billed by, and when a line will be full: pure functions.

**The month.** Let w be the share of the month that has passed, M the figure that the line's charge type looks at of the
month so far, and R that of the last 30 days. The forecast is

    w · M + (1 − w) · max(M, R)

On the second of a month M is one day's luck, and R counts; a month that began higher than the last ones is not talked
down; at the end only M is left. The interval is meant to hold four months in five. It is

    forecast ± 1.28 · s · √(1 − w), and beyond it (1 − w) · g · d on the side to which the trend leads

where s is how far single days lie off the trend, g the trend a day, d the days that are left, all of the days' own
figures of that kind: percentiles, peaks, fifth-highest values or means. A month's figure sways less than a day's, so
this is rather wide than narrow. Where a month's highest days are billed, the interval reaches further up: by 1.92 · s
instead, and by g · d, for a line that grows has its highest days last. None of the three lies below the commit, and a
fixed line bills what was purchased.

**Full.** The trend is a Theil–Sen line through the percentiles of the last 28 whole days: the median of the slopes
between any two days. Days until the high-water mark are what is left up to it, by the trend's height today, over its
slope. A line that does not grow has none, nor has one that would take over a year: that far a month says nothing.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

__all__ = ["FARTHEST_DAYS", "Forecast", "Sway", "Trend", "days_until", "forecast"]

FOUR_IN_FIVE: Final = 1.28
"""Of a normal distribution four fifths lie within so many standard deviations."""
HIGHER: Final = 1.5
"""So many times as far up reaches the interval of what rests on the highest days: of many days some lie high."""
FARTHEST_DAYS: Final = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Sway:
    """Of a line through the days' figures of one kind: its slope a day, how far days lie off it."""

    slope: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(Sway):
    """The line through the days' percentiles, with its height today."""

    level: float


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
    sway: Sway | None,
    commit: float = 0.0,
    highest: bool = False,
) -> Forecast:
    """`month` is what it has come to so far, None: nothing yet; `passed` the share of it that is over, 0..1.

    `highest`: the month's figure is one of its highest days'.
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


def days_until(mark: float, trend: Trend) -> float | None:
    """How long until the trend reaches the mark: 0 where it is there already, None where it is not in sight."""
    if trend.level >= mark:
        return 0.0
    if trend.slope <= 0 or mark - trend.level > FARTHEST_DAYS * trend.slope:
        return None
    return (mark - trend.level) / trend.slope
