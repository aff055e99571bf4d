"""The demo's 5-minute bandwidth: pure functions of the time, that of the lines seeded.

So the history that was loaded yesterday and the value that is read now lie on one curve.

Over 30 days every shape has mean ÷ p95 ≈ 0.5, max ÷ p95 ≈ 1.12 and fourth-highest daily peak ÷ p95 ≈ 1.10.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

__all__ = [
    "BUSINESSES",
    "SHAPES",
    "SLOTS_A_DAY",
    "SLOT_SECONDS",
    "Floats",
    "Shape",
    "Traffic",
    "bandwidth",
    "slot_of",
    "use_of_business",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]

SLOT_SECONDS: Final = 300
SLOTS_A_DAY: Final = 288
CHINA_SLOTS: Final = 8 * 12  # the demo's IDCs live in UTC+8 and have no summer time
FIRST_SATURDAY: Final = 2  # days after 1970-01-01, a Thursday
WEEKEND: Final = 2
DAY_TO_DAY, MOST_DAY = 0.013, 2.0  # the standard deviation from day to day, and the most deviations that count
SLOT_TO_SLOT, MOST_SLOT = 0.006, 2.5
REFERENCE_DAYS: Final = 28
BILLED: Final = 0.05  # the share of slots that a 95th percentile drops


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How busy a line is at each full hour of a working day and of a Saturday or Sunday, local time."""

    weekday: tuple[float, ...]
    weekend: tuple[float, ...]


SHAPES: Mapping[str, Shape] = {
    # People at home: video, live streams, games. The peak is at nine in the evening, higher at weekends.
    "evening": Shape(
        weekday=(
            *(0.46, 0.32, 0.23, 0.18, 0.15, 0.15, 0.17, 0.23, 0.31, 0.39, 0.44, 0.48),
            *(0.54, 0.53, 0.49, 0.47, 0.48, 0.52, 0.62, 0.77, 0.92, 1.07, 0.93, 0.69),
        ),
        weekend=(
            *(0.50, 0.35, 0.25, 0.19, 0.15, 0.14, 0.16, 0.20, 0.29, 0.40, 0.49, 0.53),
            *(0.58, 0.59, 0.57, 0.56, 0.57, 0.60, 0.67, 0.80, 0.94, 1.08, 0.95, 0.71),
        ),
    ),
    # People at work: companies, public services, schools. Two humps a day, weekends quiet.
    "office": Shape(
        weekday=(
            *(0.28, 0.24, 0.21, 0.20, 0.20, 0.21, 0.25, 0.35, 0.60, 0.87, 1.07, 0.93),
            *(0.74, 0.70, 0.87, 1.02, 0.92, 0.82, 0.66, 0.55, 0.48, 0.43, 0.38, 0.33),
        ),
        weekend=(
            *(0.26, 0.24, 0.21, 0.20, 0.20, 0.20, 0.22, 0.26, 0.32, 0.37, 0.41, 0.41),
            *(0.39, 0.38, 0.39, 0.41, 0.41, 0.39, 0.37, 0.36, 0.35, 0.33, 0.31, 0.28),
        ),
    ),
    # Machines at night: prefetching, backups, game downloads.
    "night": Shape(
        weekday=(
            *(0.92, 1.065, 0.92, 0.72, 0.53, 0.41, 0.32, 0.27, 0.25, 0.26, 0.28, 0.30),
            *(0.33, 0.32, 0.32, 0.32, 0.33, 0.35, 0.38, 0.44, 0.51, 0.59, 0.69, 0.80),
        ),
        weekend=(
            *(0.93, 1.07, 0.93, 0.73, 0.54, 0.42, 0.33, 0.28, 0.26, 0.27, 0.29, 0.31),
            *(0.34, 0.33, 0.33, 0.33, 0.34, 0.36, 0.39, 0.45, 0.52, 0.60, 0.70, 0.81),
        ),
    ),
    # A bit of everything: busy from morning on, busiest in the evening.
    "mixed": Shape(
        weekday=(
            *(0.24, 0.16, 0.12, 0.09, 0.08, 0.09, 0.13, 0.21, 0.33, 0.48, 0.56, 0.61),
            *(0.64, 0.59, 0.55, 0.56, 0.59, 0.61, 0.65, 0.75, 0.90, 1.035, 0.88, 0.50),
        ),
        weekend=(
            *(0.27, 0.19, 0.13, 0.10, 0.09, 0.09, 0.13, 0.20, 0.31, 0.45, 0.55, 0.61),
            *(0.65, 0.61, 0.57, 0.58, 0.61, 0.63, 0.67, 0.77, 0.91, 1.035, 0.89, 0.52),
        ),
    ),
}

BUSINESSES: Mapping[str, str] = {
    "live-streaming": "evening",
    "conference": "office",
    "backup": "night",
    "web": "mixed",
}
"""The businesses that order, each with the shape of its traffic."""
USE: Final = 0.85
"""The part of an order's bandwidth that flows in its busiest hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One line's traffic: its shape, its 95th percentile, and the seed of its noise."""

    shape: str
    p95_mbps: float
    seed: int


def slot_of(seconds: float) -> int:
    """Return the number of the 5-minute slot that a time lies in, counted from the epoch."""
    return int(seconds // SLOT_SECONDS)


def bandwidth(traffic: Traffic, *, first: int, count: int) -> Floats:
    """Return the Mbps of `count` slots from slot `first` on; the same slot always gives the same value."""
    return traffic.p95_mbps / _level(traffic.shape) * _relative(traffic.shape, traffic.seed, first, count)


def use_of_business(business: str, *, first: int, count: int) -> Floats:
    """Return which part of an order's bandwidth flows in each of `count` slots; evenly for one that the demo lacks."""
    shape = BUSINESSES.get(business)
    if shape is None:
        return np.full(count, USE)
    day, skipped = divmod(first + CHINA_SLOTS, SLOTS_A_DAY)
    days = -(-(skipped + count) // SLOTS_A_DAY)
    curves = [_curve(shape, weekend=_weekend(number)) for number in range(day, day + days)]
    busiest = max(_curve(shape, weekend=weekend).max() for weekend in (False, True))
    return USE / busiest * np.concatenate([np.empty(0), *curves])[skipped : skipped + count]


@cache
def _level(shape: str) -> float:
    """Return the 95th percentile of a shape over four whole weeks."""
    values = np.sort(_relative(shape, 0, 0, REFERENCE_DAYS * SLOTS_A_DAY))
    return float(values[-1 - int(BILLED * values.size)])


def _relative(shape: str, seed: int, first: int, count: int) -> Floats:
    day, skipped = divmod(first + CHINA_SLOTS, SLOTS_A_DAY)
    days = -(-(skipped + count) // SLOTS_A_DAY)
    whole_days = [_day(shape, seed, number) for number in range(day, day + days)]
    return np.concatenate([np.empty(0), *whole_days])[skipped : skipped + count]


def _day(shape: str, seed: int, day: int) -> Floats:
    """Return the slots of one local day: the shape's curve, times the noise of the day and of each slot."""
    rng = np.random.default_rng([seed, day])
    day_noise = 1 + DAY_TO_DAY * np.clip(rng.standard_normal(), -MOST_DAY, MOST_DAY)
    slot_noise = 1 + SLOT_TO_SLOT * rng.standard_normal(SLOTS_A_DAY).clip(-MOST_SLOT, MOST_SLOT)
    return _curve(shape, weekend=_weekend(day)) * day_noise * slot_noise


def _weekend(day: int) -> bool:
    return (day - FIRST_SATURDAY) % 7 < WEEKEND


@cache
def _curve(shape: str, *, weekend: bool) -> Floats:
    hours = SHAPES[shape].weekend if weekend else SHAPES[shape].weekday
    return np.interp(np.arange(SLOTS_A_DAY) / 12, np.arange(25), [*hours, hours[0]])
