"""What all pages of the console share: who may see them, their security policy, the zone of their times, refusals."""

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, wraps
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote
from zoneinfo import available_timezones

from csp.decorators import csp
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.models import User
from idcsched.accounts.roles import Principal, principal_of
from idcsched.audit.context import origin_set
from idcsched.audit.models import Via
from idcsched.inventory.scope import scoped

from .theme import theme_of

__all__ = [
    "MAX_MESSAGE",
    "NEAR",
    "REFRESH",
    "console_origin",
    "named",
    "page",
    "principal_of_page",
    "shown",
    "whole_number",
]

REFRESH: Final = "every 3s"
"""How often the live part of a page is asked for again, as htmx's `hx-trigger` has it."""
MAX_MESSAGE: Final = 500
NEAR: Final = 3
"""The most names that a page offers instead of one that is not there."""
DIGITS: Final = 10
"""A number with fewer digits fits 32 bits."""
View = Callable[..., HttpResponse]


class _NotNamed(Http404):
    """Nothing has the name that the address names; `sentence` says so, `near` are the names that are nearly so."""

    def __init__(self, sentence: str, near: list[tuple[str, str]]) -> None:
        super().__init__(sentence)
        self.near = near


def named(rows: QuerySet[Any], code: str, *, sentence: str | Promise, route: str) -> Any:
    """Return the row with that code; where there is none, raise Http404 with the pages of those with nearly that code.

    `sentence` says that there is none, with the code as `%(name)s`; `route` is the URL of the rows' pages.
    """
    row = rows.filter(code=code).first()
    if row is None:
        near = get_close_matches(code, rows.values_list("code", flat=True), n=NEAR)
        raise _NotNamed(str(sentence) % {"name": code[:64]}, [(name, reverse(route, args=[name])) for name in near])
    return row


def whole_number(text: str) -> int:
    """Return the whole number that was typed; 0 for any other text, and for a number that 32 bits can't hold."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < DIGITS else 0


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
            request.principal = principal  # type: ignore[attr-defined]  # read by principal_of_page alone
            with timezone.override(_zone(request)):
                try:
                    _require(principal, capability)
                    return view(request, *args, **kwargs)
                except (Http404, PermissionDenied) as error:
                    if "text/html" not in request.headers.get("Accept", ""):
                        raise  # a program, which gets a problem document
                    return _refused(request, error)

        protected: View = csp(settings.CONSOLE_SECURITY_POLICY)(answer)  # type: ignore[assignment]  # returns what it is given
        return protected

    return decorate


def _require(principal: Principal, capability: str) -> None:
    if not principal.can(capability):
        raise PermissionDenied(capability)


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
    shared = {
        "principal": principal,
        "may_schedule": principal.can("schedule"),
        "zone": zone,
        "theme": theme_of(request),
        "refresh": REFRESH,
        "wrong": None,  # the overview knows it, other pages ask for it once they are there
    }
    return render(request, f"console/{template}", shared | dict(context), status=status)


def _refused(request: HttpRequest, error: Http404 | PermissionDenied) -> HttpResponse:
    """Return the page that says that nothing is there, or that it is not for this user."""
    if isinstance(error, PermissionDenied):
        may_read = principal_of_page(request).can("read")
        detail = _("You may look at this, but not change it. Ask an administrator if you need to.")
        elsewhere = _("Your role does not show this. Ask an administrator if you need it.")
        context = {"title": _("Not allowed"), "detail": detail if may_read else elsewhere}
        return shown(request, "state.html", context, status=HTTPStatus.FORBIDDEN)
    near = format_html_join(", ", '<a href="{1}">{0}</a>', error.near if isinstance(error, _NotNamed) else [])
    detail = _("It may have another name by now, or it was deleted.")
    title = str(error) if isinstance(error, _NotNamed) else _("There is no such page")
    return shown(request, "state.html", {"title": title, "detail": detail, "near": near}, status=HTTPStatus.NOT_FOUND)


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
    return zone if zone in _zones() else settings.BILLING_ZONE


@cache
def _zones() -> Set[str]:
    """Return the names of all zones, which are looked for in a folder of hundreds of files."""
    return available_timezones()


def _login(request: HttpRequest) -> HttpResponse:
    """Send somebody without a session to the login page; a part of a page that htmx asks for takes the whole there."""
    response = redirect_to_login(request.get_full_path(), reverse("admin:login"))
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return response
