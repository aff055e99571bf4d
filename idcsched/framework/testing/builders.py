"""Builders of worlds, profiles and decisions, for short tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypedDict

import msgspec
import numpy as np

from idcsched.framework.answer import Answer, Score
from idcsched.framework.building import build_snapshot, busiest_hours
from idcsched.framework.capacity import BANDWIDTH, Usage
from idcsched.framework.columns import HOURS_A_WEEK, IdcTable, LineColumns
from idcsched.framework.cycle import decide, queries
from idcsched.framework.decision import Decision
from idcsched.framework.decoding import convert
from idcsched.framework.explain import answer
from idcsched.framework.external import Query, Reply
from idcsched.framework.facts import (
    AffinityFact,
    HeadcountFact,
    History,
    MetricFact,
    RegionFact,
    Samples,
    TaintFact,
    World,
)
from idcsched.framework.matching import parse_terms
from idcsched.framework.monthly_bill import HOURS_A_MONTH
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.question import Question
from idcsched.framework.registry import Registry, load_registry
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot

__all__ = [
    "ISPS",
    "NOW",
    "IdcSpec",
    "LineSpec",
    "Outcome",
    "Value",
    "affinity",
    "decide_for",
    "profile",
    "request",
    "snapshot",
    "world",
]

NOW = 1_750_000_000.0
"""The time of a decision in tests, unless another is given."""

ISPS: Mapping[str, str] = {"ct": "ct", "telecom": "ct", "cu": "cu", "unicom": "cu", "cm": "cm", "bgp": "bgp"}

Value = float | tuple[float, float] | None
"""A measurement: a value as of now, or a value and its age in seconds; None: no measurement."""

EntrySpec = str | tuple[str, str] | tuple[str, str, Mapping[str, Any]]
"""A plugin of a profile: `"taint"`, `("x", "metric")`, or `("x", "metric", {"weight": 10, …})`."""


class LineSpec(TypedDict, total=False):
    """A line; by default its ISP is its code and it has 1000 Mbps. `used_mbps`: the bandwidth measured, `hourly`: the
    bandwidth of each hour of the week, `history`: that of each hour of 30 days from a Monday on."""

    isp: str
    purchased_mbps: float
    commit_mbps: float
    max_level: float
    charge_type: str
    price_per_mbps: float
    price_per_gb: float
    percentile_mbps: float
    pending_mbps: float
    ordered_mbps: float
    used_mbps: Value
    metrics: Mapping[str, Value]
    hourly: Sequence[float]
    history: Sequence[float]


class IdcSpec(TypedDict, total=False):
    """An IDC, by default online and in region A; a taint is `key=value:Effect`, or its fields."""

    region: str
    name: str
    tier: str
    status: str
    partition: str
    provider: str
    labels: Mapping[str, str]
    latitude: float
    longitude: float
    stock: Mapping[str, float]
    taken: Mapping[str, float]
    metrics: Mapping[str, Value]
    lines: Mapping[str, LineSpec]
    taints: Sequence[str | Mapping[str, Any]]


class Outcome(NamedTuple):
    """A decision and the API's answer, with what tests most often read from a full explanation."""

    decision: Decision
    answer: Answer

    @property
    def winner(self) -> str | None:
        """The IDC that was picked."""
        return self.answer.idc.code if self.answer.idc else None

    @property
    def totals(self) -> dict[str, float]:
        """The score of every IDC that fits, best first."""
        return {candidate.idc: candidate.score for candidate in self.answer.candidates or ()}

    @property
    def rejections(self) -> dict[str, str]:
        """The reason's code for every IDC that does not fit."""
        return {rejected.idc: rejected.code for rejected in self.answer.rejected or ()}

    def scores(self, scorer: str) -> dict[str, Score]:
        """Return one scorer's score of every IDC that fits; empty where the scorer is out of the sum."""
        scores = {candidate.idc: candidate.scores.get(scorer) for candidate in self.answer.candidates or ()}
        return {idc: score for idc, score in scores.items() if score}


def world(
    idcs: Mapping[str, IdcSpec],
    *,
    regions: Mapping[str, str | RegionFact | None] | None = None,
    isps: Mapping[str, str] = ISPS,
    affinities: Iterable[AffinityFact] = (),
    metrics: Iterable[MetricFact] = (),
    headcounts: Iterable[HeadcountFact] = (),
    usage: Usage | None = None,
) -> World:
    """Return the facts about these IDCs, by code.

    `regions` gives each region's parent (or the whole fact); without it the IDCs' regions stand side by side.
    `metrics` defines the metrics of which more is given than the name.
    """
    lines = [(idc, code, line) for idc, spec in idcs.items() for code, line in spec.get("lines", {}).items()]
    facts = {fact.code: fact for fact in metrics}
    return World(
        regions=tuple(_regions(idcs, regions)),
        isps=isps,
        idcs=IdcTable.of(_idc(code, spec) for code, spec in idcs.items()),
        lines=replace(
            LineColumns.of((_line(idc, code, spec) for idc, code, spec in lines), tuple(idcs)),
            busy_bits=busiest_hours(_hourly([spec for _, _, spec in lines])),
        ),
        taints=tuple(_taint(code, taint) for code, spec in idcs.items() for taint in spec.get("taints", ())),
        affinities=tuple(affinities),
        samples=(
            *_samples("idc", [spec.get("metrics", {}) for spec in idcs.values()], facts),
            *_samples("line", [_line_metrics(spec) for _, _, spec in lines], facts),
        ),
        headcounts=tuple(headcounts),
        usage=usage or Usage(),
        history=_history([spec for _, _, spec in lines]),
    )


def affinity(
    kind: Literal["prefer", "require", "forbid"],
    idc: str | None = None,
    *,
    weight: int = 0,
    selector: Any = None,
    request_selector: Any = None,
    starts_at: float | None = None,
    ends_at: float | None = None,
) -> AffinityFact:
    """Return an operator's affinity for one IDC or a selector's, of all requests or those that a selector matches."""
    return AffinityFact(
        kind=kind,
        idc=idc,
        weight=weight,
        terms=None if selector is None else parse_terms(selector),
        request_terms=None if request_selector is None else parse_terms(request_selector),
        starts_at=starts_at,
        ends_at=ends_at,
    )


def snapshot(known: World) -> Snapshot:
    """Return the snapshot of a world, built at `NOW`."""
    return build_snapshot(known, id="test", built_at=NOW)


def profile(*entries: EntrySpec, plugins: Iterable[type[Plugin]] = (), **body: Any) -> Profile:
    """Return a profile of these entries, in this order. `plugins` are added to the registered ones, or replace them."""
    known = {**_registered().plugins, **{plugin.name: plugin for plugin in plugins}}
    document = {"plugins": [_entry(entry) for entry in entries], **body}
    return compile_profile(convert(document, ProfileBody), Registry(known), code="test", revision=1)


def request(known: World | Snapshot, **fields: Any) -> Request:
    """Return a request with these fields; with neither `region` nor `only` it is about all regions."""
    if "region" not in fields and "only" not in fields:
        regions = known.regions.values() if isinstance(known, Snapshot) else known.regions
        fields["region"] = [region.code for region in regions if region.parent is None]
    return convert(fields, Request)


def decide_for(
    known: World | Snapshot,
    policy: Profile | None = None,
    *,
    now: float = NOW,
    reference: str = "",
    replies: Mapping[str, Reply] | None = None,
    outside: Callable[[Query], Any] | None = None,
    **fields: Any,
) -> Outcome:
    """Decide a request with these fields (see `request`), under `policy` (else one without plugins).

    `explain` is `full` by default; a `tenant` is put among the labels, as the server does. `outside` stands for the
    external services and returns the document that they answer; or give the `replies`.
    """
    asked = request(known, **fields)
    labels = {**(asked.labels or {}), **({"tenant": asked.tenant} if asked.tenant else {})}
    picture, policy = known if isinstance(known, Snapshot) else snapshot(known), policy or profile()
    question = Question(asked, picture, policy, now=now, reference=reference, labels=labels)
    if outside is not None:
        replies = {query.plugin: Reply(plugin=query.plugin, document=outside(query)) for query in queries(question)}
    decision = decide(msgspec.structs.replace(question, replies=replies or {}))
    return Outcome(decision, answer(decision, explain=asked.explain or "full", top=asked.top or 5))


@cache
def _registered() -> Registry:
    return load_registry()


def _entry(entry: EntrySpec) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"name": entry, "plugin": entry}
    name, plugin, *more = entry
    return {"name": name, "plugin": plugin, **(more[0] if more else {})}


def _regions(
    idcs: Mapping[str, IdcSpec], regions: Mapping[str, str | RegionFact | None] | None
) -> Iterator[RegionFact]:
    named = dict.fromkeys(_region(spec) for spec in idcs.values()) if regions is None else regions
    for code, parent in named.items():
        yield parent if isinstance(parent, RegionFact) else RegionFact(code=code, parent=parent)


def _region(spec: IdcSpec) -> str:
    return spec.get("region", "A")


def _idc(code: str, spec: IdcSpec) -> dict[str, Any]:
    return _row(spec, IdcSpec, {"code": code, "region": _region(spec)})


def _line(idc: str, code: str, spec: LineSpec) -> dict[str, Any]:
    return _row(spec, LineSpec, {"idc": idc, "code": code, "isp": code, "purchased_mbps": 1000.0})


def _row(spec: Mapping[str, Any], kind: type[Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with those of `spec`; raises TypeError where it has one that there is not."""
    if wrong := spec.keys() - kind.__annotations__.keys():
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(wrong))}")
    return {**fields, **spec}


def _line_metrics(spec: LineSpec) -> Mapping[str, Value]:
    return {BANDWIDTH: spec.get("used_mbps"), **spec.get("metrics", {})}


def _taint(idc: str, taint: str | Mapping[str, Any]) -> TaintFact:
    if not isinstance(taint, str):
        return TaintFact(idc=idc, **taint)
    pair, _, effect = taint.rpartition(":")
    key, _, value = pair.partition("=")
    return TaintFact(idc=idc, key=key, value=value, effect=effect)


def _samples(
    scope: Literal["idc", "line"], measured: Sequence[Mapping[str, Value]], facts: Mapping[str, MetricFact]
) -> Iterator[Samples]:
    """Yield the samples of every metric that is measured or defined for this scope."""
    defined = [fact.code for fact in facts.values() if fact.scope == scope]
    for code in dict.fromkeys([*defined, *(code for values in measured for code in values)]):
        pairs = [_dated(values.get(code)) for values in measured]
        known = [position for position, (value, _) in enumerate(pairs) if value is not None]
        yield Samples(
            metric=facts.get(code) or MetricFact(code=code, scope=scope),
            subjects=np.array(known, dtype=np.int64),
            values=np.array([pairs[position][0] for position in known], dtype=np.float64),
            at=np.array([pairs[position][1] for position in known], dtype=np.float64),
        )


def _dated(value: Value) -> tuple[float | None, float]:
    if isinstance(value, tuple):
        return value[0], NOW - value[1]
    return value, NOW


def _hourly(lines: Sequence[LineSpec]) -> Any:
    """Return the hours of the week of every line; NaN where they are not given."""
    gap = [np.nan] * HOURS_A_WEEK
    return np.array([spec.get("hourly", gap) for spec in lines], dtype=np.float64).reshape(-1, HOURS_A_WEEK)


def _history(lines: Sequence[LineSpec]) -> History | None:
    """Return what every line carried in 30 days, or None where that is given of none."""
    if not any("history" in spec for spec in lines):
        return None
    gap = [np.nan] * HOURS_A_MONTH
    return History(hours=np.array([spec.get("history", gap) for spec in lines], dtype=np.float32), weekday=0)
