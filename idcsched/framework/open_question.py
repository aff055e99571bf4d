"""A question that stays open: asked again while orders take, it is answered by what has changed since.

What everybody scored when it was opened stands in a heap, the best first. An order changes one IDC: it is struck out
at once where too little is left (the books tell whom it concerns), since that is counted; what it scores now is worked
out only when it could be the best. What comes of it is what deciding afresh would give, to the last bit; where that
can't be told so, the question is closed and decided afresh.
"""

from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate

import numpy as np

from .alike import Alike, Needs
from .claiming import BANDWIDTH_RESOURCE
from .context import Cycle
from .found import Closed, Found, Place, Rejections, place_of, raw_again, rejections_of, slack
from .lines import NO_LINE
from .normalize import normalize_one, rounded
from .standing import Books, LineNow

__all__ = ["OpenQuestion"]


class OpenQuestion:
    """One question as it stood when it was opened, brought up to date whenever it is asked."""

    def __init__(self, alike: Alike, ctx: Cycle, needs: Needs, books: Books) -> None:
        """From now on the books tell it what is taken.

        Raises Closed where it hangs on more than can be told of single IDCs.
        """
        lines, scales = alike.lines_now(books), alike.scales(ctx)
        first, lefts = alike.rejected_first(needs, books, lines)
        alive = first == len(alike.judgements)
        totals = alike.totals_of_all(ctx, scales, LineNow(books, lines), alive)
        self._ctx, self._alike, self._needs = ctx, alike, needs
        self._start: int = ctx.rows.start  # type: ignore[union-attr]
        self._first: list[int] = first.tolist()
        self._rejected = [before - left for before, left in zip([alike.size, *lefts], lefts, strict=False)]
        self._lines: list[int] = lines.tolist()
        self._totals: list[float] = totals.tolist()
        self._rooms: list[float] = books.room[lines].tolist()
        self._lasting: list[float] = alike.lasting(np.arange(alike.size)).tolist()
        self._scorers = [(entry, weight, scale) for (entry, weight), scale in zip(alike.scorers, scales, strict=True)]
        self._slack = sum([slack(weight, scale) for _, weight, scale in self._scorers])
        self._heap = [(-self._totals[place], place) for place in np.flatnonzero(alive).tolist()]
        heapify(self._heap)
        self._places: dict[tuple[int, int], Place] = {}
        self._told_last: Rejections | None = None
        self._watch(books)

    def best(self, books: Books) -> Found | None:
        """None: several stand level, which only the whole ranking tells apart. Raises Closed where nothing is left."""
        place = self._first_of_all(books)
        while (another := self._rival(self._totals[place], books)) is not None:
            if another:
                return None
            place = self._first_of_all(books)
        if self._told_last is None:
            self._told_last = self._rejections()
        line = self._lines[place]
        found = self._places.get((place, line))
        if found is None:
            found = self._places[place, line] = place_of(self._ctx, place, line)
        return Found(found, self._totals[place], self._alike.weight, self._told_last)

    def short_of(self, resource: str, row: int, line: int, books: Books) -> None:
        """There is less left than it needs."""
        place = row - self._start
        if not 0 <= place < self._alike.size or line not in (NO_LINE, self._lines[place]):
            return
        self._reject(place, resource)

    def line_taken(self, row: int, line: int, books: Books) -> None:
        """Another line may be the one with the most room now, on which it may even score better."""
        place = row - self._start
        if not 0 <= place < self._alike.size or line != self._lines[place]:
            return
        lines = [other for other in self._alike.planes[:, place].tolist() if other != NO_LINE]  # type: ignore[index]
        now = max(lines, key=books.room.item)  # of several the first by code
        if BANDWIDTH_RESOURCE in self._needs and books.room.item(now) < self._needs[BANDWIDTH_RESOURCE]:
            self._reject(place, BANDWIDTH_RESOURCE)
        if now != line:
            self._lines[place] = now
            self._expect_anything(place)

    def _watch(self, books: Books) -> None:
        """Where there are lines to choose from, less left of one of them need not be too little."""
        several = self._alike.planes is not None
        needs = {name: need for name, need in self._needs.items() if not several or name != BANDWIDTH_RESOURCE}
        books.watch(self, needs, lines=several)

    def _alive(self, place: int) -> bool:
        return self._first[place] == len(self._alike.judgements)

    def _reject(self, place: int, resource: str) -> None:
        """By the judgement of that need, or by one before it that rejects it already."""
        number, before = self._alike.number_of[resource], self._first[place]
        if number < before:
            if before < len(self._rejected):
                self._rejected[before] -= 1
            self._rejected[number] += 1
            self._first[place], self._told_last = number, None

    def _first_of_all(self, books: Books) -> int:
        """Whoever stands first, all that changed of him being counted; raises Closed where nobody is left."""
        heap, totals = self._heap, self._totals
        while heap:
            then, place = heap[0]
            if then != -totals[place] or not self._alive(place):
                heappop(heap)
            elif self._unchanged(place, books):
                return place
            else:
                self._score_again(place, books)
                heapreplace(heap, (-totals[place], place))
        raise Closed

    def _rival(self, most: float, books: Books) -> bool | None:
        """Whether somebody stands level with the first, False: it must be looked at again who is it; None: nobody does.

        Who is behind in a heap is behind all that stand above him.
        """
        heap, reach, ahead = self._heap, self._slack - most, [1, 2]
        for number in ahead:
            if number >= len(heap) or heap[number][0] > reach:
                continue
            then, place = heap[number]
            ahead += (2 * number + 1, 2 * number + 2)
            if then != -self._totals[place] or not self._alive(place):
                continue
            if not self._unchanged(place, books):
                self._score_again(place, books)
                heappush(heap, (-self._totals[place], place))
                return False
            if -then == most:
                return True
        return None

    def _expect_anything(self, place: int) -> None:
        """It must be scored again before anybody else can be said to be the best."""
        if self._scorers:
            self._totals[place], self._rooms[place] = np.inf, np.nan
            heappush(self._heap, (-np.inf, place))

    def _unchanged(self, place: int, books: Books) -> bool:
        """Whether nobody has taken of its line since it was scored."""
        return not self._scorers or books.room.item(self._lines[place]) == self._rooms[place]

    def _score_again(self, place: int, books: Books) -> None:
        number = self._lines[place]
        total, line, ctx = self._lasting[place], LineNow[float](books, number), self._ctx
        for entry, weight, scale in self._scorers:
            total += normalize_one(raw_again(ctx, entry, line), scale) * weight
        self._totals[place], self._rooms[place] = rounded(total), line.room

    def _rejections(self) -> Rejections:
        size = self._alike.size
        lefts = [size - gone for gone in accumulate(self._rejected)]
        return rejections_of(self._alike.judgements, lefts, size)
