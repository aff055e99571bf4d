"""A decision as columns: every filter's verdict, every scorer's scores, the ranking. `explain.py` makes the answer."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from .answer import PluginError, RejectedCount
from .context import Cycle, Timing
from .labels import Mask, Rows
from .normalize import Floats, Scale
from .plugin import Detail, Figures, Note, Reason
from .profile import Entry, Profile
from .snapshot import Reading

__all__ = ["Decision", "Judgement", "Ranking", "ScoreColumn"]

_SORTED_AT_ONCE = 256


class Judgement(msgspec.Struct, frozen=True):
    """One filter's verdict on all rows that the request is about."""

    plugin: str
    reason: Reason
    keep: Mask
    detail: Detail | None = None
    figures: Figures | None = None

    def numbers(self, position: int) -> Mapping[str, Any]:
        return self.detail(position) if self.detail else {}


class ScoreColumn(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer over all survivors. `known`: which values count as they are; under `last`, stale ones too."""

    entry: Entry
    raw: Reading
    scale: Scale
    known: Mask
    scores: Floats
    nominal_weight: float
    weight: float
    left_out: bool


class Ranking:
    """The positions of the survivors, best first. Ties are broken by the named keys in their order, then by hashes.

    Sorting all survivors costs more than finding the few that are shown: `head` sorts only the best, and the keys of
    tie-breakers are worked out only when there is a tie.
    """

    def __init__(
        self, totals: Floats, *, tie_keys_of: Callable[[], Mapping[str, Floats]], hashes_of: Callable[[], Any]
    ) -> None:
        self.totals = totals
        self.size = totals.size
        self._tie_keys_of = tie_keys_of
        self._hashes_of = hashes_of
        self._sorted: Rows = np.empty(0, dtype=np.intp)

    def head(self, count: int) -> Rows:
        """Return the best `count` positions or more, or all if there are fewer."""
        count = min(count, self.size)
        if self._sorted.size < count:
            self._sorted = self._best(count)
        return self._sorted

    @property
    def order(self) -> Rows:
        """All positions, best first."""
        return self.head(self.size)

    @cached_property
    def tie_keys(self) -> Mapping[str, Floats]:
        """Each tie-breaker's key by its name; more goes first."""
        return self._tie_keys_of()

    @cached_property
    def hashes(self) -> Any:
        return self._hashes_of()

    def _best(self, count: int) -> Rows:
        positions = np.arange(self.size)
        if self.size > _SORTED_AT_ONCE and count < self.size:  # the best, and all that tie with the last of them
            positions = np.flatnonzero(self.totals >= np.partition(self.totals, -count)[-count])
        totals = -self.totals[positions]
        order = totals.argsort(kind="stable")
        ordered = totals[order]
        if (ordered[1:] - ordered[:-1] == 0.0).any():
            keys = [-key[positions] for key in reversed(list(self.tie_keys.values()))]
            order = np.lexsort((self.hashes[positions], *keys, totals))
        best: Rows = positions[order]
        return best


class Decision(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The result of all filters and scorers for one request.

    `cycle` has all rows that the request is about, `survivors` those that no filter rejects; columns and ranking are
    about the survivors, and `picked` is the position of the chosen IDC among them (−1: there is none). `visited`: which
    rows were visited (None: all). `groups`: the fallback group of each row (None: there are none); `group`: the one
    that won or, where nothing fits, the last.
    """

    cycle: Cycle
    profile: Profile
    judgements: Sequence[Judgement]
    visited: Mask | None
    groups: Rows | None
    group: int
    survivors: Cycle
    columns: tuple[ScoreColumn, ...]
    ranking: Ranking
    picked: int
    hints: tuple[tuple[str, Note], ...]
    plugin_errors: tuple[PluginError, ...]
    timings: tuple[Timing, ...]

    @property
    def scheduled(self) -> bool:
        return self.feasible > 0

    @property
    def as_planned(self) -> bool:
        """Whether the IDC is taken that the request plans to take."""
        planned = self.cycle.request.planned
        return planned is not None and self.scheduled and self.code(self.picked) == planned.idc

    @property
    def feasible(self) -> int:
        """How many IDCs fit."""
        return self.survivors.size

    @property
    def not_visited(self) -> int:
        """How many IDCs were not visited."""
        return 0 if self.visited is None else self.visited.size - int(np.count_nonzero(self.visited))

    @cached_property
    def rejected(self) -> list[tuple[RejectedCount, Judgement]]:
        """For each plugin and reason, how many visited IDCs it was the first to reject; the largest count first."""
        return self.rejected_of(np.ones(self.cycle.size, dtype=np.bool_) if self.visited is None else self.visited)

    def rejected_of(self, among: Mask) -> list[tuple[RejectedCount, Judgement]]:
        """Return the counts of `rejected` for some rows alone."""
        counts: dict[tuple[str, str], tuple[int, Judgement]] = {}
        alive, left = among.copy(), int(np.count_nonzero(among))
        for judgement in self.judgements:
            alive &= judgement.keep
            before, left = left, int(np.count_nonzero(alive))
            if left < before:
                key = judgement.plugin, judgement.reason.code
                counts[key] = (before - left + (counts[key][0] if key in counts else 0), judgement)
        ordered = sorted(counts.values(), key=itemgetter(0), reverse=True)
        return [(RejectedCount(plugin=by.plugin, code=by.reason.code, count=count), by) for count, by in ordered]

    def code(self, position: int) -> str:
        """Return the code of the survivor at a position."""
        return self.survivors.snapshot.idcs.codes[int(self.survivors.row_numbers[position])]
