"""The answer and its reasons, as values. What is not shown is not computed: see `explain.py`."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .labels import Mask, Rows
from .normalize import Floats
from .order import Ranking
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
    "Rejected",
    "RejectedCount",
    "Score",
    "ScoreColumn",
    "Stale",
    "Tie",
    "Timing",
    "counted",
]


class _Part(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How all parts of an answer are made: of values alone, which nothing leads back to."""


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
    """One filter's word on all rows of the universe.

    `idle`: it is known to reject none of them. `lasting`: it is remembered, and holds for all questions that are alike.
    """

    plugin: str
    reason: Reason
    keep: Mask
    detail: Detail | None
    figures: Figures | None = None
    idle: bool = False
    lasting: bool = False

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

    `complete`: all raw values are known, and fresh.

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
    complete: bool
    places: Rows | None = None
    shown: dict[int, Score] | None = None
    """What was shown before of those places, but for the age; None: it may be another each time."""

    @property
    def raw(self) -> Reading:
        """The raw values of the survivors."""
        return self.reading if self.places is None else self.reading.take(self.places)

    def alone(self) -> "ScoreColumn":
        """The same with nothing in it about other rows."""
        known = self.known if self.places is None else self.known[self.places]
        shown: dict[int, Score] | None = None if self.shown is None else {}
        return msgspec.structs.replace(self, reading=self.raw, known=known, places=None, shown=shown)


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the survivors, scored and ranked. Its first `sure` places are those among all survivors.

    `survivors` may hold others beside them, whom its ranking leaves out.
    """

    survivors: "Cycle"
    columns: tuple[ScoreColumn, ...]
    ranking: Ranking
    sure: int

    def code(self, position: int) -> str:
        """The IDC at a position."""
        return self.survivors.snapshot.idcs.codes[int(self.survivors.row_numbers[position])]


def counted(
    judgements: Sequence[Judgement], lefts: Sequence[int], size: int
) -> "list[tuple[RejectedCount, Judgement]]":
    """`lefts`: how many of the `size` rows each judgement leaves of what the ones before it have left."""
    found: dict[tuple[str, str], tuple[int, Judgement]] = {}
    left = size
    for judgement, after in zip(judgements, lefts, strict=True):
        if after != left:
            key = (judgement.plugin, judgement.reason.code)
            found[key] = (left - after + (found[key][0] if key in found else 0), judgement)
            left = after
    ordered = sorted(found.values(), key=itemgetter(0), reverse=True)
    return [(RejectedCount(plugin=by.plugin, code=by.reason.code, count=count), by) for count, by in ordered]


class Decision(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that the cycle found, as columns; `explain.answer` tells it.

    `best` has those scored who can be among the best, the one that is picked among them; `score_everybody` gives a
    board of all.
    """

    cycle: "Cycle"
    feasible: int
    reasons: Sequence[Judgement]
    """The judgements as far as they are counted; their masks may be missing."""
    left: Sequence[int]
    """How many of all rows each of them leaves of what the ones before it have left; see `sieve.Sieve`."""
    judge: Callable[[], Sequence[Judgement]]
    visited: Mask | None
    """Who was looked at; None: everybody was."""
    groups: Rows | None
    """The fallback group of each row; None: nobody asked."""
    group_index: int
    best: Board
    score_everybody: Callable[[], Board]
    plugin_errors: tuple[PluginError, ...]
    hints: tuple[tuple[str, Note], ...] = ()
    timings: tuple[Timing, ...] = ()

    @cached_property
    def judgements(self) -> Sequence[Judgement]:
        """Every filter's word, in the order in which rejections are counted."""
        return self.judge()

    @property
    def not_visited(self) -> int:
        return 0 if self.visited is None else self.visited.size - int(np.count_nonzero(self.visited))

    @property
    def rejected(self) -> "list[tuple[RejectedCount, Judgement]]":
        """How many of those that were looked at each plugin and reason was the first to reject; the most first."""
        if self.visited is not None:
            return self.rejected_of(self.visited)
        return counted(self.reasons, self.left, self.cycle.size)

    def rejected_of(self, among: Mask) -> "list[tuple[RejectedCount, Judgement]]":
        """The same of these rows alone."""
        alive, lefts = among.copy(), []
        for judgement in self.judgements:
            alive &= judgement.keep
            lefts.append(int(np.count_nonzero(alive)))
        return counted(self.judgements, lefts, int(np.count_nonzero(among)))

    @cached_property
    def everybody(self) -> Board:
        """All survivors."""
        best = self.best
        return best if best.sure == self.feasible == best.survivors.size else self.score_everybody()

    @property
    def survivors(self) -> "Cycle":
        """All of them, scored; `ranking` has them in order."""
        return self.everybody.survivors

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
