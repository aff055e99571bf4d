"""The check that a profile must pass to be saved, and what the profiles in force name."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any, get_args

from idcsched.framework.context import OnMissingFilter, OnMissingScore
from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, IdcschedError, Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.matching import pointed_terms
from idcsched.framework.messages import _
from idcsched.framework.profile import OnMissing, ProfileBody, compile_profile, metrics_read
from idcsched.framework.profile import Profile as Policy
from idcsched.framework.ranges import without_range
from idcsched.inventory.labels import CODE_FACTS, terms_name
from idcsched.inventory.selectors import Names
from idcsched.outbound.literal_secrets import secret_parameter
from metrics_ingest.models import Metric
from metrics_ingest.services.metric import RANGE

from .models import Profile
from .plugins import registry

__all__ = ["profile_check", "profile_check_secrets", "profile_errors", "profiles_naming"]

MOST_ERRORS = 50
POLICIES = {
    "filter": (("pre_filter", "filter", "filter_one"), get_args(OnMissingFilter)),
    "score": (("score", "score_one"), get_args(OnMissingScore)),
}
"""For each part of `on_missing` the methods whose results it treats, and what it may be."""


def profile_check(code: str, body: Mapping[str, Any]) -> Policy:
    """Return the profile that the document describes; raises Invalid unless the registered plugins can run it."""
    document = convert(dict(body), ProfileBody)
    profile = compile_profile(document, registry(), code=code, revision=0)
    fields = ("code", "scope", "direction", "low", "high")
    known = [MetricFact(**row) for row in Metric.objects.values(*fields)]
    codes = {fact.code for fact in known}
    errors = [
        FieldError(pointer, "unknown_metric", _("there is no metric {name}"), {"name": name})
        for pointer, name in _metrics_named(document)
        if name not in codes
    ]
    unranged = without_range(profile, known)
    errors += [
        FieldError(
            f"/plugins/{index}/normalizer",
            "range_required",
            _("`fixed` needs low and high here: the values have no range of their own"),
        )
        for index, part in enumerate(document.plugins)
        if part.name in unranged
    ]
    errors += _policies_ignored(document)
    errors += Names().unmatchable(pointed_terms(document.fallback, "/fallback"))
    if errors:
        raise Invalid.of(errors)
    return profile


def _policies_ignored(document: ProfileBody) -> Iterator[FieldError]:
    """Yield an error for each `on_missing` of which no part says anything to its plugin: `reject` to a mere scorer."""
    for index, part in enumerate(document.plugins):
        kind, policy = registry().get(part.plugin), part.on_missing
        own = {name for name, (points, _words) in POLICIES.items() if kind and any(map(kind.joins, points))}
        if isinstance(policy, OnMissing):
            meant = {name for name in POLICIES if getattr(policy, name)}
        else:
            meant = {name for name, (_points, words) in POLICIES.items() if policy in words}
        if own and meant and not own & meant:
            allowed = ", ".join(word for name in sorted(own) for word in POLICIES[name][1])
            detail = _("this says nothing to plugin {plugin}; for it, say one of {allowed}")
            params = {"plugin": part.plugin, "allowed": allowed}
            yield FieldError(f"/plugins/{index}/on_missing", "policy_ignored", detail, params)


def profile_check_secrets(body: Mapping[str, Any]) -> None:
    """Raise Invalid for each entry whose `url` has a parameter for a secret: everybody may read the profile."""
    detail = _("{name} is the name of a secret, and everybody who may read the profile sees this address")
    errors = [
        FieldError(f"/plugins/{index}/args/url", "secret_in_config", detail, {"name": name})
        for index, part in enumerate(convert(dict(body), ProfileBody).plugins)
        if isinstance(url := (part.args or {}).get("url"), str) and (name := secret_parameter(url))
    ]
    if errors:
        raise Invalid.of(errors)


def profile_errors(code: str, body: Mapping[str, Any]) -> list[FieldError]:
    """Return everything that is wrong with a document, where `profile_check` may stop at the first wrong type.

    Each wrong value is left out, and what remains is checked again.
    """
    errors, document = list[FieldError](), deepcopy(dict(body))
    while len(errors) < MOST_ERRORS:
        try:
            profile_check(code, document)
            profile_check_secrets(document)
        except Invalid as refusal:
            fresh = [error for error in refusal.errors if not any(_overlap(error, known) for known in errors)]
            errors += fresh
            if not [error for error in fresh if _left_out(document, error.pointer)]:
                return errors
        else:
            return errors
    return errors


def _overlap(error: FieldError, known: FieldError) -> bool:
    """Whether one pointer leads into the value of the other: leaving a value out may spoil what is around it."""
    here, there = f"{error.pointer}/", f"{known.pointer}/"
    return bool(known.pointer) and (here.startswith(there) or there.startswith(here))


def _left_out(document: Any, pointer: str) -> bool:
    """Remove the value at the pointer from its object; returns whether it was there."""
    *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]] or [""]
    for step in steps:
        try:
            document = document[int(step)] if isinstance(document, list) else document[step]
        except (LookupError, TypeError, ValueError):
            return False
    if not isinstance(document, dict) or last not in document:
        return False
    del document[last]
    return True


def profiles_naming(kind: str, code: str) -> Iterator[str]:
    """Yield the profiles whose revision in force is built on the row of that kind and code.

    That is a metric which it names or reads, a metric's range without which one of its scorers has none, or what its
    fallback groups name as a fact of IDCs.
    """
    for profile in Profile.objects.select_related("active"):
        try:
            document = convert(profile.active.body if profile.active else {}, ProfileBody)
        except Invalid:  # no decision can use it
            continue
        if kind == "metric":
            named = code in _metrics_read(document)
        elif kind == RANGE:
            named = _needs_range(document, code)
        else:
            named = terms_name(document.fallback or (), CODE_FACTS.get(kind), code)
        if named:
            yield f"{Profile._meta.verbose_name} {profile.code}"


def _needs_range(document: ProfileBody, code: str) -> bool:
    """Return whether a scorer lacks its range if this metric has none; a profile that can't run needs none."""
    fields = ("code", "scope", "direction")
    try:
        policy = compile_profile(document, registry(), code="", revision=0)
    except IdcschedError:
        return False
    bare = [MetricFact(**row) for row in Metric.objects.filter(code=code).values(*fields)]
    ranged = [replace(fact, low=0.0, high=1.0) for fact in bare]
    return without_range(policy, bare) != without_range(policy, ranged)


def _metrics_read(document: ProfileBody) -> set[str]:
    """Return every metric that an entry names or its plugin reads; a profile that can't run reads what it names."""
    metrics = {name for _, name in _metrics_named(document)}
    with suppress(IdcschedError):
        policy = compile_profile(document, registry(), code="", revision=0)
        metrics |= {metric for entry in policy.entries for metric in metrics_read(entry.plugin)}
    return metrics


def _metrics_named(document: ProfileBody) -> Iterator[tuple[str, str]]:
    """Yield every metric that an entry names, with its pointer."""
    for index, part in enumerate(document.plugins):
        if isinstance(name := (part.args or {}).get("metric"), str):
            yield f"/plugins/{index}/args/metric", name
        if part.dynamic_weight is not None:
            yield f"/plugins/{index}/dynamic_weight/metric", part.dynamic_weight.metric
