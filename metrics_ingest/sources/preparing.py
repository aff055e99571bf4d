"""Preparation of a source's row for a run, and the check that a row must pass to be saved."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec
from django.utils import timezone

from idcsched.audit.writing import below
from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import Region
from idcsched.outbound.literal_secrets import literal_secrets
from idcsched.outbound.secrets import SOURCE_SECRETS, secret_ref_check
from metrics_ingest.collector import Collector
from metrics_ingest.models import Metric, Source
from metrics_ingest.sources.kinds import kinds
from metrics_ingest.sources.mapping import CompiledMapping, compile_mapping
from metrics_ingest.sources.schedules import Schedule, parse_schedule

__all__ = ["Prepared", "prepare", "source_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A source's collector and mapping, ready for a run.

    `rules` is a hash of kind, configuration and mapping: readings of counters are only compared under the same rules.
    """

    collector: Collector
    mapping: CompiledMapping
    rules: str


def prepare(source: Source) -> Prepared:
    """Prepare a source for a run; raises Invalid where its row can't be used, such as for a kind not installed."""
    collector = _collector(source.kind, source.config)
    mapping = compile_mapping({**collector.mapping, **source.mapping})
    return Prepared(collector=collector, mapping=mapping, rules=_rules(source))


def _rules(source: Source) -> str:
    document = msgspec.json.encode([source.kind, source.config, source.mapping], order="sorted")
    return sha256(document).hexdigest()


def source_check(source: Source) -> Schedule:
    """Check a source before it is saved; raises Invalid with everything that is wrong, field by field."""
    errors: list[FieldError] = []
    with _errors_into(errors):
        _check_config(source)
    with _errors_into(errors):
        _check_mapping(source)
    with _errors_into(errors):
        if source.secret_ref:
            secret_ref_check(source.secret_ref, _hosts(source), setting=SOURCE_SECRETS)
    with _errors_into(errors):
        parse_schedule(source.schedule)
    with _errors_into(errors):
        _check_regions(source.regions)
    if errors:
        raise Invalid.of(errors)
    schedule = parse_schedule(source.schedule)
    _check_gaps(prepare(source).mapping, schedule)
    return schedule


@contextmanager
def _errors_into(errors: list[FieldError]) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        errors += error.errors


def _collector(kind: str, config: Any) -> Collector:
    collector_class = kinds().classes.get(kind)
    if collector_class is None:
        detail = _("there is no kind of source {name}: this must be one of {choices}")
        choices = ", ".join(sorted(kinds().classes))
        raise Invalid("unknown_kind", detail, "/kind", name=kind, choices=choices)
    return collector_class(convert(config, collector_class.Config, "/config"))


def _hosts(source: Source) -> Iterable[str]:
    """Return the hosts that the source asks; none where its configuration is refused anyway."""
    try:
        return tuple(_collector(source.kind, source.config).hosts())
    except Invalid:
        return ()


def _check_config(source: Source) -> None:
    collector = _collector(source.kind, source.config)
    with below("/config"):
        if errors := [*collector.check(), *literal_secrets(collector.config)]:
            raise Invalid.of(errors)


def _check_mapping(source: Source) -> None:
    collector_class = kinds().classes.get(source.kind)
    if not isinstance(source.mapping, Mapping):
        raise Invalid("wrong_type", _("this must be an object"), "/mapping")
    mapping = compile_mapping({**(collector_class.mapping if collector_class else {}), **source.mapping}).said
    known = set(Metric.objects.values_list("code", flat=True))
    named = [(metric, "/mapping/values/") for metric in mapping.values] + [
        (metric, "/mapping/metrics/") for metric in mapping.metrics.values()
    ]
    unknown = [
        FieldError(pointer + metric, "unknown_metric", _("there is no metric {name}"), {"name": metric})
        for metric, pointer in named
        if metric not in known
    ]
    if unknown:
        raise Invalid.of(unknown)


def _check_regions(codes: Any) -> None:
    if codes is None:
        return
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise Invalid("wrong_type", _("this must be a list of texts"), "/regions")
    if not codes:
        raise Invalid(
            "required", _("name at least one region, or none at all by null: then it writes everywhere"), "/regions"
        )
    known = set(Region.objects.filter(code__in=codes).values_list("code", flat=True))
    unknown = [
        FieldError(f"/regions/{place}", "unknown_region", _("there is no region {name}"), {"name": code})
        for place, code in enumerate(codes)
        if code not in known
    ]
    if unknown:
        raise Invalid.of(unknown)


def _check_gaps(mapping: CompiledMapping, schedule: Schedule) -> None:
    """Refuse counters whose longest gap is no longer than the source's period: they would never give a rate."""
    first = schedule.next_after(timezone.now())
    period = schedule.next_after(first) - first
    too_narrow = [value for value in mapping.values if value.max_gap is not None and value.max_gap <= period]
    if too_narrow:
        detail = _("the source is asked every {seconds} s: more must be allowed between two readings of a counter")
        seconds = round(period.total_seconds())
        raise Invalid.of(
            FieldError(f"{value.pointer}/max_gap_seconds", "out_of_range", detail, {"seconds": seconds})
            for value in too_narrow
        )
