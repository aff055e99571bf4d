"""Fields of serializers that several resources share."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta
from rest_framework import serializers

from idcsched.framework.matching import LabelKey, LabelValue, Term

__all__ = ["DocumentField", "LabelsField", "NameOf", "ObjectField", "SelectorField", "TextsField"]


class NameOf(serializers.CharField):
    """A reference to a user by name; the services look it up."""

    def to_representation(self, value: Any) -> str:
        return str(value.username)


class DocumentField(serializers.JSONField):
    """A JSON document. The column says what it must look like, and refuses in its words; `kind` shows it to clients."""

    kind: ClassVar[Any] = Any


class TextsField(DocumentField):
    """A list of texts; DRF's own would take numbers for texts."""

    kind = list[str]


class LabelsField(DocumentField):
    """Labels by key."""

    kind = Annotated[dict[LabelKey, LabelValue], Meta(max_length=100)]


class SelectorField(DocumentField):
    """A term, or several of which one must match."""

    kind = Term | Annotated[list[Term], Meta(min_length=1)]


class ObjectField(DocumentField):
    """An object whose fields depend on what it belongs to."""

    kind = dict[str, Any]
