"""`/metrics`: the installation's metrics for Prometheus, those of all web processes of the machine together."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from idcsched.db.places import place
from idcsched.db.standby import read_only
from idcsched.framework.errors import Unavailable
from idcsched.placement.instruments import PlacementFigures
from idcsched.scheduling.instruments import SnapshotFigures
from metrics_ingest.instruments import BackgroundFigures, QueueFigures

__all__ = ["metrics"]


class DatabaseFigures(Collector):
    """The collector of all metrics that are read from the database, and of whether it answers.

    Holds a place; while none is free, or the database is away, only `idcsched_database_up 0` is left.
    """

    def collect(self) -> Iterator[Metric]:
        figures: list[Metric] = []
        try:
            with place():
                figures = [_writable(), *BackgroundFigures().collect(), *PlacementFigures().collect()]
        except (Error, Unavailable):
            pass
        yield from figures
        yield GaugeMetricFamily("idcsched_database_up", "Whether the database answers.", value=bool(figures))


def _writable() -> Metric:
    return GaugeMetricFamily("idcsched_database_writable", "Whether the database can be written.", not read_only())


FROM_ELSEWHERE: Final = CollectorRegistry()
for collector in (DatabaseFigures(), QueueFigures(), SnapshotFigures()):
    FROM_ELSEWHERE.register(collector)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text format; a reverse proxy should not let the outside ask for it."""
    registry = REGISTRY
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        _forget_ended_processes(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    figures = generate_latest(registry) + generate_latest(FROM_ELSEWHERE)
    return HttpResponse(figures, content_type=CONTENT_TYPE_LATEST)


def _forget_ended_processes(folder: Path) -> None:
    """Delete the gauges of processes that have ended: a killed process would hold its places for ever."""
    for pid in {int(path.stem.rpartition("_")[2]) for path in folder.glob("gauge_live*.db")}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid)
