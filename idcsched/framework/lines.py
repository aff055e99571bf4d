"""Choose the line that each IDC would use, once for all plugins.

A line is eligible if the request wants its ISP or names no ISP. With `bgp_substitutes` a BGP line stands in
where the ISP's own lines do not carry the need. With `isp_match: all` every wanted ISP gets a line; several
ISPs may share a BGP line, which then counts once. Where no eligible line carries the need, it is the line that lacks
least, whatever the profile chooses by.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import msgspec
import numpy as np

from .labels import Mask, Rows
from .normalize import Floats
from .snapshot import Lines, Snapshot

__all__ = ["BGP", "NO_LINE", "LineChoice", "LinePolicy", "carrying_lines", "choose_lines", "eligible_lines"]

BGP = "bgp"
NO_LINE = -1


class LinePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of profile and request about lines. `choice`: which of the lines that carry the need; `unknown`: how to
    treat a line whose use is unknown; `planned`: the lines that are chosen before all others that carry the need."""

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
    if len(picks) > 1 and policy.bgp_substitutes:
        picks = _with_shared_bgp(picks, _best(snapshot, rows, fresh, policy, (BGP,)))
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


def eligible_lines(snapshot: Snapshot, row: int, policy: LinePolicy) -> Rows:
    """Return the lines of one row that the request may use, whether they carry the need or not, by their codes."""
    substitutes = (BGP,) if policy.bgp_substitutes else ()
    isps: Sequence[str | None] = (*policy.wanted, *substitutes) if policy.wanted else (None,)
    lines = {plane.item(row) for isp in isps for plane in snapshot.planes(isp)} - {NO_LINE}
    return np.array(sorted(lines), dtype=np.intp)


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
    if isps and policy.bgp_substitutes and BGP not in isps and snapshot.planes(BGP):
        substitute = _best(snapshot, rows, fresh, policy, (BGP,))
        better, _equal = _compared(snapshot.lines, policy, substitute, own)
        return own.replaced(better & ~own.carries, substitute)
    return own


def _with_shared_bgp(picks: list[_Pick], bgp: _Pick) -> list[_Pick]:
    """Return the picks with the BGP line in every group that lacks room, where it is what lacks least in one of them:
    once that line has enough room, it serves them all."""
    shared = reduce(np.logical_or, [~pick.carries & (pick.line == bgp.line) for pick in picks])
    return [pick.replaced(shared & ~pick.carries, bgp) for pick in picks]


def _best(snapshot: Snapshot, rows: slice | Rows, fresh: Mask, policy: LinePolicy, isps: Sequence[str | None]) -> _Pick:
    planes = [plane[rows] for isp in isps for plane in snapshot.planes(isp)]
    if not planes:
        size = np.arange(snapshot.size)[rows].size
        nothing = np.zeros(size, dtype=np.bool_)
        return _Pick(line=np.full(size, NO_LINE, dtype=np.intp), carries=nothing, known=nothing)
    best, *others = [_of_plane(snapshot.lines, plane, fresh, policy) for plane in planes]
    for other in others:
        better, equal = _compared(snapshot.lines, policy, other, best)
        best = best.replaced(better | equal & (other.line < best.line), other)
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


def _compared(lines: Lines, policy: LinePolicy, new: _Pick, old: _Pick) -> tuple[Mask, Mask]:
    """Return where the new line is preferred by its merits, and where it has the same."""
    preferred: Mask = old.line == NO_LINE
    equal = ~preferred
    for new_merit, old_merit in zip(_merits(lines, policy, new), _merits(lines, policy, old), strict=True):
        preferred, equal = preferred | equal & (new_merit > old_merit), equal & (new_merit == old_merit)
    exists = new.line != NO_LINE
    return preferred & exists, equal & exists


def _merits(lines: Lines, policy: LinePolicy, pick: _Pick) -> list[Mask | Floats]:
    """Return the keys by which lines are compared, the most important first; more is better, unknown is worst.

    A line that carries the need comes first, then a planned one, then one whose use is known, then the profile's
    `line_choice`, then room. Lines that do not carry the need are compared by what they lack alone, those of unknown
    use last.
    """
    carries, room = pick.carries, np.fmax(lines.room[pick.line], -np.inf)
    planned = [carries & np.isin(pick.line, policy.planned)] if policy.planned else []
    known = pick.known & carries if policy.unknown == "last" else pick.known  # `last`: what a stale line lacks counts
    if policy.choice == "roomiest":
        return [carries, *planned, known, room]
    price = lines.price if policy.choice == "cheapest" else lines.price_of_next_mbps
    cheapness = np.where(carries, -np.fmin(price[pick.line], np.inf), -np.inf)
    return [carries, *planned, known, cheapness, room]
