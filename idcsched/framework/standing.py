"""What is left of every line and every stock while orders take one after the other, entry by entry.

A snapshot never changes; `Books` are what is written down beside one. Taking costs the same however many IDCs
there are.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter, methodcaller
from typing import Any, Generic, Protocol

import msgspec
import numpy as np

from .capacity import demand, room
from .claiming import BANDWIDTH_RESOURCE, Claim
from .facts import HeadcountFact
from .labels import Rows
from .lines import NO_LINE
from .normalize import DECIMALS, Floats, Number, rounded
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

    `room` is what every line has left now, not to be written into. `given_back`: somebody has less than before, so that
    it is not true that nobody has got better.
    """

    __slots__ = (
        "_left",
        "_lines_written",
        "_load",
        "_ordered",
        "_pending",
        "_settled",
        "_taken",
        "_told_of_lines",
        "_waiting",
        "given_back",
        "orders",
        "room",
        "snapshot",
    )

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.orders = 0
        self.given_back = False
        lines = snapshot.lines
        self.room, self._pending, self._ordered = lines.room, lines.pending, lines.ordered
        self._lines_written = False
        self._load: Floats | None = None
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
            if resource != BANDWIDTH_RESOURCE:
                self.left(resource)  # from now on it is kept up to date
            self._waiting.setdefault(resource, _Waiting()).add(need, watcher)
        if lines:
            self._told_of_lines.append(watcher)

    def forget_watchers(self) -> None:
        """Nobody is told any more."""
        self._waiting, self._told_of_lines = {}, []

    def left(self, resource: str) -> Floats:
        """What is left of the stock in every IDC, NaN where it is unlimited; not to be written into."""
        if resource not in self._left:
            idcs = self.snapshot.idcs
            taken = self._taken.get(resource, idcs.taken[resource])
            self._left[resource] = (idcs.stock[resource] - taken).round(DECIMALS)
        return self._left[resource]

    @property
    def load(self) -> Floats:
        """What is used of every line and pending; where orders count, the larger of what is used and ordered."""
        if self._load is None:
            used, usage = self.snapshot.lines.used, self.snapshot.usage
            self._load = np.add(*demand(used, self._pending, self._ordered, usage))
        return self._load

    def close(self, derived: dict[Any, Any]) -> Snapshot:
        """The snapshot with all that is taken in it, and this known of it already; the books go on from there."""
        idcs, lines = self.snapshot.idcs, self.snapshot.lines
        if self._taken:
            idcs = replace(idcs, taken={**idcs.taken, **sealed(self._taken)})
        if self._lines_written:
            pending, ordered, room_left = sealed((self._pending, self._ordered, self.room))
            lines = replace(lines, pending=pending, ordered=ordered, room=room_left)
        headcounts = (*self.snapshot.headcounts, *map(_headcount, self._settled))
        self.snapshot = replace(self.snapshot, idcs=idcs, lines=lines, headcounts=headcounts, derived=derived)
        self._lines_written, self._taken, self._settled = False, {}, []
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
        if self._load is not None:
            self._load[line] = used + counted
        self._tell(BANDWIDTH_RESOURCE, before, left, row, line)
        for watcher in self._told_of_lines:
            watcher.line_taken(row, line, self)

    def _begin_lines(self) -> None:
        """What a snapshot shows is not written into."""
        self.room, self._pending, self._ordered = self.room.copy(), self._pending.copy(), self._ordered.copy()
        self._lines_written = True

    def _take_stock(self, row: int, resource: str, amount: float) -> None:
        idcs, column = self.snapshot.idcs, self._taken.get(resource)
        if column is None:
            column = self._taken[resource] = idcs.taken[resource].copy()
        taken = column[row] = rounded(column.item(row) + amount)
        left = self._left.get(resource)
        if left is not None:  # else nobody has asked what is left, let alone waits for less
            before, now = left.item(row), rounded(idcs.stock[resource].item(row) - taken)
            left[row] = now
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
        """What is used of it and pending."""
        return self.of(self._books.load)


def _headcount(tenancy: Tenancy) -> HeadcountFact:
    return HeadcountFact(idc=tenancy.idc, tenant=tenancy.tenant, business=tenancy.business, machines=tenancy.machines)
