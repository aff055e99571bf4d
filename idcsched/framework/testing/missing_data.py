"""Check that a plugin leaves it to the profile what a missing or stale value means, and names the metrics it reads.

The plugin is watched from outside: each metric that it reads is set to several values for some IDCs. If the filter
rejects one of them at one value and keeps it at another, or if its raw score differs, then the plugin judges that IDC
by that metric. So the value is taken away, and made stale, and the profile's `on_missing` must decide.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import replace as replaced
from itertools import pairwise
from typing import Any

import numpy as np

from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.decision import Decision
from idcsched.framework.facts import MetricFact, Samples, World
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import metrics_read
from idcsched.framework.snapshot import MetricColumn, Snapshot

from .builders import NOW, snapshot

__all__ = ["undeclared", "unkept"]

Decide = Callable[[Snapshot, Mapping[str, Any], Mapping[str, str]], Decision]
"""Decides a request on a snapshot, by the plugin alone under that `on_missing`."""

MAX_AGE = 600.0
LOW, USUAL, HIGH = -1e6, 0.5, 1e6


def unkept(plugin: type[Plugin], decide: Decide, known: World, requests: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each policy that the plugin ignores."""
    metrics, requests = _metrics_read(plugin, decide, known, requests), tuple(requests)
    halves = [frozenset(known.idcs.codes[start::2]) for start in (0, 1)]
    for metric in metrics:
        trials = [_Trial(known, metrics, metric, decide, asked, half) for asked in requests for half in halves]
        if any(plugin.joins(point) for point in ("pre_filter", "filter", "filter_one")):
            yield from next(filter(None, (trial.filtering() for trial in trials)), ())
        if plugin.scores():
            yield from next(filter(None, (trial.scoring(plugin.name) for trial in trials)), ())


def undeclared(plugin: Plugin, decide: Decide, known: World, requests: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the metrics that the plugin reads and neither its class nor its arguments name."""
    read = {metric.code for metric in _metrics_read(type(plugin), decide, known, requests)}
    return read - metrics_read(plugin) - {BANDWIDTH}  # the last is read for the lines of the request


@dataclass(frozen=True, slots=True)
class _Trial:
    """One metric of some IDCs, and one request."""

    known: World
    metrics: tuple[MetricFact, ...]
    metric: MetricFact
    decide: Decide
    asked: Mapping[str, Any]
    idcs: frozenset[str]

    def filtering(self) -> Iterator[str] | None:
        """Return the policies that the filter ignores; None where it judges none of the IDCs by the metric."""
        for base in self._bases():
            kept = {value: _kept(self._decided(base, value)) for value in self._values()}
            bad, good = min(kept, key=lambda value: len(kept[value])), max(kept, key=lambda value: len(kept[value]))
            if judged := (kept[good] - kept[bad]) & self.idcs:
                return self._filtering(judged, base, good, bad)
        return None

    def _filtering(self, judged: set[str], base: float, good: float, bad: float) -> Iterator[str]:
        for value, stale, policy, used_as in (
            (None, False, "reject", "reject"),
            (None, False, "pass", "pass"),
            (None, False, "last", "reject"),
            (good, True, "reject", "reject"),
            (bad, True, "pass", "pass"),
            (good, True, "last", "last"),
            (bad, True, "last", "last"),
        ):
            decision = self._decided(base, value, stale=stale, rest=good, filter=policy)
            kept, stays = _kept(decision), used_as == "pass" or (used_as == "last" and value == good)
            if wrong := judged - kept if stays else judged & kept:
                done = f"it {'rejects' if stays else 'keeps'} {min(wrong)}"
            elif wrong := judged - _noted(decision, used_as):
                done = f"nothing is put on record of {min(wrong)}"
            else:
                continue
            yield (
                f"its filter leaves missing data to the profile: under `{policy}` {done}, whose {self.metric.code} is "
                f"{'stale' if stale else 'missing'}; give the Verdict the `reading` of the values that it judges by"
            )

    def scoring(self, name: str) -> Iterator[str] | None:
        """Return the policies that the score ignores; None where it scores none of the IDCs by the metric."""
        for base in self._bases():
            raw = {value: _raw(self._decided(base, value), name) for value in self._values()}
            for (value, one), (_, other) in pairwise(raw.items()):
                if judged := {idc for idc in self.idcs & one.keys() & other.keys() if one[idc] != other[idc]}:
                    return self._scoring(name, judged, base, value)
        return None

    def _scoring(self, name: str, judged: set[str], base: float, value: float) -> Iterator[str]:
        missing, stale = (
            self._decided(base, given, stale=given is not None, rest=value, score="last") for given in (None, value)
        )
        for decision, condition in ((missing, "missing"), (stale, "stale")):
            if not _kept(decision) <= self.idcs and (known := judged & _raw(decision, name).keys()):
                yield (
                    f"its score leaves missing data to the profile: it takes the value of {min(known)} for known, "
                    f"whose {self.metric.code} is {condition}; return a Reading"
                )
        if lost := judged - _raw(stale, name, used=True).keys():
            yield (
                f"its score leaves missing data to the profile: under `last` it has no value for {min(lost)}, "
                f"whose {self.metric.code} is stale; calculate its Reading's values from stale ones, too"
            )

    def _bases(self) -> tuple[float, ...]:
        """Return the values to give to the other metrics: where they rule an IDC out, this one changes nothing."""
        others = {metric.code for metric in self.metrics} - {self.metric.code, BANDWIDTH}
        return (USUAL, LOW, HIGH) if others else (USUAL,)

    def _values(self) -> list[float]:
        low, high = self.metric.low, self.metric.high
        ends = [] if low is None or high is None else [low, (low + high) / 2, high]
        return list(dict.fromkeys([LOW, 0.0, USUAL, 50.0, *ends, HIGH]))

    def _decided(
        self,
        base: float,
        value: float | None,
        *,
        stale: bool = False,
        rest: float = USUAL,
        filter: str = "pass",
        score: str = "worst",
    ) -> Decision:
        """Return the decision if the metric has that value in these IDCs, `rest` in others, and others have `base`."""
        samples = []
        for metric in self.metrics:
            owners = self.known.idcs.codes
            if metric.scope == "line":
                owners = tuple(owners[place] for place in self.known.lines.idc)
            ours = np.array([owner in self.idcs for owner in owners], dtype=np.bool_)
            given = np.full(ours.size, base)
            if metric == self.metric:
                given = np.where(ours, np.nan if value is None else value, rest)
            at = np.where(ours & (metric == self.metric), NOW - 2 * MAX_AGE if stale else NOW, NOW)
            there = np.flatnonzero(~np.isnan(given))
            samples.append(Samples(metric=metric, subjects=there, values=given[there], at=at[there]))
        codes = {metric.code for metric in self.metrics}
        samples += [column for column in self.known.samples if column.metric.code not in codes]
        # a percentile is a measurement of the bandwidth, too
        lines = replaced(self.known.lines, percentile=np.full(len(self.known.lines.codes), np.nan))
        picture = snapshot(replaced(self.known, lines=lines, samples=tuple(samples)))
        return self.decide(picture, self.asked, {"filter": filter, "score": score})


class _Watched(Mapping[str, MetricColumn]):
    """A snapshot's metrics that remember which of them were read."""

    def __init__(self, metrics: Mapping[str, MetricColumn]) -> None:
        self._metrics = metrics
        self.read: dict[str, None] = {}

    def __getitem__(self, code: str) -> MetricColumn:
        self.read[code] = None
        return self._metrics[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


def _metrics_read(
    plugin: type[Plugin], decide: Decide, known: World, requests: Iterable[Mapping[str, Any]]
) -> tuple[MetricFact, ...]:
    """Return the metrics that the plugin declares or reads, made to go stale."""
    picture = snapshot(known)
    watched = _Watched(picture.metrics)
    for asked in requests:
        decide(replaced(picture, metrics=watched), asked, {"filter": "pass", "score": "worst"})
    facts = {
        BANDWIDTH: MetricFact(code=BANDWIDTH, scope="line"),
        **{column.fact.code: column.fact for column in picture.metrics.values()},
    }
    codes = dict.fromkeys([*plugin.metrics, *watched.read, BANDWIDTH])  # the lines' columns are made from the last
    read = [replaced(facts.get(code) or MetricFact(code=code), max_age=MAX_AGE) for code in codes]
    return tuple(metric for metric in read if metric.scope == "idc" or known.lines.codes)


def _kept(decision: Decision) -> set[str]:
    return {decision.code(position) for position in range(decision.feasible)}


def _noted(decision: Decision, used_as: str) -> set[str]:
    """Return the IDCs of which the answer tells that a value was missing and used so."""
    codes = decision.cycle.snapshot.idcs.codes
    return {codes[row] for note in decision.cycle.notes if note.used_as == used_as for row in note.rows.tolist()}


def _raw(decision: Decision, name: str, *, used: bool = False) -> dict[str, float]:
    """Return the scorer's raw values by IDC: those that are known or, with `used`, all that count."""
    for column in decision.columns:
        if column.entry.name == name:
            there = np.flatnonzero(column.known if used else column.raw.known).tolist()
            return {decision.code(position): column.raw.values.item(position) for position in there}
    return {}
