"""Who can still win: the best few are found without scoring everybody.

What is remembered of some scorers and what the others promise bounds each IDC's total from above, whatever bandwidth
and machines are asked for. Those who promise most are scored first; who promises less than the last place that anybody
looks at has reached cannot be among the best. What comes of it is what scoring everybody would give, only sooner.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .decision import Board, PluginError
from .labels import Mask, Rows
from .normalize import Floats, normalize
from .plugin import Plugin
from .profile import Entry
from .ranking import HEAD, rank
from .scoring import BY_ROW, SILENT, Whole, normalizes_itself, remembered_whole, score_all
from .snapshot import Reading

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["best_of", "scored"]

LEAST_ROWS = 100
"""Of fewer it is as quick to score everybody."""
FIRST_LOOK = 64
_BYTES_A_ROW = 8
_ROUNDING = 1e-5
"""More than scores and totals, times their weights, gain by being rounded."""


Numbers = np.ndarray[Any, np.dtype[np.int32]]


class _Prospects(msgspec.Struct):
    """All rows, those that promise most first, and what each could reach at most.

    `look`: how many it took the last time, which is where the next one begins; it changes how soon the best are found
    and nothing else.
    """

    rows: Numbers
    bounds: np.ndarray[Any, np.dtype[np.float32]]
    look: int


def scored(ctx: "Cycle", alive: Mask, chance: str, errors: list[PluginError]) -> Board:
    """Everybody alive, scored and ranked."""
    return _board(ctx, alive.nonzero()[0], chance, errors)


def _board(ctx: "Cycle", positions: Rows, chance: str, errors: list[PluginError]) -> Board:
    part = ctx.narrowed(positions)
    columns = score_all(part, errors)
    return Board(survivors=part, columns=tuple(columns), ranking=rank(part, columns, chance, errors), sure=part.size)


def best_of(ctx: "Cycle", alive: Mask, feasible: int, chance: str) -> Board | None:
    """The best of those alive, at least as many as are told in short; None: all must be scored to know them."""
    wanted = min(max(HEAD, ctx.request.top or 0), feasible)
    prospects = _prospects(ctx) if ctx.size >= LEAST_ROWS and wanted < feasible else None
    if prospects is None:
        return None
    while 2 * (look := prospects.look) <= ctx.size:
        board = _attempted(ctx, prospects.rows[:look], alive, chance)
        if board is None:
            return None
        beyond, to_beat = float(prospects.bounds[look]), _to_beat(ctx, board, wanted)
        if to_beat > beyond:
            prospects.look = max(FIRST_LOOK, look - look // 16)
            return msgspec.structs.replace(board, sure=int(np.count_nonzero(board.ranking.totals > beyond)))
        promising = int(np.count_nonzero(prospects.bounds >= to_beat))
        prospects.look = max(promising, 2 * look) if np.isfinite(to_beat) else 4 * look
    prospects.look = FIRST_LOOK
    return None


def _attempted(ctx: "Cycle", rows: Numbers, alive: Mask, chance: str) -> Board | None:
    """Those of the rows that are alive, scored; None where a promise was not kept: a value is missing, one raised."""
    errors: list[PluginError] = []
    noted = len(ctx.notes)
    board = _board(ctx, rows[alive.take(rows)].astype(np.intp), chance, errors)
    kept = not errors and len(ctx.notes) == noted
    del ctx.notes[noted:]
    return board if kept else None


def _to_beat(ctx: "Cycle", board: Board, wanted: int) -> float:
    """The total that whoever was not looked at would have to reach to be told of."""
    totals = board.ranking.totals
    if totals.size < wanted:
        return -np.inf
    last = float(totals[board.ranking.head(wanted)[wanted - 1]])
    pick = ctx.profile.pick
    return last if pick.kind == "best" else min(last, float(totals.max()) - pick.epsilon)


def _prospects(ctx: "Cycle") -> _Prospects | None:
    """Worked out when the same is asked a second time: for one question alone it is not worth it."""
    reads = ctx.profile.promises
    if reads is None or ctx.request.weights or not ctx.remembers:
        return None
    found = ctx.at_hand(ctx.profile.token, "prospects")
    if found is None and not ctx.asked_again("prospects"):
        return None
    found = ctx.recalled(ctx.profile.token, "prospects", reads, partial(_worked_out, ctx), size=_BYTES_A_ROW * ctx.size)
    return found if isinstance(found, _Prospects) else None


def _worked_out(ctx: "Cycle") -> _Prospects | str:
    total, slack = np.zeros(ctx.size), _ROUNDING
    for entry in ctx.profile.scorers:
        if not entry.weight:
            continue
        bound = _bound(ctx, entry)
        if bound is None:
            return "somebody promises nothing"
        total += entry.weight * bound
        slack += entry.weight * _ROUNDING
    bounds = np.nextafter((total + slack).astype(np.float32), np.float32(np.inf))
    rows = np.argsort(-bounds, kind="stable").astype(np.int32)
    return _Prospects(rows, bounds.take(rows), FIRST_LOOK)


def _bound(ctx: "Cycle", entry: Entry) -> Floats | None:
    """What each row's score cannot exceed; infinite where that is not known."""
    if normalizes_itself(entry):
        return None
    if "score" in entry.plugin.reads:
        whole = remembered_whole(ctx, entry, at_once=True)
        if whole is SILENT:
            return np.zeros(ctx.size)
        return whole.scores if isinstance(whole, Whole) else None
    ctx.entry = entry
    scale = entry.scale(entry.plugin.scale_for(ctx))
    promised = _promised(ctx, entry.plugin) if scale.kind in BY_ROW else None
    if promised is None:
        return None
    return np.where(promised.known, normalize(np.where(promised.known, promised.values, 0.0), scale), np.inf)


def _promised(ctx: "Cycle", plugin: Plugin) -> Reading | None:
    try:
        return plugin.promise(ctx)
    except Exception:  # noqa: BLE001  # who can't promise is asked about everybody
        return None
