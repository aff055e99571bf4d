"""The ranking of an answer as stacked bars: what each scorer contributes to each candidate's points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from idcsched.framework.messages import Message, _
from idcsched.language.figures import figure_text
from idcsched.language.wording import say

__all__ = ["BARS", "SCORERS", "Bar", "Ranking", "ranking", "words_of_scorer"]

SCORERS: Final[Mapping[str, Message]] = {
    "affinity": _("wishes"),
    "billing_cost": _("bill"),
    "cost": _("cost index"),
    "locality": _("distance"),
    "locality by rtt": _("latency"),
    "network_flow": _("room left"),
    "resource": _("load"),
    "spread": _("machines there"),
    "taint": _("soft taints"),
}
"""The built-in scorers in words; an entry with a name of its own goes by that."""

COLOURS: Final = tuple(f"c{number}" for number in range(1, 9))
OTHERS: Final = "…"
BARS: Final = 10
"""The most candidates that are shown as bars."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One scorer's part of a bar; `x` and `width` are shares of the picture's width, as SVG has them."""

    colour: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A candidate with its segments, and the same in words for those who do not see the picture."""

    candidate: Mapping[str, Any]
    segments: tuple[Segment, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The bars, the best candidate first, and the scorers' colours, names and words; from the eighth on they share."""

    legend: tuple[tuple[str, str, str], ...]
    bars: tuple[Bar, ...]


def ranking(candidates: Sequence[Mapping[str, Any]], *, beside: Sequence[Mapping[str, Any]] = ()) -> Ranking:
    """Return the bars of the first candidates, as documents; the longest bar fills the picture's width.

    Scorers have the colours that they have in the ranking of `beside`.
    """
    shown = candidates[:BARS]
    names = list({**(beside[0]["scores"] if beside else {}), **(shown[0]["scores"] if shown else {})})
    alone = names if len(names) <= len(COLOURS) else names[: len(COLOURS) - 1]
    groups = [
        *((name, [name]) for name in alone),
        *([(OTHERS, names[len(alone) :])] if len(alone) < len(names) else []),
    ]
    full = max((_total(candidate, names) for candidate in shown), default=0.0)
    return Ranking(
        legend=tuple(
            (colour, name, words_of_scorer(name)) for colour, (name, _members) in zip(COLOURS, groups, strict=False)
        ),
        bars=tuple(_bar(candidate, groups, full) for candidate in shown),
    )


def words_of_scorer(name: str) -> str:
    """Return what a scorer of a recorded answer judges, in words; its name where that is not a built-in one's."""
    return say(SCORERS[name], None) if name in SCORERS else name


def _bar(candidate: Mapping[str, Any], groups: Sequence[tuple[str, Sequence[str]]], full: float) -> Bar:
    segments, words, start = [], [], 0.0
    for colour, (name, members) in zip(COLOURS, groups, strict=False):
        points = _total(candidate, members)
        width = 100 * points / full if full else 0.0
        if width > 0:
            segments.append(Segment(colour, f"{start:.2f}%", f"{width:.2f}%"))
            start += width
        words.append(f"{words_of_scorer(name)} {figure_text(points)}")
    return Bar(candidate, tuple(segments), ", ".join(words))


def _total(candidate: Mapping[str, Any], names: Sequence[str]) -> float:
    scores = candidate["scores"]
    return float(sum(max(scores[name]["contribution"], 0.0) for name in names if name in scores))
