"""Who is left while one filter judges after the other, and how many each of them leaves."""

from collections.abc import Callable, Sequence

import numpy as np

from .decision import Judgement
from .labels import Mask

__all__ = ["Sieve"]


class Sieve:
    """The rows that every judgement keeps: `alive`, `count` of them.

    `left` has an entry for each judgement: how many it leaves of what the ones before it have left. Where neighbours
    give the same reason, the last of them speaks for all. `reasons`: the judgements, as far as they are counted.
    """

    __slots__ = ("_judge", "_lasting", "alive", "count", "left", "reasons")

    def __init__(self, size: int) -> None:
        self.alive: Mask = np.ones(size, dtype=np.bool_)
        self.count = size
        self.left: list[int] = []
        self.reasons: Sequence[Judgement] = ()
        self._judge: Callable[[], Sequence[Judgement]] | None = None
        self._lasting: Callable[[], Mask] | None = None

    @classmethod
    def known(
        cls,
        alive: Mask,
        left: list[int],
        reasons: Sequence[Judgement],
        lasting: Callable[[], Mask],
        judge: Callable[[], Sequence[Judgement]],
    ) -> "Sieve":
        """One of which it is known who is left before anybody is asked; `judge` asks."""
        found: Sieve = object.__new__(Sieve)
        found.alive, found.left, found.reasons = alive, left, reasons
        found.count = left[-1] if left else alive.size
        found._judge, found._lasting = judge, lasting
        return found

    def add(self, judgements: Sequence[Judgement]) -> None:
        alive, left, to_count = self.alive, self.left, False
        for judgement, after in zip(judgements, (*judgements[1:], None), strict=False):
            if not judgement.idle:
                alive &= judgement.keep
                to_count = True
            if to_count and (after is None or after.reason is not judgement.reason or after.plugin != judgement.plugin):
                self.count, to_count = int(np.count_nonzero(alive)), False
            left.append(self.count)
        self.reasons = (*self.reasons, *judgements)

    def copy(self) -> "Sieve":
        """One that goes on from here by itself."""
        other: Sieve = object.__new__(Sieve)
        other.alive, other.count = self.alive.copy(), self.count
        other.left, other.reasons = self.left.copy(), self.reasons
        other._judge, other._lasting = self._judge, self._lasting
        return other

    def judgements(self) -> Sequence[Judgement]:
        """All of them, with their masks."""
        return self.reasons if self._judge is None else self._judge()

    def lasting(self) -> Mask | None:
        """Whom nothing rejects that is remembered for all questions that are alike; None: it rejects nobody."""
        if self._lasting is not None:
            return self._lasting()
        lasting = [judgement.keep for judgement in self.reasons if judgement.lasting and not judgement.idle]
        return np.logical_and.reduce(lasting) if lasting else None
