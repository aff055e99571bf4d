"""What a run was like from one stretch of time to the next, and what was taken away from it meanwhile.

On a shared machine the host runs others on our processors now and then: *stolen* time, as Linux counts it, in which
nothing goes on here. What else runs on the machine takes its share, too. Answers come late for both; stretches in
which next to nothing was taken tell of us alone.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.processes import family, worked

__all__ = ["LITTLE", "STRETCH", "Answer", "Mark", "Spent", "Stretch", "Timeline", "percentile_ms", "spent", "timeline"]

STRETCH = 10.0  # seconds
LITTLE = 0.02
"""A share of the processors' time; a machine at rest has daemons of its own."""
STAT = Path("/proc/stat")
IDLE, WAITING, STOLEN = 3, 4, 7  # where they stand in it
COUNTED = 8  # the columns after that are counted among the first already

Seconds: TypeAlias = NDArray[np.float64]


class Spent(NamedTuple):
    """What all processors together have spent their time on since the machine started, in the kernel's ticks."""

    total: int
    idle: int
    stolen: int
    ours: int
    """This process and all that it started, directly or not."""


class Mark(NamedTuple):
    """Where a stretch begins or ends, in seconds; `spent` is None where the machine does not tell."""

    at: float
    spent: Spent | None


class Answer(NamedTuple):
    """When it was due, and how long after that it was there, in seconds."""

    due: float
    took: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The answers that were due in it, and what shares of the processors' time were stolen, spent on what does not
    belong to the run, and idle."""

    begins_s: float
    answers: int
    p50_ms: float | None
    p99_ms: float | None
    worst_ms: float | None
    stolen: float | None
    others: float | None
    idle: float | None

    @property
    def undisturbed(self) -> bool:
        """Whether it is known that next to nothing was taken."""
        return self.stolen is not None and self.others is not None and self.stolen + self.others < LITTLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All stretches, and the same shares over all of them. `undisturbed`: how many of them are. These are None where
    the machine does not tell. `undisturbed_p99_ms` is over all the answers that were due in such stretches.
    """

    stretches: Sequence[Stretch]
    stolen: float | None
    others: float | None
    idle: float | None
    undisturbed: float | None
    undisturbed_p99_ms: float | None


def spent(file: Path = STAT) -> Spent | None:
    """Until now; None where no such thing is told."""
    try:
        ticks = [int(text) for text in file.read_text(encoding="ascii").partition("\n")[0].split()[1 : COUNTED + 1]]
    except (OSError, ValueError):
        return None
    if len(ticks) < COUNTED:
        return None
    ours = sum(worked(pid) for pid in family(os.getpid()))
    return Spent(total=sum(ticks), idle=ticks[IDLE] + ticks[WAITING], stolen=ticks[STOLEN], ours=ours)


def timeline(marks: Sequence[Mark], answers: Sequence[Answer]) -> Timeline:
    """One stretch from each mark to the next; a short rest at the end belongs to the one before it."""
    if len(marks) > 2 and marks[-1].at - marks[-2].at < STRETCH / 2:
        marks = [*marks[:-2], marks[-1]]
    due, took = np.array(answers, dtype=float).reshape(-1, 2).T
    ends = list(pairwise(marks))
    pieces = [took[(due >= begin.at) & (due < end.at)] for begin, end in ends]
    found = [_stretch(begin, end, piece) for (begin, end), piece in zip(ends, pieces, strict=True)]
    calm = [piece for stretch, piece in zip(found, pieces, strict=True) if stretch.undisturbed]
    told = all(stretch.stolen is not None for stretch in found)
    return Timeline(
        stretches=found,
        **_shares(marks[0], marks[-1]),
        undisturbed=round(len(calm) / len(found), 3) if told else None,
        undisturbed_p99_ms=percentile_ms(np.concatenate(calm), 99) if calm else None,
    )


def percentile_ms(took: Seconds, which: float) -> float | None:
    """In milliseconds; None of nothing."""
    return round(float(np.percentile(took, which)) * 1000, 2) if len(took) else None


def _stretch(begin: Mark, end: Mark, took: Seconds) -> Stretch:
    return Stretch(
        begins_s=round(begin.at, 1),
        answers=len(took),
        p50_ms=percentile_ms(took, 50),
        p99_ms=percentile_ms(took, 99),
        worst_ms=percentile_ms(took, 100),
        **_shares(begin, end),
    )


def _shares(begin: Mark, end: Mark) -> dict[str, float | None]:
    """Of the processors' time between."""
    if begin.spent is None or end.spent is None or end.spent.total <= begin.spent.total:
        return {"stolen": None, "others": None, "idle": None}
    whole, idle, stolen, ours = (now - then for now, then in zip(end.spent, begin.spent, strict=True))
    others = max(0, whole - idle - stolen - ours)  # counted at another moment, it may be a tick too many
    return {"stolen": round(stolen / whole, 4), "others": round(others / whole, 4), "idle": round(idle / whole, 4)}
