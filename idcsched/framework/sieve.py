"""Who is left while one filter judges after the other, and how many each of them leaves."""

from collections.abc import Sequence

import numpy as np

from .decision import Judgement
from .labels import Mask

__all__ = ["Sieve"]


class Sieve:
    """The rows that every judgement keeps: `alive`, `count` of them.

    `left` has an entry for each judgement: how many it leaves of what the ones before it have left. Where neighbours
    give the same reason, the last of them speaks for all.
    """

    __slots__ = ("alive", "count", "judgements", "left")

    def __init__(self, size: int) -> None:
        self.alive: Mask = np.ones(size, dtype=np.bool_)
        self.count = size
        self.judgements: list[Judgement] = []
        self.left: list[int] = []

    def add(self, judgements: Sequence[Judgement]) -> None:
        alive, left, to_count = self.alive, self.left, False
        for judgement, after in zip(judgements, (*judgements[1:], None), strict=False):
            if not judgement.idle:
                alive &= judgement.keep
                to_count = True
            if to_count and (after is None or after.reason is not judgement.reason or after.plugin != judgement.plugin):
                self.count, to_count = int(np.count_nonzero(alive)), False
            left.append(self.count)
        self.judgements += judgements

    def copy(self) -> "Sieve":
        """One that goes on from here by itself."""
        other: Sieve = object.__new__(Sieve)
        other.alive, other.count = self.alive.copy(), self.count
        other.judgements, other.left = self.judgements.copy(), self.left.copy()
        return other
