"""Traces by OpenTelemetry. Only processes that are told where to send them load this module and its packages."""

import os
from typing import Any, Literal

from celery.signals import worker_process_shutdown
from django.conf import settings
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.psycopg2 import Psycopg2Instrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from structlog.contextvars import get_contextvars

from idcsched import __version__
from idcsched.jobs.background import Background

__all__ = ["ids", "tracing_start"]

ENDS_WITHIN = "3"
"""Seconds that a collector has to take some spans: a process that ends waits for so long for one that is away."""
A_DAY = 24 * 3600


def tracing_start(process: Literal["web", "worker", "beat"]) -> None:
    """Trace this process, and those that it forks, from now on; connections that it has already are not traced."""
    os.environ.setdefault("OTEL_SERVICE_NAME", f"idcsched-{process}")
    os.environ.setdefault("OTEL_EXPORTER_OTLP_TIMEOUT", ENDS_WITHIN)
    resource = Resource.create({"service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    endpoint = f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip('/')}/v1/traces"
    provider.add_span_processor(_RequestsAndTasks(OTLPSpanExporter(endpoint)))
    trace.set_tracer_provider(provider)
    CeleryInstrumentor().instrument()
    Psycopg2Instrumentor().instrument()

    # Web processes run no exit handlers, but wait for such threads; a worker's children do neither.
    Background("the last traces", provider.force_flush, seconds=A_DAY, last=provider.shutdown).start()

    @worker_process_shutdown.connect(weak=False)
    def shut_down(**_: Any) -> None:
        provider.shutdown()


def ids() -> dict[str, str]:
    """Return what the log's entries of this request or task are about, as attributes of a span."""
    return {f"idcsched.{name}": str(value) for name, value in get_contextvars().items() if name.endswith("_id")}


class _RequestsAndTasks(BatchSpanProcessor):
    """Sends the spans of requests and tasks, each with the ids that are known at its start.

    A query that belongs to neither is not sent: background threads look for news several times a second.
    """

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        super().on_start(span, parent_context)
        span.set_attributes(ids())

    def on_end(self, span: ReadableSpan) -> None:
        if span.parent is not None or span.kind is not trace.SpanKind.CLIENT:
            super().on_end(span)
