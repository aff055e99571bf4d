"""The week of a line as a small picture: what it carries hour by hour, and what it would carry after a move."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from idcsched.framework.normalize import Floats
from idcsched.framework.request import Request
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot
from idcsched.planning.moves import Move
from idcsched.planning.weeks import mean_week

__all__ = ["HEIGHT", "Week", "weeks_of"]

HEIGHT: Final = 40
EVERY: Final = 2
"""So many hours are one point of the picture, the larger of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """A line's mean week from Monday on, before and after a move, as points of a picture 83 wide and HEIGHT high.

    `commit` is the height of the line's commit; None: it has none, or it lies above the picture.
    """

    before: str
    after: str
    commit: float | None
    peak_before: float
    peak_after: float


def weeks_of(move: Move, snapshot: Snapshot) -> dict[tuple[str, str], Week]:
    """Return the week of each of the move's lines by IDC and line, as far as it is known.

    The order's traffic is taken away, or added, by the shape that is known of its business.
    """
    labels = {"tenant": move.tenant, "business": move.business}
    shape = order_shape(Request(only=()), labels, snapshot.shapes).hours
    flow = move.bandwidth_mbps * (np.ones(1) if shape is None else shape)
    found = {}
    for line in move.lines:
        place = _place(snapshot, line.idc, line.line)
        before = None if place is None else mean_week(snapshot, place)
        if place is None or before is None:
            continue
        left = line.idc == move.origin.idc and line.line in move.origin.lines
        after = np.maximum(before - flow, 0.0) if left else before + flow
        found[line.idc, line.line] = _drawn(before, after, snapshot.lines.commit.item(place))
    return found


def _place(snapshot: Snapshot, idc: str, line: str) -> int | None:
    row, lines = snapshot.idcs.row_of.get(idc), snapshot.lines
    return None if row is None or line not in lines.codes_of(row) else lines.number(row, line)


def _drawn(before: Floats, after: Floats, commit: float) -> Week:
    peaks = float(np.nanmax(before)), float(np.nanmax(after))
    top = max(*peaks, 1.0) * 1.05
    return Week(
        before=f"0,{HEIGHT} {_points(before, top)} {before.size // EVERY - 1},{HEIGHT}",
        after=_points(after, top),
        commit=round(HEIGHT * (1 - commit / top), 1) if commit <= top else None,
        peak_before=peaks[0],
        peak_after=peaks[1],
    )


def _points(hours: Floats, top: float) -> str:
    levels = np.nan_to_num(hours).reshape(-1, EVERY).max(axis=1)
    return " ".join(f"{place},{HEIGHT * (1 - level / top):.1f}" for place, level in enumerate(levels.tolist()))
