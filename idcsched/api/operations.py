"""The operations in the OpenAPI document: what drf-spectacular finds by itself, and what has to be added."""

import re
from typing import Any, Final

import msgspec
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, get_lib_doc_excludes
from drf_spectacular.utils import Direction, OpenApiParameter

from .conditions import Conditional
from .examples import EXAMPLE_BODIES
from .idempotency import Idempotent
from .openapi import StructList
from .refusals import refusals
from .resources import MOST_OBJECTS, ReadOnlyResource, Resource, StrictModelSerializer, StrictSerializer
from .summaries import summary_of

__all__ = ["Schema", "undescribed"]

MANY: Final = "partial_update_many"
ID_PATTERN: Final = re.compile(r"\^\[0-9\]\{1,(\d+)\}\$")
"""Matches the text of a pattern such as `^[0-9]{1,18}$`, which drf-spectacular gives to numeric ids in paths."""
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
    """An operation's schema, with bodies that may be lists, the headers that are honoured, and the refusals."""

    def get_operation_id(self) -> str:
        operation_id = str(super().get_operation_id())
        return f"{operation_id}_many" if self._is_list_patch() else operation_id

    def get_summary(self) -> str | None:
        queryset = getattr(self.view, "queryset", None)
        return summary_of(self.get_operation_id(), self._action(), getattr(queryset, "model", None))

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        super()._insert_field_validators(field, schema)
        if "oneOf" in schema:  # an empty text is one of both to whom `format` is a remark
            schema["anyOf"] = schema.pop("oneOf")

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *self._headers()]

    def _resolve_path_parameters(self, variables: Any) -> list[dict[str, Any]]:
        """Declare numeric ids as integers; drf-spectacular takes them for texts with a pattern."""
        parameters: list[dict[str, Any]] = super()._resolve_path_parameters(variables)
        return [{**parameter, "schema": _id_schema(parameter["schema"])} for parameter in parameters]

    def get_filter_backends(self) -> list[Any]:
        return super().get_filter_backends() if self.method == "GET" else []

    def get_request_serializer(self) -> Any:
        return self._list_patch_body() if self._is_list_patch() else super().get_request_serializer()

    def get_response_serializers(self) -> Any:
        if not self._is_list_patch():
            return super().get_response_serializers()
        view: Any = self.view
        return {200: {"type": "array", "items": self.resolve_serializer(view.get_serializer(), "response").ref}}

    def _postprocess_serializer_schema(self, schema: Any, serializer: Any, direction: Direction) -> Any:
        """Forbid unknown fields in requests, and require all fields in answers."""
        schema = super()._postprocess_serializer_schema(schema, serializer, direction)
        if not isinstance(serializer, StrictModelSerializer | StrictSerializer):
            return schema
        if direction == "response":
            return {**schema, "required": list(schema["properties"])}
        return {**schema, "additionalProperties": False}

    def _get_request_for_media_type(self, serializer: Any, direction: Direction = "request") -> tuple[Any, bool]:
        schema, required = super()._get_request_for_media_type(serializer, direction)
        if self._creates():
            return _one_or_many(schema), True
        return schema, required or self._is_list_patch() or self._needs_a_body(serializer)

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        answers = super()._get_response_bodies(direction)
        if self._creates():
            for media in answers["201"]["content"].values():
                media["schema"] = _one_or_many(media["schema"])
        refused_by_status = refusals(
            self.registry,
            method=self.method,
            one_object="{" in self.path or self._action() in getattr(self.view, "body_lookup_actions", ()),
            body=self._get_request_body() is not None,
            conditional=self._is_conditional(),
        )
        unchanged = NOT_MODIFIED if self._may_be_unchanged() else {}
        others = {status: response for status, response in refused_by_status.items() if status not in answers}
        return {**answers, **unchanged, **others}

    def get_examples(self) -> list[Any]:
        """Return the examples that the view declares, else those of its resource."""
        view: Any = self.view
        bodies = EXAMPLE_BODIES.get(getattr(view, "noun", ""))
        declared: list[Any] = super().get_examples()
        if declared or bodies is None:
            return declared
        match self._action():
            case "create":
                return bodies.for_create()
            case "update":
                return bodies.for_replace()
            case "partial_update":
                return bodies.for_patch()
            case action if action == MANY:
                return bodies.for_patch_many(view.lookup_field)
        return []

    def _headers(self) -> list[OpenApiParameter]:
        if self.method == "GET":
            return [IF_NONE_MATCH] if self._may_be_unchanged() else []
        headers = [IDEMPOTENCY_KEY] if self.method == "POST" and isinstance(self.view, Idempotent) else []
        return [*headers, IF_MATCH] if self._is_conditional() else headers

    def _may_be_unchanged(self) -> bool:
        """Whether `If-None-Match` is honoured."""
        view: Any = self.view
        return self.method == "GET" and isinstance(view, Conditional) and self._action() in view.unchanged_actions

    def _is_conditional(self) -> bool:
        """Whether `If-Match` is honoured: by every edit, and by the actions that the view names."""
        if self.method == "POST":
            return self._action() in getattr(self.view, "conditional_actions", ())
        return self.method != "GET" and isinstance(self.view, Conditional)

    def _list_patch_body(self) -> dict[str, Any]:
        """Return the schema of a list of changes, each with the key of the object that it changes."""
        view: Any = self.view
        changed = self.resolve_serializer(view.get_serializer(partial=True), "request")
        key = view.lookup_field
        key_schema = self.resolve_serializer(view.get_serializer(), "response").schema["properties"][key]
        schema = {**changed.schema, "properties": {key: key_schema, **changed.schema["properties"]}, "required": [key]}
        component = ResolvedComponent(
            name=f"{changed.name.removesuffix('Request')}MemberRequest",
            type=ResolvedComponent.SCHEMA,
            object=f"{changed.name} as a member",
            schema=schema,
        )
        self.registry.register_on_missing(component)
        return {"application/json": {"type": "array", "items": component.ref, "maxItems": MOST_OBJECTS}}

    def _creates(self) -> bool:
        """Whether the operation creates one object or a list of them."""
        return isinstance(self.view, Resource) and self.view.action == "create"

    def _needs_a_body(self, serializer: Any) -> bool:
        """Whether a struct must be sent even if all its fields are optional; `without_a_body` has the exceptions."""
        is_struct = isinstance(serializer, type) and issubclass(serializer, msgspec.Struct | StructList)
        return is_struct and self.method == "POST" and self._action() not in getattr(self.view, "without_a_body", ())

    def _action(self) -> str | None:
        return getattr(self.view, "action", None)

    def _is_list_patch(self) -> bool:
        return self._action() == MANY


def _id_schema(schema: dict[str, Any]) -> dict[str, Any]:
    digits = ID_PATTERN.fullmatch(str(schema.get("pattern", "")))
    return {"type": "integer", "minimum": 0, "maximum": 10 ** int(digits[1]) - 1} if digits else schema


def undescribed() -> list[type]:
    """Return the classes whose docstrings are for developers and stay out of the OpenAPI document."""
    return [*get_lib_doc_excludes(), StrictModelSerializer, StrictSerializer, Resource, ReadOnlyResource]


def _one_or_many(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [schema, {"type": "array", "items": schema, "maxItems": MOST_OBJECTS}]}
