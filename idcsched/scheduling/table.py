"""An answer as text for a terminal."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final
from unicodedata import east_asian_width

import msgspec

from idcsched.framework.answer import Candidate, LineUse, Margin, Score, Stale, Tie
from idcsched.framework.profile import Profile

from .deciding import Scheduled
from .in_words import amount
from .money_lens import money_lens
from .verdict import question
from .why import why, why_not

__all__ = ["aligned", "line_uses", "render"]

ASKED: Final = 3
"""Of so many candidates, and of so many rejected IDCs, it is said why they were not chosen."""


def render(scheduled: Scheduled, *, profile: Profile | None = None, weights: Mapping[str, float] | None = None) -> str:
    """Return the whole answer; with `explain: full` also in sentences, with each score and each rejection.

    With the profile that decided, and the request's own `weights`, the sentences speak of money.
    """
    full = scheduled.rejected is not None
    sections = (
        _headline(scheduled),
        _sentences(scheduled, profile, weights) if full else [],
        _ranking(scheduled),
        [*_tie(scheduled.tie), *(() if full else _margin(scheduled))],
        _ways(scheduled.candidates or ()) if full else [],
        _rejections(scheduled),
        _near_misses(scheduled),
        _warnings(scheduled),
        [_footer(scheduled)],
    )
    return "\n\n".join("\n".join(lines) for lines in map(list, sections) if lines)


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Return the rows in columns two blanks apart, those in `right` right-aligned. Wide characters count twice."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_padded(cell, widths[i], i in right) for i, cell in enumerate(row)).rstrip() for row in rows]


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def line_uses(lines: Sequence[LineUse]) -> str:
    return "+".join(use.line for use in lines) or "-"


def _sentences(scheduled: Scheduled, profile: Profile | None, weights: Mapping[str, float] | None) -> Iterator[str]:
    """Yield why the IDC was chosen, or none, and why the next ones and the first of those that do not fit were not."""
    answer = msgspec.to_builtins(scheduled)
    candidates = answer.get("candidates") or []
    worth = answer.get("worth") or {}
    lens = money_lens(candidates, profile=profile, weights=weights, best=worth.get("best"))
    for paragraph in why(answer, lens):
        yield " ".join(map(str, paragraph))
    chosen = scheduled.idc.code if scheduled.idc else None
    others = [each["idc"] for each in candidates if each["idc"] != chosen] if chosen and not scheduled.idcs else []
    for idc in [*others[:ASKED], *(each["idc"] for each in answer["rejected"][:ASKED])]:
        sentences = [sentence for paragraph in why_not(answer, idc, lens) for sentence in paragraph]
        yield " ".join(map(str, [question(idc), *sentences]))


def _headline(scheduled: Scheduled) -> Iterator[str]:
    if scheduled.idc is None:
        yield f"Nothing fits: {scheduled.reason_code}"
    else:
        lines = ", ".join(_use(use) for use in scheduled.lines)
        name = "" if scheduled.idc.name == scheduled.idc.code else f" {scheduled.idc.name}"
        yield f"{scheduled.idc.code}{name}, region {scheduled.idc.region}{f': {lines}' if lines else ''}"
    yield scheduled.summary
    yield from (f"{use.line} and not the roomiest line: {use.note}" for use in scheduled.lines if use.note)
    if scheduled.shape_note:
        yield scheduled.shape_note


def _use(use: LineUse) -> str:
    return f"{amount(use.bandwidth_mbps)} Mbps on {use.line}" if use.bandwidth_mbps else f"line {use.line}"


def _ranking(scheduled: Scheduled) -> list[str]:
    """Return the ranking as a table, with the contribution of each scorer."""
    candidates = scheduled.candidates or ()
    if not candidates:
        return []
    scores = candidates[0].scores
    head = ["#", "IDC", "lines", "score", *scores]
    weights = ["", "", "", "", *(f"×{amount(score.weight)}" for score in scores.values())]
    rows = [
        [str(entry.rank), entry.idc, line_uses(entry.lines), amount(entry.score), *_contributions(entry, list(scores))]
        for entry in candidates
    ]
    return aligned([head, weights, *rows], right=[0, *range(3, len(head))])


def _contributions(candidate: Candidate, scorers: Sequence[str]) -> list[str]:
    return [amount(candidate.scores[name].contribution) for name in scorers]


def _tie(tie: Tie | None) -> Iterator[str]:
    if tie is not None:
        values = ", ".join(f"{idc} {amount(tie.values[idc])}" for idc in tie.between)
        yield f"Tie between {', '.join(tie.between)}, broken by {tie.broken_by}: {values}."


def _margin(scheduled: Scheduled) -> Iterator[str]:
    margin, winner = scheduled.margin, _winner(scheduled)
    if margin is None or winner is None:
        return
    yield f"{margin.runner_up} is next, {amount(margin.score)} behind.{_flips(margin, winner)}"


def _flips(margin: Margin, winner: Candidate) -> str:
    now = {name: score.weight for name, score in winner.scores.items()}
    changes = [(flip.scorer, flip.weight) for flip in margin.flips if flip.weight is not None]
    changes.sort(key=lambda change: abs(change[1] - now.get(change[0], 0.0)))
    if changes:
        phrases = (f"{name} weighed {amount(weight)} instead of {amount(now.get(name))}" for name, weight in changes)
        return f" It would draw level if {' or '.join(phrases)}."
    return " No change of a single weight would let it draw level." if margin.score else ""


def _winner(scheduled: Scheduled) -> Candidate | None:
    picked = scheduled.idc.code if scheduled.idc else None
    return next((candidate for candidate in scheduled.candidates or () if candidate.idc == picked), None)


def _ways(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Yield how each score goes from its raw value to its contribution."""
    for candidate in candidates:
        rows = [_way(name, score) for name, score in candidate.scores.items()]
        if rows:
            yield f"{candidate.idc}:"
            yield from (f"  {line}" for line in aligned(rows, right=[1, 2, 3, 4]))


def _way(name: str, score: Score) -> list[str]:
    age = "" if score.age_seconds is None else f"{amount(score.age_seconds)} s old"
    missing = "" if score.missing is None else f"missing: {score.missing}"
    return [
        name,
        f"raw {amount(score.raw)}",
        f"→ {amount(score.normalized)}",
        f"× {amount(score.weight)}",
        f"= {amount(score.contribution)}",
        "; ".join(part for part in (age, missing, score.note or "") if part),
    ]


def _rejections(scheduled: Scheduled) -> list[str]:
    rows = [
        [f"  {entry.idc}", entry.plugin, entry.reason + (f" (also {', '.join(entry.also)})" if entry.also else "")]
        for entry in scheduled.rejected or ()
    ]
    return ["Rejected:", *aligned(rows)] if rows else []


def _near_misses(scheduled: Scheduled) -> list[str]:
    rows = [[f"  {miss.idc}", miss.plugin, miss.reason] for miss in scheduled.near_misses or ()]
    return ["Near misses:", *aligned(rows)] if rows else []


def _warnings(scheduled: Scheduled) -> Iterator[str]:
    """Yield what went wrong: failing plugins, stale and missing values, a fallback group."""
    for error in scheduled.plugin_errors:
        yield f"Plugin {error.plugin} failed at {error.point}: {error.error}"
    for (metric, used_as), where in _missing(scheduled.stale or ()).items():
        yield f"{metric} ({used_as}): {', '.join(where)}"
    if scheduled.fallback_group is not None and scheduled.fallback_group.index is not None:
        yield f"From fallback group {scheduled.fallback_group.index + 1}."


def _missing(stale: Sequence[Stale]) -> dict[tuple[str, str], list[str]]:
    """Group the missing and stale values by metric and by what was used in their place."""
    groups: dict[tuple[str, str], list[str]] = {}
    for value in stale:
        where = f"{value.idc}/{value.line}" if value.line else value.idc
        age = "missing" if value.age_seconds is None else f"{amount(value.age_seconds)} s old"
        groups.setdefault((value.metric, value.used_as), []).append(f"{where} {age}")
    return groups


def _footer(scheduled: Scheduled) -> str:
    profile, age = scheduled.profile, scheduled.snapshot.age_seconds
    return (
        f"Profile {profile.code}, revision {profile.revision}; data {amount(age)} s old; "
        f"decision {scheduled.decision_id} in {amount(scheduled.elapsed_ms)} ms"
    )
