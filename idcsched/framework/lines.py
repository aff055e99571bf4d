"""Which line each IDC would use: decided once, before any plugin that scores.

A line is eligible if its ISP is wanted; none wanted: every line. With `bgp_substitutes` a BGP line stands in
where the ISP's own lines do not carry the need. With `all`, every wanted ISP has a line of its own, or they
share a BGP line, which then is counted once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import msgspec
import numpy as np

from .labels import Mask, Rows, all_of
from .normalize import Floats
from .snapshot import Snapshot

__all__ = ["BGP", "NO_LINE", "LineChoice", "LinePolicy", "Settled", "choose_lines", "settle"]

BGP = "bgp"
NO_LINE = -1


class LinePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What profile and request say about lines. `unknown`: what a line of unknown use means to the filter."""

    wanted: tuple[str, ...] = ()
    match: Literal["any", "all"] = "any"
    need: float = 0.0
    choice: Literal["roomiest", "cheapest"] = "roomiest"
    bgp_substitutes: bool = False
    unknown: Literal["reject", "pass", "last"] = "reject"

    @property
    def settled(self) -> bool:
        """Whether the need has no say in which line is chosen: if the roomiest can't carry it, none can."""
        substitutes = self.bgp_substitutes and self.wanted and BGP not in self.wanted
        return self.unknown == "reject" and self.choice == "roomiest" and not substitutes


class LineChoice(msgspec.Struct, kw_only=True):
    """For every row the chosen line of each group (one group, or one per ISP of an `all`); NO_LINE: none eligible.

    `carries` says that every group's line can take the need, `has_line` that every group has one at all, `known` that
    it is known how much of each is used. `complete` and `all_known` say that the latter two hold everywhere, as far as
    somebody has looked. `settled`: the need has no say in which line is chosen. `carrying`: what `carries` is made of.
    """

    groups: tuple[Rows, ...]
    has_line: Mask
    carrying: Mask | Callable[[], Mask]
    known: Mask
    complete: bool = False
    all_known: bool = False
    settled: bool = False

    @property
    def carries(self) -> Mask:
        if callable(self.carrying):
            self.carrying = self.carrying()
        return self.carrying

    def take(self, positions: Rows) -> "LineChoice":
        return LineChoice(
            groups=tuple([group[positions] for group in self.groups]),
            has_line=self.has_line[: positions.size] if self.complete else self.has_line[positions],
            carrying=lambda: self.carries[positions],
            known=self.known[: positions.size] if self.all_known else self.known[positions],
            complete=self.complete,
            all_known=self.all_known,
            settled=self.settled,
        )

    def of(self, position: int) -> tuple[int, ...]:
        """The distinct lines of one row."""
        if len(self.groups) == 1:
            line: int = self.groups[0].item(position)
            return () if line == NO_LINE else (line,)
        return tuple(dict.fromkeys(int(group[position]) for group in self.groups if group[position] != NO_LINE))

    def of_each(self, positions: Sequence[int]) -> list[tuple[int, ...]]:
        """The distinct lines of several rows."""
        if len(self.groups) > 1:
            return [self.of(position) for position in positions]
        line = self.groups[0].item
        return [() if (one := line(position)) == NO_LINE else (one,) for position in positions]


class Settled(msgspec.Struct, frozen=True):
    """Lines chosen whatever the need; `room` is what the fullest of a row's lines has left, −inf where not known."""

    choice: LineChoice
    room: Floats

    def carrying(self, need: float) -> LineChoice:
        if not need:
            return self.choice
        chosen = self.choice
        return LineChoice(
            groups=chosen.groups,
            has_line=chosen.has_line,
            carrying=lambda: self.room >= need,
            known=chosen.known,
            complete=chosen.complete,
            all_known=chosen.all_known,
            settled=True,
        )

    def take(self, positions: Rows) -> "Settled":
        """The same of some of the rows."""
        return Settled(self.choice.take(positions), self.room[positions])


def settle(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> Settled:
    """What `choose_lines` chooses under a `settled` policy for any need."""
    picks = _picks(snapshot, rows, fresh, msgspec.structs.replace(policy, need=0.0))
    choice = _choice(picks)
    choice.complete, choice.all_known, choice.settled = all_of(choice.has_line), all_of(choice.known), True
    least = reduce(np.minimum, [pick.room for pick in picks])
    return Settled(choice, least if choice.all_known else np.where(choice.known, least, -np.inf))


def choose_lines(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> LineChoice:
    """The lines that `rows` would use; `fresh` says of every line whether its use is known now."""
    return _choice(_picks(snapshot, rows, fresh, policy))


def _picks(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> "list[_Pick]":
    """The best line of each group."""
    wants: Sequence[tuple[str, ...]] = [(isp,) for isp in policy.wanted] if policy.match == "all" else [policy.wanted]
    return [_pick(snapshot, rows, fresh, policy, isps) for isps in wants]


def _choice(picks: "list[_Pick]") -> LineChoice:
    return LineChoice(
        groups=tuple(pick.line for pick in picks),
        has_line=reduce(np.logical_and, [pick.line != NO_LINE for pick in picks]),
        carrying=reduce(np.logical_and, [pick.carries for pick in picks]),
        known=reduce(np.logical_and, [pick.known for pick in picks]),
    )


@dataclass(slots=True)
class _Pick:
    """The best line so far of each row, while the planes go by; `room` is what is left of it, if that is known."""

    line: Rows
    room: Floats
    keys: tuple[Floats, ...]
    carries: Mask
    known: Mask

    @classmethod
    def none(cls, size: int) -> "_Pick":
        nothing = np.zeros(size, dtype=np.bool_)
        return cls(np.full(size, NO_LINE, dtype=np.intp), np.full(size, np.nan), (), nothing, nothing.copy())

    def replace(self, where: Mask, other: "_Pick") -> None:
        """Take over `other` in those rows; both have keys, or one is not to be compared any more."""
        for mine, theirs in zip(self.columns(), other.columns(), strict=False):
            np.copyto(mine, theirs, where=where)

    def order(self) -> tuple[Mask | Floats, ...]:
        """What ranks lines against each other, more first."""
        return (self.carries, self.known, *self.keys)

    def columns(self) -> tuple[Rows | Floats | Mask, ...]:
        return (self.line, self.room, self.carries, self.known, *self.keys)


def _pick(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: tuple[str, ...]) -> _Pick:
    own = _best(snapshot, rows, fresh, policy, isps or (None,))
    if isps and policy.bgp_substitutes and BGP not in isps:
        substitute = _best(snapshot, rows, fresh, policy, (BGP,))
        better = substitute.carries & ~own.carries | (own.line == NO_LINE)
        own.line = own.line.copy()  # it is the snapshot's
        own.replace(better, substitute)
    return own


def _best(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: Sequence[str | None]) -> _Pick:
    planes = [plane[rows] for isp in isps for plane in snapshot.planes(isp)]
    size = len(range(*rows.indices(snapshot.size))) if isinstance(rows, slice) else rows.size
    if not planes:
        return _Pick.none(size)
    best, *others = [_weighed(snapshot, plane, fresh, policy, alone=len(planes) == 1) for plane in planes]
    if others:
        best.line = best.line.copy()  # it is the snapshot's
    for found in others:
        best.replace(_better(found, best), found)
    return best


def _weighed(snapshot: Snapshot, plane: Rows, fresh: Mask, policy: LinePolicy, *, alone: bool) -> _Pick:
    """One plane's lines with what orders them: carrying first, then known, then the keys; `alone`: nothing need."""
    lines, there = snapshot.lines, plane != NO_LINE
    room = lines.room[plane]
    seen = ~np.isnan(room)
    seen &= there
    known = seen if all_of(fresh) else seen & fresh[plane]
    carries = _carries(room, there, seen, known, policy)
    if alone:
        return _Pick(plane, room, (), carries, known)
    roomiest = np.where(seen, room, -np.inf)
    cheapest = np.zeros(plane.size) if policy.choice == "roomiest" else -np.nan_to_num(lines.price[plane], nan=np.inf)
    return _Pick(plane, room, (cheapest, roomiest), carries, known)


def _carries(room: Floats, there: Mask, seen: Mask, known: Mask, policy: LinePolicy) -> Mask:
    """Which lines can take the need, as far as it is known how much is used of them."""
    if not policy.need:
        return there
    carries = (seen if policy.unknown == "last" else known) & (room >= policy.need)
    if policy.unknown == "pass":
        carries |= there & ~known
    return carries


def _better(new: _Pick, old: _Pick) -> Mask:
    """Where the new line goes first: carrying, then known, then the keys, then (lines are sorted so) the lower code."""
    first: Mask = old.line == NO_LINE
    same = ~first
    for mine, theirs in zip(new.order(), old.order(), strict=True):
        first, same = first | same & (mine > theirs), same & (mine == theirs)
    first |= same & (new.line < old.line)
    first &= new.line != NO_LINE
    return first
