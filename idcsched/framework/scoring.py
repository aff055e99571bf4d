"""From raw values to what each scorer adds to the sum, with what was missing put in place."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from .decision import PluginError, Score, ScoreColumn
from .errors import PluginFailed
from .labels import Mask, Rows, all_of
from .normalize import BY_ROW, DECIMALS, Floats, Scale, normalize, rounded_each, within_bounds
from .plugin import Plugin
from .profile import DynamicWeight, Entry
from .snapshot import Reading, sealed

if TYPE_CHECKING:
    from .context import Cycle

__all__ = [
    "SILENT",
    "Whole",
    "column_of",
    "normalizes_itself",
    "prepare",
    "read_raw",
    "remembered_whole",
    "score_all",
    "scorer_failed",
]

_AGGREGATES: dict[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "sum": np.sum,
}
_NEUTRAL_AT_MOST = 50.0
Weights = tuple[float, float]
"""What the profile or the request says, and what is in force."""
_BYTES_A_ROW = 25  # two or three columns and a mask
_NOTHING: Mapping[str, ScoreColumn | None] = MappingProxyType({})


def score_all(
    ctx: "Cycle",
    errors: list[PluginError],
    *,
    vectorised_only: bool = False,
    known: Mapping[str, ScoreColumn | None] = _NOTHING,
) -> list[ScoreColumn]:
    """The columns of every scorer in the sum, in the profile's order; those `known` need not be worked out."""
    if not ctx.size:
        return []
    taking_part = _taking_part(ctx)
    if vectorised_only:
        taking_part = [(entry, weights) for entry, weights in taking_part if "score" in entry.joined]
    preparing = [entry for entry, _ in taking_part if "pre_score" in entry.joined and entry.name not in known]
    broken = _pre_score(ctx, preparing, errors) if preparing else ()
    columns = []
    for entry, weights in taking_part:
        if entry.name in broken:
            continue
        try:
            column = known[entry.name] if entry.name in known else column_of(ctx, entry, weights)
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
            scorer_failed(entry, "score", error, errors)
        else:
            if column is not None:
                columns.append(column)
    return columns


def read_raw(ctx: "Cycle", entry: Entry) -> Reading | None:
    """The plugin's raw values for the survivors, checked; raises whatever the plugin raises."""
    return _read(ctx, entry)[0]


def _read(ctx: "Cycle", entry: Entry) -> tuple[Reading | None, bool]:
    """The same, and whether all of them are known."""
    scores = entry.plugin.score if "score" in entry.joined else partial(_score_one_by_one, entry.plugin)
    raw: object = ctx.at_work(entry, "score", scores)
    if raw is None:
        return None, False
    if not isinstance(raw, Reading):
        values = np.asarray(raw, dtype=np.float64)
        raw = Reading(metric="", values=values, known=np.ones(values.shape, np.bool_))
    shape = (ctx.size,)
    if raw.values.shape != shape or raw.known.shape != shape:
        raise ValueError(f"gave {raw.values.shape} values for {ctx.size} candidates")
    complete = all_of(raw.known)
    if not all_of(np.isfinite(raw.values if complete else raw.values[raw.known])):
        raise ValueError("gave a value that is not finite")
    return raw, complete


def _score_one_by_one(plugin: Plugin, ctx: "Cycle") -> Reading:
    """What `score_one` says of each row; None is a missing value."""
    said = [plugin.score_one(ctx, idc) for idc in ctx.views()]
    values = np.array([np.nan if value is None else value for value in said], dtype=np.float64)
    known = np.array([value is not None for value in said], dtype=np.bool_)
    return Reading(metric="", values=values, known=known)


def _taking_part(ctx: "Cycle") -> Sequence[tuple[Entry, Weights]]:
    """The scorers whose weight in force is not nought."""
    if ctx.request.weights is None and ctx.profile.weighed is not None:
        return ctx.profile.weighed
    weighed = [(entry, _weights(ctx, entry)) for entry in ctx.profile.scorers]
    return [(entry, weights) for entry, weights in weighed if weights[1] > 0]


def _weights(ctx: "Cycle", entry: Entry) -> Weights:
    asked, dynamic = ctx.request.weights, entry.dynamic_weight
    nominal = asked.get(entry.name, entry.weight) if asked else entry.weight
    return nominal, nominal if dynamic is None else _adjusted(ctx, nominal, dynamic)


def _adjusted(ctx: "Cycle", nominal: float, dynamic: DynamicWeight) -> float:
    """clamp(w × (1 + factor × (value − reference) ÷ reference)); nobody's value known leaves w."""
    reading = ctx.metric(dynamic.metric)
    known = reading.values[reading.known]
    if not known.size:
        return nominal
    value = float(_AGGREGATES[dynamic.aggregate](known))
    moved = nominal * (1 + dynamic.factor * (value - dynamic.reference) / dynamic.reference)
    return round(min(max(moved, dynamic.min), dynamic.max), DECIMALS)


def _pre_score(ctx: "Cycle", entries: list[Entry], errors: list[PluginError]) -> set[str]:
    """Says who failed."""
    broken = set()
    for entry in entries:
        try:
            prepare(ctx, entry)
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
            scorer_failed(entry, "pre_score", error, errors)
            broken.add(entry.name)
    return broken


def prepare(ctx: "Cycle", entry: Entry) -> None:
    """Let the plugin gather what its `score` needs; raises whatever the plugin raises."""
    if "pre_score" in entry.joined:
        ctx.at_work(entry, "pre_score", entry.plugin.pre_score)


def scorer_failed(entry: Entry, point: str, error: Exception, errors: list[PluginError]) -> None:
    """What the entry's `on_error` makes of a scorer's failure: raises PluginFailed, or puts it on record."""
    if entry.on_error_score == "fail":
        raise PluginFailed(entry.name, point, f"{type(error).__name__}: {error}") from error
    errors.append(PluginError(entry.name, point, f"{type(error).__name__}: {error}"))


class Whole(msgspec.Struct, frozen=True):
    """A scorer's word on all rows that a request is about; `scores` only where one row's does not hang on others'."""

    reading: Reading
    scores: Floats | None
    shown: dict[int, Score] | None = None
    """What was shown of a row, but for its age; None: it may be another each time, since it hangs on others."""


_ASK_EACH_TIME = object()
SILENT = object()
"""It has nothing to say of such a request."""


def column_of(ctx: "Cycle", entry: Entry, weights: Weights) -> ScoreColumn | None:
    """The survivors' part of what was worked out once for all rows, where the plugin says what it reads."""
    if not entry.lasting:
        return _column(ctx, entry, weights)
    found, places = remembered_whole(ctx.whole, entry), ctx.positions
    if found is SILENT:
        return None
    if places is None or not isinstance(found, Whole):
        return _column(ctx, entry, weights)
    scores = found.scores[places] if found.scores is not None else _scored(ctx, entry, found.reading, places)
    return ScoreColumn(
        entry=entry,
        reading=found.reading,
        known=found.reading.known,
        scores=scores,
        nominal_weight=weights[0],
        weight=weights[1],
        left_out=False,
        complete=True,
        places=places,
        shown=found.shown if weights[1] == entry.weight else None,
    )


def remembered_whole(whole: "Cycle", entry: Entry, *, at_once: bool = False) -> Whole | object:
    """What is remembered of a scorer about all rows; anything but a Whole: it must be asked about the survivors.

    It is worked out when the same is asked a second time, or `at_once`: one question alone needs its survivors.
    """
    found = whole.at_hand(entry.token, "score")
    if found is not None and not found[1]:
        said: Whole | object = found[0]
        return said
    reads = entry.plugin.reads.get("score")
    if reads is None or not whole.remembers:
        return _ASK_EACH_TIME
    if not (at_once or whole.worth_remembering(entry.token, "score", reads)):
        return _ASK_EACH_TIME
    return whole.recalled(entry.token, "score", reads, partial(_whole, whole, entry), size=_BYTES_A_ROW * whole.size)


def _scored(ctx: "Cycle", entry: Entry, reading: Reading, places: Rows) -> Floats:
    raw = reading.take(places)
    return _scores(ctx, entry, raw.values, raw.known, entry.scale(entry.plugin.scale_for(ctx)))


def _whole(whole: "Cycle", entry: Entry) -> Whole | object:
    """All rows' raw values, if none is missing: what is done about those depends on who is left."""
    try:
        raw, complete = _read(whole, entry)
        if raw is None:
            return SILENT
        if not complete:
            return _ASK_EACH_TIME
        scale = entry.scale(entry.plugin.scale_for(whole))
        by_row = scale.kind in BY_ROW and not normalizes_itself(entry)
        if not by_row:
            return sealed(Whole(raw, None))
        noteless = "note" not in entry.joined
        return sealed(Whole(raw, _scores(whole, entry, raw.values, raw.known, scale), {} if noteless else None))
    except Exception:  # noqa: BLE001  # among the survivors it may not fail, and there it is put on record
        return _ASK_EACH_TIME


def _column(ctx: "Cycle", entry: Entry, weights: Weights) -> ScoreColumn | None:
    raw, complete = _read(ctx, entry)
    if raw is None:
        return None
    scale = entry.scale(entry.plugin.scale_for(ctx))
    known, left_out = raw.known, False
    if not complete:
        known = known | ~np.isnan(raw.values) if entry.missing.score == "last" else known
        left_out = not known.any()
        _note(ctx, entry, raw, known, left_out)
    scores = np.zeros(ctx.size) if left_out else _scores(ctx, entry, raw.values, known, scale, whole=complete)
    return ScoreColumn(
        entry=entry,
        reading=raw,
        known=known,
        scores=scores,
        nominal_weight=weights[0],
        weight=0.0 if left_out else weights[1],
        left_out=left_out,
        complete=complete,
    )


def _scores(ctx: "Cycle", entry: Entry, raw: Floats, known: Mask, scale: Scale, *, whole: bool = False) -> Floats:
    """0..100 for every survivor: known values normalised among themselves, the others by policy.

    `whole`: all of them are known already.
    """
    own, whole = normalizes_itself(entry), whole or all_of(known)
    if whole and not own:
        return normalize(raw, scale)
    values = raw if whole else raw[known]
    found = np.asarray(entry.plugin.normalize(ctx, values) if own else normalize(values, scale), dtype=np.float64)
    if own and (found.shape != values.shape or not within_bounds(found, "min_max")):
        raise ValueError("gave a score out of bounds")
    if whole:
        return rounded_each(found)
    scores = np.full(ctx.size, _stand_in(found, entry, scale))
    scores[known] = found
    return rounded_each(scores)


def normalizes_itself(entry: Entry) -> bool:
    """Whether the plugin normalises by itself."""
    return entry.normalizer is None and "normalize" in entry.joined


def _stand_in(found: Floats, entry: Entry, scale: Scale) -> float:
    """The score of a value that is missing; never looks like good."""
    if entry.missing.score == "neutral":
        middle = float(np.median(found))
        return min(middle, _NEUTRAL_AT_MOST) if scale.kind == "fixed" else middle
    return float(found.min()) if scale.kind == "none" else 0.0


def _note(ctx: "Cycle", entry: Entry, raw: Reading, known: Mask, left_out: bool) -> None:
    if left_out:
        ctx.note_missing(raw, ~raw.known, "left_out")
        return
    ctx.note_missing(raw, known & ~raw.known, "last")
    ctx.note_missing(raw, ~known, "worst" if entry.missing.score == "last" else entry.missing.score)
