"""The answer and its reasons, as values. What is not shown is not computed: see `explain.py`."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .labels import Mask, Rows
from .normalize import Floats
from .plugin import Detail, Figures, Note, Reason
from .profile import Entry
from .snapshot import Reading

if TYPE_CHECKING:
    from .context import Cycle

__all__ = [
    "Answer",
    "Board",
    "Candidate",
    "Decision",
    "Flip",
    "Hint",
    "IdcShare",
    "Judgement",
    "LineUse",
    "Margin",
    "MissingNote",
    "NearMiss",
    "Passed",
    "PluginError",
    "Ranking",
    "Rejected",
    "RejectedCount",
    "Score",
    "ScoreColumn",
    "Stale",
    "Tie",
    "Timing",
]


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """How all parts of an answer are encoded."""


class LineUse(_Part, frozen=True, kw_only=True):
    line: str
    isp: str
    bandwidth_mbps: float


class Score(_Part, frozen=True, kw_only=True):
    """One scorer's way from raw value to contribution. `missing`: what stood in for a missing value."""

    raw: float | None
    normalized: float | None
    weight: float
    nominal_weight: float
    contribution: float
    age_seconds: float | None
    missing: str | None
    note: str | msgspec.UnsetType = msgspec.UNSET


class Passed(_Part, frozen=True, kw_only=True):
    """A filter that let the IDC pass, and the numbers that it judged by."""

    plugin: str
    figures: dict[str, Any]


class Candidate(_Part, frozen=True, kw_only=True):
    """`filters`: in a full explanation the filters that had numbers to judge by; absent where none had."""

    rank: int
    idc: str
    lines: tuple[LineUse, ...]
    score: float
    scores: dict[str, Score]
    filters: tuple[Passed, ...] | msgspec.UnsetType = msgspec.UNSET


class Tie(_Part, frozen=True, kw_only=True):
    between: tuple[str, ...]
    broken_by: str
    values: dict[str, float | None]


class Flip(_Part, frozen=True, kw_only=True):
    """The weight at which the runner-up draws level, all others unchanged; null: none between 0 and 10,000."""

    scorer: str
    weight: float | None


class Margin(_Part, frozen=True, kw_only=True):
    runner_up: str
    score: float
    flips: tuple[Flip, ...]


class Rejected(_Part, frozen=True, kw_only=True):
    """`also`: the other plugins that would have rejected it too."""

    idc: str
    plugin: str
    code: str
    reason: str
    detail: dict[str, Any]
    also: tuple[str, ...]


class RejectedCount(_Part, frozen=True, kw_only=True):
    plugin: str
    code: str
    count: int


class NearMiss(_Part, frozen=True, kw_only=True):
    idc: str
    plugin: str
    code: str
    need: float | None
    free: float | None
    short_by: float | None
    reason: str


class Stale(_Part, frozen=True, kw_only=True):
    idc: str
    line: str | None
    metric: str
    age_seconds: float | None
    used_as: str


class EarlierGroup(_Part, frozen=True, kw_only=True):
    index: int
    rejected_counts: tuple[RejectedCount, ...]


class FallbackGroup(_Part, frozen=True, kw_only=True):
    """The group that won (null: none did) and why the ones before it were empty."""

    index: int | None
    earlier: tuple[EarlierGroup, ...]


class PluginError(msgspec.Struct, frozen=True):
    plugin: str
    point: str
    error: str


class Hint(_Part, frozen=True, kw_only=True):
    """What a plugin says would have helped, where nothing fits."""

    plugin: str
    hint: str


class IdcBrief(_Part, frozen=True, kw_only=True):
    code: str
    name: str
    region: str


class IdcShare(_Part, frozen=True, kw_only=True):
    """One of the IDCs that the machines are spread over."""

    idc: str
    lines: tuple[LineUse, ...]
    machine_count: int
    score: float


class Answer(_Part, frozen=True, kw_only=True):
    """What the engine knows of the contract's answer; who asks adds ids, ages and the commit token."""

    result: str
    reason_code: str | None
    idc: IdcBrief | None
    lines: tuple[LineUse, ...]
    score: float | None
    score_mean: float | None
    candidates: tuple[Candidate, ...] | None
    tie: Tie | None
    margin: Margin | None
    rejected: tuple[Rejected, ...] | None
    rejected_counts: tuple[RejectedCount, ...] | None
    near_misses: tuple[NearMiss, ...] | None
    summary: str
    evaluated: int
    feasible: int
    not_visited: int
    picked: str
    fallback_group: FallbackGroup | None
    stale: tuple[Stale, ...] | None
    plugin_errors: tuple[PluginError, ...]
    hints: tuple[Hint, ...] | msgspec.UnsetType = msgspec.UNSET
    truncated: bool | msgspec.UnsetType = msgspec.UNSET
    idcs: tuple[IdcShare, ...] | msgspec.UnsetType = msgspec.UNSET


class Judgement(msgspec.Struct, frozen=True):
    """One filter's word on all rows of the universe. `idle`: it is known to reject none of them."""

    plugin: str
    reason: Reason
    keep: Mask
    detail: Detail | None
    figures: Figures | None = None
    idle: bool = False

    def numbers(self, position: int) -> Mapping[str, Any]:
        return self.detail(position) if self.detail else {}


class Timing(msgspec.Struct, frozen=True):
    """How long a plugin worked at a point."""

    plugin: str
    point: str
    seconds: float


class MissingNote(msgspec.Struct, frozen=True):
    """Values that were missing or stale in `rows`, and what was done about it."""

    plugin: str
    rows: Rows
    reading: Reading
    used_as: str


class ScoreColumn(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer over all survivors. `known` has the values that were used as they are, stale ones under `last` too.

    `reading` and `known` may be those of more rows, where they were worked out before; `places` then says where in
    them the survivors stand.
    """

    entry: Entry
    reading: Reading
    known: Mask
    scores: Floats
    nominal_weight: float
    weight: float
    left_out: bool
    places: Rows | None = None
    shown: dict[int, Score] | None = None
    """What was shown before of those places; None: it may be another each time."""

    @property
    def raw(self) -> Reading:
        """The raw values of the survivors."""
        return self.reading if self.places is None else self.reading.take(self.places)

    def place(self, position: int) -> int:
        """Where the survivor at this position stands in `reading` and `known`."""
        return position if self.places is None else int(self.places[position])


_SORTED_AT_ONCE = 256


class Ranking:
    """Positions among the survivors, best first. Ties are broken by the named keys, in their order, then by the hashes.

    Sorting everybody costs more than finding the few that are shown: `head` sorts no more than it must, and what only
    the tied need is worked out when somebody ties.
    """

    def __init__(
        self, *, totals: Floats, hashes_of: Callable[[], Any], tie_keys_of: Callable[[], Mapping[str, Floats]]
    ) -> None:
        self.totals = totals
        self.picked = -1
        self._hashes_of = hashes_of
        self._tie_keys_of = tie_keys_of
        self._sorted: Rows = np.empty(0, dtype=np.intp)

    def head(self, count: int) -> Rows:
        """At least the best `count`, or all that there are."""
        count = min(count, self.totals.size)
        if self._sorted.size < count:
            self._sorted = self._best(count)
        return self._sorted

    @property
    def order(self) -> Rows:
        """All of them."""
        return self.head(self.totals.size)

    @cached_property
    def hashes(self) -> Any:
        return self._hashes_of()

    @cached_property
    def tie_keys(self) -> Mapping[str, Floats]:
        return self._tie_keys_of()

    def _best(self, count: int) -> Rows:
        """The best, and whoever stands level with the last of them."""
        positions = self._down_to(count)
        totals = -self.totals.take(positions)
        by_total = totals.argsort(kind="stable")
        ordered = totals.take(by_total)
        if not (ordered[1:] == ordered[:-1]).any():
            return positions.take(by_total)
        keys = [-key.take(positions) for key in reversed(list(self.tie_keys.values()))]
        return positions.take(np.lexsort((self.hashes.take(positions), *keys, totals)))

    def _down_to(self, count: int) -> Rows:
        if count >= self.totals.size or self.totals.size <= _SORTED_AT_ONCE:
            return np.arange(self.totals.size, dtype=np.intp)
        last = np.partition(self.totals, -count)[-count]
        return np.flatnonzero(self.totals >= last)


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the survivors, scored and ranked. Its first `sure` places are those among all survivors."""

    survivors: "Cycle"
    columns: tuple[ScoreColumn, ...]
    ranking: Ranking
    sure: int

    def code(self, position: int) -> str:
        """The IDC at a position."""
        return self.survivors.snapshot.idcs.codes[int(self.survivors.row_numbers[position])]


class Decision(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that the cycle found, as columns; `explain.answer` tells it.

    `best` has those scored who can be among the best, the one that is picked among them; `score_everybody` gives a
    board of all.
    """

    cycle: "Cycle"
    feasible: int
    judgements: tuple[Judgement, ...]
    left: tuple[int, ...]
    """How many of all rows each judgement leaves of what the ones before it have left."""
    visited: Mask
    not_visited: int
    groups: Rows
    group_index: int
    best: Board
    score_everybody: Callable[[], Board]
    plugin_errors: tuple[PluginError, ...]
    hints: tuple[tuple[str, Note], ...] = ()
    timings: tuple[Timing, ...] = ()

    @cached_property
    def everybody(self) -> Board:
        """All survivors."""
        return self.best if self.best.sure == self.feasible else self.score_everybody()

    @property
    def survivors(self) -> "Cycle":
        """All of them, scored; so are `columns` and `ranking`."""
        return self.everybody.survivors

    @property
    def columns(self) -> tuple[ScoreColumn, ...]:
        return self.everybody.columns

    @property
    def ranking(self) -> Ranking:
        return self.everybody.ranking

    def code(self, position: int) -> str:
        """The IDC at a position of the survivors."""
        return self.everybody.code(position)

    def board(self, count: int) -> Board:
        """One on which the first `count` places are sure, as far as there are so many."""
        return self.best if count <= self.best.sure else self.everybody

    @property
    def scheduled(self) -> bool:
        return self.feasible > 0
