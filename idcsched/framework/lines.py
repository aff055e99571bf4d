"""Choose the line that each IDC would use, once for all plugins.

A line is eligible if the request wants its ISP or names no ISP. With `bgp_substitutes` a BGP line stands in
where the ISP's own lines do not carry the need. With `isp_match: all` every wanted ISP gets a line; several
ISPs may share a BGP line, which then counts once.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import msgspec
import numpy as np

from .labels import Mask, Rows
from .normalize import Floats
from .snapshot import Lines, Snapshot

__all__ = ["BGP", "NO_LINE", "LineChoice", "LinePolicy", "carrying_lines", "choose_lines"]

BGP = "bgp"
NO_LINE = -1


class LinePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of profile and request about lines. `unknown`: how to treat a line whose use is unknown; `planned`: the
    lines that are chosen before all others that carry the need."""

    wanted: tuple[str, ...] = ()
    match: Literal["any", "all"] = "any"
    need: float = 0.0
    choice: Literal["roomiest", "cheapest", "least_billed"] = "roomiest"
    bgp_substitutes: bool = False
    unknown: Literal["reject", "pass", "last"] = "reject"
    planned: tuple[int, ...] = ()


class LineChoice(msgspec.Struct, frozen=True, kw_only=True):
    """For every row the chosen line of each group (one group, or one per ISP of an `all`); NO_LINE: none eligible.

    `has_line`: every group of the row has a line; `carries`: each of these can take the need; `known`: the use of each
    is known.
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

    def at(self, position: int) -> tuple[int, ...]:
        """Return the line of each group in one row."""
        return tuple([group.item(position) for group in self.groups])

    def of(self, position: int) -> tuple[int, ...]:
        """Return the distinct lines of one row."""
        return tuple(dict.fromkeys([line for line in self.at(position) if line != NO_LINE]))


def choose_lines(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> LineChoice:
    """Choose the lines that `rows` would use; `fresh` marks the lines whose use is known now."""
    isps_of_groups: Sequence[tuple[str, ...]] = (
        [(isp,) for isp in policy.wanted] if policy.match == "all" else [policy.wanted]
    )
    picks = [_pick(snapshot, rows, fresh, policy, isps) for isps in isps_of_groups]
    return LineChoice(
        groups=tuple([pick.line for pick in picks]),
        has_line=reduce(np.logical_and, [pick.line != NO_LINE for pick in picks]),
        carries=reduce(np.logical_and, [pick.carries for pick in picks]),
        known=reduce(np.logical_and, [pick.known for pick in picks]),
    )


def carrying_lines(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy) -> list[Rows]:
    """Return columns of lines, any of which each of `rows` could use instead of the chosen one; NO_LINE: no more.

    These are the eligible lines that carry the need. With `match: all` there are none: the lines are chosen together.
    """
    if policy.match == "all":
        return []
    planes = [plane[rows] for isp in policy.wanted or (None,) for plane in snapshot.planes(isp)]
    return [np.where(_of_plane(snapshot.lines, plane, fresh, policy).carries, plane, NO_LINE) for plane in planes]


class _Pick(msgspec.Struct, frozen=True):
    """One line for each row, whether the line can take the need, and whether its use is known."""

    line: Rows
    carries: Mask
    known: Mask

    def replaced(self, where: Mask, other: "_Pick") -> "_Pick":
        """Return this pick with the lines of `other` in the rows `where`."""
        return _Pick(
            line=np.where(where, other.line, self.line),
            carries=np.where(where, other.carries, self.carries),
            known=np.where(where, other.known, self.known),
        )


def _pick(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: tuple[str, ...]) -> _Pick:
    own = _best(snapshot, rows, fresh, policy, isps or (None,))
    if isps and policy.bgp_substitutes and BGP not in isps:
        substitute = _best(snapshot, rows, fresh, policy, (BGP,))
        return own.replaced(substitute.carries & ~own.carries | (own.line == NO_LINE), substitute)
    return own


def _best(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: Sequence[str | None]) -> _Pick:
    planes = [plane[rows] for isp in isps for plane in snapshot.planes(isp)]
    if not planes:
        size = np.arange(snapshot.size)[rows].size
        nothing = np.zeros(size, dtype=np.bool_)
        return _Pick(line=np.full(size, NO_LINE, dtype=np.intp), carries=nothing, known=nothing)
    best, *others = [_of_plane(snapshot.lines, plane, fresh, policy) for plane in planes]
    for other in others:
        best = best.replaced(_better(snapshot.lines, policy, other, best), other)
    return best


def _of_plane(lines: Lines, plane: Rows, fresh: Mask, policy: LinePolicy) -> _Pick:
    exists, room = plane != NO_LINE, lines.room[plane]
    measured = exists & ~np.isnan(room)
    known = measured & fresh[plane]
    return _Pick(line=plane, carries=_carries(room, exists, measured, known, policy), known=known)


def _carries(room: Floats, exists: Mask, measured: Mask, known: Mask, policy: LinePolicy) -> Mask:
    """Return which lines can take the need; `policy.unknown` decides on those whose use is unknown."""
    if not policy.need:
        return exists
    carries = (measured if policy.unknown == "last" else known) & (room >= policy.need)
    if policy.unknown == "pass":
        carries |= exists & ~known
    return carries


def _better(lines: Lines, policy: LinePolicy, new: _Pick, old: _Pick) -> Mask:
    """Return where the new line is preferred: by its merits, then by the lower code."""
    preferred: Mask = old.line == NO_LINE
    equal = ~preferred
    for new_merit, old_merit in zip(_merits(lines, policy, new), _merits(lines, policy, old), strict=True):
        preferred, equal = preferred | equal & (new_merit > old_merit), equal & (new_merit == old_merit)
    better: Mask = (preferred | equal & (new.line < old.line)) & (new.line != NO_LINE)
    return better


def _merits(lines: Lines, policy: LinePolicy, pick: _Pick) -> list[Mask | Floats]:
    """Return the keys by which lines are compared, the most important first; more is better, unknown is worst.

    A line that carries the need comes first, then a planned one, then one whose use is known, then the profile's
    `line_choice`, then room.
    """
    first = [pick.carries, np.isin(pick.line, policy.planned)] if policy.planned else [pick.carries]
    room = np.fmax(lines.room[pick.line], -np.inf)
    if policy.choice == "roomiest":
        return [*first, pick.known, room]
    price = lines.price if policy.choice == "cheapest" else lines.price_of_next_mbps
    return [*first, pick.known, -np.fmin(price[pick.line], np.inf), room]
