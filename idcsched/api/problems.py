"""Problem documents (`application/problem+json`, RFC 9457), each with a stable code: the form of every refusal.

`_refusal` makes the documents from DRF's and Django's exceptions and from this project's error tree.
"""

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

import msgspec
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.response import Response

from idcsched.audit.row_check import code_of
from idcsched.framework.errors import (
    Conflict,
    FieldError,
    Forbidden,
    IdcschedError,
    Invalid,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from idcsched.framework.messages import _
from idcsched.language.wording import explained

from .middleware import request_id_of

__all__ = [
    "CONTENT_TYPE",
    "bad_request",
    "escaped",
    "exception_handler",
    "field_errors",
    "forbidden",
    "not_found",
    "problem",
    "problem_of",
    "server_error",
    "shortened",
    "slash_missing",
]

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: _("Bad Request"),
    401: _("Unauthorized"),
    403: _("Forbidden"),
    404: _("Not Found"),
    405: _("Method Not Allowed"),
    406: _("Not Acceptable"),
    409: _("Conflict"),
    412: _("Precondition Failed"),
    413: _("Request Entity Too Large"),
    415: _("Unsupported Media Type"),
    422: _("Unprocessable Entity"),
    429: _("Too Many Requests"),
    500: _("Internal Server Error"),
    503: _("Service Unavailable"),
}
"""The titles of problem documents: the phrases of HTTP, so that they can be translated."""
RETRY_SECONDS = 5
LONGEST = 1000
"""The most characters of one text in a problem document."""
MOST_ERRORS = 1000
"""The most errors that a problem document lists."""
_STATUS = (
    (Invalid, HTTPStatus.BAD_REQUEST),
    (Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)
CODES = {
    "permission_denied": "forbidden",
    "not_authenticated": "token_missing",
    "authentication_failed": "token_invalid",
    "parse_error": "malformed_json",
    "error": "bad_request",
}
"""DRF's codes, each with the API's code in its place."""


def problem(
    status: int, code: str, detail: str, errors: list[dict[str, str]] | None = None, **extra: Any
) -> dict[str, Any]:
    """Return a problem document, its texts shortened and its errors limited."""
    listed = islice(errors or (), MOST_ERRORS)
    return {
        "type": "about:blank",
        "title": gettext(TITLES.get(status) or HTTPStatus(status).phrase),
        "status": status,
        "detail": shortened(detail),
        "code": code,
        "errors": [{name: shortened(text) for name, text in error.items()} for error in listed],
        **extra,
    }


def shortened(text: str) -> str:
    """Cut a text to LONGEST characters: it may quote a name from the request that is as long as the whole body."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def problem_of(error: IdcschedError) -> dict[str, Any]:
    """Return the problem document of a refusal that is part of a larger answer."""
    return _idcsched_refusal(error)[1]


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn an exception into a problem response (DRF's hook); None for an unknown exception, which is a bug."""
    view = context.get("view")
    refusal = _refusal(error)
    if refusal is None:
        return None
    status, document, headers = refusal
    if status == HTTPStatus.UNAUTHORIZED and view is not None:
        headers["WWW-Authenticate"] = "Bearer"
    response = Response(document, status=status, headers=headers, content_type=CONTENT_TYPE)
    response.exception = True
    return response


def _refusal(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]] | None:
    """Return the status, document and headers of an exception, None for an unknown one."""
    if isinstance(error, IdcschedError):
        return _idcsched_refusal(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, RequestDataTooBig):
        return _plain_refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", gettext("the body is too large"))
    elif isinstance(error, IntegrityError):
        return _plain_refusal(HTTPStatus.CONFLICT, "conflict", gettext("it contradicts the state of things"))
    elif isinstance(error, OperationalError | InterfaceError):
        logger.error("the database failed", exc_info=error)
        headers = {"Retry-After": str(RETRY_SECONDS)}
        return (
            HTTPStatus.SERVICE_UNAVAILABLE,
            problem(503, "database_unavailable", gettext("the database is away")),
            headers,
        )
    return _drf_refusal(error) if isinstance(error, exceptions.APIException) else None


def status_of(kind: type[IdcschedError]) -> HTTPStatus:
    """Return the HTTP status of a class of errors."""
    return next((status for known, status in _STATUS if issubclass(kind, known)), HTTPStatus.INTERNAL_SERVER_ERROR)


def _idcsched_refusal(error: IdcschedError) -> tuple[int, dict[str, Any], dict[str, str]]:
    status = status_of(type(error))
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    extra = {name: msgspec.to_builtins(value) for name, value in error.extra.items()}
    return status, problem(status, error.code, explained(error), _errors(error), **extra), headers


def _errors(error: IdcschedError) -> list[dict[str, str]]:
    """Return the document's `errors`: all field errors of an Invalid; of another error itself, if it has a pointer."""
    if isinstance(error, Invalid):
        return [{"pointer": item.pointer, "code": item.code, "detail": explained(item)} for item in error.errors]
    pointer = getattr(error, "pointer", "")
    return [{"pointer": pointer, "code": error.code, "detail": explained(error)}] if pointer else []


def _plain_refusal(status: HTTPStatus, code: str, detail: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    return status, problem(status, code, detail), {}


def _drf_refusal(error: exceptions.APIException) -> tuple[int, dict[str, Any], dict[str, str]]:
    headers = {}
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if isinstance(error, exceptions.ValidationError):
        return _idcsched_refusal(Invalid.of(field_errors(error)))
    codes = error.get_codes()
    code = CODES.get(str(codes), str(codes)) if isinstance(codes, str) else "invalid"
    pointer, detail = getattr(error, "pointer", ""), str(error.detail)  # StaleETag has a pointer
    errors = [{"pointer": pointer, "code": code, "detail": detail}] if pointer else []
    return error.status_code, problem(error.status_code, code, detail, errors), headers


def field_errors(error: exceptions.ValidationError) -> Iterator[FieldError]:
    """Yield DRF's validation errors as field errors with JSON pointers."""
    return _flattened(error.get_full_details(), "")


def _flattened(details: Any, pointer: str) -> Iterator[FieldError]:
    if _is_leaf(details):
        code = str(details["code"])
        yield FieldError(pointer, code_of(code), _("{reason}"), {"reason": str(details["message"])})
    elif isinstance(details, Mapping):
        for key, value in details.items():
            yield from _flattened(value, pointer if key == "non_field_errors" else f"{pointer}/{escaped(key)}")
    elif isinstance(details, list):
        only_leaves = all(_is_leaf(value) for value in details)  # then all are errors of one value
        for index, value in enumerate(details):
            yield from _flattened(value, pointer if only_leaves else f"{pointer}/{index}")


def _is_leaf(details: Any) -> bool:
    return isinstance(details, Mapping) and set(details) == {"message", "code"}


def escaped(step: object) -> str:
    """Escape one step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Refuse a request that Django could not read."""
    return _problem_response(HTTPStatus.BAD_REQUEST, "bad_request", gettext("the request could not be understood"))


def forbidden() -> HttpResponse:
    """Answer 403 outside of any API view: a page, or a form without its CSRF token."""
    return _problem_response(HTTPStatus.FORBIDDEN, "forbidden", gettext("this is not allowed"))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Refuse a path that no view has."""
    return _problem_response(HTTPStatus.NOT_FOUND, "not_found", gettext("nothing has this address"))


def slash_missing(path: str) -> HttpResponse:
    """Refuse a write to an address that lacks its closing slash."""
    detail = gettext("addresses end in a slash: {path}").format(path=path)
    return _problem_response(HTTPStatus.NOT_FOUND, "slash_missing", detail)


def unavailable(error: Exception) -> HttpResponse:
    """Answer 503 outside of any API view, to an Unavailable or an error of the database connection."""
    refusal = _refusal(error)
    assert refusal is not None, error  # noqa: S101  # the callers pass no other error
    status, document, headers = refusal
    return JsonResponse(document, status=status, headers=headers, content_type=CONTENT_TYPE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 for a bug, whose traceback is in the log under the request's id."""
    detail = gettext("something failed on our side; the log has it under the request's id, {request_id}")
    return _problem_response(
        HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", detail.format(request_id=request_id_of(request))
    )


def _problem_response(status: HTTPStatus, code: str, detail: str) -> JsonResponse:
    return JsonResponse(problem(status, code, detail), status=status, content_type=CONTENT_TYPE)
