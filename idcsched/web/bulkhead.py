"""The middleware of the bulkhead (`db.places`): every request holds a place, except those that wait for no server."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from idcsched.db.places import place
from idcsched.framework.errors import Unavailable
from idcsched.web import error_pages
from idcsched.web.hosts import MONITORING

__all__ = ["BulkheadMiddleware"]

SCHEDULE: Final = reverse("schedule")


class BulkheadMiddleware:
    """Middleware that holds a place for a request.

    The views of a recommendation by token, of `/health/ready/` and of `/metrics` take one themselves if they must. The
    latter two answer with what they know if they find none: they are wanted most while all places are taken.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if _needs_no_place(request):
            return self.get_response(request)
        try:
            with place():
                return self.get_response(request)
        except Unavailable as error:
            return error_pages.unavailable(request, error)


def _needs_no_place(request: HttpRequest) -> bool:
    if request.path_info == SCHEDULE:
        return "HTTP_AUTHORIZATION" in request.META and "HTTP_IDEMPOTENCY_KEY" not in request.META
    return request.path_info in MONITORING
