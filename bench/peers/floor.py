"""The floor: one decision on bare arrays with no product around it, and the same in plain Python loops.

Range filters, columns normalised by min-max over the survivors, a weighted sum (a negative weight prefers the small
value), the five best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["TOP", "Bare", "bare_fleet", "best_in_arrays"]

TOP = 5
FILTERS, SCORERS = 5, 8
_PASSING = 0.87  # of each filter, so that half of the rows pass all five

Array = np.ndarray[Any, Any]
Limit = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """Columns to filter by with (at least, at most), and columns to score by with their weights."""

    facts: Sequence[Array]
    limits: Sequence[Limit]
    values: Sequence[Array]
    weights: Sequence[float]


def bare_fleet(rows: int, seed: int = 1) -> Bare:
    rng = np.random.default_rng(seed)
    limits: list[Limit] = [(1 - _PASSING, None) if number % 2 else (None, _PASSING) for number in range(FILTERS)]
    return Bare(
        facts=[rng.random(rows) for _ in range(FILTERS)],
        limits=limits,
        values=[rng.random(rows) for _ in range(SCORERS)],
        weights=[float(weight) for weight in rng.random(SCORERS)],
    )


def best_in_arrays(bare: Bare) -> list[tuple[int, float]]:
    """(row, total) of the best, the best first."""
    rows = _feasible(bare)
    total = np.zeros(rows.size)
    for column, weight in zip(bare.values, bare.weights, strict=True):
        value = column[rows]
        low, high = value.min(), value.max()
        span = high - low
        total += (value - (low if weight > 0 else high)) * (weight / span if span else 0.0)
    top = min(TOP, rows.size)
    best = np.argpartition(total, -top)[-top:]
    best = best[np.argsort(-total[best])]
    return list(zip(rows[best].tolist(), total[best].tolist(), strict=True))


def _feasible(bare: Bare) -> Array:
    mask = np.ones(bare.facts[0].size, dtype=bool)
    for fact, (low, high) in zip(bare.facts, bare.limits, strict=True):
        if low is not None:
            mask &= fact >= low
        if high is not None:
            mask &= fact <= high
    return np.flatnonzero(mask)
