"""Prometheus metrics of pushed samples, and those of sources, processes, nightly jobs and queues.

The latter are read at each scrape, so that all web processes answer alike.
"""

from collections.abc import Iterator
from datetime import datetime

from django.utils import timezone
from prometheus_client import Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from idcsched.jobs.models import ProcessKind
from idcsched.jobs.nightly import JobHealth, nightly_health
from idcsched.jobs.selectors import Process, processes, queue_depths

from .models import Source

__all__ = ["BackgroundFigures", "QueueFigures", "pushed_samples"]

pushed_samples = Counter("idcsched_samples_pushed", "Samples that came through the API.", ["result"])
SOURCES = (
    ("idcsched_source_runs", "Times that a source was asked.", "runs_total"),
    ("idcsched_source_runs_failed", "Of these, those that failed or were lost.", "runs_failed"),
    ("idcsched_source_samples_stored", "Samples that a source has brought.", "samples_stored"),
    ("idcsched_source_samples_refused", "Samples that could not be stored.", "samples_refused"),
)


class BackgroundFigures(Collector):
    """The collector of the metrics of sources, processes and nightly jobs; raises a database error where it is away."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        sources = list(Source.objects.all())
        yield from _counters(sources)
        yield from _gauges(sources, now)
        yield from _processes(processes(now=now))
        yield from _nightly(nightly_health(now=now), now)


class QueueFigures(Collector):
    """The collector of the metrics of Celery's broker, which needs no database."""

    def collect(self) -> Iterator[Metric]:
        depths = {queue: waiting for queue, waiting in queue_depths().items() if waiting is not None}
        depth = GaugeMetricFamily("idcsched_queue_depth", "Messages that wait.", labels=["queue"])
        for queue, waiting in depths.items():
            depth.add_metric([queue], waiting)
        yield depth
        yield GaugeMetricFamily("idcsched_broker_up", "Whether Celery's broker answers.", value=bool(depths))


def _processes(known: list[Process]) -> Iterator[Metric]:
    age = GaugeMetricFamily(
        "idcsched_process_heartbeat_age_seconds", "Since its last sign of life.", labels=["trade", "name"]
    )
    for process in known:
        age.add_metric([process.trade.value, process.name], process.age_seconds)
    alive = GaugeMetricFamily("idcsched_processes_alive", "Processes with a young sign of life.", labels=["trade"])
    for trade in ProcessKind:
        alive.add_metric([trade.value], sum(process.alive for process in known if process.trade == trade))
    yield age
    yield alive


def _nightly(jobs: list[JobHealth], now: datetime) -> Iterator[Metric]:
    failing = GaugeMetricFamily("idcsched_nightly_failing", "Whether it ended with an error last.", labels=["name"])
    age = GaugeMetricFamily("idcsched_nightly_age_seconds", "Since it last succeeded.", labels=["name"])
    for job in jobs:
        failing.add_metric([job.name], job.failing)
        if job.succeeded_at is not None:
            age.add_metric([job.name], max((now - job.succeeded_at).total_seconds(), 0.0))
    yield failing
    yield age


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
