"""Model fields and constraints that all packages share: codes, finite numbers, JSON documents."""

import json
import math
from typing import Any

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.forms.fields import InvalidJSONInput
from django.utils.translation import gettext_lazy as _

__all__ = [
    "ENORMOUS",
    "AmountField",
    "CodeField",
    "DocumentField",
    "NumberField",
    "WholeDocumentField",
    "between",
    "finite",
    "one_of",
    "unique",
]

ENORMOUS = 1e12
"""A bound above any Mbps, GiB, price or load; a constraint with this bound also refuses NaN and infinity."""

ONE_LINE = 80
"""The most characters of a document that a form shows on one line."""

code_shaped = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z",
    _("A code starts with a letter or a digit and has up to 63 letters, digits, dots, hyphens and underscores."),
    code="invalid_code",
)


def finite(value: float) -> None:
    """Refuse NaN and the infinities, which databases and clients treat differently."""
    if not math.isfinite(value):
        raise ValidationError(_("This must be a finite number."), code="not_finite")


class CodeField(models.CharField):
    """A short name for people and programs, such as `gz-ct-01`."""

    default_validators = [code_shaped]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 63)
        super().__init__(*args, **kwargs)


class PlainFloatField(models.FloatField):
    """A float field whose form shows `30000` and not `30000.0`."""

    def value_from_object(self, obj: models.Model) -> Any:
        value = super().value_from_object(obj)
        return int(value) if isinstance(value, float) and value.is_integer() else value


class NumberField(PlainFloatField):
    """A finite number."""

    default_validators = [finite, MinValueValidator(-ENORMOUS), MaxValueValidator(ENORMOUS)]


class AmountField(PlainFloatField):
    """A finite number of at least 0."""

    default_validators = [finite, MinValueValidator(0), MaxValueValidator(ENORMOUS)]


class DocumentFormField(forms.JSONField):
    """A form field that shows a short JSON document on one line, and a longer one with a line for each entry."""

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, InvalidJSONInput):
            return value
        short = json.dumps(value, ensure_ascii=False, cls=self.encoder)
        return short if len(short) <= ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2, cls=self.encoder)


class DocumentField(models.JSONField):
    """A JSON document whose validators also see an empty object or list; only None counts as empty."""

    empty_values = (None,)

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": DocumentFormField, **kwargs})


class WholeDocumentField(models.JSONField):
    """A JSON document that is always read whole; no query filters by its parts.

    PostgreSQL stores its text (`json`); parsing it for `jsonb` costs eight times as much. A value that is a
    `msgspec.Raw` is encoded already.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        if isinstance(value, msgspec.Raw):
            return bytes(value).decode()
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """Decode text only; the driver has decoded PostgreSQL's `json` already."""
        return super().from_db_value(value, expression, connection) if isinstance(value, str) else value


def between(field: str, low: float, high: float = ENORMOUS, *, name: str) -> models.CheckConstraint:
    """Return the constraint that `field`, if it has a value, lies between the bounds, both included."""
    return models.CheckConstraint(
        condition=models.Q((f"{field}__gte", low), (f"{field}__lte", high)),
        name=name,
        violation_error_code="out_of_range",
        violation_error_message=_("This number is out of its range."),
    )


def one_of(field: str, choices: type[models.TextChoices], *, name: str) -> models.CheckConstraint:
    """Return the constraint that `field` holds one of the choices."""
    return models.CheckConstraint(
        condition=models.Q((f"{field}__in", choices.values)),
        name=name,
        violation_error_code="invalid_choice",
        violation_error_message=_("This is not one of the choices."),
    )


def unique(*fields: str, name: str, where: models.Q | None = None, message: Any = None) -> models.UniqueConstraint:
    """Return the constraint that no two rows (of those that match `where`) agree in all the fields."""
    return models.UniqueConstraint(
        fields=fields,
        condition=where,
        name=name,
        violation_error_code="already_exists",
        violation_error_message=message or _("There is one of this name already."),
    )
