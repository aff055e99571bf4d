"""Weights fitted to a period by coordinate search: one scorer's weight after the other is raised and lowered.

The orders of every other day are decided again and again; those of the days between check that what was found is no
accident of the orders it was found on.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any, Final

import msgspec
import numpy as np

from idcsched.framework.decoding import convert
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.registry import Registry

from .backtest import CourseReport, course_report
from .course import run
from .period import Period

__all__ = ["Fitted", "every_other_day", "fit_weights", "with_weights"]

FIRST_STEP: Final = 2.0
LAST_STEP: Final = 1.1
DIGITS: Final = 3
MORE_CONGESTED: Final = 1.0
"""How many more slots in 10,000 may be congested than with the profile's own weights."""
DAY: Final = 86_400


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """Weights by scorer, before and after; what the orders add by each, on the days they were fitted to and on others.

    `courses` counts how often all orders were decided.
    """

    before: Mapping[str, float]
    after: Mapping[str, float]
    fitted_before: CourseReport
    fitted_after: CourseReport
    checked_before: CourseReport
    checked_after: CourseReport
    courses: int


def fit_weights(
    period: Period,
    body: Mapping[str, Any],
    registry: Registry,
    *,
    budget: int,
    seed: int,
    progress: Callable[[], None] = lambda: None,
) -> Fitted:
    """Find weights by which the orders add less to the bills; the same seed and budget give the same weights.

    Weights of 0 stay, and so does the largest, since only ratios count. No weights are taken that leave more orders
    without a place or congest lines noticeably more. `budget` limits how often all orders are decided.
    """
    fitted, checked = (every_other_day(period, parity) for parity in (0, 1))
    search = _Search(fitted, body, registry, budget, progress)
    search.run(np.random.default_rng(seed))
    return Fitted(
        before=search.own,
        after=search.best,
        fitted_before=search.tried(search.own),
        fitted_after=search.tried(search.best),
        checked_before=search.report(checked, search.own),
        checked_after=search.report(checked, search.best),
        courses=len(search.known) + 2,
    )


class _Search:
    """The search on one period: the profile's `own` weights, the `best` so far, and what each that was tried adds."""

    def __init__(
        self, period: Period, body: Mapping[str, Any], registry: Registry, budget: int, progress: Callable[[], None]
    ) -> None:
        self._period, self._body, self._registry = period, body, registry
        self._budget, self._progress = budget, progress
        self.known: dict[tuple[float, ...], CourseReport] = {}
        self.own = {entry["name"]: float(entry["weight"]) for entry in body["plugins"] if entry.get("weight")}
        self.best: Mapping[str, float] = self.own

    def run(self, chance: np.random.Generator) -> None:
        """Try larger and smaller weights, by ever smaller steps, until none helps or the budget is spent."""
        self.tried(self.own)
        largest = max(self.own, key=lambda name: self.own[name], default="")
        movable, step = [name for name in self.own if name != largest], FIRST_STEP
        while step >= LAST_STEP and movable and len(self.known) < self._budget:
            before = self.best
            for name in chance.permutation(movable).tolist():
                self._move(name, step)
            if self.best is before:
                step = sqrt(step)

    def _move(self, name: str, step: float) -> None:
        """Multiply and divide one weight by the step, and keep what is better."""
        for factor in (step, 1 / step):
            weights = {**self.best, name: float(f"{self.best[name] * factor:.{DIGITS}g}")}
            if len(self.known) < self._budget and self._better(self.tried(weights)):
                self.best = weights

    def _better(self, found: CourseReport) -> bool:
        own, least = self.tried(self.own), self.tried(self.best)
        placed = found.unplaced + found.failed <= own.unplaced + own.failed
        return placed and found.congested <= own.congested + MORE_CONGESTED and found.added < least.added

    def tried(self, weights: Mapping[str, float]) -> CourseReport:
        """Return what the orders add by these weights, decided once."""
        key = tuple(weights.values())
        if key not in self.known:
            self.known[key] = self.report(self._period, weights)
        return self.known[key]

    def report(self, period: Period, weights: Mapping[str, float]) -> CourseReport:
        """Decide the orders of the period by these weights."""
        document = convert(with_weights(self._body, weights), ProfileBody)
        policy = compile_profile(document, self._registry, code="fitted", revision=0)
        self._progress()
        return course_report("fitted", run(period, policy))


def with_weights(body: Mapping[str, Any], weights: Mapping[str, float]) -> dict[str, Any]:
    """Return the profile's document with these weights."""
    plugins = [
        {**entry, "weight": weights[entry["name"]]} if entry["name"] in weights else entry for entry in body["plugins"]
    ]
    return {**body, "plugins": plugins}


def every_other_day(period: Period, parity: int) -> Period:
    """Return the period with the orders of its even or odd days alone; the others stay where they were in truth."""
    first, traffic = period.start.timestamp(), period.traffic.copy()
    chosen = []
    for order in period.orders:
        if int((order.at - first) // DAY) % 2 == parity:
            chosen.append(order)
        else:
            for row, slots, mbps in period.flows(order, order.done):
                traffic[row, slots] += mbps
    return replace(period, orders=tuple(chosen), traffic=traffic)
