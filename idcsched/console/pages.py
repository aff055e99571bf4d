"""What all pages of the console share: who may see them, their security policy, the zone of their times, refusals."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote
from zoneinfo import available_timezones

from csp.decorators import csp
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, principal_of
from idcsched.audit.context import origin_set
from idcsched.audit.models import Via
from idcsched.inventory.scope import scoped

__all__ = ["MAX_MESSAGE", "REFRESH", "console_origin", "page", "principal_of_page", "shown"]

REFRESH: Final = "every 3s"
"""How often the live part of a page is asked for again, as htmx's `hx-trigger` has it."""
MAX_MESSAGE: Final = 500
View = Callable[..., HttpResponse]


def page(capability: str = "read") -> Callable[[View], View]:
    """Let a view answer logged-in users with the capability; others log in first, or are refused.

    The view shows and reads times in the zone of the user's browser, and finds the user's Principal at
    `principal_of_page`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            user = request.user
            if not isinstance(user, User) or not user.is_active or not user.is_staff:
                return _login(request)
            if "\x00" in request.path or "\x00" in unquote(request.META.get("QUERY_STRING", "")):
                raise BadRequest("a NUL character")
            principal = scoped(principal_of(user))
            if not principal.can(capability):
                raise PermissionDenied(capability)
            request.principal = principal  # type: ignore[attr-defined]  # read by principal_of_page alone
            with timezone.override(_zone(request)):
                return view(request, *args, **kwargs)

        protected: View = csp(settings.CONSOLE_SECURITY_POLICY)(answer)  # type: ignore[assignment]  # returns what it is given
        return protected

    return decorate


def principal_of_page(request: HttpRequest) -> Principal:
    """Return the Principal of the user who asks for a page."""
    principal: Principal = request.principal  # type: ignore[attr-defined]  # set by `page`
    return principal


def shown(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = HTTPStatus.OK
) -> HttpResponse:
    """Return a page of the console with what all pages show: who is logged in, and the zone of the times."""
    zone = timezone.get_current_timezone_name()
    principal = principal_of_page(request)
    shared = {"principal": principal, "may_schedule": principal.can("schedule"), "zone": zone, "refresh": REFRESH}
    return render(request, f"console/{template}", shared | dict(context), status=status)


@contextmanager
def console_origin(request: HttpRequest) -> Iterator[None]:
    """Record the changes made inside as the user's, made in the console, with the form's `message` as their reason."""
    request_id = str(getattr(request, "request_id", ""))
    message = request.POST.get("message", "").replace("\x00", "").strip()[:MAX_MESSAGE]
    with origin_set(actor=request.user.get_username(), via=Via.CONSOLE, request_id=request_id, message=message):
        yield


def _zone(request: HttpRequest) -> str:
    """Return the time zone that the browser has named in a cookie, else the billing zone."""
    zone = unquote(request.COOKIES.get("zone", ""))
    return zone if zone in available_timezones() else settings.BILLING_ZONE


def _login(request: HttpRequest) -> HttpResponse:
    """Send somebody without a session to the login page; a part of a page that htmx asks for takes the whole there."""
    response = redirect_to_login(request.get_full_path(), reverse("admin:login"))
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return response
