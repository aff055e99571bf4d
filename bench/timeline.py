"""What a run was like from one stretch of time to the next, what was taken away from it meanwhile, and what counts.

On a shared machine the host runs others on our processors now and then: *stolen* time, as Linux counts it, in which
nothing goes on here. What else runs on the machine takes its share, too. Answers come late for both; stretches in
which next to nothing was taken tell of us alone.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.processes import family, worked

__all__ = [
    "LEFT",
    "LITTLE",
    "STRETCH",
    "Answer",
    "Mark",
    "Seconds",
    "Spent",
    "State",
    "Stretch",
    "Timeline",
    "percentile_ms",
    "spent",
    "state",
    "timeline",
]

STRETCH = 10.0  # seconds
LITTLE = 0.01
"""A share of the processors' time: so much may be stolen, and so much go to others; a machine has its daemons."""
LEFT = STRETCH / 100
"""Seconds into a stretch. What holds it up for less does not show in its 99th percentile."""
STAT = Path("/proc/stat")
IDLE, WAITING, STOLEN = 3, 4, 7  # where they stand in it
COUNTED = 8  # the columns after that are counted among the first already

Seconds: TypeAlias = NDArray[np.float64]
State: TypeAlias = Literal["undisturbed", "disturbed", "left", "unknown"]
"""Of a stretch. `left`: nothing was taken in it, yet it began with what a disturbed one had left. `unknown`: the
machine does not tell."""


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
    """When it was due, and how long after that it was there, or was waited for in vain, in seconds."""

    due: float
    took: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The requests that were due in it, answered or not, and what shares of the processors' time were stolen, spent on
    what does not belong to the run, and idle: None where the machine does not tell."""

    begins_s: float
    state: State
    due: int
    p50_ms: float | None
    p99_ms: float | None
    worst_ms: float | None
    stolen: float | None
    others: float | None
    idle: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All stretches, the same shares over all of them, how many were disturbed or began with what such a one had left,
    and what came of the requests that were due in the undisturbed ones."""

    stretches: Sequence[Stretch]
    stolen: float | None
    others: float | None
    idle: float | None
    disturbed: int
    left: int
    undisturbed_minutes: float
    undisturbed_p50_ms: float | None
    undisturbed_p99_ms: float | None
    undisturbed_p999_ms: float | None
    undisturbed_worst_ms: float | None


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


def state(begin: Mark, end: Mark, before: State | None, answers: Iterable[Answer]) -> State:
    """Of the stretch between, which came after one that was so; `answers`: at least those that came in it.

    Only what was taken away is an excuse, and what that has left for the first stretch behind it. A backlog that arises
    where nothing was taken is our own, in its stretch and in all that follow.
    """
    taken = _shares(begin, end)
    stolen, others = taken["stolen"], taken["others"]
    if stolen is None or others is None:
        return "unknown"
    if max(stolen, others) >= LITTLE:
        return "disturbed"
    late = (due < begin.at and due + took > begin.at + LEFT for due, took in answers)
    return "left" if before == "disturbed" and any(late) else "undisturbed"


def timeline(marks: Sequence[Mark], states: Sequence[State], answers: Sequence[Answer]) -> Timeline:
    """One stretch, of each state, from each mark to the next; what was due after the last one is left out."""
    due, took = np.array(answers, dtype=float).reshape(-1, 2).T
    ends = list(pairwise(marks))
    pieces = [took[(due >= begin.at) & (due < end.at)] for begin, end in ends]
    found = [_stretch(*ends, so, piece) for ends, so, piece in zip(ends, states, pieces, strict=True)]
    calm = [so == "undisturbed" for so in states]
    quick = np.concatenate([took[:0], *(piece for piece, counts in zip(pieces, calm, strict=True) if counts)])
    lasted = sum(end.at - begin.at for (begin, end), counts in zip(ends, calm, strict=True) if counts)
    return Timeline(
        stretches=found,
        **_shares(marks[0], marks[-1]),
        disturbed=list(states).count("disturbed"),
        left=list(states).count("left"),
        undisturbed_minutes=round(lasted / 60, 2),
        undisturbed_p50_ms=percentile_ms(quick, 50),
        undisturbed_p99_ms=percentile_ms(quick, 99),
        undisturbed_p999_ms=percentile_ms(quick, 99.9),
        undisturbed_worst_ms=percentile_ms(quick, 100),
    )


def percentile_ms(took: Seconds, which: float) -> float | None:
    """In milliseconds; None of nothing."""
    return round(float(np.percentile(took, which)) * 1000, 2) if len(took) else None


def _stretch(begin: Mark, end: Mark, so: State, took: Seconds) -> Stretch:
    return Stretch(
        begins_s=round(begin.at, 1),
        state=so,
        due=len(took),
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
