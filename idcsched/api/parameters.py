"""The query string: each parameter is known, means something, and is pointed at as `?name` where it does not."""

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
    "parameters_pointed_at",
    "pointer_to",
    "refuse_unknown_parameters",
    "time_given",
    "whole_number_given",
]

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
MOST_LISTED: Final = 20
"""Of so many unknown names each is refused with those that there are."""
BLANK_OFFSET: Final = re.compile(r" (\d\d:?\d\d)$")
"""An unescaped `+` of a time zone arrives as a blank."""


def pointer_to(name: str) -> str:
    """What an error says of a query parameter, where it says a JSON pointer of a body's field."""
    return f"?{name}"


@contextmanager
def parameters_pointed_at() -> Iterator[None]:
    """What is refused inside as a document's field `/name` is the query parameter `?name`."""
    try:
        yield
    except Invalid as error:
        raise Invalid.of(
            FieldError(pointer_to(item.pointer.removeprefix("/")), item.code, item.detail, item.params)
            for item in error.errors
        ) from error


def refuse_unknown_parameters(request: Request, known: Collection[str], *, single: Collection[str]) -> None:
    """Raises Invalid: a misspelt parameter would silently show everything, one of two values be the wrong one.

    So is one that is no text refused, whether it is known or not.
    """
    if undecodable := list(_not_utf8(request.META.get("QUERY_STRING", ""))):
        raise Invalid.of(
            FieldError(pointer_to(name), "not_utf8", _("this is not percent-encoded UTF-8")) for name in undecodable
        )
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise Invalid.of(_unknown(name, known if len(unknown) <= MOST_LISTED else ()) for name in unknown)
    twice = [name for name in single if len(request.query_params.getlist(name)) > 1]
    if twice:
        raise Invalid.of(FieldError(pointer_to(name), "given_twice", _("this can be given once")) for name in twice)


def _unknown(name: str, known: Collection[str]) -> FieldError:
    """`name` is refused, and what there is instead is listed, without the look-ups of what is listed."""
    if names := sorted(each for each in known if "__" not in each or each.partition("__")[0] not in known):
        detail = _("there is no such parameter; there are {choices}")
        return FieldError(pointer_to(name), "unknown_parameter", detail, {"choices": ", ".join(names)})
    return FieldError(pointer_to(name), "unknown_parameter", _("there is no such parameter"))


def _not_utf8(query: str) -> Iterator[str]:
    """The names of the parameters in which Django puts a substitute, so that another text would be looked for."""
    for pair in query.encode("latin-1").split(b"&"):
        try:
            unquote_to_bytes(pair).decode()
        except UnicodeDecodeError:
            yield unquote_to_bytes(pair.partition(b"=")[0]).decode(errors="replace")


def whole_number_given(request: Request, name: str, default: int, *, low: int, high: int) -> int:
    """A whole number; raises Invalid where it is none, or out of its range."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(high)) and low <= int(text) <= high):
        detail = _("this must be a whole number from {low} to {high}")
        raise Invalid("out_of_range", detail, pointer_to(name), low=low, high=high)
    return int(text)


def time_given(text: str, pointer: str) -> datetime:
    """A time, in UTC unless it says otherwise; raises Invalid."""
    try:
        parsed = parse_datetime(BLANK_OFFSET.sub(r"+\1", text))
    except ValueError:
        parsed = None
    if parsed is None:
        raise Invalid("wrong_type", _("this must be a time such as 2026-01-31T12:00:00Z"), pointer)
    known = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    if not EARLIEST <= known <= LATEST:
        raise Invalid("out_of_range", _("this lies outside of the calendar that is kept"), pointer)
    return known
