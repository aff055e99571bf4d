"""A decision on a picture of a while ago, brought up to what was taken since.

Everything is remembered of an older picture and nothing yet of one with the last order in it. So it is decided on the
older one; who is kept is then counted anew, and down the ranking those are scored again that somebody took of since.
Nobody has got better, so that the search ends where the next one was no better even then.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from .claiming import BANDWIDTH_RESOURCE
from .decision import Decision, Judgement
from .found import (
    Closed,
    Found,
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
from .lines import NO_LINE, LineChoice
from .normalize import Floats, Scale, normalize_one, rounded
from .sieve import Sieve
from .standing import Books, LineNow

__all__ = ["brought_up"]


def brought_up(decision: Decision, books: Books) -> Found:
    """The best as the books stand now; raises Closed where that can't be told of single IDCs."""
    check_decided(decision)
    if not _one_line_each(decision):
        raise Closed
    rejections, alive = _kept_now(decision, books)
    if not rejections.feasible:
        raise Closed
    best = _Best(decision, books)
    position, score = best.of(alive)
    line: int = decision.cycle.lines.groups[0].item(position)
    weight = sum([column.weight for column in decision.best.columns])
    return Found(place_of(decision.cycle, position, line), score, weight, rejections)


def _one_line_each(decision: Decision) -> bool:
    """Whether no order can make another line the one that is chosen, since there is no other."""
    ctx = decision.cycle
    wanted = ctx.line_policy().wanted
    planes = [plane for isp in wanted or (None,) for plane in ctx.snapshot.planes(isp)]
    return len(planes) <= 1


def _kept_now(decision: Decision, books: Books) -> tuple[Rejections, Mask]:
    ctx, judgements = decision.cycle, decision.judgements
    now: dict[int, Mask] = {}
    for resource, (number, need) in numbered_needs(decision).items():
        left = books.left(resource)
        left = _of_lines(ctx.lines, left) if resource == BANDWIDTH_RESOURCE else ctx.take(left)
        now[number] = judgements[number].keep & ~(left < need)
    sieve = Sieve(ctx.size)
    sieve.add([_judging_now(*each, now) for each in enumerate(judgements)])
    return rejections_of(judgements, sieve.left, ctx.size), sieve.alive


def _judging_now(number: int, judgement: Judgement, now: Mapping[int, Mask]) -> Judgement:
    return Judgement(judgement.plugin, judgement.reason, now[number], None) if number in now else judgement


def _of_lines(choice: LineChoice, left: Floats) -> Floats:
    """What the chosen lines have left; where there is none, nothing is lacking."""
    found = left.take(choice.groups[0])
    return found if choice.complete else np.where(choice.has_line, found, np.inf)


class _Best:
    """Looks for the best on a board, those first that were the best then."""

    def __init__(self, decision: Decision, books: Books) -> None:
        board = self._board = decision.best
        self._books, self._all_sure = books, board.sure == decision.feasible
        survivors = board.survivors
        self._columns = sorted(board.columns, key=lambda column: not column.entry.lasting)  # as `ranking` sums
        self._scales: list[Scale | None] = [scale_again(survivors, column) for column in self._columns]
        self._slack = sum(
            [slack(column.weight, scale) for column, scale in zip(self._columns, self._scales, strict=True)]
        )
        self._lines: list[int] = survivors.lines.groups[0].tolist()

    def of(self, alive: Mask) -> tuple[int, float]:
        """Its position in the universe and its total; raises Closed where several stand level, or none is sure."""
        found, most, level = -1, -np.inf, False
        for place, position, then in self._ranked():
            if then + self._slack < most:
                break
            if not alive[position]:
                continue
            total = self._total(place, then)
            if total == most:
                level = True
            elif total > most:
                found, most, level = position, total, False
        else:
            if not self._all_sure or found < 0:
                raise Closed
        if level:
            raise Closed
        return found, most

    def _ranked(self) -> Iterator[tuple[int, int, float]]:
        """Place on the board, position in the universe and total as it was, the best first, as far as that is sure."""
        board, positions = self._board, self._board.survivors.positions
        assert positions is not None  # noqa: S101  # survivors are always some of a universe
        for place in board.ranking.head(board.sure)[: board.sure].tolist():
            yield place, positions.item(place), board.ranking.totals.item(place)

    def _total(self, place: int, then: float) -> float:
        line = self._lines[place]
        ctx = self._board.survivors
        if line == NO_LINE or self._books.room(line) == ctx.snapshot.lines.room.item(line):
            return then
        total, now = 0.0, LineNow(self._books, line)
        for column, scale in zip(self._columns, self._scales, strict=True):
            if scale is None:
                score = column.scores.item(place)
            else:
                score = normalize_one(raw_again(ctx, column.entry, now), scale)
            total += score * column.weight
        return rounded(total)
