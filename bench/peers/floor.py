"""The floor: one decision on bare arrays with no product around it, and the same in plain Python loops.

Range filters, columns normalised by min-max over the survivors, a weighted sum (a negative weight prefers the small
value), the five best.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["TOP", "Bare", "bare_fleet", "best_in_arrays", "best_in_loops", "rows_of"]

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


def rows_of(bare: Bare) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """The same as plain tuples: (facts, values) of each row."""
    facts = zip(*(fact.tolist() for fact in bare.facts), strict=True)
    values = zip(*(value.tolist() for value in bare.values), strict=True)
    return list(zip(facts, values, strict=True))


def best_in_loops(bare: Bare, rows: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> list[tuple[int, float]]:
    """As `best_in_arrays`, as one would write it without NumPy."""
    survivors = [
        (row, values)
        for row, (facts, values) in enumerate(rows)
        if all(
            (low is None or fact >= low) and (high is None or fact <= high)
            for fact, (low, high) in zip(facts, bare.limits, strict=True)
        )
    ]
    columns = list(zip(*(values for _, values in survivors), strict=True))
    lows, highs = [min(column) for column in columns], [max(column) for column in columns]
    terms = [
        (low if weight > 0 else high, weight / (high - low) if high > low else 0.0)
        for low, high, weight in zip(lows, highs, bare.weights, strict=True)
    ]
    totals = (
        (sum((value - start) * factor for value, (start, factor) in zip(values, terms, strict=True)), row)
        for row, values in survivors
    )
    return [(row, total) for total, row in heapq.nlargest(TOP, totals)]
