"""Turn each scorer's raw values into scores and weights, with a stand-in for every missing value."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .answer import PluginError
from .context import Cycle
from .decision import ScoreColumn
from .errors import PluginFailed
from .labels import Mask
from .normalize import DECIMALS, Floats, Scale, normalize, within_bounds
from .profile import DynamicWeight, Entry, Profile
from .snapshot import Reading

__all__ = ["raw_values", "run_scorers", "scorer_failed", "weights_of"]

_AGGREGATES: dict[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "sum": np.sum,
}
_NEUTRAL_AT_MOST = 50.0


def run_scorers(ctx: Cycle, profile: Profile, *, vectorised_only: bool = False) -> tuple[ScoreColumn, ...]:
    """Return the columns of all scorers in the sum, in the profile's order."""
    if not ctx.size:
        return ()
    weighed = [(entry, *weights_of(ctx, entry)) for entry in profile.scorers]
    taking_part = [
        (entry, nominal, weight)
        for entry, nominal, weight in weighed
        if weight > 0 and (not vectorised_only or entry.joins("score"))
    ]
    broken = {entry.name for entry, _, _ in taking_part if not _prepared(ctx, entry)}
    columns = []
    for entry, nominal, weight in taking_part:
        if entry.name in broken:
            continue
        try:
            column = _column(ctx, entry, nominal, weight)
        except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
            scorer_failed(ctx, entry, "score", error)
        else:
            if column is not None:
                columns.append(column)
    return tuple(columns)


def raw_values(ctx: Cycle, entry: Entry) -> Reading | None:
    """Return the plugin's raw values for the survivors, checked; raises whatever the plugin raises."""
    raw: object = entry.run(ctx, "score") if entry.joins("score") else _score_one_by_one(ctx, entry)
    if raw is None:
        return None
    if not isinstance(raw, Reading):
        values = np.asarray(raw, dtype=np.float64)
        raw = Reading(metric="", values=values, known=np.ones(values.shape, np.bool_))
    if raw.values.shape != (ctx.size,) or raw.known.shape != (ctx.size,):
        raise ValueError(f"gave {raw.values.shape} values for {ctx.size} candidates")
    if not np.isfinite(raw.values if raw.complete else raw.values[raw.known]).all():
        raise ValueError("gave a value that is not finite")
    return raw


def scorer_failed(ctx: Cycle, entry: Entry, point: str, error: Exception) -> None:
    """Treat a scorer's failure by the entry's `on_error`: raise PluginFailed, or put the failure on record."""
    if entry.on_error_score == "fail":
        raise PluginFailed(entry.name, point, f"{type(error).__name__}: {error}") from error
    ctx.errors.append(PluginError(entry.name, point, f"{type(error).__name__}: {error}"))


def weights_of(ctx: Cycle, entry: Entry) -> tuple[float, float]:
    """Return the weight that the profile or the request gives, and the weight in force."""
    overrides, dynamic = ctx.request.weights, entry.dynamic_weight
    nominal = overrides.get(entry.name, entry.weight) if overrides else entry.weight
    return nominal, nominal if dynamic is None else _adjusted(ctx, nominal, dynamic)


def _adjusted(ctx: Cycle, nominal: float, dynamic: DynamicWeight) -> float:
    """Return clamp(w × (1 + factor × (value − reference) ÷ reference)), or w where no value is known."""
    reading = ctx.metric(dynamic.metric)
    known = reading.values[reading.known]
    if not known.size:
        return nominal
    value = float(_AGGREGATES[dynamic.aggregate](known))
    adjusted = nominal * (1 + dynamic.factor * (value - dynamic.reference) / dynamic.reference)
    return round(min(max(adjusted, dynamic.min), dynamic.max), DECIMALS)


def _prepared(ctx: Cycle, entry: Entry) -> bool:
    """Run the plugin's `pre_score`; False: it failed, and the profile lets the scorer be left out."""
    if not entry.joins("pre_score"):
        return True
    try:
        entry.run(ctx, "pre_score")
    except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
        scorer_failed(ctx, entry, "pre_score", error)
        return False
    return True


def _score_one_by_one(ctx: Cycle, entry: Entry) -> Reading:
    """Return the reading that `score_one` gives row by row; None is a missing value.

    A row's value is as fresh and as old as the metrics that were asked for; where one has no value, nor has the row.
    """
    ctx.entry, ctx.missing = entry.name, entry.missing
    values, known, at = np.full(ctx.size, np.nan), np.zeros(ctx.size, dtype=np.bool_), np.full(ctx.size, np.nan)
    lacking: list[str] = []
    for idc in ctx.views():
        value = entry.plugin.score_one(ctx, idc)
        lacking += [reading.metric for reading in idc.readings if not reading.complete]
        if value is not None and not any(np.isnan(reading.values).any() for reading in idc.readings):
            values[idc.position] = value
            known[idc.position] = all(reading.complete for reading in idc.readings)
            at[idc.position] = min(
                [reading.at.item() for reading in idc.readings if reading.at is not None], default=np.nan
            )
    return Reading(metric=lacking[0] if lacking else "", values=values, known=known, at=at)


def _column(ctx: Cycle, entry: Entry, nominal: float, weight: float) -> ScoreColumn | None:
    raw = raw_values(ctx, entry)
    if raw is None:
        return None
    scale = entry.scale(entry.plugin.scale_for(ctx))
    known, values, left_out = raw.known, raw.values, False
    if not raw.complete:
        known = known | ~np.isnan(raw.values) if entry.missing.score == "last" else known
        values, left_out = raw.values[known], not known.any()
        _note_missing(ctx, entry, raw, known, left_out=left_out)
    return ScoreColumn(
        entry=entry,
        raw=raw,
        scale=scale,
        known=known,
        scores=np.zeros(ctx.size) if left_out else _scores(ctx, entry, values, known, scale),
        nominal_weight=nominal,
        weight=0.0 if left_out else weight,
        left_out=left_out,
    )


def _scores(ctx: Cycle, entry: Entry, values: Floats, known: Mask, scale: Scale) -> Floats:
    """Return every survivor's score: known `values` normalised among themselves, the others by `on_missing`."""
    own = entry.normalizer is None and entry.joins("normalize")
    scores: Floats = entry.plugin.normalize(ctx, values) if own else normalize(values, scale)
    if own:
        scores = np.asarray(scores, dtype=np.float64)
        if scores.shape != values.shape or not within_bounds(scores, "min_max"):
            raise ValueError("gave a score out of bounds")
    if values.size == ctx.size:
        return scores
    all_scores = np.full(ctx.size, _stand_in(scores, entry, scale))
    all_scores[known] = scores
    return all_scores


def _stand_in(scores: Floats, entry: Entry, scale: Scale) -> float:
    """Return the score for a missing value, which is never a good one."""
    if entry.missing.score == "neutral":
        middle = float(np.median(scores))
        return min(middle, _NEUTRAL_AT_MOST) if scale.kind == "fixed" else middle
    return float(scores.min()) if scale.kind == "none" else 0.0


def _note_missing(ctx: Cycle, entry: Entry, raw: Reading, known: Mask, *, left_out: bool) -> None:
    ctx.entry = entry.name
    if left_out:
        ctx.note_missing(raw, ~raw.known, "left_out")
        return
    ctx.note_missing(raw, known & ~raw.known, "last")
    ctx.note_missing(raw, ~known, "worst" if entry.missing.score == "last" else entry.missing.score)
