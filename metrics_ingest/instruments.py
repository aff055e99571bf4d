"""Prometheus figures of sources, processes and queues, read at each scrape, so that all web processes answer alike."""

from collections.abc import Iterator
from datetime import datetime

from django.db import Error
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from idcsched.jobs.selectors import processes, queue_depths

from .models import Source

__all__ = ["BackgroundFigures"]

SOURCES = (
    ("idcsched_source_runs", "Times that a source was asked.", "runs_total"),
    ("idcsched_source_runs_failed", "Of these, those that failed or were lost.", "runs_failed"),
    ("idcsched_source_samples_stored", "Samples that a source has brought.", "samples_stored"),
    ("idcsched_source_samples_refused", "Samples that could not be stored.", "samples_refused"),
)


class BackgroundFigures(Collector):
    """The collector of the figures of sources, processes and queues; yields none while the database is away."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        try:
            sources = list(Source.objects.all())
            known_processes = processes(now=now)
        except Error:
            return
        yield from _counters(sources)
        yield from _gauges(sources, now)
        heartbeat_age = GaugeMetricFamily(
            "idcsched_process_heartbeat_age_seconds", "Since its last sign of life.", labels=["trade", "name"]
        )
        for process in known_processes:
            heartbeat_age.add_metric([process.trade.value, process.name], process.age_seconds)
        depth = GaugeMetricFamily("idcsched_queue_depth", "Messages that wait.", labels=["queue"])
        for queue, waiting in queue_depths().items():
            if waiting is not None:
                depth.add_metric([queue], waiting)
        yield heartbeat_age
        yield depth


def _counters(sources: list[Source]) -> Iterator[Metric]:
    for name, help_, field in SOURCES:
        family = CounterMetricFamily(name, help_, labels=["source"])
        for source in sources:
            family.add_metric([source.code], getattr(source, field))
        yield family


def _gauges(sources: list[Source], now: datetime) -> Iterator[Metric]:
    failures = GaugeMetricFamily("idcsched_source_failures", "Failed runs since the last good one.", labels=["source"])
    age = GaugeMetricFamily("idcsched_source_age_seconds", "Since the last run that succeeded.", labels=["source"])
    for source in sources:
        failures.add_metric([source.code], source.failures)
        if source.succeeded_at is not None:
            age.add_metric([source.code], max((now - source.succeeded_at).total_seconds(), 0.0))
    yield failures
    yield age
