"""What Django and DRF say where they refuse a value, in the words in which this project refuses one."""

from collections.abc import Mapping
from typing import Any

from django.core import validators
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions, serializers

__all__ = ["reword_refusals"]

VALIDATORS: Mapping[type[validators.BaseValidator], Any] = {
    validators.MinValueValidator: _("this must be at least %(limit_value)s"),
    validators.MaxValueValidator: _("this must be at most %(limit_value)s"),
    validators.MinLengthValidator: _("the length of this must be at least %(limit_value)d"),
    validators.MaxLengthValidator: _("the length of this must be at most %(limit_value)d"),
}
_REQUIRED = _("this is required")
_NOT_EMPTY = _("this may not be empty")
_OUT_OF_RANGE = _("this number is out of its range")
_NUMBER = {
    "invalid": _("this must be a number"),
    "min_value": _("this must be at least {min_value}"),
    "max_value": _("this must be at most {max_value}"),
    "max_string_length": _OUT_OF_RANGE,
}
_LENGTH = {
    "min_length": _("the length of this must be at least {min_length}"),
    "max_length": _("the length of this must be at most {max_length}"),
}
_LIST = {"not_a_list": _("this must be a list"), "empty": _NOT_EMPTY, **_LENGTH}
_OBJECT = _("this must be an object")
SERIALIZERS: Mapping[type[serializers.Field[Any, Any, Any, Any]], Mapping[str, Any]] = {
    serializers.Field: {"required": _REQUIRED, "null": _REQUIRED},
    serializers.BooleanField: {"invalid": _("this must be true or false")},
    serializers.CharField: {"invalid": _("this must be a text"), "blank": _NOT_EMPTY, **_LENGTH},
    serializers.EmailField: {"invalid": _("this must be an e-mail address")},
    serializers.URLField: {"invalid": _("this must be an address that begins with http:// or https://")},
    serializers.UUIDField: {"invalid": _("this must be a UUID")},
    serializers.IntegerField: {**_NUMBER, "invalid": _("this must be a whole number")},
    serializers.FloatField: {**_NUMBER, "overflow": _OUT_OF_RANGE},
    serializers.DateTimeField: {
        "invalid": _("this must be a time such as 2026-01-31T12:00:00Z"),
        "date": _("this must be a time such as 2026-01-31T12:00:00Z"),
        "overflow": _("this lies outside of the calendar that is kept"),
    },
    serializers.DateField: {
        "invalid": _("this must be a date such as 2026-01-31"),
        "datetime": _("this must be a date such as 2026-01-31"),
    },
    serializers.ListField: _LIST,
    serializers.ListSerializer: _LIST,
    serializers.MultipleChoiceField: _LIST,
    serializers.DictField: {"not_a_dict": _OBJECT, "empty": _NOT_EMPTY},
    serializers.Serializer: {"invalid": _OBJECT},
}
"""The sentences by their names in the libraries; a field without an entry says what those that it builds upon say."""

EXCEPTIONS: Mapping[type[exceptions.APIException], Any] = {
    exceptions.MethodNotAllowed: _("{method} is not possible at this address"),
    exceptions.NotAcceptable: _("there is no answer of the type that the header Accept asks for"),
    exceptions.NotFound: _("nothing has this address"),
    exceptions.PermissionDenied: _("this is not allowed"),
    exceptions.Throttled: _("too many requests; Retry-After says how long to wait"),
    exceptions.UnsupportedMediaType: _("a body of the type {media_type} can't be read here"),
}


def reword_refusals() -> None:
    """Make the classes say these sentences, so that forms, imports and the API refuse a value in the same words."""
    for validator, sentence in VALIDATORS.items():
        validator.message = sentence
    for field, sentences in SERIALIZERS.items():
        field.default_error_messages = {**field.default_error_messages, **sentences}
    for refusal, sentence in EXCEPTIONS.items():
        refusal.default_detail = sentence
    exceptions.Throttled.extra_detail_singular = exceptions.Throttled.extra_detail_plural = "({wait} s)"
