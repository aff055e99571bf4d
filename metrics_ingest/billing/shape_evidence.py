"""How far the shapes that `shape_learning` finds are to be trusted."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from metrics_ingest.billing.shape_equations import (
    DAYS,
    HOURS,
    NOISE_BEFOREHAND,
    SHARE_BEFOREHAND,
    SMALL,
    Changes,
    Line,
    Shares,
    products,
    unexplained,
)
from metrics_ingest.samples.batch import Floats, Integers
from metrics_ingest.samples.slots import HOURS_A_WEEK

__all__ = ["PARTS", "Evidence", "LearnedShape", "Verdict"]

LEAST_DAYS: Final = 13.0
"""Two weeks less a day of gaps."""
LEAST_LINES: Final = 3.0
MOST_ERROR: Final = 0.25
MOST_HETEROGENEITY: Final = 0.25
DOUBT: Final = 1.5
"""A group is mixed only if v is so many standard errors above zero, and not mixed only if v may be so many larger."""
DEVIATION_BEFOREHAND: Final = 0.3
"""The ± of an order's deviation from the shape of its group, before anything is known."""
MOST_LEVERAGE: Final = 0.9
PARTS: Final = 20
SWEEPS: Final = 50
MEAN_DEVIATION: Final = 0.8
"""The mean deviation of a normal distribution in standard deviations."""
LEAST_MEAN: Final = 0.01
"""A group whose ordered Mbps carries less than that, on average, has no shape."""
WORKING_DAYS: Final = 5
DECIMALS: Final = 4
LAYER_SIZES: Final = np.array([24, 24, 5, 115])
"""How many independent numbers make up each layer of a week; the heights of the days of a kind have the mean 1."""


class Verdict(StrEnum):
    """Whether a shape is to be trusted, or the first reason why not."""

    TRUSTED = "trusted"
    UNCHANGED = "unchanged"  # what was held never changed while the traffic was known
    TOO_SHORT = "too_short"
    FEW_LINES = "few_lines"
    UNCERTAIN = "uncertain"  # too few changes, or always together with another group's, or perhaps mixed
    MIXED = "mixed"  # single orders are too far from the common shape


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedShape:
    """The shape of a group, and what it rests on; None for what is not known at all.

    `days` is how many days of traffic its lines have, on average. In it and in `lines`, lines count by how much they
    tell of the group: (Σ w)² ÷ Σ w² lines, which is 4 for four that tell the same, and 1 if one tells nearly all.
    """

    verdict: Verdict
    shape: tuple[float, ...] | None = None
    use: float | None = None
    days: float = 0.0
    lines: float = 0.0
    error: float | None = None
    heterogeneity: float | None = None

    @property
    def trusted(self) -> bool:
        return self.verdict == Verdict.TRUSTED


class Evidence:
    """What speaks for the shapes and against them, summed over lines, or over each part of the lines.

    A score is the slope of the squared residuals of a line in the direction of a share: where the line alone would move
    that share, and how strongly. Times the inverse it is by how much the share moves if the line is left out.
    """

    def __init__(self, groups: int, shares: Shares) -> None:
        self._shares = shares
        self._scores = np.zeros((PARTS, *shares.inverse.shape[:2]))
        self._products = np.zeros((PARTS, groups))
        self._blurs = np.zeros((PARTS, groups, groups))
        self._weight, self._squares, self._days = np.zeros(groups), np.zeros(groups), np.zeros(groups)

    def add(self, part: int, line: Line, changes: Changes, orders: Floats) -> None:
        groups = changes.groups
        weight = 1 / (line.noise * changes.scale)
        residuals = unexplained(line, changes, self._shares) * weight[:, None]
        held = changes.held * weight[:, None, None]
        information = (held**2).sum(axis=2)
        # The regression follows a line that tells much of a group, which makes its residuals too small.
        leverage = np.minimum(information / self._shares.information[:, groups], MOST_LEVERAGE)
        scores = np.matmul(held, residuals[:, :, None])[:, :, 0] / (1 - leverage)
        self._scores[part][:, groups] += scores
        total = information.sum(axis=0)
        self._weight[groups] += total
        self._squares[groups] += total**2
        self._days[groups] += total * changes.known.sum() / HOURS
        # Orders of one group differ in their use, too. On a line with little noise that is what matters.
        louder = line.noise / max(line.noise, NOISE_BEFOREHAND)
        orders = orders * (louder * weight[:, None, None])
        self._add_products(part, groups, louder**2 * scores, louder * held, line.group, orders)

    def _add_products(
        self, part: int, groups: Integers, scores: Floats, held: Floats, group_of: Integers, orders: Floats
    ) -> None:
        by_day = (DAYS, HOURS, len(groups))
        alike = products(held, held)
        solver = np.linalg.inv(alike + np.eye(len(groups)) / DEVIATION_BEFOREHAND**2)
        deviations = np.matmul(solver, scores[:, :, None])[:, :, 0].reshape(by_day)
        more = ((solver * alike).sum(axis=2) * self._shares.share[:, groups]).reshape(by_day)  # of the same shape
        deviations -= more * (
            (deviations * more).sum(axis=1, keepdims=True) / np.maximum((more**2).sum(axis=1, keepdims=True), SMALL)
        )
        self._products[part][groups] += (deviations.sum(axis=0) ** 2 - (deviations**2).sum(axis=0)).sum(axis=0)
        total, squares = np.zeros((2, HOURS, len(groups), len(group_of)))
        for day in range(DAYS):
            hours = slice(day * HOURS, (day + 1) * HOURS)
            blur = np.matmul(solver[hours], products(held[hours], orders[hours]))
            total += blur
            squares += blur**2
        np.add.at(self._blurs[part].T, (group_of[:, None], groups), (total**2 - squares).sum(axis=0).T)

    def results(self) -> tuple[LearnedShape, ...]:
        """Return the shape of each group, and what is to be thought of it."""
        shares, error = self._pooled()
        mean, shapes = np.maximum(shares.mean(axis=1), SMALL), _of_peak(shares)
        squared_deviation, standard_error = self._squared_deviations()
        heterogeneity = np.sqrt(squared_deviation) / mean
        at_most = np.sqrt(squared_deviation + DOUBT * standard_error) / mean
        surely = squared_deviation > DOUBT * standard_error
        days = self._days / np.maximum(self._weight, SMALL)
        lines = self._weight**2 / np.maximum(self._squares, SMALL)
        return tuple(
            LearnedShape(verdict=Verdict.UNCHANGED)
            if not self._weight[group]
            else _judged(
                shape=shapes[group],
                use=float(shares[group].max()),
                mean=float(mean[group]),
                days=round(float(days[group]), 3),
                lines=round(float(lines[group]), 3),
                error=float(error[group]),
                heterogeneity=float(heterogeneity[group]),
                at_most=float(at_most[group]),
                surely=bool(surely[group]),
            )
            for group in range(len(shares))
        )

    def _pooled(self) -> tuple[Floats, Floats]:
        """Return the shares of each group, alike days pooled, and the error of its shape."""
        inverse, share = self._shares.inverse, self._shares.share.T
        groups = len(share)
        # What is assumed beforehand moves all hours to the same side, so pooling days does not make that error smaller.
        assumed = (inverse[:, :groups, :groups] ** 2).sum(axis=2).mean(axis=0) / SHARE_BEFOREHAND**2
        variance = np.diagonal(inverse, axis1=1, axis2=2)[:, :groups].mean(axis=0)
        noise = np.maximum(variance - assumed, 0.0) * LAYER_SIZES[:, None] / HOURS_A_WEEK
        layers = _layers(share)
        moves = [np.matmul(inverse, scores[:, :, None])[:, :groups, 0].T for scores in self._scores]
        left_out = [_layers(share - move) for move in moves]
        by_chance = np.maximum(noise, _jackknifed(layers, left_out).mean(axis=2))
        seen = np.maximum((layers**2).mean(axis=2), SMALL)
        kept = np.maximum(1 - by_chance / seen, 0.0)
        kept[0] = 1.0
        # The part that is dropped may be real: its mean square is seen − by chance, give or take a standard error.
        dropped = ((1 - kept) ** 2 * (kept * seen + by_chance * np.sqrt(2 / LAYER_SIZES[:, None]))).sum(axis=0)
        shares = (kept[:, :, None] * layers).sum(axis=0)
        peak, mean = np.maximum(shares.max(axis=1), SMALL), np.maximum(shares.mean(axis=1), SMALL)
        other_shapes = [_of_peak((kept[:, :, None] * other).sum(axis=0)) for other in left_out]
        from_lines = np.sqrt(_jackknifed(_of_peak(shares), other_shapes) + (dropped / peak**2)[:, None]).mean(axis=1)
        from_regression = np.sqrt((kept**2 * noise).sum(axis=0) + dropped + assumed)
        return shares, MEAN_DEVIATION * np.maximum(from_lines * peak, from_regression) / mean

    def _squared_deviations(self) -> tuple[Floats, Floats]:
        """Return v of each group and its standard error, by the jackknife.

        The equations are solved for v ≥ 0 by Gauss and Seidel's method: for one group after the other, again and again.
        """
        right, blurs = self._products.sum(axis=0), self._blurs.sum(axis=0)
        right = np.stack([right, *(right - self._products)])  # all lines, then all but one part of them
        blurs = np.stack([blurs, *(blurs - self._blurs)])
        solutions, unbounded = np.zeros_like(right), np.zeros_like(right)
        for _ in range(SWEEPS):
            for group in np.flatnonzero(self._weight):
                own = blurs[:, group, group]
                others = (blurs[:, group] * solutions).sum(axis=1) - own * solutions[:, group]
                found = (right[:, group] - others) / np.maximum(own, SMALL)
                unbounded[:, group] = np.where(own > SMALL, found, 0.0)
                solutions[:, group] = np.maximum(unbounded[:, group], 0.0)
        return solutions[0], np.sqrt(_jackknifed(unbounded[0], list(unbounded[1:])))


def _judged(
    *,
    shape: Floats,
    use: float,
    mean: float,
    days: float,
    lines: float,
    error: float,
    heterogeneity: float,
    at_most: float,
    surely: bool,
) -> LearnedShape:
    """Return a group's shape with its verdict.

    `at_most` is what the heterogeneity is unless v is much underestimated; `surely`: v is well above zero.
    """
    verdict = Verdict.TRUSTED
    if days < LEAST_DAYS:
        verdict = Verdict.TOO_SHORT
    elif lines < LEAST_LINES:
        verdict = Verdict.FEW_LINES
    elif mean < LEAST_MEAN or error > MOST_ERROR:
        verdict = Verdict.UNCERTAIN
    elif heterogeneity > MOST_HETEROGENEITY and surely:
        verdict = Verdict.MIXED
    elif at_most > MOST_HETEROGENEITY:
        verdict = Verdict.UNCERTAIN
    if mean < LEAST_MEAN:
        return LearnedShape(verdict=verdict, days=days, lines=lines)
    return LearnedShape(
        verdict=verdict,
        shape=tuple(shape.tolist()),
        use=round(use, DECIMALS),
        days=days,
        lines=lines,
        error=round(error, DECIMALS),
        heterogeneity=heterogeneity,
    )


def _of_peak(shares: Floats) -> Floats:
    positive = np.maximum(shares, 0.0)
    return positive / np.maximum(positive.max(axis=1, keepdims=True), SMALL)


def _jackknifed(whole: Floats, left_out: list[Floats]) -> Floats:
    """Return the variance of what was found from all lines, given what was found with each part of them left out."""
    squares = np.zeros_like(whole)
    for other in left_out:
        squares += (other - whole) ** 2
    return squares * (len(left_out) - 1) / len(left_out)


def _layers(shares: Floats) -> Floats:
    """Cut rows of 168 shares into the four layers of a week, which add up to the shares: layer × row × hour."""
    days = shares.reshape(-1, DAYS, HOURS)
    kinds = np.split(days, [WORKING_DAYS], axis=1)
    kind = np.concatenate(
        [np.repeat(each.mean(axis=1, keepdims=True), each.shape[1], axis=1) for each in kinds], axis=1
    )
    mean_day = np.repeat(days.mean(axis=1, keepdims=True), DAYS, axis=1)
    height = (days * kind).sum(axis=2, keepdims=True) / np.maximum((kind**2).sum(axis=2, keepdims=True), SMALL)
    layers = np.stack([mean_day, kind - mean_day, (height - 1) * kind, days - height * kind])
    return layers.reshape(len(layers), len(shares), HOURS_A_WEEK)
