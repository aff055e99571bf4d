"""`/metrics`: the installation's figures for Prometheus, those of all web processes of the machine together."""

import os

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from metrics_ingest.instruments import BackgroundFigures

__all__ = ["metrics"]

BACKGROUND = CollectorRegistry()
BACKGROUND.register(BackgroundFigures())


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in Prometheus' text format; a reverse proxy should not let the outside ask for it."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    figures = generate_latest(registry) + generate_latest(BACKGROUND)
    return HttpResponse(figures, content_type=CONTENT_TYPE_LATEST)
