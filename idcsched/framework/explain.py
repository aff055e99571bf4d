"""Turn a decision's columns into the API's answer; only what is shown is computed.

Reasons are kept as codes and parameters; `say` renders a sentence's English template, or its translation.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from math import inf, isnan, nan
from operator import itemgetter
from typing import Any, Literal

import msgspec
import numpy as np

from .answer import (
    Answer,
    Bill,
    Candidate,
    EarlierGroup,
    FallbackGroup,
    Flip,
    Hint,
    IdcBrief,
    LineUse,
    Margin,
    NearMiss,
    Passed,
    Rejected,
    RejectedCount,
    Score,
    Stale,
    Tie,
)
from .bills import billed, bills, price_scorer
from .context import Cycle
from .decision import Decision, Judgement, ScoreColumn
from .labels import Mask, Rows
from .lines import NO_LINE
from .messages import _
from .normalize import Floats, rounded, rounded_value
from .profile import Profile
from .ranking import HASH
from .shape import shape_sentence
from .wording import Listing, Say, Teller, say_english
from .worth import worth_of

__all__ = [
    "MOST_SHOWN",
    "Explain",
    "ListName",
    "answer",
    "bills_at",
    "first_rejections",
    "idc_brief",
    "lines_used",
    "page_of_list",
    "summary_of",
]

MOST_SHOWN = 1000
MOST_WEIGHT = 10_000.0

LEFT_OUT = "left_out"

LEAST_BILLED = _(
    "{other} has more room ({other_room:,.0f} Mbps, here {room:,.0f}), but there one Mbps more would "
    "count as {other_price:,.2f} {currency} a month, with the commit and the room that it takes up, and as "
    "{price:,.2f} here"
)
CHEAPEST = _(
    "{other} has more room ({other_room:,.0f} Mbps, here {room:,.0f}), but a Mbps costs {other_price:,.2f} "
    "{currency} a month there, and {price:,.2f} here"
)
PRICE_UNKNOWN = _(
    "{other} has more room ({other_room:,.0f} Mbps, here {room:,.0f}), but what its bandwidth costs is not known"
)

Explain = Literal["none", "summary", "full"]
ListName = Literal["candidates", "rejected", "stale"]


def answer(decision: Decision, *, explain: Explain = "summary", top: int = 5, say: Say = say_english) -> Answer:
    """Return the API's answer for a decision."""
    explained, full = explain != "none", explain == "full"
    winner, tell = decision.picked, Teller(say)
    shown = range(min(decision.feasible, MOST_SHOWN if full else top))
    counts = decision.rejected
    stale = tuple(islice(stale_values(decision), MOST_SHOWN + 1)) if explained else ()
    return Answer(
        result="scheduled" if decision.scheduled else "unschedulable",
        reason_code=_reason_code(decision),
        idc=idc_brief(decision, winner) if decision.scheduled else None,
        lines=_winners_lines(decision, say if explained else None),
        score=decision.ranking.totals.item(winner) if decision.scheduled else None,
        score_mean=_mean(decision) if decision.scheduled else None,
        candidates=tuple(candidates(decision, shown, tell, full=full)) if explained else None,
        tie=_tie(decision, max(len(shown), 2)) if explained else None,
        margin=_margin(decision) if explained else None,
        rejected=tuple(rejections(decision, slice(MOST_SHOWN), tell)) if full else None,
        rejected_counts=tuple([count for count, _ in counts]) if explained else None,
        near_misses=tuple(_near_misses(decision, MOST_SHOWN if full else top, tell)) if explained else None,
        summary=summary_of(decision.feasible, decision.cycle.size, decision.not_visited, counts, say),
        evaluated=decision.cycle.size,
        feasible=decision.feasible,
        not_visited=decision.not_visited,
        **billed(bills_at(decision, np.array([winner]))[0] if decision.scheduled else None),
        picked="planned" if decision.as_planned else decision.profile.pick.kind,
        shape_from=decision.cycle.shape.source if decision.cycle.need else msgspec.UNSET,
        shape_note=_shape_note(decision, say) if explained else msgspec.UNSET,
        fallback_group=_fallback_group(decision),
        stale=stale[:MOST_SHOWN] if explained else None,
        hints=tuple([Hint(plugin=plugin, hint=say(note.sentence, note.params)) for plugin, note in decision.hints])
        or msgspec.UNSET,
        plugin_errors=(*decision.plugin_errors, *dict.fromkeys(tell.errors)),
        worth=worth_of(decision) if explained and decision.scheduled else msgspec.UNSET,
        truncated=len(stale) > MOST_SHOWN or (full and _overlong(decision)) or msgspec.UNSET,
    )


def page_of_list(
    decision: Decision, name: ListName, *, start: int, stop: int, say: Say = say_english
) -> tuple[int, tuple[Candidate | Rejected | Stale, ...]]:
    """Return how long that list of the decision's full explanation is, and its entries from `start` to `stop`."""
    tell, part = Teller(say), slice(start, stop)
    if name == "candidates":
        places = range(decision.feasible)
        return len(places), tuple(candidates(decision, places[part], tell, full=True))
    if name == "rejected":
        return int((first_rejections(decision) >= 0).sum()), tuple(rejections(decision, part, tell))
    values: list[Any] = list(stale_values(decision))
    return len(values), tuple(values[part])


def idc_brief(decision: Decision, position: int) -> IdcBrief:
    """Return code, name and region of the survivor at a position."""
    row, idcs = decision.survivors.row_numbers.item(position), decision.cycle.snapshot.idcs
    return IdcBrief(code=idcs.codes[row], name=idcs.names[row], region=idcs.regions[row])


def lines_used(decision: Decision, position: int) -> tuple[LineUse, ...]:
    """Return the lines that the survivor at a position would use."""
    survivors = decision.survivors
    codes, isps, need = survivors.snapshot.lines.codes, survivors.snapshot.lines.isps, survivors.need
    used = survivors.lines.of(position)
    return tuple([LineUse(line=codes[line], isp=isps[line], bandwidth_mbps=need) for line in used])


def bills_at(decision: Decision, positions: Rows) -> list[Bill | str]:
    """Return what the order adds to the bills of the survivors at those positions, or why that is not known."""
    entry = price_scorer(decision.profile)
    scored = next((column.raw.take(positions) for column in decision.columns if column.entry is entry), None)
    return bills(decision.survivors.narrowed(positions), decision.profile, scored)


def _winners_lines(decision: Decision, say: Say | None) -> tuple[LineUse, ...]:
    if not decision.scheduled:
        return ()
    winner = decision.picked
    return _lines_with_notes(decision, np.array([winner]), say)[0] if say else lines_used(decision, winner)


def _lines_with_notes(decision: Decision, positions: Rows, say: Say) -> list[tuple[LineUse, ...]]:
    """Return the lines that the survivors at those positions would use, and why not the roomiest."""
    uses, survivors = [lines_used(decision, position) for position in positions.tolist()], decision.survivors
    if survivors.line_policy.choice == "roomiest":
        return uses
    roomiest, room = survivors.roomiest_lines(positions), survivors.snapshot.lines.room
    for number, position in enumerate(positions.tolist()):
        pairs = dict(zip(survivors.lines.at(position), roomiest.at(number), strict=True))
        notes = [
            _preferred(survivors, line, pairs[line], say)
            if room[pairs[line]] > room[line] and line not in survivors.line_policy.planned
            else msgspec.UNSET
            for line in survivors.lines.of(position)
        ]
        uses[number] = tuple(
            [msgspec.structs.replace(use, note=note) for use, note in zip(uses[number], notes, strict=True)]
        )
    return uses


def _preferred(survivors: Cycle, line: int, roomiest: int, say: Say) -> str:
    """Say why the profile chooses `line` and not the roomiest."""
    lines, least_billed = survivors.snapshot.lines, survivors.line_policy.choice == "least_billed"
    prices = lines.price_of_next_mbps if least_billed else lines.price
    figures: dict[str, Any] = {
        "other": lines.codes[roomiest],
        "other_room": lines.room.item(roomiest),
        "room": lines.room.item(line),
        "other_price": prices.item(roomiest),
        "price": prices.item(line),
        "currency": survivors.snapshot.currency,
    }
    if isnan(figures["other_price"]):
        return say(PRICE_UNKNOWN, figures)
    return say(LEAST_BILLED if least_billed else CHEAPEST, figures)


def _shape_note(decision: Decision, say: Say) -> str | msgspec.UnsetType:
    """Say by which shape the order's traffic counts, where bandwidth is needed and the request has no shape."""
    ctx = decision.cycle
    sentence = shape_sentence(ctx.shape, ctx.labels) if ctx.need else None
    return say(*sentence) if sentence else msgspec.UNSET


def _reason_code(decision: Decision) -> str | None:
    if decision.scheduled:
        return None
    return "none_feasible" if decision.cycle.size else "no_idc_in_region"


def _overlong(decision: Decision) -> bool:
    """Return whether there are more candidates or rejections than an answer shows."""
    rejected = decision.cycle.size - decision.feasible - decision.not_visited
    return decision.feasible > MOST_SHOWN or rejected > MOST_SHOWN


def _mean(decision: Decision) -> float:
    """Return the winner's total ÷ Σ weight, which is comparable between profiles."""
    weight = sum([column.weight for column in decision.columns])
    return float(rounded(decision.ranking.totals.item(decision.picked) / weight)) if weight else 0.0


def candidates(decision: Decision, places: range, tell: Teller, *, full: bool) -> Iterator[Candidate]:
    """Yield the candidates at those places of the ranking, the best being at 0."""
    if not places:
        return
    positions = decision.ranking.head(places.stop)[places.start : places.stop]
    bills_of = bills_at(decision, positions)  # all of them at once, before the notes ask for each
    scores, lines = _scores_at(decision, positions, tell), _lines_with_notes(decision, positions, tell.say)
    with_figures = [judgement for judgement in decision.judgements if judgement.figures] if full else []
    rows = decision.survivors.row_numbers[positions]
    marked = decision.picked if decision.as_planned or decision.profile.pick.kind != "best" else None
    judged = np.searchsorted(decision.cycle.row_numbers, rows) if with_figures else rows
    for number, (place, position, row) in enumerate(zip(places, positions.tolist(), rows.tolist(), strict=True)):
        yield Candidate(
            rank=place + 1,
            idc=decision.cycle.snapshot.idcs.codes[row],
            lines=lines[number],
            score=decision.ranking.totals.item(position),
            scores={name: of_scorer[number] for name, of_scorer in scores.items()},
            **billed(bills_of[number]),
            filters=_passed(with_figures, judged.item(number), tell) or msgspec.UNSET,
            chosen=position == marked or msgspec.UNSET,
        )


def _scores_at(decision: Decision, positions: Rows, tell: Teller) -> dict[str, list[Score]]:
    """Return every scorer's steps from raw values to contributions at those positions, by the scorer's name."""
    columns, untimed = decision.columns, np.full(positions.size, np.nan)
    scores = np.array([column.scores[positions] for column in columns])
    weighted = scores * np.array([[column.weight] for column in columns])
    times = [untimed if column.raw.at is None else column.raw.at[positions] for column in columns]
    normalized, contributions = rounded(scores).tolist(), rounded(weighted).tolist()
    ages = _ages(decision.cycle.now, np.array(times))
    scores_of = {}
    for number, column in enumerate(columns):
        range_ = _range(column)
        scores_of[column.entry.name] = [
            Score(
                raw=None if isnan(value) else rounded_value(value),
                normalized=None if column.left_out else score,
                weight=column.weight,
                nominal_weight=column.nominal_weight,
                contribution=0.0 if column.left_out else contribution,
                age_seconds=None if isnan(age) else age,
                missing=missing,
                range=range_,
                note=note,
            )
            for value, score, contribution, age, missing, note in zip(
                column.raw.values[positions].tolist(),
                normalized[number],
                contributions[number],
                ages[number],
                _stand_ins(column, positions),
                tell.notes(decision.survivors, column, positions.tolist()),
                strict=True,
            )
        ]
    return scores_of


def _range(column: ScoreColumn) -> tuple[float, float] | msgspec.UnsetType:
    scale = column.scale
    return (float(scale.low), float(scale.high)) if scale.kind == "fixed" else msgspec.UNSET


def _ages(now: float, at: Floats) -> Any:
    """Return the values' ages in seconds; NaN: there is no value."""
    return (np.rint((now - at) * 1000) / 1000).tolist()


def _stand_ins(column: ScoreColumn, positions: Rows) -> list[str | None]:
    """Return what replaced each value; None: the value itself counts."""
    if column.left_out or column.raw.complete:
        return [LEFT_OUT if column.left_out else None] * positions.size
    policy = column.entry.missing.score
    stand_in = "worst" if policy == "last" else policy
    fresh, used = column.raw.known[positions].tolist(), column.known[positions].tolist()
    return [
        None if is_fresh else "last" if is_used else stand_in for is_fresh, is_used in zip(fresh, used, strict=True)
    ]


def _passed(with_figures: Sequence[Judgement], position: int, tell: Teller) -> tuple[Passed, ...]:
    """Return the filters that can show the numbers by which an IDC passed."""
    shown = [(judgement.plugin, tell.figures(judgement, position)) for judgement in with_figures]
    return tuple([Passed(plugin=plugin, figures=dict(figures)) for plugin, figures in shown if figures])


def _tie(decision: Decision, most: int) -> Tie | None:
    """Return the IDCs that tie with the first, and the first tie-breaker that differs between the first two."""
    ranking = decision.ranking
    best = ranking.head(2)
    if ranking.size <= 1 or ranking.totals[best[0]] != ranking.totals[best[1]]:
        return None
    level = int(np.count_nonzero(ranking.totals == ranking.totals[best[0]]))
    tied: list[int] = ranking.head(level)[:level].tolist()
    first, second = tied[0], tied[1]
    name = next((name for name, key in ranking.tie_keys.items() if key[first] != key[second]), HASH)
    key = ranking.hashes / 2.0**64 if name == HASH else ranking.tie_keys[name]
    shown = tied[:most]
    return Tie(
        between=tuple(decision.code(position) for position in shown),
        broken_by=name,
        values={decision.code(p): key.item(p) if np.isfinite(key[p]) else None for p in shown},
        others=level - len(shown) or msgspec.UNSET,
    )


def _margin(decision: Decision) -> Margin | None:
    """Return the winner's lead over the next in the ranking, and the weight of each scorer at which they draw level.

    None where nobody ranks behind the winner, which need not be the best.
    """
    ranking, winner = decision.ranking, decision.picked
    if not ranking.size:
        return None
    order = ranking.head(2) if ranking.head(1).item(0) == winner else ranking.order
    behind = order[int(np.flatnonzero(order == winner).item()) + 1 :]
    if not behind.size:
        return None
    second = int(behind[0])
    lead = float(rounded(ranking.totals.item(winner) - ranking.totals.item(second)))
    return Margin(
        runner_up=decision.code(second),
        score=lead,
        flips=tuple([_flip(column, winner, second, lead) for column in decision.columns if not column.left_out]),
    )


def _flip(column: ScoreColumn, winner: int, second: int, lead: float) -> Flip:
    difference: float = column.scores.item(winner) - column.scores.item(second)
    weight = column.weight - lead / difference if difference else inf
    return Flip(scorer=column.entry.name, weight=float(rounded(weight)) if 0.0 <= weight <= MOST_WEIGHT else None)


def summary_of(
    feasible: int, evaluated: int, not_visited: int, counts: list[tuple[RejectedCount, Judgement]], say: Say
) -> str:
    """Return one sentence: `3/4 IDCs fit: 1 untolerated taint`."""
    if not evaluated:
        return say(_("no IDC in the region"), {})
    parts = [
        say(_("{count} {label}"), {"count": count.count, "label": say(judgement.reason.label, {})})
        for count, judgement in counts
    ]
    if not_visited:
        parts.append(say(_("{count} not visited"), {"count": not_visited}))
    numbers = {"feasible": feasible, "evaluated": evaluated}
    if not parts:
        return say(_("{feasible}/{evaluated} IDCs fit"), numbers)
    return say(_("{feasible}/{evaluated} IDCs fit: {parts}"), {**numbers, "parts": Listing(parts)})


def rejections(decision: Decision, part: slice, tell: Teller) -> Iterator[Rejected]:
    """Yield that part of the rejections, in the order of the snapshot."""
    first, ctx = first_rejections(decision), decision.cycle
    positions = np.flatnonzero(first >= 0)[part]
    rows, codes = ctx.row_numbers[positions].tolist(), ctx.snapshot.idcs.codes
    for position, number, row in zip(positions.tolist(), first[positions].tolist(), rows, strict=True):
        judgement = decision.judgements[number]
        reason, numbers = tell.reason(judgement, position)
        yield Rejected(
            idc=codes[row],
            plugin=judgement.plugin,
            code=judgement.reason.code,
            reason=reason,
            detail=numbers,
            also=_also(decision, position, judgement.plugin),
        )


def first_rejections(decision: Decision) -> Rows:
    """Return for every row of the request the number of the judgement that rejected it first; −1: none did."""
    first = np.full(decision.cycle.size, -1, dtype=np.intp)
    for number in range(len(decision.judgements) - 1, -1, -1):
        first[~decision.judgements[number].keep] = number
    if decision.visited is not None:
        first[~decision.visited] = -1
    return first


def _also(decision: Decision, position: int, plugin: str) -> tuple[str, ...]:
    others = (judgement.plugin for judgement in decision.judgements if not judgement.keep[position])
    return tuple(dict.fromkeys(other for other in others if other != plugin))


def _near_misses(decision: Decision, most: int, tell: Teller) -> list[NearMiss]:
    """Return, where nothing fits, the IDCs that a single plugin rejects, the smallest shortfall first.

    An IDC that only another request would let pass, as no change cures the rejection and nothing is lacking, is none.
    """
    if decision.scheduled:
        return []
    first = first_rejections(decision)
    rejected = ((decision.judgements[first[position]], position) for position in _rejected_by_one(decision, first))
    lacking = (
        (_relative_shortfall(judgement.numbers(position)), judgement, position) for judgement, position in rejected
    )
    misses = (miss for miss in lacking if miss[1].reason.cures or np.isfinite(miss[0]))
    nearest = nsmallest(most, misses, key=itemgetter(0))
    return [_near_miss(decision, position, judgement, tell) for _, judgement, position in nearest]


def _rejected_by_one(decision: Decision, first: Rows) -> list[int]:
    """Return the positions that exactly one plugin rejects, and the request's own lists and groups do not."""
    by_plugin: dict[str, Mask] = {}
    for judgement in decision.judgements:
        by_plugin[judgement.plugin] = by_plugin.get(judgement.plugin, False) | ~judgement.keep
    by_one = first >= 0
    if by_plugin:
        by_one &= np.sum(list(by_plugin.values()), axis=0) == 1
    if "request" in by_plugin:
        by_one &= ~by_plugin["request"]
    positions: list[int] = np.flatnonzero(by_one).tolist()
    return positions


def _relative_shortfall(numbers: Mapping[str, Any]) -> float:
    """Return the part of the need that is missing; infinite where it is unknown."""
    short_by = numbers.get("short_by")
    return np.inf if short_by is None else short_by / (numbers.get("need") or 1.0)


def _near_miss(decision: Decision, position: int, judgement: Judgement, tell: Teller) -> NearMiss:
    reason, numbers = tell.reason(judgement, position)
    return NearMiss(
        idc=decision.cycle.snapshot.idcs.codes[int(decision.cycle.row_numbers[position])],
        plugin=judgement.plugin,
        code=judgement.reason.code,
        need=numbers.get("need"),
        free=numbers.get("free"),
        short_by=numbers.get("short_by"),
        reason=reason,
        cures=judgement.reason.cures,
        detail=numbers,
    )


def _fallback_group(decision: Decision) -> FallbackGroup | None:
    groups = decision.groups
    if groups is None or not (decision.cycle.request.fallback or decision.profile.fallback):
        return None
    index = decision.group if decision.scheduled else None
    empty = range(decision.group if decision.scheduled else decision.group + 1)
    return FallbackGroup(
        index=index,
        earlier=tuple(
            EarlierGroup(
                index=group,
                rejected_counts=tuple([count for count, _ in decision.rejected_of(groups == group)]),
            )
            for group in empty
        ),
    )


def stale_values(decision: Decision) -> Iterator[Stale]:
    """Yield each missing or stale value and how it was treated, except for IDCs that an earlier filter rejected."""
    ctx, yielded = decision.cycle, dict[tuple[str, str], set[tuple[int, int]]]()
    if not ctx.notes:
        return
    turns = _filter_turns(decision.profile)
    rejected_in_turn = _rejected_in_turn(decision, turns)
    idcs, codes, now = ctx.snapshot.idcs.codes, ctx.snapshot.lines.codes, ctx.now
    for note in ctx.notes:
        reading, used_as = note.reading, note.used_as
        metric, seen = reading.metric, yielded.setdefault((reading.metric, used_as), set())
        rows = note.rows.tolist()
        lines = [NO_LINE] * len(rows) if reading.lines is None else reading.lines.tolist()
        ages = [nan] * len(rows) if reading.at is None else _ages(now, reading.at)
        for row, line, age in zip(rows, lines, ages, strict=True):
            if (row, line) in seen or rejected_in_turn[row] < turns.get(note.plugin, 0):
                continue
            seen.add((row, line))
            yield Stale(
                idc=idcs[row],
                line=codes[line] if line >= 0 else None,
                metric=metric,
                age_seconds=None if isnan(age) else age,
                used_as=used_as,
            )


def _filter_turns(profile: Profile) -> Mapping[str, int]:
    """Return the turn of each filter of the profile, by its name."""
    filters = (*profile.pre_filters, *profile.filters, *profile.filters_one)
    return {entry.name: turn for turn, entry in reversed([*enumerate(filters)])}


def _rejected_in_turn(decision: Decision, turns: Mapping[str, int]) -> Rows:
    """Return the turn of the first filter that rejected each row of the snapshot; past the last turn: none did."""
    in_turn = np.full(decision.cycle.snapshot.size, len(turns) + 1, dtype=np.intp)
    first = first_rejections(decision)
    positions = np.flatnonzero(first >= 0)
    of_judgement = np.array([turns.get(judgement.plugin, 0) for judgement in decision.judgements], dtype=np.intp)
    in_turn[decision.cycle.row_numbers[positions]] = of_judgement[first[positions]]
    return in_turn
