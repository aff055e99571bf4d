"""A question that stays open: asked again while orders take, it is answered by what has changed since.

What was decided once is kept as columns: who was rejected by what, each scorer's part of the totals, the lines chosen.
An order changes one IDC, so one entry of some of these columns is worked out again, by what plugins say of one alone
(`needs`, `score_again`), and its score only when it could be the best. What comes of it is what deciding afresh would
give, to the last bit; where that can't be told so, the question is closed and decided afresh.
"""

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from .building import BANDWIDTH
from .claiming import BANDWIDTH_RESOURCE
from .context import fresh
from .decision import Decision, ScoreColumn
from .found import (
    Closed,
    Found,
    Place,
    Rejections,
    check_decided,
    numbered_needs,
    place_of,
    raw_again,
    rejections_of,
    scale_again,
    slack,
)
from .labels import Mask
from .lines import NO_LINE
from .normalize import Scale, normalize_one, rounded
from .profile import Entry
from .standing import Books, LineNow

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["OpenQuestion"]

_DEAD = -np.inf


class _Scorer(msgspec.Struct):
    """What it adds to each row's total; `scale`: by which it is asked again, None: orders do not move it."""

    entry: Entry
    weight: float
    scale: Scale | None
    parts: list[float]


class OpenQuestion:
    """One question as it was decided when so much was taken, brought up to date whenever it is asked."""

    def __init__(self, decision: Decision, books: Books, seen: int) -> None:
        """The decision knows of so many of the books' moves.

        Raises Closed where what was decided hangs on more than can be told of single IDCs.
        """
        check_decided(decision)
        self._ctx, self._books, self._seen = decision.cycle, books, seen
        self._start, self._size = decision.cycle.rows.start, decision.cycle.size  # type: ignore[union-attr]
        self._judgements = decision.judgements
        self._needs = numbered_needs(decision)
        self._first = _first_rejections(decision)
        self._rejected = [0] * (len(self._judgements) + 1)
        for number in self._first:
            self._rejected[number] += 1
        self._lines: list[int] = decision.cycle.lines.groups[0].tolist()
        self._wanted, self._isps = decision.cycle.line_policy().wanted, decision.cycle.snapshot.lines.isps
        self._known = _known_lines(decision.cycle)
        self._eligible: dict[int, list[int]] = {}
        summed = sorted(decision.columns, key=lambda column: not column.entry.lasting)  # as `ranking` does
        self._scorers = [self._scorer(decision, column) for column in summed]
        self._totals = np.full(self._size, _DEAD)
        self._totals[decision.survivors.positions] = decision.ranking.totals
        self._stale: set[int] = set()
        self._slack = sum([slack(scorer.weight, scorer.scale) for scorer in self._scorers])
        self._places: dict[tuple[int, int], Place] = {}
        self._told_last: Rejections | None = None
        self._weight = sum([column.weight for column in decision.columns])

    def best(self, now: float) -> Found | None:
        """None: several stand level, which only the whole ranking tells apart.

        Raises Closed, also where nothing is left, or so much time has gone by that more than orders may have moved.
        """
        if not self._ctx.moment.covers(now):
            raise Closed
        self._catch_up()
        place = int(self._totals.argmax())
        while place in self._stale:
            self._score_again(place)
            place = int(self._totals.argmax())
        score = self._totals.item(place)
        if score == _DEAD:
            raise Closed
        if np.count_nonzero(self._totals == score) > 1:
            return None
        if self._told_last is None:
            self._told_last = self._rejections()
        return Found(self._place(place), score, self._weight, self._told_last)

    def _catch_up(self) -> None:
        """Who is still kept is worked out at once, since it is counted; what it scores is not."""
        moves, start, size, needs = self._books.moves, self._start, self._size, self._needs
        for row, resource, line, left in moves[self._seen :]:
            place = row - start
            if not 0 <= place < size:
                continue
            if line == NO_LINE:
                if resource in needs and left < needs[resource][1]:
                    self._reject(place, needs[resource][0])
            elif not self._wanted or self._isps[line] in self._wanted:
                self._take_line(place, line)
        self._seen = len(moves)

    def _take_line(self, place: int, line: int) -> None:
        """Something was taken of a line that the question could use there."""
        before = self._lines[place]
        now = self._lines[place] = self._roomiest(place)
        if line not in (before, now):
            return
        if BANDWIDTH_RESOURCE in self._needs:
            number, need = self._needs[BANDWIDTH_RESOURCE]
            if self._books.room(now) < need:
                self._reject(place, number)
        if self._first[place] == len(self._judgements):
            self._expect_less(place)
            if now != before:
                self._score_again(place)

    def _reject(self, place: int, number: int) -> None:
        """By that judgement, or by one before it that rejects it already."""
        before = self._first[place]
        if number < before:
            self._rejected[before] -= 1
            self._rejected[number] += 1
            self._first[place], self._told_last = number, None
            self._totals[place] = _DEAD
            self._stale.discard(place)

    def _expect_less(self, place: int) -> None:
        """It is worth no more than before; how much less, is worked out when it could be the best."""
        if place not in self._stale:
            self._stale.add(place)
            self._totals[place] += self._slack

    def _score_again(self, place: int) -> None:
        total, line = 0.0, LineNow(self._books, self._lines[place])
        for scorer in self._scorers:
            if scorer.scale is not None:
                raw = raw_again(self._ctx, scorer.entry, line)
                scorer.parts[place] = normalize_one(raw, scorer.scale) * scorer.weight
            total += scorer.parts[place]
        self._totals[place] = rounded(total)
        self._stale.discard(place)

    def _place(self, place: int) -> Place:
        line = self._lines[place]
        found = self._places.get((place, line))
        if found is None:
            found = self._places[place, line] = place_of(self._ctx, place, line)
        return found

    def _rejections(self) -> Rejections:
        lefts = self._size - np.cumsum(self._rejected[:-1])
        return rejections_of(self._judgements, lefts.tolist(), self._size)

    def _scorer(self, decision: Decision, column: ScoreColumn) -> _Scorer:
        parts, survivors = np.zeros(self._size), decision.survivors
        parts[survivors.positions] = column.scores * column.weight
        return _Scorer(column.entry, column.weight, scale_again(survivors, column), parts.tolist())

    def _roomiest(self, place: int) -> int:
        """The line that is chosen now: of those of which it is known how much is used the one with the most room."""
        lines = self._lines_of(place)
        if len(lines) == 1:
            return lines[0]
        room, best, most = self._books.room, self._lines[place], _DEAD
        for line in lines:
            if (left := room(line)) > most:
                best, most = line, left
        return best

    def _lines_of(self, place: int) -> list[int]:
        """The IDC's lines that the question could use and of which it is known how much is used, by code."""
        found = self._eligible.get(place)
        if found is None:
            first, isps, row, wanted = self._ctx.snapshot.lines.first, self._isps, place + self._start, self._wanted
            found = self._eligible[place] = [
                line
                for line in range(first.item(row), first.item(row + 1))
                if (not wanted or isps[line] in wanted) and self._known.item(line)
            ]
        return found


def _known_lines(ctx: "Cycle") -> Mask:
    """Of which lines it is known how much is used."""
    column, seen = ctx.snapshot.metrics.get(BANDWIDTH), ~np.isnan(ctx.snapshot.lines.room)
    if column is None:
        return np.zeros_like(seen)
    known: Mask = seen & fresh(column, column.values, column.at, ctx.now)
    return known


def _first_rejections(decision: Decision) -> list[int]:
    """The number of the judgement that rejects each row first; as many as there are: none does."""
    first = np.full(decision.cycle.size, len(decision.judgements), dtype=np.intp)
    for number in range(len(decision.judgements) - 1, -1, -1):
        first[~decision.judgements[number].keep] = number
    found: list[int] = first.tolist()
    return found
