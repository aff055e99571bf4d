"""An answer in sentences: why its IDC was chosen, and why each other one was not, in the reader's language."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final

import msgspec

from idcsched.framework.answer import (
    Candidate,
    Flip,
    Hint,
    IdcBrief,
    IdcShare,
    Margin,
    NearMiss,
    Rejected,
    Score,
    Tie,
)
from idcsched.framework.decoding import convert
from idcsched.framework.messages import Message, _
from idcsched.language.wording import say

__all__ = [
    "Story",
    "amount",
    "flip_phrases",
    "level",
    "paragraphs",
    "percent",
    "raw_text",
    "reason_why_not",
    "scorer_name",
    "story",
    "why_not",
]

PRECISE_BELOW: Final = 1000  # from here on decimals are noise
WHOLE_POINTS: Final = 10
MOST: Final = 3
"""The most candidates, and the most rejected IDCs, of which the paragraphs say why they were not chosen."""

SCORERS: Final[Mapping[str, Message]] = {
    "affinity": _("its match with the wishes"),
    "billing_cost": _("its bill"),
    "cost": _("its cost index"),
    "locality": _("its distance"),
    "network_flow": _("its room"),
    "resource": _("its load"),
    "spread": _("its spread"),
    "taint": _("its taint score"),
}
"""What each built-in scorer judges, in words; an entry with another name goes by that."""
PERCENT, KILOMETRES = _("{percent:.0f} %"), _("{km:,.0f} km")

CHOSEN = _("Why {idc}? Of {feasible} IDCs that fit it has the most points, {score}.")
CHOSEN_TIED = _("Why {idc}? It shares the most points, {score}, with {others}; the tie was broken by {key}.")
CHOSEN_ALONE = _("Why {idc}? Of {evaluated} IDCs it is the only one that fits.")
CHOSEN_NEAR_BEST = _("Why {idc}? It was picked by chance among the IDCs that come near to the best.")
CHOSEN_PLANNED = _("Why {idc}? It was planned, together with the other orders of the batch.")
CHOSEN_SPREAD = _("The machines are spread over {count} IDCs: {shares}.")
SHARE = _("{count} in {idc}")
LEADS_WITH_NOTE = _("{scorer} brings it {points} points more than {other}: {note}.")
LEADS_BY_VALUE = _("{scorer} brings it {points} points more than {other} ({value} against {against}).")
LEADS = _("{scorer} brings it {points} points more than {other}.")
WHY_NOT = _("Why not {idc}?")
WHY_NOT_ALTHOUGH = _("Why not {idc}, which has {advantage}?")
COSTS = _("That costs it {points} points")
SCORER_COSTS = _("{scorer} costs it {points} points")
SCORER_COSTS_BY_VALUE = _("{scorer} ({value} against {against}) costs it {points} points")
COSTS_MORE = _("{loss}, {scorer} {points} more")
WINS_BACK = _("{loss}; {scorer} wins {points} back")
BEHIND = _("{loss}; in all it is {points} behind.")
EQUAL = _("It has as many points; the tie was broken by {key}.")
AHEAD = _("It has {points} points more, but was not picked.")
DOES_NOT_FIT = _("It does not fit: {reason}.")
NOTHING_FITS = _("Nothing fits: {summary}.")
NEAREST = _("Nearest was {idc}: {reason}.")
LEVEL = _("{idc} would draw level only if {changes}.")
WEIGHED = _("{scorer} weighed {weight} instead of {now}")
OR = _("{changes} or {change}")
NOTE, AND_THEN = _("{note}."), _("{text} {sentence}")


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an answer, live or recorded, that the sentences are made of."""

    summary: str = ""
    idc: IdcBrief | None = None
    idcs: tuple[IdcShare, ...] | None = None
    score: float | None = None
    candidates: tuple[Candidate, ...] | None = None
    tie: Tie | None = None
    margin: Margin | None = None
    rejected: tuple[Rejected, ...] | None = None
    near_misses: tuple[NearMiss, ...] | None = None
    hints: tuple[Hint, ...] | None = None
    evaluated: int = 0
    feasible: int = 0
    picked: str = "best"

    @property
    def winner(self) -> Candidate | None:
        code = self.idc.code if self.idc else None
        return next((candidate for candidate in self.candidates or () if candidate.idc == code), None)


def story(answer: Any, **changes: Any) -> Story:
    """Return what is to be told of an answer, an object or a recorded document; `changes` replace some of its parts."""
    return convert({**msgspec.to_builtins(answer), **msgspec.to_builtins(changes)}, Story)


def paragraphs(told: Story) -> Iterator[str]:
    """Yield the answer in sentences: why the IDC was chosen, why not the next ones, what would change that."""
    if told.idc is None:
        yield _joined(_nothing_fits(told))
        yield from (_rejection(rejected) for rejected in (told.rejected or ())[:MOST])
        return
    yield _joined(_chosen(told, told.idc.code))
    winner = told.winner
    if winner is not None and not told.idcs:
        others = [candidate for candidate in told.candidates or () if candidate is not winner]
        yield from (why_not(winner, other, tie=told.tie) for other in others[:MOST])
    yield from (_rejection(rejected) for rejected in (told.rejected or ())[:MOST])
    if winner is not None and told.margin is not None:
        yield from level(told.margin, winner)


def reason_why_not(told: Story, idc: str) -> str | None:
    """Return why an IDC of the answer was not chosen; None where it is neither a candidate nor rejected."""
    rejection = next((rejected for rejected in told.rejected or () if rejected.idc == idc), None)
    if rejection is not None:
        return _rejection(rejection)
    other = next((candidate for candidate in told.candidates or () if candidate.idc == idc), None)
    if other is None or told.idc is None or told.winner is None:
        return None
    return _joined(_chosen(told, idc)) if idc == told.idc.code else why_not(told.winner, other, tie=told.tie)


def why_not(winner: Candidate, other: Candidate, *, advantage: str = "", tie: Tie | None = None) -> str:
    """Return why a candidate was not chosen: what it loses and wins back by each scorer, how far it is behind.

    `advantage`: what would let a reader expect that the other one had been chosen.
    """
    template = WHY_NOT_ALTHOUGH if advantage else WHY_NOT
    question = say(template, {"idc": other.idc, "advantage": advantage})
    behind = winner.score - other.score
    if behind <= 0:
        if behind == 0 and tie is not None:
            return _joined([question, say(EQUAL, {"key": tie.broken_by})])
        return _joined([question, say(AHEAD, {"points": _points(-behind)})])
    lost = {
        name: winner.scores[name].contribution - score.contribution
        for name, score in other.scores.items()
        if name in winner.scores
    }
    worst, *others = sorted(lost, key=lost.__getitem__, reverse=True)
    evidence, loss = _loss(worst, lost[worst], other.scores[worst], winner.scores[worst])
    for name in others:
        if abs(lost[name]) >= 1:
            also = COSTS_MORE if lost[name] > 0 else WINS_BACK
            loss = say(also, {"loss": loss, "scorer": scorer_name(name), "points": _points(abs(lost[name]))})
    return _joined(
        [
            question,
            *evidence,
            _sentence(say(BEHIND, {"loss": loss, "points": _points(behind)}), "" if evidence else worst),
        ]
    )


def level(margin: Margin, winner: Candidate) -> Iterator[str]:
    """Yield with which other weight the runner-up would draw level; nothing where no single weight would do that."""
    if changes := flip_phrases(margin.flips, winner):
        yield say(LEVEL, {"idc": margin.runner_up, "changes": _alternatives(changes)})


def flip_phrases(flips: Iterable[Flip], candidate: Candidate) -> list[str]:
    """Return the weight changes that would let the runner-up draw level, the smallest first."""
    now = {name: score.weight for name, score in candidate.scores.items()}
    changes = [(flip.scorer, flip.weight) for flip in flips if flip.weight is not None]
    changes.sort(key=lambda pair: abs(pair[1] - now.get(pair[0], 0.0)))
    return [
        say(WEIGHED, {"scorer": scorer, "weight": amount(weight), "now": amount(now.get(scorer))})
        for scorer, weight in changes
    ]


def amount(value: float | None) -> str:
    """Write a number as short as possible: two decimals at most, and none from 1,000 on."""
    if value is None:
        return "-"
    if abs(value) >= PRECISE_BELOW:
        return f"{value:,.0f}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def raw_text(scorer: str, score: Score) -> str:
    """Return a raw value with its unit; empty where there is none."""
    if score.raw is None:
        return ""
    match scorer:
        case "network_flow" | "resource":
            return percent(score.raw)
        case "locality":
            return say(KILOMETRES, {"km": score.raw})
        case _:
            return amount(score.raw)


def percent(share: float) -> str:
    return say(PERCENT, {"percent": 100 * share})


def _chosen(told: Story, idc: str) -> Iterator[str]:
    """Yield why the IDC was chosen, and where it leads the next one most."""
    facts = {"idc": idc, "feasible": told.feasible, "evaluated": told.evaluated, "score": _points(told.score or 0.0)}
    if told.idcs:
        shares = [say(SHARE, {"count": share.machine_count, "idc": share.idc}) for share in told.idcs]
        yield say(CHOSEN_SPREAD, {"count": len(shares), "shares": ", ".join(shares)})
        return
    if told.feasible == 1:
        yield say(CHOSEN_ALONE, facts)
    elif told.picked == "planned":
        yield say(CHOSEN_PLANNED, facts)
    elif told.picked == "near_best":
        yield say(CHOSEN_NEAR_BEST, facts)
    elif told.tie is not None:
        others = ", ".join(other for other in told.tie.between if other != idc)
        yield say(CHOSEN_TIED, {**facts, "others": others, "key": told.tie.broken_by})
    else:
        yield say(CHOSEN, facts)
    yield from _lead(told)


def _lead(told: Story) -> Iterator[str]:
    """Yield what the scorer says by which the chosen one leads the runner-up most."""
    code = told.margin.runner_up if told.margin else None
    winner = told.winner
    second = next((candidate for candidate in told.candidates or () if candidate.idc == code), None)
    if winner is None or second is None:
        return
    leads = {
        name: score.contribution - second.scores[name].contribution
        for name, score in winner.scores.items()
        if name in second.scores
    }
    best = max(leads, key=leads.__getitem__, default=None)
    if best is None or leads[best] <= 0:
        return
    score = winner.scores[best]
    facts = {"scorer": scorer_name(best), "points": _points(leads[best]), "other": second.idc}
    value, against = raw_text(best, score), raw_text(best, second.scores[best])
    if score.note:
        yield _sentence(say(LEADS_WITH_NOTE, {**facts, "note": score.note}), best)
    elif value and against:
        yield _sentence(say(LEADS_BY_VALUE, {**facts, "value": value, "against": against}), best)
    else:
        yield _sentence(say(LEADS, facts), best)


def _loss(name: str, lost: float, score: Score, winners: Score) -> tuple[list[str], str]:
    """Return the scorer's own note as a sentence, if it has one, and what the points lost are due to."""
    facts = {"scorer": scorer_name(name), "points": _points(lost)}
    if score.note:
        return [_sentence(say(NOTE, {"note": score.note}))], say(COSTS, facts)
    value, against = raw_text(name, score), raw_text(name, winners)
    if value and against:
        return [], say(SCORER_COSTS_BY_VALUE, {**facts, "value": value, "against": against})
    return [], say(SCORER_COSTS, facts)


def _rejection(rejected: Rejected) -> str:
    return _joined([say(WHY_NOT, {"idc": rejected.idc}), say(DOES_NOT_FIT, {"reason": rejected.reason})])


def _nothing_fits(told: Story) -> Iterator[str]:
    yield say(NOTHING_FITS, {"summary": told.summary})
    for miss in (told.near_misses or ())[:1]:
        yield say(NEAREST, {"idc": miss.idc, "reason": miss.reason})
    yield from (_sentence(f"{hint.hint.rstrip('.')}.") for hint in told.hints or ())


def _alternatives(changes: Sequence[str]) -> str:
    text = changes[0]
    for change in changes[1:]:
        text = say(OR, {"changes": text, "change": change})
    return text


def scorer_name(name: str) -> str:
    """Return what a scorer judges, in words; its own name where it is not built in."""
    return say(SCORERS[name], {}) if name in SCORERS else name


def _points(points: float) -> str:
    return f"{points:,.0f}" if abs(points) >= WHOLE_POINTS else amount(points)


def _sentence(text: str, scorer: str = "") -> str:
    """Return the text with a capital; without one where it begins with the own name of a scorer."""
    return text if scorer and scorer not in SCORERS else text[:1].upper() + text[1:]


def _joined(sentences: Iterable[str]) -> str:
    return reduce(lambda text, sentence: say(AND_THEN, {"text": text, "sentence": sentence}), sentences)
