"""Rounds in turns: ours, theirs, ours, theirs …, so that a slow moment of the machine meets both."""

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .row import Measure, Row, Sides

__all__ = ["ROUNDS", "Result", "each", "machine", "measure"]

ROUNDS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row as measured: every round of both sides."""

    row: Row
    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def ratio(self) -> float:
        return self.row.ratio(statistics.median(self.ours), statistics.median(self.theirs))

    @property
    def ratio_at_best(self) -> float:
        """The ratio of the best round of each side: how much the machine's other work has cost."""
        best = min if self.row.better == "less" else max
        return self.row.ratio(best(self.ours), best(self.theirs))

    def document(self) -> dict[str, object]:
        return {
            "name": self.row.name,
            "ours": rounded(statistics.median(self.ours)),
            "theirs": rounded(statistics.median(self.theirs)),
            "unit": self.row.unit,
            "ratio": rounded(self.ratio),
            "ratio_at_best": rounded(self.ratio_at_best),
            "rounds": len(self.ours),
        }


def measure(row: Row, sides: Sides, rounds: int = ROUNDS) -> Result:
    """All rounds of one row; a first one of each side is thrown away."""
    ours, theirs = sides.ours, _as_measure(sides.theirs)
    ours(), theirs()
    gc.collect()
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return Result(row=row, ours=[pair[0] for pair in pairs], theirs=[pair[1] for pair in pairs])


def each(
    actions: Sequence[Callable[[], object]], *, scale: float = 1e6, clock: Callable[[], float] = time.perf_counter
) -> Measure:
    """The mean time of the actions, in microseconds unless scaled otherwise. The garbage collector stays on."""

    def once() -> float:
        started = clock()
        for action in actions:
            action()
        return (clock() - started) / len(actions) * scale

    return once


def machine() -> dict[str, object]:
    """Where and when something is measured."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def rounded(value: float) -> float:
    """Four digits, which is more than is true."""
    return float(f"{value:.4g}")


def _as_measure(side: Measure | float) -> Measure:
    return side if callable(side) else lambda: side
