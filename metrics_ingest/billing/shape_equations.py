"""The regressions that `shape_learning` describes: what they are made of, and their normal equations."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from metrics_ingest.samples.batch import Flags, Floats, Integers
from metrics_ingest.samples.slots import HOURS_A_WEEK, Values

__all__ = [
    "DAYS",
    "HOURS",
    "NOISE_BEFOREHAND",
    "SHARE_BEFOREHAND",
    "SMALL",
    "Changes",
    "GrowthEquations",
    "Line",
    "ShareEquations",
    "Shares",
    "centred",
    "noise_scale",
    "observe_noise",
    "products",
    "sums_of_days",
    "unexplained",
]

SHARE_BEFOREHAND: Final = 1.0
EVENT_BEFOREHAND: Final = 0.1
GROWTH_BEFOREHAND: Final = 0.15
NOISE_BEFOREHAND: Final = 0.05
DAY_NOISE_BEFOREHAND: Final = 0.03
"""What is assumed beforehand: the ± of a share, an event and a month's growth; the noise of hours and of days."""
LEAST_NOISE: Final = 0.01
"""The least noise, so that no line outweighs all others."""
LEAST_LEVEL: Final = 0.1
"""Noise is a share of the hour's traffic, or of so much of the line's mean if the hour is quieter."""
FAR_DEVIATIONS: Final = 6.0
FAR_SHARE: Final = 0.5
"""An hour is left out if it is so many deviations, and that share of the traffic, away from what is expected."""
FAR_HOURS: Final = 6
"""A day is left out if so many of its hours are."""
MEDIAN_DEVIATION: Final = 1.4826
"""A standard deviation of a normal distribution is so many median ones."""
SMALL: Final = 1e-9
DAYS: Final = 7
HOURS: Final = 24


@dataclass(slots=True, kw_only=True)
class Line:
    """A line's traffic and orders, and what one round of the regression tells the next.

    `growth` is the growth a month in Mbps at each hour of the week; `usable` has the hours that are not left out, None:
    all. The noise of an hour and of a day's sum are shares of `Changes.scale`.
    """

    traffic: Values
    group: Integers
    start: Floats
    until: Floats
    mbps: Floats
    growth: Floats = field(default_factory=lambda: np.zeros(HOURS_A_WEEK))
    usable: Flags | None = None
    noise: float = NOISE_BEFOREHAND
    day_noise: float = DAY_NOISE_BEFOREHAND


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A line's values less their means over the weeks; 0 where the traffic is unknown.

    Their axes are hour of the week and week; `held` and `events` have one for groups and events between them.
    """

    known: Flags
    level: Floats  # the mean traffic of each hour of the week
    scale: Floats  # of which noise is a share
    traffic: Floats
    months: Floats
    groups: Integers
    held: Floats
    mean_held: Floats
    events: Floats  # the traffic of an event of 100 %

    @property
    def day_scale(self) -> float:
        return float(self.scale.sum()) / DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The solution of the 168 regressions: one row per hour of the week, one column per group or event.

    `information` is the diagonal of their normal equations' matrices, `inverse` the inverses: covariances.
    """

    share: Floats
    event: Floats
    inverse: Floats
    information: Floats


class GrowthEquations:
    """The regression of the sums of days on growth, the groups' mean shares and the events of days.

    A line's growth is unknown to all other lines, so it is eliminated from the equations at once, and worked out when
    the shares are known. The mean shares are used for nothing else.
    """

    def __init__(self, groups: int, weeks: int) -> None:
        days = DAYS * weeks
        beforehand = np.append(np.full(groups, SHARE_BEFOREHAND), np.full(days, EVENT_BEFOREHAND))
        self._matrix = np.diag(1 / beforehand**2)
        self._right = np.zeros(groups + days)
        self._events = np.arange(groups, groups + days)
        self._lines: list[tuple[Line, Floats, float, Floats, Integers]] = []

    def add(self, line: Line, changes: Changes, previous: Shares | None) -> None:
        own = changes.level
        if previous is not None:
            own = np.maximum(own - (previous.share[:, changes.groups] * changes.mean_held).sum(axis=1), 0.0)
        trend = sums_of_days(own[:, None] * changes.months)
        traffic = sums_of_days(changes.traffic)
        weeks = changes.events.shape[1]
        events = np.zeros((DAYS, weeks, DAYS, weeks))  # an event of Monday leaves Tuesday alone
        monday_to_sunday = np.arange(DAYS)
        events[monday_to_sunday, :, monday_to_sunday] = changes.events.reshape(DAYS, HOURS, weeks, weeks).sum(axis=1)
        known = np.concatenate([sums_of_days(changes.held), events.reshape(DAYS * weeks, DAYS * weeks)])
        unknowns = np.append(changes.groups, self._events)
        noise = line.day_noise * changes.day_scale
        square = float(trend @ trend) + (noise / GROWTH_BEFOREHAND) ** 2
        along = known @ trend
        self._matrix[np.ix_(unknowns, unknowns)] += (known @ known.T - np.outer(along, along) / square) / noise**2
        self._right[unknowns] += (known @ traffic - along * (trend @ traffic) / square) / noise**2
        self._lines.append((line, own, float(trend @ traffic) / square, along / square, unknowns))

    def solve(self) -> None:
        """Set each line's growth."""
        solution = np.linalg.solve(self._matrix, self._right)
        for line, own, growth, along, unknowns in self._lines:
            line.growth = own * (growth - float(along @ solution[unknowns]))


class ShareEquations:
    """The normal equations of the 168 regressions of traffic on holdings and events."""

    def __init__(self, groups: int, weeks: int) -> None:
        self._groups = groups
        self._events = np.arange(groups, groups + weeks)
        self._matrix = np.zeros((groups + weeks, groups + weeks, HOURS_A_WEEK))
        self._right = np.zeros((groups + weeks, HOURS_A_WEEK))

    def add(self, line: Line, changes: Changes) -> None:
        weight = 1 / (line.noise * changes.scale)
        traffic = (changes.traffic - line.growth[:, None] * changes.months) * weight[:, None]
        known = np.concatenate([changes.held, changes.events], axis=1) * weight[:, None, None]
        unknowns = np.append(changes.groups, self._events)
        self._matrix[np.ix_(unknowns, unknowns)] += products(known, known).transpose(1, 2, 0)
        self._right[unknowns] += np.matmul(known, traffic[:, :, None])[:, :, 0].T

    def solve(self) -> Shares:
        beforehand = np.full(len(self._right), 1 / SHARE_BEFOREHAND**2)
        beforehand[self._events] = 1 / EVENT_BEFOREHAND**2
        inverse = np.empty((HOURS_A_WEEK, *self._matrix.shape[:2]))
        for hour in range(HOURS_A_WEEK):  # one by one, as all at once would take as much memory again
            inverse[hour] = np.linalg.inv(self._matrix[:, :, hour] + np.diag(beforehand))
        solution = np.matmul(inverse, self._right.T[:, :, None])[:, :, 0]
        return Shares(
            share=solution[:, : self._groups],
            event=solution[:, self._groups :],
            inverse=inverse,
            information=(np.diagonal(self._matrix) + beforehand)[:, : self._groups],
        )


def observe_noise(line: Line, changes: Changes, shares: Shares) -> None:
    """Set a line's noise, and which of its hours are usable."""
    residuals, known = unexplained(line, changes, shares), changes.known
    relative = residuals / np.maximum(changes.scale, changes.level.mean())[:, None]
    weeks = known.sum(axis=1, keepdims=True)
    upwards = np.sort(np.where(known, relative, np.inf), axis=1)
    middle = np.concatenate([np.maximum(weeks - 1, 0) // 2, np.minimum(weeks // 2, known.shape[1] - 1)], axis=1)
    median = np.take_along_axis(upwards, middle, axis=1).mean(axis=1, keepdims=True)
    distance = np.where(known, np.abs(relative - np.where(weeks, median, 0.0)), 0.0)
    far = known & (distance > max(FAR_DEVIATIONS * MEDIAN_DEVIATION * float(np.median(distance[known])), FAR_SHARE))
    days = far.reshape(DAYS, HOURS, -1).sum(axis=1) >= FAR_HOURS
    usable = known & ~far & ~np.repeat(days, HOURS, axis=0)
    rest = centred(residuals, usable)[0] / changes.scale[:, None]
    freedom = max(int(np.maximum(usable.sum(axis=1) - 1, 0).sum()) - len(changes.groups), 1)
    sums = sums_of_days(np.where(usable, residuals, 0.0)) / changes.day_scale
    line.usable = usable
    line.noise = max(LEAST_NOISE, float(np.sqrt((rest**2).sum() / freedom)))
    line.day_noise = max(LEAST_NOISE, MEDIAN_DEVIATION * float(np.median(np.abs(sums))))


def noise_scale(level: Floats, held: Floats) -> Floats:
    """Return for each hour the Mbps of which noise is a share: the traffic, or more where orders are larger than that.

    Orders of one group differ in their use. Where hardly anything else flows, that is the noise.
    """
    quietest = max(LEAST_LEVEL * float(level.mean()), SMALL)
    return np.maximum.reduce([level, np.full_like(level, quietest), np.abs(held).sum(axis=1).max(axis=1)])


def unexplained(line: Line, changes: Changes, shares: Shares) -> Floats:
    """Return the changes of the traffic that growth, orders and events leave unexplained."""
    orders = np.matmul(shares.share[:, None, changes.groups], changes.held)[:, 0]
    events = np.matmul(shares.event[:, None], changes.events)[:, 0]
    rest: Floats = changes.traffic - line.growth[:, None] * changes.months - orders - events
    return rest


def centred(values: Floats, known: Flags) -> tuple[Floats, Floats]:
    """Return the known values less their mean over the last axis, the weeks, and that mean; unknown ones become 0."""
    changes: Floats = values * known
    ones = np.ones(known.shape[-1])  # a product with them sums up faster than `sum` over so short an axis
    means: Floats = changes @ ones / np.maximum(known @ ones, 1.0)
    changes -= means[..., None] * known
    return changes, means


def products(one: Floats, other: Floats) -> Floats:
    """Return, for each hour of the week, the products of two sets of rows summed over the weeks."""
    return np.matmul(one, np.ascontiguousarray(other.transpose(0, 2, 1)))  # three times as fast as with a view


def sums_of_days(values: Floats) -> Floats:
    """Return the sum of each day's hours, from axes of hours of the week, …, weeks: axes of …, days."""
    sums = values.reshape(DAYS, HOURS, *values.shape[1:]).sum(axis=1)
    return np.moveaxis(sums, 0, -2).reshape(*values.shape[1:-1], DAYS * values.shape[-1])
