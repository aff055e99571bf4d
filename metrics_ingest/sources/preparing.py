"""A source's row, made ready: everything in it understood, or everything that is wrong with it said at once."""

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
from idcsched.outbound.secrets import SOURCE_SECRETS, secret_ref_check
from metrics_ingest.collector import Collector
from metrics_ingest.models import Metric, Source
from metrics_ingest.sources.kinds import kinds
from metrics_ingest.sources.mapping import CompiledMapping, compile_mapping
from metrics_ingest.sources.schedules import Schedule, parse_schedule

__all__ = ["Prepared", "prepare", "source_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a run needs of a source. `rules` names what makes a counter the same one as at the run before."""

    collector: Collector
    mapping: CompiledMapping
    rules: str


def prepare(source: Source) -> Prepared:
    """Raises Invalid where the row can't be used: its kind is not installed any more, say."""
    made = _collector(source.kind, source.config)
    mapping = compile_mapping({**made.mapping, **source.mapping})
    return Prepared(collector=made, mapping=mapping, rules=_rules(source))


def _rules(source: Source) -> str:
    said = msgspec.json.encode([source.kind, source.config, source.mapping], order="sorted")
    return sha256(said).hexdigest()


def source_check(source: Source) -> Schedule:
    """What a row must be to be saved; raises Invalid with everything that is wrong, field by field."""
    errors: list[FieldError] = []
    with _noted(errors):
        _check_config(source)
    with _noted(errors):
        _check_mapping(source)
    with _noted(errors):
        if source.secret_ref:
            secret_ref_check(source.secret_ref, _hosts(source), setting=SOURCE_SECRETS)
    with _noted(errors):
        parse_schedule(source.schedule)
    with _noted(errors):
        _check_regions(source.regions)
    if errors:
        raise Invalid.of(errors)
    schedule = parse_schedule(source.schedule)
    _check_gaps(prepare(source).mapping, schedule)
    return schedule


@contextmanager
def _noted(errors: list[FieldError]) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        errors += error.errors


def _collector(kind: str, config: Any) -> Collector:
    found = kinds().collectors.get(kind)
    if found is None:
        detail = _("there is no kind of source {name}: this must be one of {choices}")
        choices = ", ".join(sorted(kinds().collectors))
        raise Invalid("unknown_kind", detail, "/kind", name=kind, choices=choices)
    return found(convert(config, found.Config, "/config"))


def _hosts(source: Source) -> Iterable[str]:
    """Whom the source asks; nobody where its configuration is refused anyway."""
    try:
        return tuple(_collector(source.kind, source.config).hosts())
    except Invalid:
        return ()


def _check_config(source: Source) -> None:
    made = _collector(source.kind, source.config)
    with below("/config"):
        if wrong := list(made.check()):
            raise Invalid.of(wrong)


def _check_mapping(source: Source) -> None:
    found = kinds().collectors.get(source.kind)
    if not isinstance(source.mapping, Mapping):
        raise Invalid("wrong_type", _("this must be an object"), "/mapping")
    said = compile_mapping({**(found.mapping if found else {}), **source.mapping}).said
    known = set(Metric.objects.values_list("code", flat=True))
    named = [(metric, "/mapping/values/") for metric in said.values] + [
        (metric, "/mapping/metrics/") for metric in said.metrics.values()
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
    """Readings that always lie too far apart would never give a rate."""
    first = schedule.next_after(timezone.now())
    apart = schedule.next_after(first) - first
    narrow = [value for value in mapping.values if value.max_gap is not None and value.max_gap <= apart]
    if narrow:
        detail = _("the source is asked every {seconds} s: more must be allowed between two readings of a counter")
        seconds = round(apart.total_seconds())
        raise Invalid.of(
            FieldError(f"{value.pointer}/max_gap_seconds", "out_of_range", detail, {"seconds": seconds})
            for value in narrow
        )
