"""Who stands where: totals in order, ties broken, and no more of it sorted than anybody looks at."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .labels import Rows, all_of
from .normalize import Floats

__all__ = ["Ranking"]

_SORTED_AT_ONCE = 256
_NOBODY: Rows = np.empty(0, dtype=np.intp)


class Ranking:
    """Positions, best first. Ties are broken by the named keys, in their order, then by the hashes.

    `size`: how many are ranked; those who are not, have a total of −inf. Sorting everybody costs more than finding the
    few that are shown: `head` sorts no more than it must, and what only the tied need is worked out when somebody ties.
    """

    def __init__(
        self,
        *,
        totals: Floats,
        size: int,
        hashes_of: Callable[[], Any],
        tie_keys_of: Callable[[], Mapping[str, Floats]],
    ) -> None:
        self.totals = totals
        self.size = size
        self.picked = -1
        self._hashes_of = hashes_of
        self._tie_keys_of = tie_keys_of
        self._sorted = _NOBODY

    def head(self, count: int) -> Rows:
        """At least the best `count`, or all that there are."""
        count = min(count, self.size)
        if self._sorted.size < count:
            self._sorted = self._best(count)
        return self._sorted

    @property
    def order(self) -> Rows:
        """All of them."""
        return self.head(self.size)

    @cached_property
    def hashes(self) -> Any:
        return self._hashes_of()

    @cached_property
    def tie_keys(self) -> Mapping[str, Floats]:
        return self._tie_keys_of()

    def _best(self, count: int) -> Rows:
        """At least the best `count`, in their order."""
        few = None if self.totals.size <= _SORTED_AT_ONCE or count >= self.size else self._down_to(count)
        totals = -(self.totals if few is None else self.totals[few])
        order = totals.argsort(kind="stable")[: self.size]
        ordered = totals[order]
        if not all_of(ordered[1:] != ordered[:-1]):
            keys = [-(key if few is None else key[few]) for key in reversed(list(self.tie_keys.values()))]
            hashes = self.hashes if few is None else self.hashes[few]
            order = np.lexsort((hashes, *keys, totals))[: self.size]
        return order if few is None else few[order]

    def _down_to(self, count: int) -> Rows:
        """The best, and whoever stands level with the last of them."""
        last = np.partition(self.totals, -count)[-count]
        return np.flatnonzero(self.totals >= last)
