"""Every response says which request it answers: in its header, in logs, and in what the request left behind."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from uuid_utils import uuid7

__all__ = ["HEADER", "RequestIdMiddleware", "request_id_given", "request_id_of"]

HEADER = "X-Request-ID"
META = "HTTP_X_REQUEST_ID"
_SANE = re.compile(r"^[A-Za-z0-9._:/+=-]{1,128}$")


class RequestIdMiddleware:
    """Keeps the client's own id, if it sent a sane one, else makes one up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = request_id_given(request)
        response = self.get_response(request)
        response[HEADER] = name
        return response


def request_id_given(request: HttpRequest) -> str:
    """The id that this HTTP request has from now on."""
    said = request.META.get(META, "")  # `headers` would parse them all
    name = said if said and _SANE.match(said) else str(uuid7())
    request.request_id = name  # type: ignore[attr-defined]
    return name


def request_id_of(request: HttpRequest | Request) -> str:
    """The id of this HTTP request."""
    return str(getattr(request, "request_id", ""))
