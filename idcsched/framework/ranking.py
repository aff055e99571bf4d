"""The order of the survivors: totals, named tie-breakers, and a hash where all else is equal."""

from collections.abc import Sequence
from functools import reduce
from hashlib import blake2b
from typing import Any

import numpy as np

from .capacity import headroom
from .context import Cycle
from .decision import Ranking, ScoreColumn
from .lines import NO_LINE
from .normalize import Floats, rounded
from .profile import HEADROOM, Profile
from .scoring import raw_values, scorer_failed

__all__ = ["HASH", "hash_keys", "line_headroom", "pick", "rank", "total_scores"]

HASH = "hash"
KNOWN = "known"
"""The tie-breaker before all others: an IDC with a missing value goes behind one with none."""
HEAD = 16
"""How many of the best are sorted at first: as many as a short answer shows."""
Hashes = np.ndarray[Any, np.dtype[np.uint64]]


def rank(ctx: Cycle, profile: Profile, columns: Sequence[ScoreColumn], *, seed: str) -> Ranking:
    """Rank the survivors by their totals; `seed` decides where all else is equal."""
    ranking = Ranking(
        total_scores(ctx, columns),
        tie_keys_of=lambda: {
            KNOWN: _known(ctx, columns),
            **{name: _tie_key(ctx, profile, columns, name) for name in profile.tie_breakers},
        },
        hashes_of=lambda: hash_keys(ctx, seed),
    )
    # sorted now, so that a plugin that fails at a tie is put on record
    ranking.head(ctx.size if ctx.request.explain == "full" else HEAD)
    return ranking


def total_scores(ctx: Cycle, columns: Sequence[ScoreColumn]) -> Floats:
    """Return Σ weight × score of each row."""
    totals = np.zeros(ctx.size)
    for column in columns:
        totals += column.scores * column.weight
    return rounded(totals)


def pick(ctx: Cycle, profile: Profile, ranking: Ranking) -> int:
    """Return the position of the IDC to take, −1 without survivors: the planned one, else the best.

    Under `near_best` the hash decides between those near the best.
    """
    if not ranking.size:
        return -1
    if ctx.request.planned is not None:
        row = ctx.snapshot.idcs.row_of.get(ctx.request.planned.idc, -1)
        planned = np.flatnonzero(ctx.row_numbers == row)
        if planned.size:
            return planned.item(0)
    first: int = ranking.head(1).item(0)
    if profile.pick.kind == "best":
        return first
    near = np.flatnonzero(ranking.totals >= ranking.totals[first] - profile.pick.epsilon)
    return int(near[np.argmin(ranking.hashes[near])])


def hash_keys(ctx: Cycle, seed: str) -> Hashes:
    """Return one number per row that is stable for a request and fair over many (SplitMix64's finaliser)."""
    digest = blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    mixed: Hashes = ctx.take(ctx.snapshot.idcs.hashes) ^ np.uint64(int.from_bytes(digest, "little"))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def line_headroom(ctx: Cycle) -> Floats:
    """Return the least share left of each row's chosen lines after placing; NaN: a line is missing or unknown."""
    lines = ctx.snapshot.lines
    if not lines.purchased.size:
        return np.full(ctx.size, np.nan)
    shares = [
        np.where(group == NO_LINE, np.nan, headroom(lines.room[group] - ctx.need, lines.purchased[group]))
        for group in ctx.lines.groups
    ]
    return rounded(reduce(np.minimum, shares))


def _known(ctx: Cycle, columns: Sequence[ScoreColumn]) -> Floats:
    """Return 1 for rows of which no value in the sum was replaced, else 0."""
    known = np.ones(ctx.size, dtype=np.bool_)
    for column in columns:
        if not column.left_out:
            known &= column.known
    return known.astype(np.float64)


def _tie_key(ctx: Cycle, profile: Profile, columns: Sequence[ScoreColumn], name: str) -> Floats:
    """Return each row's key of a tie-breaker: more goes first, unknown last."""
    if name == HEADROOM:
        return np.where(ctx.lines.known, line_headroom(ctx), -np.inf)
    entry = profile.entry(name) or profile.of_plugin(name)
    if entry is None or not entry.plugin.scores():
        return np.zeros(ctx.size)
    raw = next((column.raw for column in columns if column.entry is entry), None)
    try:
        if raw is None:  # the scorer is not in the sum
            if entry.joins("pre_score"):
                entry.run(ctx, "pre_score")
            raw = raw_values(ctx, entry)
        better = entry.plugin.scale_for(ctx).better
    except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
        scorer_failed(ctx, entry, "tie_breaker", error)
        return np.zeros(ctx.size)
    if raw is None:
        return np.zeros(ctx.size)
    return np.where(raw.known, raw.values if better == "more" else -raw.values, -np.inf)
