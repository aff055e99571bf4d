"""What a plugin's methods are given: what is asked, what is known, and the rows that they judge."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .building import BANDWIDTH
from .decision import MissingNote, Timing
from .labels import Mask, Rows
from .lines import LineChoice, LinePolicy, choose_lines
from .normalize import Floats
from .one_by_one import IdcView
from .outside import Reply
from .profile import Entry, Profile
from .request import Request
from .snapshot import MetricColumn, Reading, Snapshot

__all__ = ["Clock", "Cycle", "fresh"]

Clock = Callable[[], float]


class Cycle:
    """The one context object: what is asked, what is known, and the rows that a method judges.

    `rows` are those in question while filtering and the survivors while scoring; `take` gives a column's
    part of them. `state` is shared by all methods of one decision.
    """

    __slots__ = (
        "_choice",
        "clock",
        "entry",
        "labels",
        "notes",
        "now",
        "profile",
        "replies",
        "request",
        "rows",
        "size",
        "snapshot",
        "state",
        "timings",
    )

    def __init__(
        self,
        request: Request,
        snapshot: Snapshot,
        profile: Profile,
        *,
        now: float,
        rows: slice | Rows,
        labels: Mapping[str, str],
    ) -> None:
        self.request = request
        self.snapshot = snapshot
        self.profile = profile
        self.now = now
        self.labels = labels
        self.rows = rows
        self.size = _count(rows, snapshot.size)
        self.entry: Entry = profile.entries[0]
        self.state: dict[Any, Any] = {}
        self.notes: list[MissingNote] = []
        self.replies: Mapping[str, Reply] = {}
        self.clock: Clock | None = None
        self.timings: list[Timing] = []
        self._choice: LineChoice | None = None

    def narrowed(self, positions: Rows, choice: LineChoice | None = None) -> "Cycle":
        """The same decision about some of its rows only, on their lines or on those that `choice` says."""
        other = Cycle(
            self.request,
            self.snapshot,
            self.profile,
            now=self.now,
            rows=self.row_numbers[positions],
            labels=self.labels,
        )
        other.state, other.notes, other.replies = self.state, self.notes, self.replies
        other.clock, other.timings = self.clock, self.timings
        other._choice = choice or self.lines.take(positions)
        return other

    def on_lines(self, lines: tuple[int, ...]) -> "Cycle":
        """The same about its one IDC, on those of its lines."""
        yes = np.ones(1, dtype=np.bool_)
        groups = tuple(np.array([line], dtype=np.intp) for line in lines)
        choice = LineChoice(groups=groups, has_line=yes, carries=yes, known=yes)
        return self.narrowed(np.array([0], dtype=np.intp), choice)

    @contextmanager
    def at_work(self, entry: Entry, point: str) -> Iterator[None]:
        """While the entry's plugin works at a point; how long, is noted where the caller lent a clock."""
        self.entry = entry
        if self.clock is None:
            yield
            return
        started = self.clock()
        try:
            yield
        finally:
            self.timings.append(Timing(entry.name, point, self.clock() - started))

    @property
    def row_numbers(self) -> Rows:
        """The rows as numbers into the snapshot's columns."""
        return np.arange(self.snapshot.size, dtype=np.intp)[self.rows]

    def take(self, column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The part of a snapshot column (one entry an IDC) that belongs to these rows."""
        return column[self.rows]

    def matching(self, terms: Any) -> Mask:
        """Which of these rows one of the terms matches."""
        return self.take(self.snapshot.matching(terms))

    def metric(self, code: str) -> Reading:
        """An IDC metric for these rows; a metric that nobody ever reported is missing everywhere."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "idc":
            nothing = np.full(self.size, np.nan)
            return Reading(metric=code, values=nothing, at=nothing, known=np.zeros(self.size, dtype=np.bool_))
        values, at = self.take(column.values), self.take(column.at)
        return Reading(metric=code, values=values, at=at, known=fresh(column, values, at, self.now))

    def line_metric(self, code: str, lines: Rows) -> Reading:
        """A line metric for these rows, each by the line given; NO_LINE is missing."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "line" or not column.values.size:
            nothing = np.full(self.size, np.nan)
            known = np.zeros(self.size, dtype=np.bool_)
            return Reading(metric=code, values=nothing, at=nothing, known=known, lines=lines)
        there = lines >= 0
        values = np.where(there, column.values.take(lines), np.nan)
        at = np.where(there, column.at.take(lines), np.nan)
        return Reading(metric=code, values=values, at=at, known=fresh(column, values, at, self.now), lines=lines)

    def metric_of(self, code: str, row: int) -> tuple[float | None, bool]:
        """An IDC metric of one row, None where there is none, and whether it is fresh enough to be known."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "idc" or np.isnan(column.values[row]):
            return None, False
        one = slice(row, row + 1)
        return float(column.values[row]), bool(fresh(column, column.values[one], column.at[one], self.now)[0])

    def views(self) -> Iterator[IdcView]:
        """These rows one by one, for plugins that think so."""
        for position, row in enumerate(self.row_numbers.tolist()):
            yield IdcView(self, row, position)

    @property
    def reply(self) -> Reply | None:
        """What the outside answered the plugin at work; None: it was not asked."""
        return self.replies.get(self.entry.name)

    @property
    def lines(self) -> LineChoice:
        """Which line each of these rows would use."""
        if self._choice is None:
            self._choice = choose_lines(self.snapshot, self.rows, self._fresh_lines(), self.line_policy())
        return self._choice

    def line_policy(self) -> LinePolicy:
        flow = self.profile.of_plugin("network_flow")
        wanted = tuple(dict.fromkeys(self.snapshot.isps[isp] for isp in self.request.wanted_isps))
        return LinePolicy(
            wanted=wanted,
            match=(self.request.isp_match or "any") if wanted else "any",
            need=self.request.bandwidth,
            choice=self.profile.line_choice,
            bgp_substitutes=self.profile.bgp_substitutes,
            unknown=flow.missing.filter if flow else "pass",
        )

    def _fresh_lines(self) -> Mask:
        column = self.snapshot.metrics.get(BANDWIDTH)
        if column is None:
            return np.zeros(len(self.snapshot.lines.codes), dtype=np.bool_)
        return fresh(column, column.values, column.at, self.now)

    def usable(self, reading: Reading, among: Mask | None = None) -> Mask:
        """Which values the filter at work may judge by, as its `on_missing` says; what is missing is put on record.

        `among`: only these rows' values are asked for at all.
        """
        policy = self.entry.missing.filter
        missing = ~reading.known if among is None else among & ~reading.known
        stale = ~np.isnan(reading.values) if policy == "last" else np.zeros(self.size, dtype=np.bool_)
        self.note_missing(reading, missing & stale, "last")
        self.note_missing(reading, missing & ~stale, "reject" if policy == "last" else policy)
        return reading.known | stale

    def note_missing(self, reading: Reading, where: Mask, used_as: str) -> None:
        """Put on record that values were missing or stale in some rows, and what was done about it."""
        if where.any():
            self.notes.append(
                MissingNote(self.entry.name, self.row_numbers[where], reading.take(np.flatnonzero(where)), used_as)
            )


def fresh(column: MetricColumn, values: Floats, at: Floats, now: float) -> Mask:
    """Which values are there and not older than the metric's max_age."""
    if column.fact.max_age is None:
        return ~np.isnan(values)
    return at >= now - column.fact.max_age


def _count(rows: slice | Rows, size: int) -> int:
    return len(range(*rows.indices(size))) if isinstance(rows, slice) else int(rows.size)
