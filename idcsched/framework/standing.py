"""What is left of every line and every stock while orders take one after the other, entry by entry.

A snapshot never changes; `Books` are what is written down beside one. Taking costs the same however many IDCs
there are.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from math import inf
from operator import itemgetter, methodcaller
from typing import Any, Generic, Protocol

import msgspec
import numpy as np

from .capacity import room
from .claiming import BANDWIDTH_RESOURCE, Claim
from .facts import HeadcountFact
from .labels import Rows
from .lines import NO_LINE
from .normalize import Floats, Number, rounded
from .snapshot import Snapshot, sealed

__all__ = ["Books", "LineNow", "Tenancy", "Watcher"]

_ORDERED = "ordered"


class Tenancy(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody takes of one IDC, and how many machines come to stand there for whom."""

    idc: str
    claims: tuple[Claim, ...]
    tenant: str = ""
    business: str = ""
    machines: int = 0


class Watcher(Protocol):
    """Whoever is told what orders leave of what it needs."""

    def short_of(self, resource: str, row: int, line: int, books: "Books") -> None:
        """There is less left than it needs, and was as much before; of a line where `line` is one."""

    def line_taken(self, row: int, line: int, books: "Books") -> None:
        """Somebody took of the line."""


class _Waiting:
    """Who waits for less to be left of a resource than he needs, those first that need least."""

    __slots__ = ("needs", "watchers")

    def __init__(self) -> None:
        self.needs: list[float] = []
        self.watchers: list[Watcher] = []

    def add(self, need: float, watcher: Watcher) -> None:
        place = bisect_right(self.needs, need)
        self.needs.insert(place, need)
        self.watchers.insert(place, watcher)


class Books:
    """What is taken beyond what a snapshot knows of, by so many `orders`.

    `room` is what every line has left now, and `load` what it carries, neither to be written into. `given_back`:
    somebody has less than before, so that it is not true that nobody has got better.
    """

    __slots__ = (
        "_left",
        "_lines_written",
        "_ordered",
        "_pending",
        "_settled",
        "_taken",
        "_told_of_lines",
        "_waiting",
        "given_back",
        "load",
        "orders",
        "room",
        "snapshot",
    )

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.orders = 0
        self.given_back = False
        lines = snapshot.lines
        self.room, self.load, self._pending, self._ordered = lines.room, lines.load, lines.pending, lines.ordered
        self._lines_written = False
        self._left: dict[str, Floats] = {}
        self._taken: dict[str, Floats] = {}
        self._settled: list[Tenancy] = []
        self._waiting: dict[str, _Waiting] = {}
        self._told_of_lines: list[Watcher] = []

    def take(self, tenancy: Tenancy) -> None:
        """Ceilings are not checked. Raises KeyError for an IDC that is not there, ValueError for such a line."""
        row = self.snapshot.idcs.row_of[tenancy.idc]
        claims = tenancy.claims
        places = [NO_LINE if claim.line is None else self._place(row, claim) for claim in claims]
        for line, claim in zip(places, claims, strict=True):
            amount = claim.amount
            if line == NO_LINE:
                self._take_stock(row, claim.resource, amount)
            else:
                self._take_bandwidth(row, line, amount)
            if amount < 0:
                self.given_back = True
        if tenancy.machines:
            self._settled.append(tenancy)
        self.orders += 1

    def watch(self, watcher: Watcher, needs: dict[str, float], *, lines: bool) -> None:
        """Tell whoever needs so much from now on; `lines`: also of every line that somebody takes of."""
        for resource, need in needs.items():
            self._waiting.setdefault(resource, _Waiting()).add(need, watcher)
        if lines:
            self._told_of_lines.append(watcher)

    def forget_watchers(self) -> None:
        """Nobody is told any more."""
        self._waiting, self._told_of_lines = {}, []

    def left(self, resource: str) -> Floats:
        """What is left of the stock in every IDC, infinite where it is unlimited; not to be written into."""
        left = self._left.get(resource)
        return self.snapshot.idcs.left[resource] if left is None else left

    def close(self, derived: dict[Any, Any]) -> Snapshot:
        """The snapshot with all that is taken in it, and this known of it already; the books go on from there."""
        idcs, lines = self.snapshot.idcs, self.snapshot.lines
        if self._taken:
            taken, left = sealed(self._taken), sealed(self._left)
            idcs = replace(idcs, taken={**idcs.taken, **taken}, left={**idcs.left, **left})
        if self._lines_written:
            pending, ordered, load, room_left = sealed((self._pending, self._ordered, self.load, self.room))
            lines = replace(lines, pending=pending, ordered=ordered, load=load, room=room_left)
        headcounts = (*self.snapshot.headcounts, *map(_headcount, self._settled))
        self.snapshot = replace(self.snapshot, idcs=idcs, lines=lines, headcounts=headcounts, derived=derived)
        self._lines_written, self._taken, self._left, self._settled = False, {}, {}, []
        return self.snapshot

    def _take_bandwidth(self, row: int, line: int, amount: float) -> None:
        if not self._lines_written:
            self._begin_lines()
        lines, before = self.snapshot.lines, self.room.item(line)
        pending, ordered = rounded(self._pending.item(line) + amount), rounded(self._ordered.item(line) + amount)
        used, counted = lines.used.item(line), pending
        if self.snapshot.usage.count == _ORDERED:
            used, counted = max(used, ordered), 0.0  # used goes first: unknown stays unknown
        left = room(lines.purchased.item(line), lines.max_level.item(line), used, counted)
        self._pending[line], self._ordered[line], self.room[line] = pending, ordered, left
        self.load[line] = used + counted
        self._tell(BANDWIDTH_RESOURCE, before, left, row, line)
        for watcher in self._told_of_lines:
            watcher.line_taken(row, line, self)

    def _begin_lines(self) -> None:
        """What a snapshot shows is not written into."""
        self.room, self.load = self.room.copy(), self.load.copy()
        self._pending, self._ordered = self._pending.copy(), self._ordered.copy()
        self._lines_written = True

    def _take_stock(self, row: int, resource: str, amount: float) -> None:
        idcs, column = self.snapshot.idcs, self._taken.get(resource)
        if column is None:
            column = self._taken[resource] = idcs.taken[resource].copy()
            self._left[resource] = idcs.left[resource].copy()
        taken = column[row] = rounded(column.item(row) + amount)
        left = self._left[resource]
        before = left.item(row)
        if before != inf:
            now = left[row] = rounded(idcs.stock[resource].item(row) - taken)
            self._tell(resource, before, now, row, NO_LINE)

    def _tell(self, resource: str, before: float, left: float, row: int, line: int) -> None:
        """Those for whom it was enough before, and is not any more."""
        waiting = self._waiting.get(resource)
        if waiting is None:
            return
        needs = waiting.needs
        place = bisect_right(needs, left)
        while place < len(needs) and needs[place] <= before:
            waiting.watchers[place].short_of(resource, row, line, self)
            place += 1

    def _place(self, row: int, claim: Claim) -> int:
        """Where the line stands among all lines."""
        if claim.resource != BANDWIDTH_RESOURCE or claim.line is None:
            raise ValueError(f"a line has no {claim.resource}")
        first = self.snapshot.lines.first
        return self.snapshot.lines.codes.index(claim.line, first.item(row), first.item(row + 1))


class LineNow(Generic[Number]):
    """The line that a request would use in an IDC, as it stands now; or those of many IDCs, each number an array.

    `of` gives its own of a column that has an entry for every line; `room` is what may still be placed on it.
    """

    __slots__ = ("_books", "number", "of", "room")

    def __init__(self, books: Books, number: "int | Rows") -> None:
        self._books = books
        self.number = number
        self.of: Callable[[np.ndarray[Any, Any]], Number]
        self.of = methodcaller("item", number) if type(number) is int else itemgetter(number)
        self.room: Number = self.of(books.room)

    @property
    def load(self) -> Number:
        """What is used of it and pending; where orders count, the larger of what is used and ordered."""
        return self.of(self._books.load)


def _headcount(tenancy: Tenancy) -> HeadcountFact:
    return HeadcountFact(idc=tenancy.idc, tenant=tenancy.tenant, business=tenancy.business, machines=tenancy.machines)
