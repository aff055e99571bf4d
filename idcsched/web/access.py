"""The access middleware: counts and times every request by its route, and writes the access log."""

import logging
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Final

from django.contrib.admindocs.views import simplify_regex
from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import SimpleLazyObject
from prometheus_client import Counter, Histogram

from .hosts import MONITORING

__all__ = ["AccessMiddleware", "method_of", "route_of"]

logger = logging.getLogger(__name__)

SECONDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
NO_ROUTE: Final = "none"
"""The route of a request that was answered before its view was looked up: a static file, a refusal."""

requests = Counter("idcsched_http_requests", "HTTP requests that were answered.", ["method", "route", "status"])
seconds = Histogram(
    "idcsched_http_request_duration_seconds",
    "From the first middleware to the answer.",
    ["method", "route"],
    buckets=SECONDS,
)


class AccessMiddleware:
    """Middleware that counts, times and logs requests; it stands outside of all that may refuse one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        response = self.get_response(request)
        elapsed = perf_counter() - started
        method, route = method_of(request), route_of(request)
        requests.labels(method, route, str(response.status_code)).inc()
        seconds.labels(method, route).observe(elapsed)
        if logger.isEnabledFor(logging.INFO) and request.path_info not in MONITORING:
            logger.info(
                "request",
                extra={
                    "method": request.method,
                    "route": route,
                    "path": request.path_info,  # without the query, where careless clients put secrets
                    "status": response.status_code,
                    "ms": round(elapsed * 1000, 1),
                    "caller": _caller(request),
                },
            )
        return response


def method_of(request: HttpRequest) -> str:
    """Return the request's method, "other" for one that HTTP does not know."""
    return request.method if request.method in METHODS else "other"


def route_of(request: HttpRequest) -> str:
    """Return the address of the view that has answered, with `<name>` in place of each name."""
    return NO_ROUTE if request.resolver_match is None else _shown(request.resolver_match.route)


@cache
def _shown(route: str) -> str:
    """Return the route with `<name>` in place of each pattern."""
    return str(simplify_regex(route))


def _caller(request: HttpRequest) -> str:
    """Return the name of the authenticated user, "" if there is none or nobody asked for it; makes no query."""
    user = getattr(request, "_cached_user", None) or getattr(request, "user", None)
    return "" if user is None or isinstance(user, SimpleLazyObject) else str(user.get_username())
