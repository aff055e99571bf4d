"""Queries about metrics, sources and their counter readings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from django.db.models import OuterRef, Q, QuerySet, Subquery

from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from metrics_ingest.sources.counters import Counted, Held, Reading, rates

from .models import CounterReadings, Metric, Run, RunState, Source

__all__ = [
    "FAILING_FROM",
    "SourceHealth",
    "metric_named",
    "rates_since_stored",
    "sources_health",
    "sources_in_trouble",
    "sources_naming",
    "sources_overdue",
    "with_last_error",
]

FAILING_FROM: Final = 3
"""A source that fails so many times in a row counts as failing in the history, the log, `status/` and the admin."""
LATE: Final = timedelta(minutes=2)
MESSAGE_GRACE: Final = timedelta(seconds=10)
"""How long a source may be due before the periodic sweep takes it that no Celery message to ask it is in the queue."""


def metric_named(code: str, pointer: str = "") -> Metric:
    """Return the metric of that code; raises Invalid `unknown_metric`."""
    metric = None if "\x00" in code else Metric.objects.filter(code=code).first()
    if metric is None:
        raise Invalid("unknown_metric", _("there is no metric {name}"), pointer, name=code)
    return metric


def sources_naming(kind: str, code: str) -> Iterator[str]:
    """Yield the sources that write in this region, or whose mapping names this metric."""
    if kind not in ("region", "metric"):
        return
    for source in Source.objects.all():
        metrics = {*source.mapping.get("values", {}), *source.mapping.get("metrics", {}).values()}
        if code in (metrics if kind == "metric" else source.regions or ()):
            yield f"{Source._meta.verbose_name} {source.code}"


def sources_overdue(*, now: datetime) -> list[int]:
    """Return the enabled sources that are due, that nobody asks, and for which no message seems to be in the queue."""
    waiting = Source.objects.filter(enabled=True, claim__isnull=True)  # a worker that asks a source holds its claim
    # A source that has never been asked gets no grace: it is due at once, but beat sends its first message only at the
    # next time of its schedule.
    never_started = waiting.filter(started_at__isnull=True, due_at__lte=now)
    overdue = waiting.filter(due_at__lte=now - MESSAGE_GRACE) | never_started
    return list(overdue.order_by("due_at").values_list("pk", flat=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """The state of a source; it is `late` when it has been due for longer than a sweep needs to notice."""

    code: str
    kind: str
    enabled: bool
    succeeded_at: datetime | None
    age_seconds: float | None
    due_at: datetime
    failures: int
    failing: bool
    late: bool


def sources_health(*, now: datetime) -> list[SourceHealth]:
    """Return the health of all sources, by code."""
    return [
        SourceHealth(
            code=source.code,
            kind=source.kind,
            enabled=source.enabled,
            succeeded_at=source.succeeded_at,
            age_seconds=None if source.succeeded_at is None else max((now - source.succeeded_at).total_seconds(), 0.0),
            due_at=source.due_at,
            failures=source.failures,
            failing=source.enabled and source.failures >= FAILING_FROM,
            late=source.enabled and source.claim is None and source.due_at < now - LATE,
        )
        for source in Source.objects.all()
    ]


def sources_in_trouble(*, now: datetime) -> QuerySet[Source]:
    """Return the enabled sources that are failing or late, as `sources_health` says it, with their `last_error`."""
    failing, late = Q(failures__gte=FAILING_FROM), Q(claim__isnull=True, due_at__lt=now - LATE)
    return with_last_error(Source.objects.filter(failing | late, enabled=True)).order_by("code")


def with_last_error(sources: QuerySet[Source]) -> QuerySet[Source]:
    """Give each source `last_error`, the note of its latest run that is over; None where that one succeeded."""
    over = Run.objects.filter(source=OuterRef("pk")).exclude(state=RunState.RUNNING).order_by("-id")
    return sources.annotate(last_error=Subquery(over.values("error")[:1]))


def rates_since_stored(*, source_id: int, readings: Sequence[Reading], rules: str, now: datetime) -> Counted:
    """Return the samples that follow from the source's new counter readings and those stored by its previous run.

    `rules` is the hash of kind, configuration and mapping (`Prepared.rules`): readings stored under another hash may be
    of other counters, so they are not compared.
    """
    row = CounterReadings.objects.filter(source_id=source_id, rules=rules).first()
    decoder_of(list[Held])
    before = [] if row is None else msgspec.msgpack.decode(row.held, type=list[Held])
    return rates(readings, {held.subject: held for held in before}, now=now)
