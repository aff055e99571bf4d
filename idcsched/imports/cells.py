"""What one cell holds: from a spreadsheet's text or a JSON value to what the services take, and back."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final

from django.utils.dateparse import parse_datetime

from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import Invalid, Template

from .harmless import made_harmless, taken_back

__all__ = ["DOCUMENT", "KEEP", "MOMENT", "NAME", "NUMBER", "TEXT", "WHOLE", "Cell", "Kept"]

DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SPREADSHEET_TIME = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?", re.ASCII)
EXACT = 2**53
"""Up to here every whole number is a float of its own."""


class Kept(Enum):
    """Says that a field stays as it is."""

    KEEP = "keep"


KEEP: Final = Kept.KEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One way to hold a value. The functions get what is not empty, and raise Invalid without a pointer."""

    read: Callable[[str], Any]
    """From a cell's text."""
    take: Callable[[Any], Any]
    """From a JSON value."""
    text: Callable[[Any], str]
    """As a cell's text."""
    json: Callable[[Any], Any] = lambda value: value
    """As a JSON value."""


def _is(kind: type | tuple[type, ...], detail: Template) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise Invalid("wrong_type", detail)
        return value

    return checked


_text = _is(str, "this must be a text")
_number = _is((int, float), "this must be a number")
_whole = _is(int, "this must be a whole number")


def _take_number(value: Any) -> float:
    try:
        return float(_number(value))
    except OverflowError:
        raise Invalid("out_of_range", "this number is out of its range") from None


def _read_number(text: str) -> float:
    """Also as `1e3`; no signs between the digits, which mean different things in different countries."""
    plain = taken_back(text).strip()
    if not DECIMAL.fullmatch(plain):
        raise Invalid("wrong_type", "{text} is not a number", text=text[:40])
    return float(plain)


def _read_whole(text: str) -> int:
    number = _read_number(text)
    if not number.is_integer():
        raise Invalid("wrong_type", "{text} is not a whole number", text=text[:40])
    return int(number)


def _read_moment(text: str) -> datetime:
    """ISO 8601, or as spreadsheets show it; UTC unless it says otherwise."""
    plain = taken_back(text).strip()
    try:
        found = parse_datetime(plain) or _spreadsheet_time(plain)
    except ValueError:
        found = None
    if found is None:
        raise Invalid("wrong_type", "{text} is not a time such as 2030-05-01T08:00:00Z", text=text[:40])
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def _spreadsheet_time(text: str) -> datetime | None:
    found = SPREADSHEET_TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, clock = found.groups()
    hours, minutes, seconds = (int(part) for part in f"{clock or '0:00'}:0".split(":")[:3])
    return datetime(int(year), int(month), int(day), hours, minutes, seconds, tzinfo=UTC)


def _moment_text(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _number_text(value: float) -> str:
    """As short as it reads back the same."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < EXACT else repr(float(value))


def _read_document(text: str) -> Any:
    try:
        return decode_json(taken_back(text), Any)
    except Invalid as error:
        raise Invalid("malformed_json", "this is not valid JSON: {reason}", reason=error.errors[0].detail) from None


def _document_text(value: Any) -> str:
    return made_harmless(json.dumps(value, ensure_ascii=False, sort_keys=True))


TEXT: Final = Cell(read=taken_back, take=_text, text=made_harmless)
NAME: Final = Cell(
    read=lambda text: taken_back(text).strip(), take=lambda value: _text(value).strip(), text=made_harmless
)
"""A code, a reference, a word of a closed vocabulary: blanks around it mean nothing."""
NUMBER: Final = Cell(read=_read_number, take=_take_number, text=_number_text)
WHOLE: Final = Cell(read=_read_whole, take=_whole, text=str)
MOMENT: Final = Cell(
    read=_read_moment, take=lambda value: _read_moment(_text(value)), text=_moment_text, json=_moment_text
)
DOCUMENT: Final = Cell(read=_read_document, take=lambda value: value, text=_document_text)
