"""Check the laws that every plugin keeps, on the sample worlds and requests."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from itertools import product
from typing import Any, NoReturn

import msgspec
import numpy as np

from idcsched.framework.answer import Answer
from idcsched.framework.capacity import BANDWIDTH, Claim
from idcsched.framework.decision import Decision
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid, PluginBroken, PluginFailed
from idcsched.framework.external import Query
from idcsched.framework.facts import World
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.plugin import METRIC_UNKNOWN, Plugin, Reason
from idcsched.framework.profile import Profile
from idcsched.framework.registry import Registry
from idcsched.framework.registry import check_plugin as check_class
from idcsched.framework.snapshot import Snapshot

from .builders import NOW, Outcome, decide_for, profile, snapshot
from .missing_data import undeclared, unkept
from .samples import SAMPLE_REQUESTS, bare_world, sample_world

__all__ = ["check_plugin"]

POLICIES: tuple[Any, ...] = (
    None,
    {"filter": "reject", "score": "worst"},
    {"filter": "pass", "score": "neutral"},
    "last",
)
_UNKNOWN = "no_such_argument"
_DELAY = 0.25


def check_plugin(
    plugin: type[Plugin],
    *,
    args: Mapping[str, Any] | None = None,
    worlds: Iterable[World] | None = None,
    requests: Iterable[Mapping[str, Any]] = SAMPLE_REQUESTS,
    outside: Callable[[Query], Any] | None = None,
) -> None:
    """Check the laws of plugins; raises AssertionError, naming the plugin and the law, for one that is broken.

    The plugin gets these arguments (raises Invalid where it refuses them), and the worlds and requests of `samples.py`
    unless others are given. The laws: a plugin

    - keeps the contract of its class, and takes its arguments strictly and unchanged;
    - never raises, and gives masks of the right type and length, finite raw values, scores within bounds,
      for many candidates, for one and for none, whatever is missing;
    - is deterministic: the same inputs give the same answer, on a fresh snapshot and on a used one,
      and wherever its rows come from;
    - changes nothing, neither the snapshot nor itself;
    - keeps in the memories of the snapshot only what stays true: on a snapshot that served other decisions, a little
      later and after an order, it answers as on a fresh one;
    - leaves it to the profile's `on_missing` what a missing or stale value means, in its filter and in its score;
    - names the metrics that it reads, so that they can't be taken away from a profile in force;
    - rejects for declared reasons, whose sentences its details fill, whatever the values of its metrics are;
    - sends queries that are JSON, and the same each time. `outside` stands for the external service and returns the
      document that it answers.
    """
    _check_class(plugin)
    _check_args(plugin, dict(args or {}))
    _law(plugin, outside is not None or not plugin.joins("gather"), "it asks, so say `outside` what is answered")
    service = _Service(plugin, outside) if outside else None
    known_worlds, requests = tuple(worlds or (sample_world(), bare_world())), tuple(requests)
    for known, asked, missing in product(known_worlds, requests, POLICIES):
        _check_decisions(plugin, _policy(plugin, dict(args or {}), missing), known, asked, service)
    for known in known_worlds:
        _check_memory(plugin, _policy(plugin, dict(args or {}), None), known, requests, service)
        _check_missing_data(plugin, dict(args or {}), known, requests, service)


@dataclass(frozen=True, slots=True)
class _Service:
    """Stands for the external service, and records the queries."""

    plugin: type[Plugin]
    outside: Callable[[Query], Any]
    received: list[bytes] = field(default_factory=list)

    def __call__(self, query: Query) -> Any:
        try:
            self.received.append(msgspec.json.encode(query))
        except (TypeError, ValueError, OverflowError) as error:
            raise AssertionError(f"{self.plugin.name}: what it asks is JSON: {error}") from error
        return self.outside(query)


def _check_class(plugin: type[Plugin]) -> None:
    try:
        check_class(plugin)
    except PluginBroken as broken:
        raise AssertionError(str(broken)) from broken
    _law(plugin, bool(plugin.__doc__), "its class has a docstring")


def _check_args(plugin: type[Plugin], args: dict[str, Any]) -> None:
    """Check that the arguments are strict, frozen, and the same after a round trip."""
    decoded = convert(args, plugin.Args)
    _law(plugin, convert(msgspec.to_builtins(decoded), plugin.Args) == decoded, "its arguments survive a round trip")
    _law(plugin, bool(plugin.Args.__struct_config__.frozen), "its arguments are frozen")
    try:
        convert({**args, _UNKNOWN: 1}, plugin.Args)
    except Invalid:
        return
    _broken(plugin, "an unknown argument is refused")


def _policy(plugin: type[Plugin], args: dict[str, Any], missing: Any) -> Profile:
    """Return a profile of the plugin alone, in the sum if it scores, and as a tie-breaker too."""
    scoring = {"weight": 10, "on_error": "fail"} if plugin.scores() else {}
    entry = {"args": args, "on_missing": missing, **scoring}
    idle = [("tie-breaker", plugin.name, {**entry, "weight": 0})] if scoring else []
    tie_breakers = [name for name, *_ in idle]
    return profile((plugin.name, plugin.name, entry), *idle, plugins=[plugin], tie_breakers=tie_breakers)


def _check_decisions(
    plugin: type[Plugin], policy: Profile, known: World, asked: Mapping[str, Any], service: _Service | None
) -> None:
    """Check the laws on one request, decided repeatedly and for other selections of IDCs."""
    decide = partial(_decide, plugin, policy, service)
    picture, attributes = snapshot(known), _attributes(policy)
    columns = _columns(picture)
    codes = list(known.idcs.codes)
    outcome, queries = decide(picture, asked)
    _check_reasons(plugin, outcome.decision)
    _law(plugin, not outcome.answer.plugin_errors, f"it never fails: {outcome.answer.plugin_errors}")
    again, queries_again = decide(picture, asked)
    _law(plugin, queries_again == queries, "asked twice, it asks the same")
    _law(plugin, _json(again.answer) == _json(outcome.answer), "asked twice, it answers the same")
    by_name, _ = decide(snapshot(known), {**asked, "only": codes, "exclude": asked.get("exclude", [])})
    _law(plugin, _json(by_name.answer) == _json(outcome.answer), "its answer is the same wherever its rows come from")
    for few in ({"only": codes[:1]}, {"exclude": codes}):
        decide(picture, {**asked, **few})
    _law(plugin, _columns(picture) == columns, "it changes nothing of the snapshot")
    _law(plugin, _attributes(policy) == attributes, "it keeps nothing but its arguments")


def _check_memory(
    plugin: type[Plugin],
    policy: Profile,
    known: World,
    requests: Iterable[Mapping[str, Any]],
    service: _Service | None,
) -> None:
    """Check that decisions made before on the same snapshot make no difference, nor do those before an order."""
    used = snapshot(known)
    for taken, asked, delay in product(((), _order(known)), requests, (0.0, _DELAY, 2 * _DELAY)):
        question = {**asked, "now": asked.get("now", NOW) + delay}
        again, _ = _decide(plugin, policy, service, with_allocations(used, taken), question)
        fresh, _ = _decide(plugin, policy, service, with_allocations(snapshot(known), taken), question)
        _law(plugin, _json(again.answer) == _json(fresh.answer), f"what it keeps stays true, asked {dict(question)}")


def _check_missing_data(
    plugin: type[Plugin],
    args: dict[str, Any],
    known: World,
    requests: Iterable[Mapping[str, Any]],
    service: _Service | None,
) -> None:
    """Check that the plugin names the metrics that it reads, that where a value is missing the profile decides and not
    the plugin, and that it can say why it rejects an IDC at any value.
    """

    def decided(picture: Snapshot, asked: Mapping[str, Any], on_missing: Mapping[str, str]) -> Decision:
        decision = _decide(plugin, _policy(plugin, args, on_missing), service, picture, asked)[0].decision
        _check_reasons(plugin, decision)
        return decision

    if unnamed := sorted(undeclared(plugin(convert(args, plugin.Args)), decided, known, requests)):
        _broken(plugin, f"it names the metrics that it reads, in `metrics` or by its argument `metric`: {unnamed[0]}")
    for broken in unkept(plugin, decided, known, requests):
        _broken(plugin, broken)


def _order(known: World) -> tuple[Allocation, ...]:
    """Return an order that takes of the first line and of the stock."""
    claims = [Claim(resource="cpu", amount=1.0)]
    claims += [Claim(resource=BANDWIDTH, amount=10.0, line=line) for line in known.lines.codes[:1]]
    idc = known.idcs.codes[known.lines.idc[0] if known.lines.codes else 0]
    return (Allocation(idc=idc, claims=tuple(claims), tenant="acme", business="live", machines=2),)


def _decide(
    plugin: type[Plugin], policy: Profile, service: _Service | None, picture: Snapshot, asked: Mapping[str, Any]
) -> tuple[Outcome, list[bytes]]:
    """Decide; return the outcome, and the queries that were sent for it."""
    sent_before = len(service.received) if service else 0
    try:
        outcome = decide_for(picture, policy, outside=service, **asked)
    except PluginFailed as failure:
        raise AssertionError(f"{plugin.name}: it never fails: {failure}") from failure
    return outcome, service.received[sent_before:] if service else []


def _attributes(policy: Profile) -> list[dict[str, Any]]:
    return [vars(entry.plugin).copy() for entry in policy.entries]


def _json(answer: Answer) -> bytes:
    return msgspec.json.encode(answer)


def _check_reasons(plugin: type[Plugin], decision: Decision) -> None:
    declared = {METRIC_UNKNOWN, *(reason for _, reason in Registry({plugin.name: plugin}).reasons())}
    for judgement in decision.judgements:
        if judgement.plugin != plugin.name:
            continue
        _law(plugin, judgement.reason in declared, f"its module declares the reason {judgement.reason.code}")
        for position in np.flatnonzero(~judgement.keep).tolist():
            _check_sentence(plugin, judgement.reason, judgement.numbers(position))
        if judgement.figures is not None:
            for position in np.flatnonzero(judgement.keep).tolist():
                _check_figures(plugin, judgement.reason, judgement.figures(position))


def _check_sentence(plugin: type[Plugin], reason: Reason, numbers: Mapping[str, Any]) -> None:
    try:
        reason.sentence.format_map(numbers)
        msgspec.json.encode(numbers)
    except (KeyError, TypeError, ValueError) as error:
        raise AssertionError(f"{plugin.name}: the details of {reason.code} fill its sentence: {error!r}") from error


def _check_figures(plugin: type[Plugin], reason: Reason, figures: Mapping[str, Any] | None) -> None:
    try:
        msgspec.json.encode(figures)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{plugin.name}: the figures of passing {reason.code} are JSON: {error!r}") from error


def _columns(picture: Snapshot) -> list[bytes]:
    return [array.tobytes() for array in _arrays(picture)]


def _arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield every array of a snapshot's columns, without the memories of its parts."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for part in fields(value):
            if part.compare:
                yield from _arrays(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for part_value in value.values():
            yield from _arrays(part_value)


def _law(plugin: type[Plugin], holds: bool, law: str) -> None:
    if not holds:
        _broken(plugin, law)


def _broken(plugin: type[Plugin], law: str) -> NoReturn:
    raise AssertionError(f"{plugin.name}: {law}")
