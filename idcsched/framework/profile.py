"""Profiles: which plugins take part in a decision, in which order, with which weights and arguments.

A `ProfileBody` is the document that operators write. `compile_profile` checks it against the registry and
returns the `Profile` that the cycle runs: plugin instances, sorted into one tuple for each point.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .context import Cycle, Missing, OnMissingFilter, OnMissingScore, Timing
from .decoding import convert, pointer_token
from .errors import FieldError, Invalid, PluginBroken
from .matching import Term, empty_selector
from .messages import _
from .normalize import NormalizerKind, Scale, sound_range
from .plugin import Plugin
from .registry import Registry

__all__ = [
    "ALWAYS",
    "METRIC_PREFIX",
    "DynamicWeight",
    "Entry",
    "OnMissing",
    "Pick",
    "Profile",
    "ProfileBody",
    "RangeMissing",
    "compile_profile",
    "metrics_read",
]

ALWAYS = ("region", "isp", "tier", "partition", "labels")
"""Plugins that enforce what the request names, whether a profile lists them or not."""
HEADROOM = "headroom"
METRIC_PREFIX = "metric/"
"""Before a metric's code among the attributes that a plugin sends to an external service."""
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
_TIE_BREAKERS = ("affinity", HEADROOM)

Text = Annotated[str, Meta(max_length=255)]
Weight = Annotated[float, Meta(ge=0, le=10_000)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a profile: unknown fields are refused."""


class Normalizer(_Part, frozen=True, kw_only=True):
    kind: NormalizerKind
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise Invalid("incomplete_range", _("low and high go together"))
        if self.low is not None and self.high is not None and not sound_range(self.low, self.high):
            raise Invalid("empty_range", _("low must be less than high"), "/high")


class DynamicWeight(_Part, frozen=True, kw_only=True):
    """The weight in force follows the aggregate of a metric over the survivors."""

    metric: Text
    reference: float
    factor: float
    aggregate: Literal["mean", "min", "max", "median", "sum"] = "mean"
    min: Weight = 0.0
    max: Weight = 10_000.0

    def __post_init__(self) -> None:
        if self.reference == 0:
            raise Invalid("zero_reference", _("a reference of 0 gives no ratio"), "/reference")
        if self.min > self.max:
            raise Invalid("empty_range", _("min must not exceed max"), "/min")


class OnMissing(_Part, frozen=True, kw_only=True):
    filter: OnMissingFilter | None = None
    score: OnMissingScore | None = None


class PluginEntry(_Part, frozen=True, kw_only=True):
    name: Text
    plugin: Text
    weight: Weight | None = None
    dynamic_weight: DynamicWeight | None = None
    normalizer: Normalizer | None = None
    args: dict[str, Any] | None = None
    on_missing: OnMissing | Literal["reject", "pass", "last", "worst", "neutral"] | None = None
    on_error: Literal["fail", "skip_filter", "ignore"] | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise Invalid("invalid_name", _("a name is 1 to 63 letters, digits, dots, dashes or underscores"), "/name")


class Pick(_Part, frozen=True, kw_only=True):
    kind: Literal["best", "near_best"] = "best"
    epsilon: Annotated[float, Meta(ge=0, le=10_000_000)] = 1.0


class ProfileBody(_Part, frozen=True, kw_only=True):
    """The content of a profile, without its `code` and `name`."""

    plugins: Annotated[tuple[PluginEntry, ...], Meta(max_length=200)]
    tie_breakers: Annotated[tuple[Text, ...], Meta(max_length=20)] | None = None
    fallback: Annotated[tuple[Term, ...], Meta(max_length=100)] | None = None
    pick: Pick | None = None
    line_choice: Literal["roomiest", "cheapest", "least_billed"] | None = None
    bgp_substitutes: bool | None = None
    overridable: Annotated[tuple[Text, ...], Meta(max_length=200)] | None = None
    candidates_percent: Annotated[float, Meta(gt=0, le=100)] | None = None


class RangeMissing(ValueError):
    """A `fixed` normaliser for which neither the profile nor the plugin gives a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One plugin as a profile uses it."""

    name: str
    plugin: Plugin
    weight: float
    dynamic_weight: DynamicWeight | None
    normalizer: Normalizer | None
    missing: Missing
    on_error_filter: Literal["fail", "skip_filter"]
    on_error_score: Literal["fail", "ignore"]
    implied: bool = False

    def joins(self, point: str) -> bool:
        """Return whether the plugin overrides the method."""
        kind: Any = type(self.plugin)
        return _joins(kind, point)

    def run(self, ctx: Cycle, point: str) -> Any:
        """Call the plugin's method of that name; record its duration if the cycle has a clock."""
        ctx.entry, ctx.missing = self.name, self.missing
        if ctx.clock is None:
            return getattr(self.plugin, point)(ctx)
        started = ctx.clock()
        try:
            return getattr(self.plugin, point)(ctx)
        finally:
            ctx.timings.append(Timing(self.name, point, ctx.clock() - started))

    def scale(self, natural: Scale) -> Scale:
        """Return the plugin's scale under the profile's normaliser; raises RangeMissing for `fixed` without a range."""
        normalizer = self.normalizer
        if normalizer is None:
            return natural
        low, high = natural.low, natural.high
        if normalizer.low is not None and normalizer.high is not None:
            low, high = normalizer.low, normalizer.high
        elif normalizer.kind == "fixed" != natural.kind:
            raise RangeMissing("the normaliser `fixed` needs low and high here: the values have no range of their own")
        return Scale(kind=normalizer.kind, better=natural.better, low=low, high=high)


@cache
def _joins(plugin: Any, point: str) -> bool:
    return bool(plugin.joins(point))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A checked profile revision, ready to run."""

    code: str
    revision: int
    entries: tuple[Entry, ...]
    pre_filters: tuple[Entry, ...]
    filters: tuple[Entry, ...]
    filters_one: tuple[Entry, ...]
    gatherers: tuple[Entry, ...]
    post_filters: tuple[Entry, ...]
    reservers: tuple[Entry, ...]
    permitters: tuple[Entry, ...]
    scorers: tuple[Entry, ...]
    tie_breakers: tuple[str, ...] = _TIE_BREAKERS
    fallback: tuple[Term, ...] = ()
    pick: Pick = field(default_factory=Pick)
    line_choice: Literal["roomiest", "cheapest", "least_billed"] = "roomiest"
    bgp_substitutes: bool = False
    overridable: frozenset[str] = frozenset({"*"})
    candidates_percent: float | None = None
    one_by_one: bool = False
    """Whether a plugin judges one IDC at a time, so that not all IDCs need to be visited."""
    unknown_lines: OnMissingFilter = "pass"
    """How the plugin that filters by bandwidth treats a line whose use is unknown."""

    def entry(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.name == name), None)

    def of_plugin(self, plugin: str) -> Entry | None:
        """Return the first entry of a registered plugin."""
        return next((entry for entry in self.entries if entry.plugin.name == plugin), None)

    def check_weights(self, weights: Iterable[str]) -> None:
        """Raise Invalid for a weight that a request may not override."""
        scorers = {entry.name for entry in self.scorers}
        for name in weights:
            pointer = f"/weights/{pointer_token(name)}"
            if name not in scorers:
                raise Invalid("unknown_scorer", _("the profile has no scorer {name}"), pointer, name=name)
            if not self.overridable & {"*", name}:
                raise Invalid(
                    "not_overridable", _("the profile does not let requests weigh {name}"), pointer, name=name
                )


def compile_profile(body: ProfileBody, registry: Registry, *, code: str, revision: int) -> Profile:
    """Return the profile that `body` describes; raises Invalid with every plugin, argument or name that is wrong."""
    entries = _entries(body, registry)
    everything = (*_implied_beside(entries, registry), *entries)
    scorers = _joining(entries, "score", "score_one")
    filters_one = _joining(entries, "filter_one")
    flow = next((entry for entry in everything if entry.plugin.name == "network_flow"), None)
    gatherers = _joining(entries, "gather")
    return Profile(
        code=code,
        revision=revision,
        entries=everything,
        pre_filters=_joining(sorted(everything, key=lambda entry: not entry.plugin.narrows), "pre_filter"),
        filters=_joining(everything, "filter"),
        filters_one=filters_one,
        gatherers=gatherers,
        post_filters=_joining(entries, "post_filter"),
        reservers=_joining(entries, "reserve"),
        permitters=_joining(entries, "permit"),
        scorers=scorers,
        tie_breakers=_TIE_BREAKERS if body.tie_breakers is None else body.tie_breakers,
        fallback=body.fallback or (),
        pick=body.pick or Pick(),
        line_choice=body.line_choice or "roomiest",
        bgp_substitutes=bool(body.bgp_substitutes),
        overridable=frozenset(("*",) if body.overridable is None else body.overridable),
        candidates_percent=body.candidates_percent,
        one_by_one=bool(filters_one) or any(not entry.joins("score") for entry in scorers),
        unknown_lines=flow.missing.filter if flow else "pass",
    )


def metrics_read(plugin: Plugin) -> frozenset[str]:
    """Return the metrics that the plugin reads: those of its class, and those that its arguments name, each as the
    argument `metric` or among `attributes`.
    """
    one, attributes = getattr(plugin.args, "metric", None), getattr(plugin.args, "attributes", ())
    named = {one} if isinstance(one, str) else set()
    named |= {text.removeprefix(METRIC_PREFIX) for text in attributes if str(text).startswith(METRIC_PREFIX)}
    return frozenset(named.union(plugin.metrics))


def _entries(body: ProfileBody, registry: Registry) -> list[Entry]:
    """Return the listed entries; raises Invalid with everything that is wrong."""
    entries: list[Entry] = []
    errors: list[FieldError] = []
    for index, part in enumerate(body.plugins):
        try:
            entries.append(_compiled(part, registry, f"/plugins/{index}"))
        except Invalid as refusal:
            errors.extend(refusal.errors)
    _check_names(body, registry, errors)
    if errors:
        raise Invalid.of(errors)
    return entries


def _joining(entries: Iterable[Entry], *points: str) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if any(entry.plugin.joins(point) for point in points))


def _implied_beside(entries: Iterable[Entry], registry: Registry) -> Iterator[Entry]:
    listed = {entry.plugin.name for entry in entries}
    return (_implied(registry, name) for name in ALWAYS if name not in listed)


def _implied(registry: Registry, name: str) -> Entry:
    kind = registry.get(name)
    if kind is None:  # without the plugin, what the request names would be ignored silently
        raise PluginBroken("plugin_missing", _("the built-in plugin {name} could not be loaded"), name=name)
    plugin = kind()
    return Entry(
        name=name,
        plugin=plugin,
        weight=0.0,
        dynamic_weight=None,
        normalizer=None,
        missing=plugin.missing,
        on_error_filter="fail",
        on_error_score="ignore",
        implied=True,
    )


def _compiled(part: PluginEntry, registry: Registry, pointer: str) -> Entry:
    plugin = _plugin(part, registry, pointer)
    kind = type(plugin)
    if problem := _unfit(part, kind, pointer):
        raise Invalid.of([problem])
    return Entry(
        name=part.name,
        plugin=plugin,
        weight=part.weight or 0.0,
        dynamic_weight=part.dynamic_weight,
        normalizer=part.normalizer,
        missing=_missing(part.on_missing, kind.missing),
        on_error_filter="skip_filter" if part.on_error == "skip_filter" else "fail",
        on_error_score="fail" if part.on_error == "fail" else "ignore",
    )


def _plugin(part: PluginEntry, registry: Registry, pointer: str) -> Plugin:
    """Return the plugin with checked arguments; raises Invalid that names plugin, argument and what is allowed."""
    kind = registry.get(part.plugin)
    if kind is None:
        detail = _("there is no plugin {plugin}; there are {known}")
        known = ", ".join(sorted(registry.plugins))
        raise Invalid("unknown_plugin", detail, f"{pointer}/plugin", plugin=part.plugin, known=known)
    try:
        return kind(convert(part.args or {}, kind.Args, f"{pointer}/args"))
    except Invalid as refusal:
        errors = [_of_plugin(part.plugin, error) for error in refusal.errors]
    raise Invalid.of(errors)


def _of_plugin(plugin: str, error: FieldError) -> FieldError:
    problem = FieldError("", error.code, error.detail, error.params)
    return FieldError(
        error.pointer, error.code, _("plugin {plugin}: {problem}"), {"plugin": plugin, "problem": problem}
    )


def _unfit(part: PluginEntry, kind: type[Plugin], pointer: str) -> FieldError | None:
    """Return an error where the entry gives a scorer's field to a plugin that does not score."""
    no_weight = _("plugin {plugin} does not score and takes no weight")
    if not kind.scores():
        for field_name, given, detail in (
            ("weight", bool(part.weight), no_weight),
            ("dynamic_weight", part.dynamic_weight is not None, no_weight),
            ("normalizer", part.normalizer is not None, _("plugin {plugin} does not score and normalises nothing")),
        ):
            if given:
                return FieldError(f"{pointer}/{field_name}", "not_a_scorer", detail, {"plugin": part.plugin})
    return None


def _missing(policy: OnMissing | str | None, own: Missing) -> Missing:
    """Return the entry's missing-data policies: a single word sets the point that has such a policy, `last` both."""
    if policy is None:
        return own
    if isinstance(policy, OnMissing):
        return Missing(filter=policy.filter or own.filter, score=policy.score or own.score)
    return Missing(
        filter=policy if policy in ("reject", "pass", "last") else own.filter,  # type: ignore[arg-type]
        score=policy if policy in ("worst", "neutral", "last") else own.score,  # type: ignore[arg-type]
    )


def _check_names(body: ProfileBody, registry: Registry, errors: list[FieldError]) -> None:
    names = [part.name for part in body.plugins]
    scorers = {part.name for part in body.plugins if (kind := registry.get(part.plugin)) is None or kind.scores()}
    for index, name in enumerate(names):
        if name in names[:index]:
            errors.append(
                FieldError(f"/plugins/{index}/name", "duplicate_name", _("the name {name} is taken"), {"name": name})
            )
    for field_name, known in (("tie_breakers", {*scorers, *_TIE_BREAKERS}), ("overridable", {*scorers, "*"})):
        for index, name in enumerate(getattr(body, field_name) or ()):
            if name not in known:
                errors.append(
                    FieldError(
                        f"/{field_name}/{index}",
                        "unknown_scorer",
                        _("the profile has no scorer {name}"),
                        {"name": name},
                    )
                )
    if body.fallback == ():
        errors.extend(empty_selector("/fallback").errors)
