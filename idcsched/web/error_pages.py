"""Errors outside of any view: a page for a browser, a problem document for a program."""

import sys
from collections.abc import Callable
from http import HTTPStatus

from csp.decorators import csp
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from idcsched.api import problems
from idcsched.api.middleware import request_id_of
from idcsched.console.theme import theme_of
from idcsched.framework.errors import Unavailable

__all__ = [
    "bad_request",
    "csrf_failure",
    "not_found",
    "permission_denied",
    "server_error",
    "unavailable",
    "wants_page",
]

with_page_policy: Callable[[Callable[[HttpRequest], HttpResponse]], Callable[[HttpRequest], HttpResponse]] = csp(
    settings.PAGES_SECURITY_POLICY
)  # type: ignore[assignment]  # the decorated view returns what the view returns


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400."""
    if not wants_page(request):
        return problems.bad_request(request, exception)
    detail = _("The address or the form has something in it that can't be understood.")
    return _page(request, HTTPStatus.BAD_REQUEST, _("This can't be understood"), detail)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403."""
    if not wants_page(request):
        return problems.forbidden()
    detail = _("Your role or your regions do not allow this. Ask an administrator if you need it.")
    return _page(request, HTTPStatus.FORBIDDEN, _("Not allowed"), detail)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose CSRF token is missing or not this session's."""
    if not wants_page(request):
        return problems.forbidden()
    detail = _(
        "The form was filled in before you logged in anew, or it comes from another site. Nothing was done. "
        "Go back, load the page again, and send it again."
    )
    return _page(request, HTTPStatus.FORBIDDEN, _("This form is out of date"), detail)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404."""
    if not wants_page(request):
        return problems.not_found(request, exception)
    detail = _("Nothing has this address, or what it named was deleted.")
    return _page(request, HTTPStatus.NOT_FOUND, _("There is no such page"), detail)


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer 503: the database is away, or too many requests wait for it."""
    if not wants_page(request):
        return problems.unavailable(error)
    detail = _("The database does not answer, or too many requests wait for it. Nothing was done; try again soon.")
    return _page(request, HTTPStatus.SERVICE_UNAVAILABLE, _("Not available now"), detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: a bug, whose traceback is in the log under the request's id, or something that is away."""
    error = sys.exception()
    if isinstance(error, OperationalError | InterfaceError | Unavailable):
        return unavailable(request, error)
    if not wants_page(request):
        return problems.server_error(request)
    detail = _("The log has the error under the id of this request; tell it to whoever runs this installation.")
    return _page(request, HTTPStatus.INTERNAL_SERVER_ERROR, _("Something failed on our side"), detail)


def wants_page(request: HttpRequest) -> bool:
    """Whether to answer with a page: outside of the API, to a request that accepts `text/html`."""
    return not request.path.startswith("/api/") and "text/html" in request.headers.get("Accept", "")


def _page(request: HttpRequest, status: HTTPStatus, title: Promise, detail: Promise) -> HttpResponse:
    """Render an error page without the request's context, which may query the database."""
    request_id = request_id_of(request) if status == HTTPStatus.INTERNAL_SERVER_ERROR else ""
    theme = theme_of(request)
    context = {"status": int(status), "title": title, "detail": detail, "request_id": request_id, "theme": theme}

    def render(_: HttpRequest) -> HttpResponse:
        return HttpResponse(render_to_string("administration/error.html", context), status=status)

    return with_page_policy(render)(request)
