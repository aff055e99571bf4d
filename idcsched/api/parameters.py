"""Strict reading of the query string; errors point at a parameter as `?name`."""

import math
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote_to_bytes

from django.utils.dateparse import parse_datetime
from rest_framework.request import Request

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _

__all__ = [
    "MOST_LISTED",
    "amount_given",
    "errors_point_at_parameters",
    "pointer_to",
    "refuse_unknown_parameters",
    "time_given",
    "whole_number_given",
]

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
MOST_LISTED: Final = 20
"""Up to this number of unknown names, each error lists the names that exist."""
BLANK_OFFSET: Final = re.compile(r" (\d\d:?\d\d)$")
"""The offset of a time zone whose unescaped `+` has become a blank."""


def pointer_to(name: str) -> str:
    """Return how errors name a query parameter, in the place of a JSON pointer."""
    return f"?{name}"


@contextmanager
def errors_point_at_parameters() -> Iterator[None]:
    """Turn the pointers `/name` of the refusals raised inside into `?name`."""
    try:
        yield
    except Invalid as error:
        raise Invalid.of(
            FieldError(pointer_to(item.pointer.removeprefix("/")), item.code, item.detail, item.params)
            for item in error.errors
        ) from error


def refuse_unknown_parameters(request: Request, known: Collection[str], *, at_most_once: Collection[str]) -> None:
    """Raise Invalid for unknown parameters, those that are not UTF-8, and a second value of one in `at_most_once`.

    A misspelt filter would otherwise silently show everything.
    """
    if undecodable := list(_not_utf8(request.META.get("QUERY_STRING", ""))):
        raise Invalid.of(
            FieldError(pointer_to(name), "not_utf8", _("this is not percent-encoded UTF-8")) for name in undecodable
        )
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise Invalid.of(_unknown(name, known if len(unknown) <= MOST_LISTED else ()) for name in unknown)
    twice = [name for name in at_most_once if len(request.query_params.getlist(name)) > 1]
    if twice:
        raise Invalid.of(FieldError(pointer_to(name), "given_twice", _("this can be given once")) for name in twice)


def _unknown(name: str, known: Collection[str]) -> FieldError:
    """Return the error of an unknown parameter; it lists the `known` ones without their look-ups (`name__gte`)."""
    if names := sorted(other for other in known if "__" not in other or other.partition("__")[0] not in known):
        detail = _("there is no such parameter; there are {choices}")
        return FieldError(pointer_to(name), "unknown_parameter", detail, {"choices": ", ".join(names)})
    return FieldError(pointer_to(name), "unknown_parameter", _("there is no such parameter"))


def _not_utf8(query: str) -> Iterator[str]:
    """Yield the names of parameters that are not UTF-8: Django would silently replace their bytes."""
    for pair in query.encode("latin-1").split(b"&"):
        try:
            unquote_to_bytes(pair).decode()
        except UnicodeDecodeError:
            yield unquote_to_bytes(pair.partition(b"=")[0]).decode(errors="replace")


def whole_number_given(request: Request, name: str, *, default: int, low: int, high: int) -> int:
    """Return the parameter as a whole number; raises Invalid where it is none, or out of range."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(high)) and low <= int(text) <= high):
        detail = _("this must be a whole number from {low} to {high}")
        raise Invalid("out_of_range", detail, pointer_to(name), low=low, high=high)
    return int(text)


def amount_given(request: Request, name: str) -> float:
    """Return the parameter as a number that is not below 0, 0 where it is not given; raises Invalid."""
    text = request.query_params.get(name, "0")
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise Invalid("out_of_range", _("this must be a number that is not below 0"), pointer_to(name))
    return amount


def time_given(text: str, pointer: str) -> datetime:
    """Parse a time with its zone; raises Invalid."""
    try:
        parsed = parse_datetime(BLANK_OFFSET.sub(r"+\1", text))
    except ValueError:
        parsed = None
    if parsed is None:
        raise Invalid("wrong_type", _("this must be a time such as 2026-01-31T12:00:00Z"), pointer)
    if parsed.tzinfo is None:
        raise Invalid("zone_required", _("a time needs its time zone"), pointer)
    if not EARLIEST <= parsed <= LATEST:
        raise Invalid("out_of_range", _("this lies outside of the calendar that is kept"), pointer)
    return parsed
