"""What a plugin's methods are given: what is asked, what is known, and the rows that they judge."""

from collections.abc import Callable, Iterator, Mapping, Sized
from math import nan
from typing import Any, TypeVar

import msgspec
import numpy as np

from .building import BANDWIDTH
from .decision import MissingNote, Timing
from .labels import Mask, Rows
from .lines import LineChoice, LinePolicy, Settled, choose_lines, settle
from .memory import Moment
from .normalize import Floats
from .one_by_one import IdcView
from .outside import Reply
from .profile import Entry, Profile
from .request import Request
from .snapshot import MetricColumn, Reading, Snapshot

__all__ = ["Clock", "Cycle", "fresh"]

T = TypeVar("T")
Clock = Callable[[], float]
_BYTES_A_ROW = 16  # about what a remembered verdict holds: a mask, and the figures behind it


class Cycle:
    """The one context object: what is asked, what is known, and the rows that a method judges.

    `need` is the bandwidth that the whole request needs, in Mbps. `rows` are those in question while filtering and the
    survivors while scoring; `take` gives a column's part of them. `state` is shared by all methods of one decision.
    """

    __slots__ = (
        "_asked",
        "_choice",
        "_moment",
        "_shelf",
        "_whole",
        "clock",
        "entry",
        "labels",
        "need",
        "notes",
        "now",
        "positions",
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
        self.size = _count(rows)
        self.entry: Entry = profile.entries[0]
        self.state: dict[Any, Any] = {}
        self.notes: list[MissingNote] = []
        self.replies: Mapping[str, Reply] = {}
        self.clock: Clock | None = None
        self.timings: list[Timing] = []
        self.need = request.bandwidth
        self._whole: Cycle | None = None
        self.positions: Rows | None = None
        self._choice: LineChoice | None = None
        self._moment: Moment | None = None
        self._asked: dict[str, Any] = {}
        self._shelf: dict[Any, Any] | None = None

    def settle(self, rows: slice | Rows) -> None:
        """From now on it is about these rows, and what is remembered for such questions is at hand."""
        self.rows, self.size = rows, _count(rows)
        if self.remembers:
            asked = msgspec.msgpack.encode((self.profile.reads_of(self.request), self.labels))
            self._shelf = self.moment.shelf((self.profile.token, rows.start, rows.stop, asked))  # type: ignore[union-attr]

    @property
    def whole(self) -> "Cycle":
        """The cycle that these rows were taken from, or else itself."""
        return self if self._whole is None else self._whole  # not its own: who leads back to himself is freed late

    @property
    def remembers(self) -> bool:
        """Only regions are remembered: they come again, lists of IDCs do not, and neither does what is supposed."""
        return isinstance(self.rows, slice) and self.request.hypothetical is None

    def narrowed(self, positions: Rows, choice: LineChoice | None = None) -> "Cycle":
        """The same decision about some of its rows only, on their lines or on those that `choice` says."""
        other: Cycle = object.__new__(Cycle)
        other.request, other.snapshot, other.profile = self.request, self.snapshot, self.profile
        other.now, other.labels, other.entry, other.need = self.now, self.labels, self.entry, self.need
        start = self.rows.start if isinstance(self.rows, slice) else None
        other.rows = self.row_numbers[positions] if start is None else positions + start if start else positions
        other.size = int(positions.size)
        other.state, other.notes, other.replies = self.state.copy(), self.notes, self.replies
        other.clock, other.timings = self.clock, self.timings
        other._whole, other.positions = self, positions
        other._choice, other._moment, other._asked, other._shelf = choice, self._moment, self._asked, None
        return other

    def remembering(self, positions: Rows, shelf: dict[Any, Any]) -> "Cycle":
        """The same about some of its rows, where questions that are alike find what they remember of just these."""
        settled: Settled | None = shelf.get((None, "lines"))
        if settled is None and (of_all := self.at_hand(None, "lines")) is not None:
            settled = shelf[None, "lines"] = of_all.take(positions)
        other = self.narrowed(positions, None if settled is None else settled.carrying(self.need))
        other._shelf = shelf  # noqa: SLF001  # it is one of these
        return other

    def on_lines(self, lines: tuple[int, ...]) -> "Cycle":
        """The same about its one IDC, on those of its lines."""
        yes = np.ones(1, dtype=np.bool_)
        groups = tuple(np.array([line], dtype=np.intp) for line in lines)
        choice = LineChoice(groups=groups, has_line=yes, carrying=yes, known=yes)
        return self.narrowed(np.array([0], dtype=np.intp), choice)

    @property
    def moment(self) -> Moment:
        """What is remembered as long as nothing that is known changes."""
        if self._moment is None:
            self._moment = self.snapshot.moment(self.now)
        return self._moment

    def remembered(self, what: str, reads: tuple[str, ...] | None, compute: Callable[[], T]) -> T:
        """A part of the word of the plugin at work that depends on less of the request than the whole does: `reads`.

        None: on anything, so that it is worked out each time.
        """
        return self.recalled(self.entry.token, what, reads, compute, size=_BYTES_A_ROW * self.size)

    def recalled(
        self,
        token: object,
        what: str,
        reads: tuple[str, ...] | None,
        compute: Callable[[], T],
        *,
        size: int,
        errors: Sized = (),
    ) -> T:
        """What is remembered, with what was put on record about missing values when it was worked out.

        `reads` says what of the request it depends on; None: it is worked out anew each time. Nothing is remembered
        of what added to `errors`: they are to be named each time.
        """
        found = None if self._shelf is None or reads is None else self._shelf.get((token, what))
        if found is None:
            if reads is None or not (self._shelf is not None or self.remembers):
                return compute()
            found = self._found(token, what, reads, compute, size, errors)
        if found[1]:
            self.notes.extend(found[1])
        value: T = found[0]
        return value

    def at_hand(self, token: object, what: str) -> Any:
        """What was found before by questions that are alike in everything that is ever read; None: nothing yet."""
        return None if self._shelf is None else self._shelf.get((token, what))

    def shelve(self, token: object, what: str, value: Any, *, size: int) -> None:
        """Keep at hand for questions that are alike in everything that is ever read; of about so many bytes."""
        if self._shelf is not None:
            self.moment.shelve(self._shelf, (token, what), value, size=size)

    def asked_again(self, what: str) -> bool:
        """Whether somebody has asked so before, questions being alike in everything that is ever read."""
        if self._shelf is None:
            return False
        again: bool = self._shelf.get(what, False)
        self._shelf[what] = True
        return again

    def _found(
        self, token: object, what: str, reads: tuple[str, ...], compute: Callable[[], Any], size: int, errors: Sized
    ) -> tuple[Any, tuple[MissingNote, ...]]:
        found: tuple[Any, tuple[MissingNote, ...]] | None = None
        moment = self.moment if isinstance(self.rows, slice) else None
        if moment is not None:
            key = self._key(token, what, reads)
            found = moment.recall(key)
        if found is None:
            noted, failed = len(self.notes), len(errors)
            found = (compute(), tuple(self.notes[noted:]))
            del self.notes[noted:]
            if len(errors) != failed:
                return found
            if moment is not None:
                moment.remember(key, found, size=size)
        if self._shelf is not None and self.profile.covers(reads):
            self._shelf[token, what] = found
        return found

    def worth_remembering(self, token: object, what: str, reads: tuple[str, ...]) -> bool:
        """Whether it is remembered already, or has been asked for before."""
        return self.moment.asked_again(self._key(token, what, reads))

    def _key(self, token: object, what: str, reads: tuple[str, ...]) -> tuple[Any, ...]:
        """Names all that it depends on; only for rows that are remembered."""
        return (token, what, self.rows.start, self.rows.stop, *map(self._asked_for, reads))  # type: ignore[union-attr]

    def _asked_for(self, field: str) -> Any:
        """What the request says there, as part of a key."""
        try:
            return self._asked[field]
        except KeyError:
            value = self.labels if field == "labels" else getattr(self.request, field)
            plain = value is None or isinstance(value, str)
            found = self._asked[field] = value if plain else msgspec.msgpack.encode(value)
            return found

    def at_work(self, entry: Entry, point: str, method: Callable[["Cycle"], T]) -> T:
        """What the entry's plugin says at a point; how long it took, is noted where the caller lent a clock."""
        self.entry = entry
        if self.clock is None:
            return method(self)
        started = self.clock()
        try:
            return method(self)
        finally:
            self.timings.append(Timing(entry.name, point, self.clock() - started))

    @property
    def row_numbers(self) -> Rows:
        """The rows as numbers into the snapshot's columns."""
        if isinstance(self.rows, slice):
            return self.snapshot.numbers[self.rows]
        return self.rows

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
        values = np.where(there, column.values[lines], np.nan)
        at = np.where(there, column.at[lines], np.nan)
        known = fresh(column, values, at, self.now) & there
        return Reading(metric=code, values=values, at=at, known=known, lines=lines)

    def line_times(self, code: str, lines: Rows) -> Floats:
        """When a line metric was measured, for these rows, each by the line given; NaN where it was not."""
        column = self.snapshot.metrics.get(code)
        if column is None or column.fact.scope != "line" or not column.at.size:
            return np.full(self.size, np.nan)
        return np.where(lines >= 0, column.at[lines], np.nan)

    def times(self, reading: Reading, places: Rows) -> list[float]:
        """When the values at these places of a reading were measured, NaN where that is not known; empty: none was."""
        times: list[float]
        if reading.at is not None:
            times = reading.at[places].tolist()
            return times
        column = None if reading.lines is None else self.snapshot.metrics.get(reading.metric)
        if reading.lines is None or column is None or column.fact.scope != "line" or not column.at.size:
            return []
        lines = reading.lines[places]
        times = column.at[lines].tolist()
        return [at if line >= 0 else nan for at, line in zip(times, lines.tolist(), strict=True)]

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
            self._choice = self._chosen() if self.positions is None else self.whole.lines.take(self.positions)
        return self._choice

    def _chosen(self) -> LineChoice:
        """Where the need has no say in which line is chosen, the choice is remembered; who carries it is not."""
        settled: Settled | None = self.at_hand(None, "lines")
        if settled is not None:
            return settled.carrying(self.need)
        policy = self.line_policy()
        if not policy.settled or not self.remembers:
            return choose_lines(self.snapshot, self.rows, self._fresh_lines(), policy)
        key = ("lines", policy.wanted, policy.match, self.rows.start, self.rows.stop)  # type: ignore[union-attr]
        settled = self.moment.recalled(
            key, lambda: settle(self.snapshot, self.rows, self._fresh_lines(), policy), size=32 * self.size
        )
        if self._shelf is not None:
            self._shelf[None, "lines"] = settled
        return settled.carrying(policy.need)

    def line_policy(self) -> LinePolicy:
        isps = self.snapshot.isps
        wanted = tuple(dict.fromkeys([isps[isp] for isp in self.request.wanted_isps]))
        return LinePolicy(
            wanted=wanted,
            match=(self.request.isp_match or "any") if wanted else "any",
            need=self.need,
            choice=self.profile.line_choice,
            bgp_substitutes=self.profile.bgp_substitutes,
            unknown=self.profile.unknown_lines,
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
        if int(np.count_nonzero(reading.known)) == self.size:
            return reading.known
        policy = self.entry.missing.filter
        missing = ~reading.known if among is None else among & ~reading.known
        stale = ~np.isnan(reading.values) if policy == "last" else np.zeros(self.size, dtype=np.bool_)
        self.note_missing(reading, missing & stale, "last")
        self.note_missing(reading, missing & ~stale, "reject" if policy == "last" else policy)
        return reading.known | stale

    def note_missing(self, reading: Reading, where: Mask, used_as: str) -> None:
        """Put on record that values were missing or stale in some rows, and what was done about it."""
        if where.any():
            places = np.flatnonzero(where)
            self.notes.append(MissingNote(self.entry.name, self.row_numbers[places], reading.take(places), used_as))


def fresh(column: MetricColumn, values: Floats, at: Floats, now: float) -> Mask:
    """Which values are there and not older than the metric's max_age."""
    if column.all_fresh(now):
        return np.ones(values.size, dtype=np.bool_)
    if column.fact.max_age is None:
        return ~np.isnan(values)
    return at >= now - column.fact.max_age


def _count(rows: slice | Rows) -> int:
    """A slice has its bounds within the snapshot."""
    return int(rows.stop - rows.start) if isinstance(rows, slice) else int(rows.size)
