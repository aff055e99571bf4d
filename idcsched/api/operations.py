"""How each operation appears in the OpenAPI document: what drf-spectacular reads, and what it can't know."""

import re
from typing import Any, Final

import msgspec
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, get_lib_doc_excludes
from drf_spectacular.utils import Direction, OpenApiParameter

from .conditions import Conditional
from .examples import WRITTEN
from .idempotency import Idempotent
from .openapi import StructList
from .refusals import refusals
from .resources import MOST_OBJECTS, ReadOnlyResource, Resource, StrictModelSerializer, StrictSerializer
from .summaries import summary_of

__all__ = ["Schema", "undescribed"]

MANY: Final = "partial_update_many"
DIGITS: Final = re.compile(r"\^\[0-9\]\{1,(\d+)\}\$")
VISIBLE: Final = "^[!-~]{1,255}$"
IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": VISIBLE},
    OpenApiParameter.HEADER,
    description="The same key and body within 24 hours give the first answer again.",
)
IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag of what is to be changed, or several."
)
IF_NONE_MATCH: Final = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of what the caller has: 304 if it still holds."
)
NOT_MODIFIED: Final = {"304": {"description": "What the caller has still holds."}}


class Schema(AutoSchema):
    """Lists that may be written, the headers that are honoured, and the refusals of each operation."""

    def get_operation_id(self) -> str:
        found = str(super().get_operation_id())
        return f"{found}_many" if self._is_of_many() else found

    def get_summary(self) -> str | None:
        return summary_of(self.get_operation_id(), self._action(), getattr(_queryset(self.view), "model", None))

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *self._headers()]

    def _resolve_path_parameters(self, variables: Any) -> list[dict[str, Any]]:
        """A number that names something is a number, though its pattern in the address is one of a text."""
        found: list[dict[str, Any]] = super()._resolve_path_parameters(variables)
        return [{**each, "schema": _number(each["schema"])} for each in found]

    def get_filter_backends(self) -> list[Any]:
        return super().get_filter_backends() if self.method == "GET" else []

    def get_request_serializer(self) -> Any:
        return self._members() if self._is_of_many() else super().get_request_serializer()

    def get_response_serializers(self) -> Any:
        return (
            {200: {"type": "array", "items": self._shown()}}
            if self._is_of_many()
            else super().get_response_serializers()
        )

    def _postprocess_serializer_schema(self, schema: Any, serializer: Any, direction: Direction) -> Any:
        """Requests are strict, and an answer always has all its fields."""
        found = super()._postprocess_serializer_schema(schema, serializer, direction)
        if not isinstance(serializer, StrictModelSerializer | StrictSerializer):
            return found
        own = {"required": list(found["properties"])} if direction == "response" else {"additionalProperties": False}
        return {**found, **own}

    def _get_request_for_media_type(self, serializer: Any, direction: Direction = "request") -> tuple[Any, bool]:
        schema, required = super()._get_request_for_media_type(serializer, direction)
        if self._makes():
            return _one_or_many(schema), True
        return schema, required or self._is_of_many() or self._needs_a_body(serializer)

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        answers = super()._get_response_bodies(direction)
        if self._makes():
            for media in answers["201"]["content"].values():
                media["schema"] = _one_or_many(media["schema"])
        refused = refusals(
            self.registry,
            method=self.method,
            member="{" in self.path or self._action() in getattr(self.view, "looking_for_actions", ()),
            body=self._get_request_body() is not None,
            conditional=self._is_conditional(),
        )
        unchanged = NOT_MODIFIED if self.method == "GET" and isinstance(self.view, Conditional) else {}
        return {**answers, **unchanged, **{status: said for status, said in refused.items() if status not in answers}}

    def get_examples(self) -> list[Any]:
        """Those that the view declares, else the resource's."""
        view: Any = self.view
        written = WRITTEN.get(getattr(view, "noun", ""))
        declared: list[Any] = super().get_examples()
        if declared or written is None:
            return declared
        match self._action():
            case "create":
                return written.made()
            case "update":
                return written.replaced()
            case "partial_update":
                return written.changed()
            case found if found == MANY:
                return written.changed_among_many(view.lookup_field)
        return []

    def _headers(self) -> list[OpenApiParameter]:
        if self.method == "GET":
            return [IF_NONE_MATCH] if isinstance(self.view, Conditional) else []
        once = [IDEMPOTENCY_KEY] if self.method == "POST" and isinstance(self.view, Idempotent) else []
        return [*once, IF_MATCH] if self._is_conditional() else once

    def _is_conditional(self) -> bool:
        """Whether `If-Match` is honoured: by every edit, and by the actions that the view names."""
        if self.method == "POST":
            return self._action() in getattr(self.view, "conditional_actions", ())
        return self.method != "GET" and isinstance(self.view, Conditional)

    def _shown(self) -> Any:
        view: Any = self.view
        return self.resolve_serializer(view.get_serializer(), "response").ref

    def _members(self) -> dict[str, Any]:
        """A list of what is to change, each with the name of the object that is meant."""
        view: Any = self.view
        changed = self.resolve_serializer(view.get_serializer(partial=True), "request")
        key = view.lookup_field
        named = self.resolve_serializer(view.get_serializer(), "response").schema["properties"][key]
        schema = {**changed.schema, "properties": {key: named, **changed.schema["properties"]}, "required": [key]}
        component = ResolvedComponent(
            name=f"{changed.name.removesuffix('Request')}MemberRequest",
            type=ResolvedComponent.SCHEMA,
            object=f"{changed.name} as a member",
            schema=schema,
        )
        self.registry.register_on_missing(component)
        return {"application/json": {"type": "array", "items": component.ref, "maxItems": MOST_OBJECTS}}

    def _makes(self) -> bool:
        """Whether one object or a list of them can be made here."""
        return isinstance(self.view, Resource) and self.view.action == "create"

    def _needs_a_body(self, serializer: Any) -> bool:
        """Nothing is no JSON, also where every field may be absent; a view says of which actions it may be."""
        own = isinstance(serializer, type) and issubclass(serializer, msgspec.Struct | StructList)
        return own and self.method == "POST" and self._action() not in getattr(self.view, "without_a_body", ())

    def _action(self) -> str | None:
        return getattr(self.view, "action", None)

    def _is_of_many(self) -> bool:
        return self._action() == MANY


def _queryset(view: Any) -> Any:
    return getattr(view, "queryset", None)


def _number(schema: dict[str, Any]) -> dict[str, Any]:
    digits = DIGITS.fullmatch(str(schema.get("pattern", "")))
    return {"type": "integer", "minimum": 0, "maximum": 10 ** int(digits[1]) - 1} if digits else schema


def undescribed() -> list[type]:
    """Classes whose docstrings are for the people who work on this project, not for its clients."""
    return [*get_lib_doc_excludes(), StrictModelSerializer, StrictSerializer, Resource, ReadOnlyResource]


def _one_or_many(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [schema, {"type": "array", "items": schema, "maxItems": MOST_OBJECTS}]}
