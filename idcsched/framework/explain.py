"""From a decision's columns to the contract's answer: only what is shown is computed.

Reasons are kept as codes and parameters; `say` renders a sentence's English template, or its translation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice, repeat
from math import inf, isnan, nan
from typing import Any, Literal

import msgspec
import numpy as np

from .decision import (
    Answer,
    Board,
    Candidate,
    Decision,
    EarlierGroup,
    FallbackGroup,
    Flip,
    Hint,
    IdcBrief,
    Judgement,
    LineUse,
    Margin,
    NearMiss,
    Passed,
    Rejected,
    RejectedCount,
    Score,
    ScoreColumn,
    Stale,
    Tie,
)
from .labels import Mask, Rows
from .lines import NO_LINE
from .normalize import rounded
from .ranking import HASH
from .showing import Showing
from .telling import Listing, Say, Teller, say_english

__all__ = ["MOST_SHOWN", "Explain", "answer", "summary_of"]

MOST_SHOWN = 1000
MOST_WEIGHT = 10_000.0

Explain = Literal["none", "summary", "full"]


def answer(decision: Decision, *, explain: Explain = "summary", top: int = 5, say: Say = say_english) -> Answer:
    """The decision as the contract shows it."""
    told, full = explain != "none", explain == "full"
    shown = min(decision.feasible, MOST_SHOWN if full else top)
    board = decision.board(min(shown, decision.feasible))
    winner = board.ranking.picked
    counts, tell = decision.rejected, Teller(say)
    stale = tuple(islice(stale_values(decision), MOST_SHOWN + 1)) if told and decision.cycle.notes else ()
    found = tuple(candidates(decision, range(shown), tell, full=full)) if told else None
    return Answer(
        result="scheduled" if decision.scheduled else "unschedulable",
        reason_code=_reason_code(decision),
        idc=_idc(board, winner),
        lines=_lines_of_winner(board, found),
        score=_total(board, winner),
        score_mean=_mean(board, winner),
        candidates=found,
        tie=_tie(board) if told else None,
        margin=_margin(board) if told else None,
        rejected=tuple(rejections(decision, slice(MOST_SHOWN), tell)) if full else None,
        rejected_counts=tuple([count for count, _ in counts]) if told else None,
        near_misses=tuple(_near_misses(decision, MOST_SHOWN if full else top, tell)) if told else None,
        summary=summary_of(decision.feasible, decision.cycle.size, decision.not_visited, counts, say),
        evaluated=decision.cycle.size,
        feasible=decision.feasible,
        not_visited=decision.not_visited,
        picked=decision.cycle.profile.pick.kind,
        fallback_group=_fallback_group(decision),
        stale=stale[:MOST_SHOWN] if told else None,
        hints=tuple([Hint(plugin=plugin, hint=say(note.sentence, note.params)) for plugin, note in decision.hints])
        or msgspec.UNSET,
        plugin_errors=(*decision.plugin_errors, *dict.fromkeys(tell.errors)),
        truncated=len(stale) > MOST_SHOWN or (full and _overlong(decision)) or msgspec.UNSET,
    )


def _reason_code(decision: Decision) -> str | None:
    if decision.scheduled:
        return None
    return "none_feasible" if decision.cycle.size else "no_idc_in_region"


def _overlong(decision: Decision) -> bool:
    """Whether there are more candidates or rejections than an answer shows."""
    rejected = decision.cycle.size - decision.feasible - decision.not_visited
    return decision.feasible > MOST_SHOWN or rejected > MOST_SHOWN


def _idc(board: Board, position: int) -> IdcBrief | None:
    if position < 0:
        return None
    row, idcs = int(board.survivors.row_numbers[position]), board.survivors.snapshot.idcs
    return IdcBrief(code=idcs.codes[row], name=idcs.names[row], region=idcs.regions[row])


def _lines(board: Board, positions: Sequence[int]) -> list[tuple[LineUse, ...]]:
    """The lines that those at the positions would use."""
    ctx = board.survivors
    codes, isps, need = ctx.snapshot.lines.codes, ctx.snapshot.lines.isps, ctx.need
    return [
        tuple([LineUse(line=codes[line], isp=isps[line], bandwidth_mbps=need) for line in lines])
        for lines in ctx.lines.of_each(positions)
    ]


def _lines_of_winner(board: Board, told: Sequence[Candidate] | None) -> tuple[LineUse, ...]:
    """The best one's are told already, if any are."""
    winner = board.ranking.picked
    if winner < 0:
        return ()
    return told[0].lines if told and winner == board.ranking.head(1)[0] else _lines(board, (winner,))[0]


def _total(board: Board, position: int) -> float | None:
    return board.ranking.totals.item(position) if position >= 0 else None


def _mean(board: Board, position: int) -> float | None:
    """The total ÷ Σ weight: comparable between profiles."""
    if position < 0:
        return None
    weight = sum([column.weight for column in board.columns])
    return rounded(board.ranking.totals.item(position) / weight) if weight else 0.0


def candidates(decision: Decision, places: range, tell: Teller, *, full: bool) -> Iterator[Candidate]:
    """The candidates at those places of the ranking, the best being at 0."""
    if not places:
        return
    board = decision.board(places[-1] + 1)
    positions = board.ranking.head(places[-1] + 1)[places.start : places.stop]
    showing = Showing(board, positions, tell)
    told = [showing.scores(column) for column in board.columns]
    names, totals = [column.entry.name for column in board.columns], board.ranking.totals[positions].tolist()
    rows, codes = board.survivors.row_numbers[positions].tolist(), board.survivors.snapshot.idcs.codes
    of_each: Iterable[tuple[Score, ...]] = zip(*told, strict=True) if told else repeat(())
    figured = [judgement for judgement in decision.judgements if judgement.figures] if full else []
    judged = np.searchsorted(decision.cycle.row_numbers, rows).tolist() if full else rows
    for place, row, position, total, lines, scores in zip(
        places, rows, judged, totals, _lines(board, showing.where), of_each, strict=bool(told)
    ):
        yield Candidate(
            rank=place + 1,
            idc=codes[row],
            lines=lines,
            score=total,
            scores=dict(zip(names, scores, strict=True)),
            filters=(figured and _passed(figured, position, tell)) or msgspec.UNSET,
        )


def _passed(figured: Sequence[Judgement], position: int, tell: Teller) -> tuple[Passed, ...]:
    """The filters with numbers to tell of why they let an IDC pass."""
    told = [(judgement.plugin, tell.figures(judgement, position)) for judgement in figured]
    return tuple([Passed(plugin=plugin, figures=dict(figures)) for plugin, figures in told if figures])


def _tie(board: Board) -> Tie | None:
    """Who stands level with the first, and the first tie-breaker that tells it from the second."""
    ranking = board.ranking
    best, total = ranking.head(2), ranking.totals.item
    if best.size <= 1 or total(best.item(0)) != total(best.item(1)):
        return None
    level = int(np.count_nonzero(ranking.totals == ranking.totals[best[0]]))
    tied = [int(position) for position in ranking.head(level)[:level]]
    first, second = tied[0], tied[1]
    name = next((name for name, key in ranking.tie_keys.items() if key[first] != key[second]), HASH)
    key = ranking.hashes / 2.0**64 if name == HASH else ranking.tie_keys[name]
    shown = tied[:MOST_SHOWN]
    return Tie(
        between=tuple(board.code(position) for position in shown),
        broken_by=name,
        values={board.code(p): float(key[p]) if np.isfinite(key[p]) else None for p in shown},
    )


def _margin(board: Board) -> Margin | None:
    """How far the winner is ahead of the best other, and what would have to change."""
    if board.ranking.size <= 1:
        return None
    ranking, winner = board.ranking, board.ranking.picked
    best = ranking.head(2)
    second: int = best.item(0) if best.item(0) != winner else best.item(1)
    ahead = rounded(ranking.totals.item(winner) - ranking.totals.item(second))
    return Margin(
        runner_up=board.code(second),
        score=ahead,
        flips=tuple([_flip(column, winner, second, ahead) for column in board.columns if not column.left_out]),
    )


def _flip(column: ScoreColumn, winner: int, second: int, ahead: float) -> Flip:
    lead: float = column.scores.item(winner) - column.scores.item(second)
    weight = column.weight - ahead / lead if lead else inf
    return Flip(scorer=column.entry.name, weight=rounded(weight) if 0.0 <= weight <= MOST_WEIGHT else None)


def summary_of(
    feasible: int, evaluated: int, not_visited: int, counts: list[tuple[RejectedCount, Judgement]], say: Say
) -> str:
    """One sentence: `3/4 IDCs fit: 1 untolerated taint`."""
    if not evaluated:
        return say("no IDC in the region", {})
    parts = [
        say("{count} {label}", {"count": count.count, "label": say(judgement.reason.label, {})})
        for count, judgement in counts
    ]
    if not_visited:
        parts.append(say("{count} not visited", {"count": not_visited}))
    numbers = {"feasible": feasible, "evaluated": evaluated}
    if not parts:
        return say("{feasible}/{evaluated} IDCs fit", numbers)
    return say("{feasible}/{evaluated} IDCs fit: {parts}", {**numbers, "parts": Listing(parts)})


def rejections(decision: Decision, part: slice, tell: Teller) -> Iterator[Rejected]:
    """That part of the rejections, in the order of the snapshot."""
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
    """For every row of the universe the number of the judgement that rejected it first; −1: none did."""
    first = np.full(decision.cycle.size, -1, dtype=np.intp)
    for number in range(len(decision.judgements) - 1, -1, -1):
        first[~decision.judgements[number].keep] = number
    if decision.visited is not None:
        first[~decision.visited] = -1
    return first


def _also(decision: Decision, position: int, plugin: str) -> tuple[str, ...]:
    others = (judgement.plugin for judgement in decision.judgements if not judgement.keep[position])
    return tuple(dict.fromkeys(other for other in others if other != plugin))


def _universe_code(decision: Decision, position: int) -> str:
    return decision.cycle.snapshot.idcs.codes[int(decision.cycle.row_numbers[position])]


def _near_misses(decision: Decision, most: int, tell: Teller) -> list[NearMiss]:
    """Only when nothing fits: the IDCs that a single plugin kept out, the nearest first."""
    if decision.scheduled:
        return []
    first = first_rejections(decision)
    kept_out = ((decision.judgements[first[position]], position) for position in _kept_out_by_one(decision, first))
    nearest = nsmallest(most, kept_out, key=lambda found: _way_off(found[0].numbers(found[1])))
    return [_near_miss(decision, position, judgement, tell) for judgement, position in nearest]


def _kept_out_by_one(decision: Decision, first: Rows) -> list[int]:
    """The positions that one plugin keeps out, and not what the request itself lists."""
    by_plugin: dict[str, Mask] = {}
    for judgement in decision.judgements:
        by_plugin[judgement.plugin] = by_plugin.get(judgement.plugin, False) | ~judgement.keep
    by_one = first >= 0
    if by_plugin:
        by_one &= np.sum(list(by_plugin.values()), axis=0) == 1
    if "request" in by_plugin:
        by_one &= ~by_plugin["request"]
    found: list[int] = np.flatnonzero(by_one).tolist()
    return found


def _way_off(numbers: Mapping[str, Any]) -> float:
    """Which part of the need is missing; infinite where that can't be said."""
    short_by = numbers.get("short_by")
    return np.inf if short_by is None else short_by / (numbers.get("need") or 1.0)


def _near_miss(decision: Decision, position: int, judgement: Judgement, tell: Teller) -> NearMiss:
    reason, numbers = tell.reason(judgement, position)
    return NearMiss(
        idc=_universe_code(decision, position),
        plugin=judgement.plugin,
        code=judgement.reason.code,
        need=numbers.get("need"),
        free=numbers.get("free"),
        short_by=numbers.get("short_by"),
        reason=reason,
    )


def _fallback_group(decision: Decision) -> FallbackGroup | None:
    groups = decision.groups
    if groups is None or not (decision.cycle.request.fallback or decision.cycle.profile.fallback):
        return None
    index = decision.group_index if decision.scheduled else None
    empty = range(decision.group_index if decision.scheduled else decision.group_index + 1)
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
    """Every value that was missing or stale, and what was done about it."""
    ctx, told = decision.cycle, dict[tuple[str, str], set[tuple[int, int]]]()
    idcs, codes, now = ctx.snapshot.idcs.codes, ctx.snapshot.lines.codes, ctx.now
    for note in ctx.notes:
        reading, used_as = note.reading, note.used_as
        metric, seen = reading.metric, told.setdefault((reading.metric, used_as), set())
        rows = note.rows.tolist()
        lines = [NO_LINE] * len(rows) if reading.lines is None else reading.lines.tolist()
        times = ctx.times(reading, np.arange(len(rows))) or [nan] * len(rows)
        for row, line, at in zip(rows, lines, times, strict=True):
            if (row, line) in seen:
                continue
            seen.add((row, line))
            yield Stale(
                idc=idcs[row],
                line=codes[line] if line >= 0 else None,
                metric=metric,
                age_seconds=None if isnan(at) else round(now - at, 3),
                used_as=used_as,
            )
