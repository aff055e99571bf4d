"""Converters of table cells and JSON values to the values that the services take, and back."""

import json
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db.models import DateTimeField, Field, FloatField, ForeignKey, IntegerField, JSONField
from django.utils.dateparse import parse_datetime
from django.utils.translation import override
from import_export.widgets import Widget
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from idcsched.db.fields import CodeField
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import Message, _

__all__ = ["KEEP", "Cell", "Kept", "Number", "Whole", "as_json", "blank", "cell_of", "escaped", "unescaped"]

STARTERS = "=+@＝＋＠－\\-"
PLACE = r"(^|[;\t\r\n])([ \t\r\n]*)"
DANGEROUS = re.compile(rf"{PLACE}('*[{STARTERS}])")
ESCAPED = re.compile(rf"{PLACE}'('*[{STARTERS}])")
DECIMAL = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
DAY = r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?"
CLOCK = r"(\d{1,2})[:时点](\d{1,2})?分?:?(\d{1,2})?秒?"
SPREADSHEET_TIME = re.compile(rf"{DAY}(?:[ T]*{CLOCK})?", re.ASCII)
SEPARATORS = re.compile(r"[,;、\n]")
EXACT = 2**53
"""Floats hold every whole number up to here exactly."""


class Kept(Enum):
    """The marker that an empty cell leaves the field as it is."""

    KEEP = "keep"


KEEP: Final = Kept.KEEP


def escaped(text: str) -> str:
    """Return the text with apostrophes before all that a spreadsheet could run as a formula after splitting cells."""
    return DANGEROUS.sub(r"\1\2'\3", text)


def unescaped(text: str) -> str:
    """Return the text without the apostrophes of `escaped`."""
    return ESCAPED.sub(r"\1\2\3", text)


def blank(value: Any) -> bool:
    """Return whether a cell is empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def as_json(value: Any) -> Any:
    """Return a field's value in the form that documents and previews have."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


class Cell(Widget):
    """A converter of text, blanks included. Raises Invalid, without a pointer, for a value that it cannot read."""

    types: ClassVar[tuple[type, ...]] = (str,)
    """The types that a JSON document may have here."""
    wanted: ClassVar[Message] = _("this must be a text")

    def clean(self, value: Any, row: Any = None, *, strict: bool = False, **kwargs: Any) -> Any:
        """Return the value for the services, None for an empty cell; `strict` reads a document's value, not a cell."""
        if value is None or (blank(value) and not strict):
            return None
        if strict:
            if not isinstance(value, self.types) or isinstance(value, bool):
                raise Invalid("wrong_type", self.wanted)
            return self.read(value)
        return self.read(unescaped(value) if isinstance(value, str) else value)

    def read(self, value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise Invalid("wrong_type", self.wanted)
        return str(value)

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> Any:
        """Return the value as a table's cell; in a workbook (`force_native_type`) numbers stay numbers."""
        return "" if value is None else self.write(value, native=bool(kwargs.get("force_native_type")))

    def write(self, value: Any, *, native: bool) -> Any:
        text = escaped(str(value))
        return ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text) if native else text


class Name(Cell):
    """A code, a reference, or a choice; a choice may be written in any case and by its label in any language."""

    def __init__(self, words: dict[str, str] | None = None) -> None:
        super().__init__()
        self._words = words or {}

    def read(self, value: Any) -> Any:
        text = super().read(value).strip()
        return self._words.get(text.lower(), text)


class Number(Cell):
    """A number, also as `1,000`, `1e3`, or in full-width digits."""

    types: ClassVar[tuple[type, ...]] = (int, float)
    wanted = _("this must be a number")

    def read(self, value: Any) -> Any:
        text = unicodedata.normalize("NFKC", repr(value) if isinstance(value, float) else str(value)).strip()
        if not isinstance(value, bool) and DECIMAL.fullmatch(text) and any(map(str.isdigit, text.partition("e")[0])):
            return float(text.replace(",", ""))
        raise Invalid("wrong_type", _("{text} is not a number"), text=text[:40])

    def write(self, value: Any, *, native: bool) -> Any:
        if native and float(f"{value:.15g}") == value:  # as many digits as a workbook keeps
            return value
        return f"{value:.0f}" if float(value).is_integer() and abs(value) < EXACT else repr(float(value))


class Share(Number):
    """A share of 1, also as `75%`."""

    def read(self, value: Any) -> Any:
        text = unicodedata.normalize("NFKC", str(value)).strip()
        share: float = super().read(text[:-1]) / 100 if text.endswith("%") else super().read(value)
        if not 0.0 < share <= 1.0:
            raise Invalid("out_of_range", _("{text} is not above 0 and at most 100%, which is 1"), text=text[:40])
        return share


class Whole(Number):
    types = (int,)
    wanted = _("this must be a whole number")

    def read(self, value: Any) -> Any:
        number = super().read(value)
        if not number.is_integer():
            raise Invalid("wrong_type", _("{text} is not a whole number"), text=str(value)[:40])
        return int(number)


class Moment(Cell):
    """A time: ISO 8601, as spreadsheets show times, or `2030年5月1日`; without a zone it is in UTC."""

    def read(self, value: Any) -> Any:
        try:
            if moment := value if isinstance(value, datetime) else _moment(str(value).strip()):
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise Invalid("wrong_type", _("{text} is not a time such as 2030-05-01T08:00:00Z"), text=str(value)[:40])

    def write(self, value: Any, *, native: bool) -> Any:
        return as_json(value)


def _moment(text: str) -> datetime | None:
    if not (parts := SPREADSHEET_TIME.fullmatch(text)):
        return parse_datetime(text)
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups())
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


class Document(Cell):
    """JSON; labels also as `owner=own, disk=ssd`, lists of names as `telecom, chinanet`."""

    def __init__(self, shape: type | None) -> None:
        super().__init__()
        self._shape = shape

    def clean(self, value: Any, row: Any = None, *, strict: bool = False, **kwargs: Any) -> Any:
        return value if strict else super().clean(value, row, **kwargs)

    def read(self, value: Any) -> Any:
        text = super().read(value).strip()
        parts = [part.strip() for part in SEPARATORS.split(unicodedata.normalize("NFKC", text)) if part.strip()]
        if not text.startswith(("{", "[", '"')):
            if self._shape is list:
                return parts
            if self._shape is dict and all("=" in part for part in parts):
                return {key.strip(): label.strip() for key, _, label in (part.partition("=") for part in parts)}
        try:
            return decode_json(text, Any)
        except Invalid as error:
            (fault,) = error.errors
            reason = (fault.params or {}).get("reason", fault)
            raise Invalid("malformed_json", _("this is not valid JSON: {reason}"), reason=reason) from None

    def write(self, value: Any, *, native: bool) -> Any:
        return escaped(json.dumps(value, ensure_ascii=False, sort_keys=True))


def cell_of(field: "Field[Any, Any]") -> Cell:
    """Return the converter for a field of a model."""
    kinds: list[tuple[type, Callable[[], Cell]]] = [
        (JSONField, lambda: Document(field.default if isinstance(field.default, type) else None)),
        (FloatField, Share if field.name == "max_level" else Number),
        (IntegerField, Whole),
        (DateTimeField, Moment),
        (CodeField, Name),
        (ForeignKey, Name),
        (object, lambda: Name(_choices_by_label(field)) if field.flatchoices else Cell()),
    ]
    return next(cell for kind, cell in kinds if isinstance(field, kind))()


def _choices_by_label(field: "Field[Any, Any]") -> dict[str, str]:
    choices: dict[str, str] = {}
    for language, _unused in settings.LANGUAGES:
        with override(language):
            choices |= {str(label).lower(): value for value, label in field.flatchoices}
    return choices | {value.lower(): value for value, _ in field.flatchoices}
