"""Fields of serializers that several resources share."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

__all__ = ["NameOf", "TextList"]


class NameOf(serializers.CharField):
    """A reference to a user by name; the services look it up."""

    def to_representation(self, value: Any) -> str:
        return str(value.username)


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class TextList(serializers.JSONField):
    """A list of texts, whose column says what they must look like; DRF's own would take numbers for texts."""
