"""The order of the survivors: totals, named tie-breakers, and a hash where all else is equal."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from .capacity import headroom
from .decision import PluginError, ScoreColumn
from .lines import NO_LINE, LineChoice
from .normalize import Floats, rounded_each
from .order import Ranking
from .profile import HEADROOM, Entry
from .scoring import prepare, read_raw, scorer_failed
from .snapshot import Lines, Reading

if TYPE_CHECKING:
    from .context import Cycle

__all__ = ["HASH", "hash_keys", "line_headroom", "rank", "seed_of", "sum_of_lasting", "total_scores"]

HASH = "hash"
HEAD = 16
Hashes = np.ndarray[Any, np.dtype[np.uint64]]


def seed_of(reference: str) -> int:
    return int.from_bytes(blake2b(reference.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hash_keys(codes: Hashes, seed: int) -> Hashes:
    """One number per IDC that is stable for a request and fair over many (SplitMix64's finaliser)."""
    mixed = codes ^ np.uint64(seed)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def rank(
    ctx: "Cycle", columns: list[ScoreColumn], totals: Floats, size: int, chance: str, errors: list[PluginError]
) -> Ranking:
    """Best first, as far as anybody looks: who is told in short is sorted now, the others when they are asked for.

    `size`: how many are to be ranked; the totals of the others are −inf.
    """

    def hashes() -> Hashes:
        return hash_keys(ctx.take(ctx.snapshot.idcs.hashes), seed_of(chance))

    def tie_keys() -> dict[str, Floats]:
        return {name: _tie_key(ctx, columns, name, errors) for name in ctx.profile.tie_breakers}

    ranking = Ranking(totals=totals, size=size, hashes_of=hashes, tie_keys_of=tie_keys)
    ranking.head(HEAD if ctx.request.explain != "full" else ctx.size)
    ranking.picked = _picked(ctx, ranking)
    return ranking


def total_scores(ctx: "Cycle", columns: Iterable[ScoreColumn], lasting: Floats | None = None) -> Floats:
    """Σ weight × score of each row: first of those who say what they read (`lasting`), each in the profile's order."""
    totals = sum_of_lasting(ctx, columns) if lasting is None else lasting.copy()
    for column in columns:
        if not column.entry.lasting:
            totals += column.scores * column.weight
    return rounded_each(totals)


def sum_of_lasting(ctx: "Cycle", columns: Iterable[ScoreColumn]) -> Floats:
    """The part of the totals that comes of what can be remembered."""
    totals = np.zeros(ctx.size)
    for column in columns:
        if column.entry.lasting:
            totals += column.scores * column.weight
    return totals


def _picked(ctx: "Cycle", ranking: Ranking) -> int:
    """Position of the IDC to take; −1 without survivors."""
    if not ranking.size:
        return -1
    pick, first = ctx.profile.pick, ranking.head(1).item(0)
    if pick.kind == "best":
        return first
    near = np.flatnonzero(ranking.totals >= ranking.totals[first] - pick.epsilon)
    return int(near[np.argmin(ranking.hashes[near])])


def _tie_key(ctx: "Cycle", columns: list[ScoreColumn], name: str, errors: list[PluginError]) -> Floats:
    """More goes first; unknown sorts last."""
    if name == HEADROOM:
        return np.where(ctx.lines.known, line_headroom(ctx, ctx.need), -np.inf)
    entry = ctx.profile.entry(name) or ctx.profile.of_plugin(name)
    if entry is None or not entry.plugin.scores():
        return np.zeros(ctx.size)
    done = next((column.raw for column in columns if column.entry is entry), None)
    try:
        raw = done or _raw_of_idle(ctx, entry)
        better = entry.plugin.scale_for(ctx).better
    except Exception as error:  # noqa: BLE001  # a plugin may raise anything; the profile says what it means
        scorer_failed(entry, "tie_breaker", error, errors)
        return np.zeros(ctx.size)
    if raw is None:
        return np.zeros(ctx.size)
    values = raw.values if better == "more" else -raw.values
    return np.where(raw.known, values, -np.inf)


def _raw_of_idle(ctx: "Cycle", entry: Entry) -> Reading | None:
    """The raw values of a scorer that is not in the sum."""
    prepare(ctx, entry)
    return read_raw(ctx, entry)


def line_headroom(ctx: "Cycle", need: float) -> Floats:
    """Of each row's chosen lines the least share left after placing; NaN where a line is missing or unknown."""
    lines, choice = ctx.snapshot.lines, ctx.lines
    if not lines.purchased.size:
        return np.full(ctx.size, np.nan)
    everybody = choice.complete or choice.has_line.all()
    reads = ("isp", "isp_match") if choice.settled else None
    sizes = ctx.recalled(None, "sizes", reads, lambda: _sizes(lines, choice), size=16 * ctx.size)
    lefts = [(room - need) / bought if lines.all_purchased else headroom(room - need, bought) for room, bought in sizes]
    if not everybody:
        lefts = [np.where(group == NO_LINE, np.nan, left) for group, left in zip(choice.groups, lefts, strict=True)]
    return rounded_each(lefts[0] if len(lefts) == 1 else np.minimum.reduce(lefts))


def _sizes(lines: Lines, choice: LineChoice) -> list[tuple[Floats, Floats]]:
    """Of each row's chosen lines the room and what was purchased."""
    return [(lines.room[group], lines.purchased[group]) for group in choice.groups]
