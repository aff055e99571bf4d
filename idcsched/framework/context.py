"""The context object that plugins' methods get: the request, the snapshot, and the rows to judge."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from math import isnan, nan
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from .answer import PluginError
from .capacity import BANDWIDTH
from .external import Reply
from .facts import MetricFact
from .labels import Mask, Rows
from .lines import LineChoice, LinePolicy, carrying_lines, choose_lines, eligible_lines
from .monthly_bill import MonthBills
from .normalize import Floats
from .request import Request
from .shape import FLAT, OrderShape
from .snapshot import Reading, Snapshot, fresh

__all__ = ["Clock", "Cycle", "IdcView", "Missing", "MissingNote", "OnMissingFilter", "OnMissingScore", "Timing"]

Clock = Callable[[], float]
OnMissingFilter = Literal["reject", "pass", "last"]
OnMissingScore = Literal["worst", "neutral", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """How a plugin treats a missing or stale value."""

    filter: OnMissingFilter = "pass"
    score: OnMissingScore = "neutral"


class MissingNote(msgspec.Struct, frozen=True):
    """Values that were missing or stale in `rows`, and how they were treated."""

    plugin: str
    rows: Rows
    reading: Reading
    used_as: str


class Timing(msgspec.Struct, frozen=True):
    """How long a plugin worked at a point."""

    plugin: str
    point: str
    seconds: float


class Cycle(msgspec.Struct, kw_only=True):
    """The one context object: the request, the snapshot, and the rows that a method judges.

    `rows`, `size` many, are all rows of the request while filtering and the survivors while scoring; `row_numbers` has
    them as numbers into the snapshot's columns, and `take` returns their part of a column. `entry` and `missing` are
    those of the profile's entry whose plugin is running. `state` is shared by all methods of one decision; `notes`,
    `errors` and `timings` collect what is put on record.
    """

    request: Request
    snapshot: Snapshot
    now: float
    labels: Mapping[str, str]
    line_policy: LinePolicy
    rows: slice | Rows
    shape: OrderShape = FLAT
    replies: Mapping[str, Reply] = {}
    clock: Clock | None = None
    entry: str = ""
    missing: Missing = Missing()
    state: dict[Any, Any] = {}
    notes: list[MissingNote] = []
    errors: list[PluginError] = []
    timings: list[Timing] = []
    months: dict[float, MonthBills] = {}
    choice: LineChoice | None = None
    row_numbers: Rows = np.empty(0, dtype=np.intp)
    size: int = 0

    def __post_init__(self) -> None:
        rows = self.rows
        self.row_numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        self.size = self.row_numbers.size

    @property
    def need(self) -> float:
        """The bandwidth that the whole request needs, in Mbps."""
        return self.line_policy.need

    @property
    def lines(self) -> LineChoice:
        """Which line each of these rows would use."""
        if self.choice is None:
            self.choice = choose_lines(self.snapshot, self.rows, self._fresh_lines(), self.line_policy)
        return self.choice

    def roomiest_lines(self, positions: Rows) -> LineChoice:
        """Return the lines that the rows at those positions would use if the profile chose the roomiest."""
        policy = replace(self.line_policy, choice="roomiest", planned=())
        return choose_lines(self.snapshot, self.row_numbers[positions], self._fresh_lines(), policy)

    def carrying_lines(self) -> list[Rows]:
        """Return columns of lines that these rows could use instead of the chosen one."""
        return carrying_lines(self.snapshot, self.row_numbers, self._fresh_lines(), self.line_policy)

    def eligible_lines(self, position: int) -> dict[int, float]:
        """Return each line that the request could use in the row at that position, with its room; NaN: not known.

        A stale use counts as not known unless the profile lets the last value count.
        """
        lines = eligible_lines(self.snapshot, self.row_numbers.item(position), self.line_policy)
        rooms = self.snapshot.lines.room[lines]
        if self.line_policy.unknown != "last":
            rooms = np.where(self._fresh_lines(lines), rooms, nan)
        return dict(zip(lines.tolist(), rooms.tolist(), strict=True))

    def narrowed(self, positions: Rows) -> "Cycle":
        """Return the cycle narrowed to `positions`."""
        rows, choice = self.row_numbers[positions], self.lines.take(positions)
        return replace(self, rows=rows, choice=choice, state=self.state.copy())

    def on_lines(self, lines: tuple[int, ...]) -> "Cycle":
        """Return the cycle of one IDC with those of its lines as the chosen ones."""
        yes = np.ones(1, dtype=np.bool_)
        groups = tuple(np.array([line], dtype=np.intp) for line in lines)
        choice = LineChoice(groups=groups, has_line=yes, carries=yes, known=yes)
        return replace(self, choice=choice)

    def take(self, column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the part of a snapshot column (one entry an IDC) that belongs to these rows."""
        return column[self.rows]

    def labelled(self, key: str, *values: str) -> Mask:
        """Return which of these rows carry the label `key`, or the fact `idc/…`, with one of the values."""
        return self.take(self.snapshot.idcs.label(key).mask(values))

    def matching(self, terms: Any) -> Mask:
        """Return which of these rows one of the terms matches."""
        return self.take(self.snapshot.matching(terms))

    def metric(self, code: str) -> Reading:
        """Return a metric for these rows: the IDC's value or, for a metric of lines, that of the chosen line.

        Of several chosen lines the worst value counts. A metric that was never reported is missing everywhere.
        """
        column = self.snapshot.metrics.get(code)
        if column is None:
            return self._nothing(code)
        if column.fact.scope == "line":
            return reduce(partial(_worse, column.fact), [self.line_metric(code, lines) for lines in self.lines.groups])
        values, at = self.take(column.values), self.take(column.at)
        return Reading(metric=code, values=values, at=at, known=fresh(column.fact, values, at, self.now))

    def line_metric(self, code: str, lines: Rows) -> Reading:
        """Return a line metric for these rows, each by the line given; NO_LINE is missing."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "line" or not column.values.size:
            return self._nothing(code, lines)
        has_line = lines >= 0
        values = np.where(has_line, column.values[lines], nan)
        at = np.where(has_line, column.at[lines], nan)
        known = fresh(column.fact, values, at, self.now) & has_line
        return Reading(metric=code, values=values, at=at, known=known, lines=lines)

    def line_times(self, code: str, lines: Rows) -> Floats:
        """Return when a line metric was measured, for these rows, each by the line given; NaN where it was not."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "line" or not column.at.size:
            return np.full(self.size, nan)
        return np.where(lines >= 0, column.at[lines], nan)

    def _nothing(self, code: str, lines: Rows | None = None) -> Reading:
        unknown, known = np.full(self.size, nan), np.zeros(self.size, dtype=np.bool_)
        return Reading(metric=code, values=unknown, at=unknown, known=known, lines=lines)

    def views(self) -> Iterator["IdcView"]:
        """Yield these rows one by one, for plugins that score one IDC at a time."""
        for position, row in enumerate(self.row_numbers.tolist()):
            yield IdcView(self, row, position, stale=True)

    @property
    def reply(self) -> Reply | None:
        """The external service's reply to the running plugin; None: there was no query."""
        return self.replies.get(self.entry)

    def usable(self, reading: Reading, among: Mask | None = None) -> Mask:
        """Return which values the running filter may judge by under its `on_missing`; put missing ones on record.

        `among`: only these rows need a value at all.
        """
        if reading.complete:
            return reading.known
        policy = self.missing.filter
        missing = ~reading.known if among is None else among & ~reading.known
        stale = ~np.isnan(reading.values) if policy == "last" else np.zeros(self.size, dtype=np.bool_)
        self.note_missing(reading, missing & stale, "last")
        self.note_missing(reading, missing & ~stale, "reject" if policy == "last" else policy)
        return reading.known | stale

    def note_missing(self, reading: Reading, where: Mask, used_as: str) -> None:
        """Put on record that values were missing or stale in some rows, and how they were treated."""
        if where.any():
            places = np.flatnonzero(where)
            self.notes.append(MissingNote(self.entry, self.row_numbers[places], reading.take(places), used_as))

    def _fresh_lines(self, lines: slice | Rows = slice(None)) -> Mask:
        """Return which of these lines of the snapshot were measured recently enough for their use to be known."""
        column = self.snapshot.metrics.get(BANDWIDTH)
        if column is None:
            return np.zeros(len(self.snapshot.lines.codes), dtype=np.bool_)[lines]
        return fresh(column.fact, column.values[lines], column.at[lines], self.now)


def _worse(fact: MetricFact, one: Reading, other: Reading) -> Reading:
    """Return the worse value of two lines in each row; unknown where either is."""
    known = one.known & other.known
    worse = one.values <= other.values if fact.direction == "higher" else one.values >= other.values
    first = np.where(known, worse, ~one.known)
    return Reading(
        metric=fact.code,
        values=np.where(first, one.values, other.values),
        known=known,
        at=None if one.at is None or other.at is None else np.where(first, one.at, other.at),
        lines=None if one.lines is None or other.lines is None else np.where(first, one.lines, other.lines),
    )


@dataclass(frozen=True, slots=True)
class IdcView:
    """One IDC, as plugins that judge one at a time see it.

    `stale`: whether stale values are given, too; `readings` collects what was asked for, each of one value.
    """

    ctx: Cycle
    row: int
    position: int
    stale: bool
    readings: list[Reading] = field(default_factory=list)

    @property
    def code(self) -> str:
        return self.ctx.snapshot.idcs.codes[self.row]

    @property
    def name(self) -> str:
        return self.ctx.snapshot.idcs.names[self.row]

    @property
    def region(self) -> str:
        return self.ctx.snapshot.idcs.regions[self.row]

    @property
    def tier(self) -> str:
        return self.ctx.snapshot.idcs.tiers[self.row]

    @property
    def partition(self) -> str:
        return self.ctx.snapshot.idcs.partitions[self.row]

    @property
    def provider(self) -> str:
        return self.ctx.snapshot.idcs.providers[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        return self.ctx.snapshot.idcs.labels[self.row]

    @property
    def lines(self) -> tuple[str, ...]:
        """The codes of the lines that the request would use."""
        return tuple(self.ctx.snapshot.lines.codes[line] for line in self.ctx.lines.of(self.position))

    def metric(self, code: str) -> float | None:
        """Return the IDC's value of a metric, None where there is none to judge by.

        Filters get a stale value only under `last`; scorers always: the profile says what counts of their results.
        """
        reading = self.ctx.metric(code).take(np.array([self.position]))
        self.readings.append(reading)
        value: float = reading.values.item()
        return None if isnan(value) or not (self.stale or reading.complete) else value
