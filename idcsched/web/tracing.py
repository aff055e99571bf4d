"""The middleware of traces, which the settings list where there is somebody to send them to.

It takes the place of OpenTelemetry's own for Django, which asks for the Host header that monitoring need not send, and
puts the query of an address into spans, where careless clients put secrets.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponseBase
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, Status, StatusCode, get_tracer

from idcsched.config.tracing import ids

from .access import method_of, route_of
from .hosts import MONITORING

__all__ = ["TracingMiddleware"]

tracer = get_tracer(__name__)


class TracingMiddleware:
    """Middleware that makes a request a span, below that of a caller who sends `traceparent`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in MONITORING:
            return self.get_response(request)
        method = method_of(request)
        with tracer.start_as_current_span(method, extract(request.headers), SpanKind.SERVER) as span:
            response = self.get_response(request)
            route = route_of(request)
            span.update_name(f"{method} {route}")
            span.set_attributes(
                {
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": response.status_code,
                    "url.path": request.path_info,
                    **ids(),
                }
            )
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.set_status(Status(StatusCode.ERROR))
            return response
