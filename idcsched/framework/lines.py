"""Which line each IDC would use: decided once, before any plugin that scores.

A line is eligible if its ISP is wanted; none wanted: every line. With `bgp_substitutes` a BGP line stands in
where the ISP's own lines do not carry the need. With `all`, every wanted ISP has a line of its own, or they
share a BGP line, which then is counted once.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import msgspec
import numpy as np

from .labels import Mask, Rows
from .normalize import Floats
from .snapshot import Lines, Snapshot

__all__ = ["BGP", "NO_LINE", "LineChoice", "LinePolicy", "choose_lines"]

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


class LineChoice(msgspec.Struct, frozen=True, kw_only=True):
    """For every row the chosen line of each group (one group, or one per ISP of an `all`); NO_LINE: none eligible.

    `carries` says that every group's line can take the need, `has_line` that every group has one at all, `known` that
    it is known how much of each is used.
    """

    groups: tuple[Rows, ...]
    has_line: Mask
    carries: Mask
    known: Mask

    def take(self, positions: Rows) -> "LineChoice":
        return LineChoice(
            groups=tuple([group[positions] for group in self.groups]),
            has_line=self.has_line[positions],
            carries=self.carries[positions],
            known=self.known[positions],
        )

    def of(self, position: int) -> tuple[int, ...]:
        """Return the distinct lines of one row."""
        return tuple(dict.fromkeys([line for group in self.groups if (line := group.item(position)) != NO_LINE]))


def choose_lines(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> LineChoice:
    """Choose the lines that `rows` would use; `fresh` says of every line whether its use is known now."""
    wants: Sequence[tuple[str, ...]] = [(isp,) for isp in policy.wanted] if policy.match == "all" else [policy.wanted]
    picks = [_pick(snapshot, rows, fresh, policy, isps) for isps in wants]
    return LineChoice(
        groups=tuple([pick.line for pick in picks]),
        has_line=reduce(np.logical_and, [pick.line != NO_LINE for pick in picks]),
        carries=reduce(np.logical_and, [pick.carries for pick in picks]),
        known=reduce(np.logical_and, [pick.known for pick in picks]),
    )


class _Pick(msgspec.Struct, frozen=True):
    """One line of each row, whether it can take the need, and whether it is known how much of it is used."""

    line: Rows
    carries: Mask
    known: Mask

    def but(self, where: Mask, other: "_Pick") -> "_Pick":
        """Return the same with the lines of `other` in those rows."""
        return _Pick(
            line=np.where(where, other.line, self.line),
            carries=np.where(where, other.carries, self.carries),
            known=np.where(where, other.known, self.known),
        )


def _pick(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: tuple[str, ...]) -> _Pick:
    own = _best(snapshot, rows, fresh, policy, isps or (None,))
    if isps and policy.bgp_substitutes and BGP not in isps:
        substitute = _best(snapshot, rows, fresh, policy, (BGP,))
        return own.but(substitute.carries & ~own.carries | (own.line == NO_LINE), substitute)
    return own


def _best(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: Sequence[str | None]) -> _Pick:
    planes = [plane[rows] for isp in isps for plane in snapshot.planes(isp)]
    if not planes:
        size = np.arange(snapshot.size)[rows].size
        nothing = np.zeros(size, dtype=np.bool_)
        return _Pick(line=np.full(size, NO_LINE, dtype=np.intp), carries=nothing, known=nothing)
    best, *others = [_of_plane(snapshot.lines, plane, fresh, policy) for plane in planes]
    for other in others:
        best = best.but(_better(snapshot.lines, policy, other, best), other)
    return best


def _of_plane(lines: Lines, plane: Rows, fresh: Mask, policy: LinePolicy) -> _Pick:
    there, room = plane != NO_LINE, lines.room[plane]
    seen = there & ~np.isnan(room)
    known = seen & fresh[plane]
    return _Pick(line=plane, carries=_carries(room, there, seen, known, policy), known=known)


def _carries(room: Floats, there: Mask, seen: Mask, known: Mask, policy: LinePolicy) -> Mask:
    """Which lines can take the need, as far as it is known how much is used of them."""
    if not policy.need:
        return there
    carries = (seen if policy.unknown == "last" else known) & (room >= policy.need)
    if policy.unknown == "pass":
        carries |= there & ~known
    return carries


def _better(lines: Lines, policy: LinePolicy, new: _Pick, old: _Pick) -> Mask:
    """Where the new line goes first: carrying, then known, then cheap, then roomy, then the lower code."""
    first: Mask = old.line == NO_LINE
    same = ~first
    for mine, theirs in zip(_merits(lines, policy, new), _merits(lines, policy, old), strict=True):
        first, same = first | same & (mine > theirs), same & (mine == theirs)
    better: Mask = (first | same & (new.line < old.line)) & (new.line != NO_LINE)
    return better


def _merits(lines: Lines, policy: LinePolicy, pick: _Pick) -> list[Mask | Floats]:
    """What lines are compared by, the most important first; more is better, unknown the least."""
    cheap = [] if policy.choice == "roomiest" else [-np.fmin(lines.price[pick.line], np.inf)]
    return [pick.carries, pick.known, *cheap, np.fmax(lines.room[pick.line], -np.inf)]
