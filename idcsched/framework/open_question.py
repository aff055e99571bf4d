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
from .found import Found, Place, Rejections, place_of, raw_again, rejections_of, slack
from .lines import NO_LINE
from .normalize import normalize_one, rounded
from .standing import Books, LineNow
from .thresholds import Closed

__all__ = ["OpenQuestion"]

IN_HEAP = 64
"""So many are looked at; the others again when these have fallen behind."""


class OpenQuestion:
    """One question as it stood when it was opened, brought up to date whenever it is asked."""

    def __init__(self, alike: Alike, ctx: Cycle, needs: Needs, books: Books) -> None:
        """From now on the books tell it what is taken.

        Raises Closed where it hangs on more than can be told of single IDCs.
        """
        self._ctx, self._alike, self._needs = ctx, alike, needs
        self._start: int = ctx.rows.start  # type: ignore[union-attr]
        self._lines = alike.lines_now(books).copy()
        self._first, lefts = alike.rejected_first(needs, books, self._lines)
        self._rejected = [before - left for before, left in zip([alike.size, *lefts], lefts, strict=False)]
        self._nobody = len(alike.thresholds.reasons)  # rejects those who are alive
        self._scales = alike.scales(ctx)
        self._scorers = [
            (entry, weight, scale) for (entry, weight), scale in zip(alike.scorers, self._scales, strict=True)
        ]
        self._slack = sum([slack(weight, scale) for _, weight, scale in self._scorers])
        self._places: dict[tuple[int, int], Place] = {}
        self._lasting: dict[int, float] = {}
        self._told_last: Rejections | None = None
        self._look(books)
        several = alike.planes is not None  # less left of one line need not be too little
        watched = {name: need for name, need in needs.items() if not several or name != BANDWIDTH_RESOURCE}
        books.watch(self, watched, lines=several)

    def best(self, books: Books) -> Found | None:
        """None: several stand level, which only the whole ranking tells apart. Raises Closed where nothing is left."""
        place = self._best_place(books)
        if place < 0:
            return None
        if self._told_last is None:
            self._told_last = self._rejections()
        line: int = self._lines.item(place)
        found = self._places.get((place, line))
        if found is None:
            found = self._places[place, line] = place_of(self._ctx, place, line)
        return Found(found, self._totals[place], self._alike.weight, self._told_last)

    def short_of(self, resource: str, row: int, line: int, books: Books) -> None:
        """There is less left than it needs."""
        place = row - self._start
        if not 0 <= place < self._alike.size or line not in (NO_LINE, self._lines.item(place)):
            return
        self._reject(place, resource)

    def line_taken(self, row: int, line: int, books: Books) -> None:
        """Another line may be the one with the most room now, on which it may even score better."""
        place = row - self._start
        if not 0 <= place < self._alike.size or line != self._lines.item(place):
            return
        lines = [other for other in self._alike.planes[:, place].tolist() if other != NO_LINE]  # type: ignore[index]
        now = max(lines, key=books.room.item)  # of several the first by code
        if BANDWIDTH_RESOURCE in self._needs and books.room.item(now) < self._needs[BANDWIDTH_RESOURCE]:
            self._reject(place, BANDWIDTH_RESOURCE)
        if now != line:
            self._lines[place] = now
            if self._scorers:  # it must be scored again before anybody can be said to be the best
                self._totals[place], self._rooms[place] = np.inf, np.nan
                heappush(self._heap, (-np.inf, place))

    def _look(self, books: Books) -> None:
        """Those who score most now; nobody else scores more than what is `beyond`."""
        alive = self._first == self._nobody
        totals = self._alike.totals_of_all(self._ctx, self._scales, LineNow(books, self._lines), alive)
        self._beyond = -np.inf
        if np.count_nonzero(alive) > IN_HEAP:
            behind = totals < np.partition(totals, -IN_HEAP)[-IN_HEAP]
            self._beyond = float(totals.max(initial=-np.inf, where=behind)) + self._slack
            alive &= ~behind
        found = alive.nonzero()[0]
        places, rooms = found.tolist(), books.room[self._lines[found]].tolist()
        self._heap: list[tuple[float, int]] = list(zip((-totals[found]).tolist(), places, strict=True))
        heapify(self._heap)
        self._totals = dict(zip(places, totals[found].tolist(), strict=True))
        self._rooms = dict(zip(places, rooms, strict=True))

    def _reject(self, place: int, resource: str) -> None:
        """By the judgement of that need, or by one before it that rejects it already."""
        number, before = self._alike.thresholds.number_of[resource], self._first.item(place)
        if number < before:
            if before < self._nobody:
                self._rejected[before] -= 1
            self._rejected[number] += 1
            self._first[place], self._told_last = number, None

    def _best_place(self, books: Books) -> int:
        """Whoever is the best; −1 where that can't be told, several being level. Raises Closed: nobody is left."""
        place = self._first_of_heap(books)
        if self._behind(place):
            self._look(books)
            place = self._first_of_heap(books)
        while not self._behind(place):
            level = self._rival(self._totals[place], books)
            if level is not None:
                return -1 if level else place
            place = self._first_of_heap(books)
        return -1

    def _behind(self, place: int) -> bool:
        """Whether somebody may be better who is not looked at."""
        if place < 0 and self._beyond == -np.inf:
            raise Closed
        return place < 0 or self._totals[place] <= self._beyond

    def _first_of_heap(self, books: Books) -> int:
        """Whoever stands first there, all that changed of him being counted; −1: nobody is left."""
        heap, totals, rooms, room = self._heap, self._totals, self._rooms, books.room
        first, lines, nobody, moves = self._first, self._lines, self._nobody, bool(self._scorers)
        while heap:
            then, place = heap[0]
            if then != -totals[place] or first.item(place) != nobody:
                heappop(heap)
            elif moves and room.item(lines.item(place)) != rooms[place]:
                self._score_again(place, books)
                heapreplace(heap, (-totals[place], place))
            else:
                return place
        return -1

    def _rival(self, most: float, books: Books) -> bool | None:
        """Whether somebody stands level with the first. None: it must be looked at again who is it.

        Who is behind in a heap is behind all that stand above him.
        """
        heap, reach, ahead = self._heap, self._slack - most, [1, 2]
        for number in ahead:
            if number >= len(heap) or heap[number][0] > reach:
                continue
            then, place = heap[number]
            ahead += (2 * number + 1, 2 * number + 2)
            if then != -self._totals[place] or self._first.item(place) != self._nobody:
                continue
            if self._scorers and books.room.item(self._lines.item(place)) != self._rooms[place]:
                self._score_again(place, books)
                heappush(heap, (-self._totals[place], place))
                return None
            if -then == most:
                return True
        return False

    def _score_again(self, place: int, books: Books) -> None:
        line: LineNow[float] = LineNow(books, self._lines.item(place))
        total, ctx = self._lasting.get(place), self._ctx
        if total is None:  # who is the best once is it again
            total = self._lasting[place] = self._alike.lasting(place)
        for entry, weight, scale in self._scorers:
            total += normalize_one(raw_again(ctx, entry, line), scale) * weight
        self._totals[place], self._rooms[place] = rounded(total), line.room

    def _rejections(self) -> Rejections:
        size = self._alike.size
        lefts = [size - gone for gone in accumulate(self._rejected)]
        return rejections_of(self._alike.thresholds.reasons, lefts, size)
