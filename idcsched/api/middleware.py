"""Request ids: in the header of each response, in the log, and in the records that a request leaves."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from structlog.contextvars import bind_contextvars, clear_contextvars
from uuid_utils import uuid7

__all__ = ["HEADER", "RequestIdMiddleware", "request_id_given", "request_id_of"]

HEADER = "X-Request-ID"
META = "HTTP_X_REQUEST_ID"
_SANE = re.compile(r"^[A-Za-z0-9._:/+=-]{1,128}$")


class RequestIdMiddleware:
    """Middleware that gives each request an id: the client's own if that is sane, else a new one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = request_id_given(request)
        clear_contextvars()  # the thread may have answered another request before
        bind_contextvars(request_id=name)
        response = self.get_response(request)
        response[HEADER] = name
        return response


def request_id_given(request: HttpRequest) -> str:
    """Give the HTTP request its id, and return that id."""
    client_id = request.META.get(META, "")  # `request.headers` would parse every header
    name = client_id if client_id and _SANE.match(client_id) else str(uuid7())
    request.request_id = name  # type: ignore[attr-defined]
    return name


def request_id_of(request: HttpRequest | Request) -> str:
    """Return the id of the HTTP request."""
    return str(getattr(request, "request_id", ""))
