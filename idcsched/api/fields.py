"""Fields of serializers that several resources share."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta
from rest_framework import serializers

from idcsched.framework.matching import LabelKey, LabelValue, Term
from idcsched.framework.request import Shape

__all__ = ["DocumentField", "LabelsField", "NameOf", "ObjectField", "SelectorField", "ShapeField", "TextsField"]


class NameOf(serializers.CharField):
    """Reference to a user by name; the services look the name up."""

    def to_representation(self, value: Any) -> str:
        return str(value.username)


class DocumentField(serializers.JSONField):
    """JSON document. The model's column validates it and words the errors; `kind` is the type that clients see."""

    kind: ClassVar[Any] = Any


class TextsField(DocumentField):
    """List of texts; DRF's own list field would accept numbers as texts."""

    kind = list[str]


class LabelsField(DocumentField):
    """Labels by key."""

    kind = Annotated[dict[LabelKey, LabelValue], Meta(max_length=100)]


class SelectorField(DocumentField):
    """A term, or several of which one must match."""

    kind = Term | Annotated[list[Term], Meta(min_length=1)]


class ShapeField(DocumentField):
    """24 or 168 numbers, none negative and one of them above 0; null: no shape."""

    kind = Shape | None


class ObjectField(DocumentField):
    """JSON object whose fields depend on the kind of its row."""

    kind = dict[str, Any]
