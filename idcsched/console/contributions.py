"""The bars of a ranking with what each scorer contributes to an IDC's points, in words and units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from idcsched.framework.answer import Candidate, Score
from idcsched.framework.decision import Decision, ScoreColumn
from idcsched.framework.messages import Message, _
from idcsched.framework.profile import Entry
from idcsched.language.figures import figure_text
from idcsched.language.wording import say

from .ranking import SCORERS, Bar, ranking

__all__ = ["Contribution", "RankedIdc", "ranked_idcs", "scorer_words"]

VALUES: Final[Mapping[str, Message]] = {
    "billing_cost": _("{value} {currency} per Mbps a month"),
    "locality": _("{value} km"),
    "locality by rtt": _("{value} ms"),
    "network_flow": _(
        # the "% of" here is no field: xgettext: no-python-format
        "{value} % of the line"
    ),
    "resource": _("{value} %"),
}
SHARES: Final = frozenset({"network_flow", "resource"})
"""The scorers whose raw values are shares of 1."""
MEASURED: Final = frozenset({"cost", "metric"})
"""The scorers whose raw values are those of a metric, in its unit."""
MISSING: Final[Mapping[str, Message]] = {
    "worst": _("not known, counts as the worst"),
    "neutral": _("not known, counts as half"),
    "last": _("out of date, counts all the same"),
    "left_out": _("does not count for this order"),
}


@dataclass(frozen=True, slots=True)
class Contribution:
    """One scorer's part of an IDC's points."""

    label: str
    value: str
    score: Score
    colour: str
    missing: str


@dataclass(frozen=True, slots=True)
class RankedIdc:
    """One IDC of the ranking; `before` is its rank without what the page changes, 0: it did not fit then."""

    candidate: Candidate
    name: str
    before: int | None
    chosen: bool
    bar: Bar
    contributions: Sequence[Contribution]


def ranked_idcs(
    decision: Decision,
    candidates: Sequence[Candidate],
    *,
    chosen: str | None,
    units: Mapping[str, str],
    before: Mapping[str, int] | None,
) -> Iterator[RankedIdc]:
    """Yield the first candidates with their bars.

    `units` are the metrics' units by their codes, `before` the ranks to compare with.
    """
    columns = {column.entry.name: column for column in decision.columns}
    snapshot = decision.cycle.snapshot
    drawn = ranking(msgspec.to_builtins(candidates))
    colours = {name: colour for colour, name, _words in drawn.legend}
    for candidate, bar in zip(candidates, drawn.bars, strict=False):
        yield RankedIdc(
            candidate=candidate,
            name=snapshot.idcs.names[snapshot.idcs.row_of[candidate.idc]],
            before=None if before is None else before.get(candidate.idc, 0),
            chosen=candidate.idc == chosen,
            bar=bar,
            contributions=[
                Contribution(
                    label=scorer_words(columns[name].entry),
                    value=_value(columns[name], score.raw, units, snapshot.currency),
                    score=score,
                    colour=colours.get(name, "c8"),
                    missing=say(MISSING[score.missing], None) if score.missing else "",
                )
                for name, score in candidate.scores.items()
            ],
        )


def scorer_words(entry: Entry) -> str:
    """Return what a scorer of a profile judges, in words."""
    kind = _kind(entry)
    return say(SCORERS[kind], None) if entry.name == entry.plugin.name and kind in SCORERS else entry.name


def _value(column: ScoreColumn, raw: float | None, units: Mapping[str, str], currency: str) -> str:
    """Return a raw value with its unit; empty where there is none."""
    if raw is None:
        return ""
    kind = _kind(column.entry)
    value = figure_text(round(100 * raw, 1) if kind in SHARES else float(f"{raw:.4g}"))
    if kind in VALUES:
        return say(VALUES[kind], {"value": value, "currency": currency})
    return f"{value} {units.get(column.raw.metric, '')}".rstrip() if kind in MEASURED else value


def _kind(entry: Entry) -> str:
    """Return the plugin's name; that of `locality` says what it goes by, where that is latency."""
    plugin = entry.plugin
    return f"{plugin.name} by rtt" if plugin.name == "locality" and plugin.args.by == "rtt" else plugin.name
