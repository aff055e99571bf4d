"""Queries about metrics, sources and their counter readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from django.db.models import OuterRef, QuerySet, Subquery

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from metrics_ingest.sources.counters import Counted, Held, Reading, rates

from .models import CounterReadings, Metric, Run, RunState, Source

__all__ = [
    "FAILING_FROM",
    "SourceHealth",
    "metric_named",
    "rates_found",
    "sources_health",
    "sources_overdue",
    "with_last_error",
]

FAILING_FROM: Final = 3
"""A source that fails so many times in a row counts as failing in history, log, status and figures."""
LATE: Final = timedelta(minutes=2)
UNANNOUNCED: Final = timedelta(seconds=10)
"""How long a source may be due before the sweep assumes that no message has announced it."""


def metric_named(code: str, pointer: str = "") -> Metric:
    """Return the metric of that code; raises Invalid `unknown_metric`."""
    metric = None if "\x00" in code else Metric.objects.filter(code=code).first()
    if metric is None:
        raise Invalid("unknown_metric", _("there is no metric {name}"), pointer, name=code)
    return metric


def sources_overdue(*, now: datetime) -> list[int]:
    """Return the enabled sources that are due, are not being asked, and that no message seems to have announced."""
    waiting = Source.objects.filter(enabled=True, claim__isnull=True)
    overdue = waiting.filter(due_at__lte=now - UNANNOUNCED) | waiting.filter(started_at__isnull=True, due_at__lte=now)
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


def with_last_error(sources: QuerySet[Source]) -> QuerySet[Source]:
    """Give each source `last_error`, the note of its latest run that is over; None where that one succeeded."""
    over = Run.objects.filter(source=OuterRef("pk")).exclude(state=RunState.RUNNING).order_by("-id")
    return sources.annotate(last_error=Subquery(over.values("error")[:1]))


def rates_found(*, source_id: int, readings: Sequence[Reading], rules: str, now: datetime) -> Counted:
    """Return the samples of the source's counter readings, compared with those stored under the same `rules`."""
    row = CounterReadings.objects.filter(source_id=source_id, rules=rules).first()
    before = [] if row is None else msgspec.msgpack.decode(row.held, type=list[Held])
    return rates(readings, {held.subject: held for held in before}, now=now)
