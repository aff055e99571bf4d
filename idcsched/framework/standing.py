"""What is left of every line and every stock while orders take one after the other, entry by entry.

A snapshot never changes; `Books` are what is written down beside one. Taking costs the same however many IDCs
there are.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .capacity import room
from .claiming import BANDWIDTH_RESOURCE, Claim
from .facts import HeadcountFact
from .lines import NO_LINE
from .normalize import DECIMALS, Floats, rounded
from .snapshot import Idcs, Lines, Snapshot

__all__ = ["Books", "LineNow", "Move", "Tenancy"]

_ORDERED = "ordered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenancy:
    """What somebody takes of one IDC, and how many machines come to stand there for whom."""

    idc: str
    claims: tuple[Claim, ...]
    tenant: str = ""
    business: str = ""
    machines: int = 0


class Move(NamedTuple):
    """What of one resource of an IDC an order has left; of a line where `line` is one."""

    row: int
    resource: str
    line: int
    left: float


class _Line(NamedTuple):
    pending: float
    ordered: float
    room: float


class Books:
    """What is taken beyond what a snapshot knows of, by so many `orders`; `moves` says what of, one after the other.

    `given_back`: somebody has less than before, so that it is not true that nobody has got better.
    """

    __slots__ = ("_headcounts", "_left", "_lines", "_ordered", "_taken", "given_back", "moves", "orders", "snapshot")

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.moves: list[Move] = []
        self.orders = 0
        self.given_back = False
        self._left: dict[str, Floats] = {}
        self._ordered = snapshot.usage.count == _ORDERED
        self._lines: dict[int, _Line] = {}
        self._taken: dict[tuple[str, int], float] = {}
        self._headcounts: list[HeadcountFact] = []

    def take(self, tenancy: Tenancy) -> None:
        """Ceilings are not checked. Raises KeyError for an IDC that is not there, ValueError for such a line."""
        row = self.snapshot.idcs.row_of[tenancy.idc]
        places = [(NO_LINE if claim.line is None else self._place(row, claim), claim) for claim in tenancy.claims]
        for line, claim in places:
            left = self._take_stock(row, claim) if line == NO_LINE else self._take_bandwidth(line, claim.amount)
            self.moves.append(Move(row, claim.resource, line, left))
            self.given_back = self.given_back or claim.amount < 0
            if claim.resource in self._left:
                self._left[claim.resource][row if line == NO_LINE else line] = left
        if tenancy.machines:
            self._headcounts.append(_headcount(tenancy))
        self.orders += 1

    def room(self, line: int) -> float:
        """What may still be placed on the line; NaN where that is not known."""
        found = self._lines.get(line)
        return self.snapshot.lines.room.item(line) if found is None else found.room

    def left(self, resource: str) -> Floats:
        """What is left of the resource in every IDC, or of the bandwidth on every line; not to be written into."""
        if resource not in self._left:
            self._left[resource] = self._left_of(resource)
        return self._left[resource]

    def load(self, line: int) -> float:
        """What is used of the line and pending; where orders count, the larger of what is used and what is ordered."""
        used, found = self.snapshot.lines.used.item(line), self._line(line)
        if self._ordered:
            return max(used, found.ordered)
        return used + found.pending

    def close(self, derived: dict[Any, Any]) -> Snapshot:
        """The snapshot with all that is taken in it, and this known of it already; the books go on from there."""
        snapshot = replace(
            self.snapshot,
            idcs=self._idcs(),
            lines=self._lines_now(),
            headcounts=(*self.snapshot.headcounts, *self._headcounts),
            derived=derived,
        )
        self.snapshot, self._lines, self._taken, self._headcounts = snapshot, {}, {}, []
        return snapshot

    def _left_of(self, resource: str) -> Floats:
        if resource == BANDWIDTH_RESOURCE:
            return self._lines_now().room.copy()
        idcs = self._idcs()
        return (idcs.stock[resource] - idcs.taken[resource]).round(DECIMALS)

    def _line(self, line: int) -> _Line:
        found = self._lines.get(line)
        if found is not None:
            return found
        lines = self.snapshot.lines
        return _Line(lines.pending.item(line), lines.ordered.item(line), lines.room.item(line))

    def _take_bandwidth(self, line: int, amount: float) -> float:
        lines, before = self.snapshot.lines, self._line(line)
        pending, ordered = rounded(before.pending + amount), rounded(before.ordered + amount)
        used, counted = lines.used.item(line), pending
        if self._ordered:
            used, counted = max(used, ordered), 0.0  # used goes first: unknown stays unknown
        left = room(lines.purchased.item(line), lines.max_level.item(line), used, counted)
        self._lines[line] = _Line(pending, ordered, left)
        return left

    def _take_stock(self, row: int, claim: Claim) -> float:
        """What is left; NaN: it is unlimited."""
        key, idcs = (claim.resource, row), self.snapshot.idcs
        held = self._taken[key] if key in self._taken else idcs.taken[claim.resource].item(row)
        now = self._taken[key] = rounded(held + claim.amount)
        return rounded(idcs.stock[claim.resource].item(row) - now)

    def _place(self, row: int, claim: Claim) -> int:
        """Where the line stands among all lines."""
        if claim.resource != BANDWIDTH_RESOURCE or claim.line is None:
            raise ValueError(f"a line has no {claim.resource}")
        first = self.snapshot.lines.first
        return self.snapshot.lines.codes.index(claim.line, first.item(row), first.item(row + 1))

    def _idcs(self) -> Idcs:
        if not self._taken:
            return self.snapshot.idcs
        taken = dict(self.snapshot.idcs.taken)
        for resource in {resource for resource, _ in self._taken}:
            rows = {row: amount for (of, row), amount in self._taken.items() if of == resource}
            taken[resource] = _written(taken[resource], list(rows), list(rows.values()))
        return replace(self.snapshot.idcs, taken=taken)

    def _lines_now(self) -> Lines:
        lines, places = self.snapshot.lines, list(self._lines)
        if not places:
            return lines
        pending, ordered, left = zip(*self._lines.values(), strict=True)
        return replace(
            lines,
            pending=_written(lines.pending, places, pending),
            ordered=_written(lines.ordered, places, ordered),
            room=_written(lines.room, places, left),
        )


class LineNow:
    """The line that a request would use in an IDC, as it stands now."""

    __slots__ = ("_books", "number")

    def __init__(self, books: Books, number: int) -> None:
        self._books = books
        self.number = number

    @property
    def room(self) -> float:
        """What may still be placed on it."""
        return self._books.room(self.number)

    @property
    def load(self) -> float:
        """What is used of it and pending."""
        return self._books.load(self.number)


def _headcount(tenancy: Tenancy) -> HeadcountFact:
    return HeadcountFact(idc=tenancy.idc, tenant=tenancy.tenant, business=tenancy.business, machines=tenancy.machines)


def _written(column: Floats, places: list[int], values: "list[float] | tuple[float, ...]") -> Floats:
    """A copy with these values in it."""
    copy = column.copy()
    copy[np.array(places, dtype=np.intp)] = values
    copy.flags.writeable = False
    return copy
