"""Every refusal is one shape: `application/problem+json` (RFC 9457) with a stable code.

DRF's and Django's own exceptions and this project's error tree all come out of `problem_response`.
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
RETRY_SECONDS = 5
LONGEST = 1000
"""Characters of any one text of a problem."""
MOST_ERRORS = 1000
"""So many of what is wrong are named."""
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


def problem(
    status: int, code: str, detail: str, errors: list[dict[str, str]] | None = None, **extra: Any
) -> dict[str, Any]:
    """The document itself: what is wrong, said at no such length as a client may have sent it."""
    title = HTTPStatus(status).phrase
    told = islice(errors or (), MOST_ERRORS)
    return {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": shortened(detail),
        "code": code,
        "errors": [{name: shortened(text) for name, text in error.items()} for error in told],
        **extra,
    }


def shortened(text: str) -> str:
    """As much of it as is worth saying: a name may be as long as a body."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def problem_of(error: IdcschedError) -> dict[str, Any]:
    """The document of a refusal that is part of a larger answer."""
    return _own(error)[1]


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's hook: what any exception looks like to the client. None: not ours, a bug."""
    view = context.get("view")
    answered = _answered(error)
    if answered is None:
        return None
    status, document, headers = answered
    if status == HTTPStatus.UNAUTHORIZED and view is not None:
        headers["WWW-Authenticate"] = "Bearer"
    response = Response(document, status=status, headers=headers, content_type=CONTENT_TYPE)
    response.exception = True
    return response


def _answered(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]] | None:
    if isinstance(error, IdcschedError):
        return _own(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, RequestDataTooBig):
        return _plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", gettext("the body is too large"))
    elif isinstance(error, IntegrityError):
        return _plain(HTTPStatus.CONFLICT, "conflict", gettext("it contradicts the state of things"))
    elif isinstance(error, OperationalError | InterfaceError):
        logger.error("the database failed", exc_info=error)
        headers = {"Retry-After": str(RETRY_SECONDS)}
        return (
            HTTPStatus.SERVICE_UNAVAILABLE,
            problem(503, "database_unavailable", gettext("the database is away")),
            headers,
        )
    return _rest_framework(error) if isinstance(error, exceptions.APIException) else None


def status_of(kind: type[IdcschedError]) -> HTTPStatus:
    """With which status such an error is answered."""
    return next((status for known, status in _STATUS if issubclass(kind, known)), HTTPStatus.INTERNAL_SERVER_ERROR)


def _own(error: IdcschedError) -> tuple[int, dict[str, Any], dict[str, str]]:
    status = status_of(type(error))
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    extra = {name: msgspec.to_builtins(value) for name, value in error.extra.items()}
    return status, problem(status, error.code, explained(error), _errors(error), **extra), headers


def _errors(error: IdcschedError) -> list[dict[str, str]]:
    """Where it is wrong: in the fields, or in the item of a list that stands in conflict with something."""
    if isinstance(error, Invalid):
        return [_field(field) for field in error.errors]
    pointer = getattr(error, "pointer", "")
    return [{"pointer": pointer, "code": error.code, "detail": explained(error)}] if pointer else []


def _field(error: FieldError) -> dict[str, str]:
    return {"pointer": error.pointer, "code": error.code, "detail": explained(error)}


def _plain(status: HTTPStatus, code: str, detail: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    return status, problem(status, code, detail), {}


def _rest_framework(error: exceptions.APIException) -> tuple[int, dict[str, Any], dict[str, str]]:
    headers = {}
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if isinstance(error, exceptions.ValidationError):
        return _own(Invalid.of(field_errors(error)))
    codes = error.get_codes()
    code = CODES.get(str(codes), str(codes)) if isinstance(codes, str) else "invalid"
    pointer, detail = getattr(error, "pointer", ""), str(error.detail)
    errors = [{"pointer": pointer, "code": code, "detail": detail}] if pointer else []
    return error.status_code, problem(error.status_code, code, detail, errors), headers


def field_errors(error: exceptions.ValidationError) -> Iterator[FieldError]:
    """What DRF found wrong, with JSON pointers."""
    return _flattened(error.get_full_details(), "")


def _flattened(details: Any, pointer: str) -> Iterator[FieldError]:
    if _is_leaf(details):
        code = str(details["code"])
        yield FieldError(pointer, code_of(code), _("{reason}"), {"reason": str(details["message"])})
    elif isinstance(details, Mapping):
        for key, value in details.items():
            yield from _flattened(value, pointer if key == "non_field_errors" else f"{pointer}/{escaped(key)}")
    elif isinstance(details, list):
        whole = all(_is_leaf(value) for value in details)
        for index, value in enumerate(details):
            yield from _flattened(value, pointer if whole else f"{pointer}/{index}")


def _is_leaf(details: Any) -> bool:
    return isinstance(details, Mapping) and set(details) == {"message", "code"}


def escaped(step: object) -> str:
    """One step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Refuse a request that Django could not read."""
    return _bare(HTTPStatus.BAD_REQUEST, "bad_request", gettext("the request could not be understood"))


def forbidden() -> HttpResponse:
    """Refuse what no API view has refused: a page, or a form without its CSRF token."""
    return _bare(HTTPStatus.FORBIDDEN, "forbidden", gettext("this is not allowed"))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Refuse a path that no view has."""
    return _bare(HTTPStatus.NOT_FOUND, "not_found", gettext("nothing has this address"))


def slash_missing(path: str) -> HttpResponse:
    """For a write to an address that lacks its closing slash."""
    detail = gettext("addresses end in a slash: {path}").format(path=path)
    return _bare(HTTPStatus.NOT_FOUND, "slash_missing", detail)


def unavailable(error: Exception) -> HttpResponse:
    """Refuse what can't be answered now, outside of any API view."""
    answered = _answered(error)
    assert answered is not None, error  # noqa: S101  # the callers give an Unavailable, or what the database raises
    status, document, headers = answered
    return JsonResponse(document, status=status, headers=headers, content_type=CONTENT_TYPE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a bug; its traceback is in the log under the request's id."""
    detail = gettext("something failed on our side; the log has it under the request's id, {request_id}")
    return _bare(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", detail.format(request_id=request_id_of(request)))


def _bare(status: HTTPStatus, code: str, detail: str) -> JsonResponse:
    return JsonResponse(problem(status, code, detail), status=status, content_type=CONTENT_TYPE)
