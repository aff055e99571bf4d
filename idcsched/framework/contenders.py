"""Who can still win: the best few are found without scoring everybody.

What is remembered of some scorers and what the others promise bounds each IDC's total from above, whatever bandwidth
and machines are asked for. Those who promise most are the front, and are scored first; who promises less than the last
place that anybody looks at has reached cannot be among the best. What comes of it is what scoring everybody would
give, only sooner.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .decision import Board, PluginError, ScoreColumn
from .errors import PluginFailed
from .labels import Mask, Rows, all_of
from .normalize import BY_ROW, Floats, normalize
from .plugin import Plugin
from .profile import Entry
from .ranking import HEAD, rank, sum_of_lasting, total_scores
from .scoring import SILENT, Whole, normalizes_itself, remembered_whole, score_all
from .snapshot import Reading

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["FIRST_LOOK", "best_of", "promised_most", "scored"]

LEAST_ROWS = 100
"""Of fewer it is as quick to score everybody."""
FIRST_LOOK = 32
EASY_LOOKS = 16
"""So often in a row half of the front must have been enough before no more is looked at."""
_BYTES_A_ROW = 8
_BYTES_OF_FRONT = 300
_ROUNDING = 1e-5
"""More than scores and totals, times their weights, gain by being rounded."""


Numbers = np.ndarray[Any, np.dtype[np.int32]]


class _Prospects(msgspec.Struct):
    """All rows, those that promise most first, and what each could reach at most."""

    rows: Numbers
    bounds: np.ndarray[Any, np.dtype[np.float32]]


class _Front(msgspec.Struct):
    """Those of the rows that nothing remembered rejects who promise most, with what is remembered of them.

    `beyond`: what everybody else promises at most; `half`: what those in the second half do. `columns`: of scorers
    that give these rows the same whatever is needed (None: nothing); `lasting`: what they add to the totals.
    """

    positions: Rows
    beyond: float
    half: float
    shelf: dict[Any, Any]
    columns: dict[str, ScoreColumn | None]
    lasting: Floats | None = None
    easy: int = 0


def scored(ctx: "Cycle", alive: Mask, chance: str, errors: list[PluginError]) -> Board:
    """Everybody alive, scored and ranked."""
    part = ctx.narrowed(alive.nonzero()[0])
    columns = score_all(part, errors)
    ranking = rank(part, columns, total_scores(part, columns), part.size, chance, errors)
    return Board(survivors=part, columns=tuple(columns), ranking=ranking, sure=part.size)


def best_of(ctx: "Cycle", alive: Mask, feasible: int, chance: str, lasting: Callable[[], Mask | None]) -> Board | None:
    """The best of those alive, at least as many as are told in short; None: all must be scored to know them.

    `lasting`: whom nothing remembered rejects; None: it rejects nobody.
    """
    wanted = min(max(HEAD, ctx.request.top or 0), feasible)
    if ctx.size < LEAST_ROWS or wanted >= feasible:
        return None
    front = _front_at_hand(ctx, lasting)
    while front is not None:
        board = _attempted(ctx, front, alive, chance)
        if board is None:
            return None
        to_beat = _to_beat(ctx, board, wanted)
        if to_beat > front.beyond:
            _eased(ctx, front, to_beat, lasting)
            return board
        front = _wider(ctx, front, to_beat, lasting)
    return None


def _front_at_hand(ctx: "Cycle", lasting: Callable[[], Mask | None]) -> _Front | None:
    """That of those who have asked the same, or else the first; None: it is not known what anybody promises."""
    front: _Front | None = None if ctx.request.weights else ctx.at_hand(None, "front")
    if front is not None:
        return front
    prospects = _prospects(ctx)
    return None if prospects is None else _front(ctx, prospects, FIRST_LOOK, lasting)


def _wider(ctx: "Cycle", front: _Front, to_beat: float, lasting: Callable[[], Mask | None]) -> _Front | None:
    """Twice as many at least; a power of two, so that fronts are met again. None: it is as quick to score everybody."""
    prospects: _Prospects = _promised_by_all(ctx)
    look = 2 * front.positions.size
    if np.isfinite(to_beat):
        look = max(look, int(np.count_nonzero(prospects.bounds >= to_beat)) // 2)
    look = 1 << (look - 1).bit_length()
    return None if 2 * look > ctx.size else _front(ctx, prospects, look, lasting)


def _eased(ctx: "Cycle", front: _Front, to_beat: float, lasting: Callable[[], Mask | None]) -> None:
    """Look at half as many next time, if that would have done for a while."""
    front.easy = front.easy + 1 if to_beat > front.half else 0
    if front.easy >= EASY_LOOKS and front.positions.size > FIRST_LOOK:
        _front(ctx, _promised_by_all(ctx), front.positions.size // 2, lasting)


def _front(ctx: "Cycle", prospects: _Prospects, look: int, lasting: Callable[[], Mask | None]) -> _Front:
    """The front of so many, for all questions that are alike."""
    rows, bounds = prospects.rows, prospects.bounds
    kept = lasting()
    if kept is not None:
        places = np.flatnonzero(kept[rows])
        rows, bounds = rows[places[:look]], bounds[places[: look + 1]]
    else:
        rows, bounds = rows[:look], bounds[: look + 1]
    front = _Front(
        positions=rows.astype(np.intp),
        beyond=float(bounds[look]) if bounds.size > look else -np.inf,
        half=float(bounds[look // 2]) if bounds.size > look // 2 else -np.inf,
        shelf={},
        columns={},
    )
    ctx.shelve(None, "front", front, size=_BYTES_OF_FRONT * (look + 1))
    return front


def _attempted(ctx: "Cycle", front: _Front, alive: Mask, chance: str) -> Board | None:
    """The front, scored, who is above all others' promises being sure of his place.

    None where a promise was not kept: a value is missing, one raised.
    """
    errors: list[PluginError] = []
    noted, part = len(ctx.notes), ctx.remembering(front.positions, front.shelf)
    living = alive[front.positions]
    size = int(np.count_nonzero(living))
    try:
        columns = score_all(part, errors, known=front.columns)
        totals = total_scores(part, columns, front.lasting)
        if size < living.size:
            np.copyto(totals, -np.inf, where=~living)
        ranking = rank(part, columns, totals, size, chance, errors)
    except PluginFailed:  # whom it failed at may not be alive
        return None
    finally:
        del ctx.notes[noted:]
    if errors or not _all_known(columns, living):
        return None
    if front.lasting is None:
        _keep(part, front, columns)
    sure = int(np.count_nonzero(totals > front.beyond))
    return Board(survivors=part, columns=tuple(columns), ranking=ranking, sure=sure)


def _all_known(columns: list[ScoreColumn], living: Mask) -> bool:
    """Whether all values of those who are alive are known."""
    doubtful = [column for column in columns if not column.complete]
    return all(not column.left_out and all_of(column.reading.known | ~living) for column in doubtful)


def _keep(part: "Cycle", front: _Front, columns: list[ScoreColumn]) -> None:
    """Remember of the columns, and of the totals, what is the same whatever is needed."""
    given = {column.entry.name: column.alone() for column in columns if column.entry.lasting}
    weighed = [entry for entry, _ in part.profile.weighed or ()]
    front.columns = {entry.name: given.get(entry.name) for entry in weighed if entry.lasting}
    front.lasting = sum_of_lasting(part, columns)


def _to_beat(ctx: "Cycle", board: Board, wanted: int) -> float:
    """The total that whoever was not looked at would have to reach to be told of."""
    ranking = board.ranking
    if ranking.size < wanted:
        return -np.inf
    last: float = ranking.totals.item(ranking.head(wanted).item(wanted - 1))
    pick = ctx.profile.pick
    return last if pick.kind == "best" else min(last, float(ranking.totals.max()) - pick.epsilon)


def _prospects(ctx: "Cycle") -> _Prospects | None:
    """Worked out when the same is asked a second time: for one question alone it is not worth it."""
    if ctx.profile.promises is None or ctx.request.weights or not ctx.remembers:
        return None
    if ctx.at_hand(ctx.profile.token, "prospects") is None and not ctx.asked_again("prospects"):
        return None
    found = _promised_by_all(ctx)
    return found if isinstance(found, _Prospects) else None


def _promised_by_all(ctx: "Cycle") -> Any:
    """What `_worked_out` gives; where there is a front, prospects."""
    token, reads = ctx.profile.token, ctx.profile.promises
    at_hand = ctx.at_hand(token, "prospects")
    if at_hand is not None:
        return at_hand[0]
    return ctx.recalled(token, "prospects", reads, partial(_worked_out, ctx), size=_BYTES_A_ROW * ctx.size)


def promised_most(ctx: "Cycle", *, worth_it: bool) -> tuple[Numbers, np.ndarray[Any, np.dtype[np.float32]]] | None:
    """All rows, those that promise most first, and what each could reach at most.

    None: it is not worth it, at least if it is not known already.
    """
    worth_it = worth_it or ctx.at_hand(ctx.profile.token, "prospects") is not None
    found = _prospects(ctx) if worth_it and ctx.size >= LEAST_ROWS else None
    return None if found is None else (found.rows, found.bounds)


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
    return _Prospects(rows, bounds[rows])


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
