"""How long a run goes on and what it leaves out, decided from one stretch to the next, and what it asks at the most."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from bench.timeline import Answer, Mark, State, state

__all__ = ["Course", "Measured", "at_the_most"]


@dataclass(slots=True, kw_only=True)
class Course:
    """A run that goes on until so many seconds of it were undisturbed, and at the longest for so many in all."""

    wanted: float
    longest: float
    marks: list[Mark]
    states: list[State] = field(default_factory=list)
    afresh: float = 0.0
    """Here the load starts afresh: what was due before and has not been sent yet is not sent any more. What piled up
    while the host ran others would take minutes to work off, in which nothing could be told of us."""

    def mark(self, end: Mark, answers: Iterable[Answer]) -> None:
        """Here a stretch ends, and another begins; these answers came in it."""
        so = state(self.marks[-1], end, self.states[-1] if self.states else None, answers)
        self.marks.append(end)
        self.states.append(so)
        if so in {"disturbed", "left"}:
            self.afresh = end.at

    @property
    def undisturbed(self) -> float:
        """Seconds so far."""
        ends = zip(pairwise(self.marks), self.states, strict=True)
        return sum(end.at - begin.at for (begin, end), so in ends if so == "undisturbed")

    @property
    def enough(self) -> bool:
        return self.undisturbed >= self.wanted

    @property
    def over(self) -> bool:
        """Where the machine does not tell, there is nothing to wait for."""
        told = "unknown" not in self.states
        return self.enough or self.marks[-1].at >= (self.longest if told else self.wanted)


class Measured(NamedTuple):
    """A figure, and what the time was like in which it was measured."""

    figure: float
    time: State


def at_the_most(measure: Callable[[], float], mark: Callable[[], Mark], tries: int) -> Measured:
    """The greatest figure of so many as it takes to measure one undisturbed: being disturbed makes none greater.

    One is thrown away before: caches fill.
    """
    measure()
    greatest = 0.0
    for _ in range(tries):
        begin = mark()
        greatest = max(greatest, measure())
        if (time := state(begin, mark(), None, ())) != "disturbed":
            break
    return Measured(greatest, time)
