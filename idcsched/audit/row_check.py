"""Checks of a row without a query: types, lengths, choices, the fields' own validators."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Field, Model

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import Message, _

__all__ = ["code_of", "not_one_of", "row_check"]

CODES = {
    "null": "required",
    "blank": "required",
    "invalid": "wrong_type",
    "invalid_date": "wrong_type",
    "invalid_datetime": "wrong_type",
    "min_value": "out_of_range",
    "max_value": "out_of_range",
    "max_length": "too_long",
    "min_length": "too_short",
    "choices": "invalid_choice",
    "not_a_list": "wrong_type",
    "overflow": "out_of_range",
    "max_string_length": "too_long",
    "null_characters_not_allowed": "invalid_text",
    "surrogate_characters_not_allowed": "invalid_text",
}
"""Error codes of Django and DRF → this project's, where they differ."""


def row_check(row: Model) -> None:
    """Clean the row's fields in place; raises Invalid with all errors."""
    errors: list[FieldError] = []
    for field in row._meta.concrete_fields:
        if field.is_relation:
            if not field.null and not _refers(row, field):
                errors.append(FieldError(f"/{field.name}", "required", _("this is required")))
        elif not field.primary_key:
            errors += _field_check(row, field)
    if errors:
        raise Invalid.of(errors)


def _refers(row: Model, field: Any) -> bool:
    """Return whether the field refers to another row, saved or not."""
    return getattr(row, field.attname) is not None or field.get_cached_value(row, default=None) is not None


def _field_check(row: Model, field: "Field[Any, Any]") -> list[FieldError]:
    value, pointer = getattr(row, field.attname), f"/{field.name}"
    if value is not None and field.blank and value in field.empty_values:
        return []
    try:
        setattr(row, field.attname, field.clean(value, row) if value is not None or not field.null else None)
        if isinstance(value, datetime):
            value.astimezone(UTC)  # as the database keeps it
    except ValidationError as error:
        return [_field_error(item, pointer, field) for item in error.error_list]
    except OverflowError:
        time, number = _("this lies outside of the calendar that is kept"), _("this number is out of its range")
        return [FieldError(pointer, "out_of_range", time if isinstance(value, datetime) else number)]
    if not storable(value):
        return [FieldError(pointer, "invalid_text", _("this text holds characters that can't be stored"))]
    return []


def _field_error(error: ValidationError, pointer: str, field: "Field[Any, Any]") -> FieldError:
    """Return Django's error as this project's; the message is in the reader's language already."""
    if error.code == "invalid_choice" and field.flatchoices:
        return not_one_of(pointer, [value for value, _ in field.flatchoices])
    return FieldError(pointer, code_of(error.code), Message(" ".join(error.messages)))


def not_one_of(pointer: str, choices: Iterable[object]) -> FieldError:
    """Return the error for a value that is none of the choices."""
    params = {"choices": ", ".join(map(str, choices))}
    return FieldError(pointer, "invalid_choice", _("this must be one of {choices}"), params)


def code_of(name: str | None) -> str:
    """Return this project's code for an error code of Django or DRF."""
    return CODES.get(name or "invalid", name or "invalid")


def storable(value: Any) -> bool:
    """Return whether every database can store all texts in the value: no NUL, no surrogates."""
    match value:
        case str():
            return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
        case dict():
            return all(storable(key) and storable(item) for key, item in value.items())
        case list() | tuple():
            return all(storable(item) for item in value)
    return True
