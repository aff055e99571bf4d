"""How msgspec structs and this project's tokens appear in the OpenAPI document."""

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any, ClassVar

import msgspec
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction, extend_schema

from .paging import PAGE_PARAMETERS, Pages

__all__ = [
    "BearerScheme",
    "DocumentExtension",
    "SessionScheme",
    "StructExtension",
    "StructList",
    "StructListExtension",
    "StructPage",
    "StructPageExtension",
    "list_of",
    "paged",
    "schema_of",
]


class StructExtension(OpenApiSerializerExtension):
    """The schema of a msgspec struct; the structs inside become components of their own."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: Direction) -> str:
        """Return the class's name, as `_register` does, so that a struct inside others is the same component."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        (reference,), components = msgspec.json.schema_components(
            (self.target,), ref_template="#/components/schemas/{name}"
        )
        own = reference["$ref"].rpartition("/")[2]
        schema = components.pop(own)
        _register(auto_schema, components)
        return _described(schema)


class StructList:
    """A JSON list of structs, for the OpenAPI document; see `list_of`."""

    item: ClassVar[type[msgspec.Struct]]


class StructPage(StructList):
    """A page of structs; see `page_of`."""


def list_of(item: type[msgspec.Struct]) -> type[StructList]:
    """Return the class that means a list of `item` to `extend_schema`."""
    return type(f"{item.__name__}List", (StructList,), {"item": item})


def page_of(item: Any) -> type[StructList]:
    """Return the class that means a page of `item`, with the count and links around it, to `extend_schema`."""
    # many=False: the schema is already that of a page, so drf-spectacular must not make a list of pages
    return type(f"{item.__name__}Page", (StructPage,), {"item": item, "_spectacular_annotation": {"many": False}})


def paged(item: Any, *, filters: bool = False, parameters: Sequence[Any] = (), **options: Any) -> Any:
    """Declare that a view without a queryset of its own answers a page of `item`; `filters`: whether it has filters."""
    parameters = [*parameters, *PAGE_PARAMETERS]
    return extend_schema(request=None, responses=page_of(item), filters=filters, parameters=parameters, **options)


class StructListExtension(OpenApiSerializerExtension):
    """The schema of a list whose items are a component."""

    target_class = "idcsched.api.openapi.StructList"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        return {"type": "array", "items": schema_of(self.target.item, auto_schema)}


class StructPageExtension(StructListExtension):
    """The schema of a page whose results are a component."""

    target_class = "idcsched.api.openapi.StructPage"
    priority = 1  # before StructListExtension, which matches pages, too

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        page: dict[str, Any] = Pages().get_paginated_response_schema(super().map_serializer(auto_schema, direction))
        return page


class DocumentExtension(OpenApiSerializerFieldExtension):
    """The schema of a `DocumentField`, by its `kind`."""

    target_class = "idcsched.api.fields.DocumentField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        return schema_of(self.target.kind, auto_schema)


def schema_of(kind: Any, auto_schema: AutoSchema) -> dict[str, Any]:
    """Return the JSON Schema of any type that msgspec supports; its structs become components."""
    (schema,), components = msgspec.json.schema_components((kind,), ref_template="#/components/schemas/{name}")
    _register(auto_schema, components)
    return dict(schema)


def _described(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without its title, and with its description unindented.

    From the title, code generators would give the two components of a struct, request and answer, the same name.
    """
    untitled = {name: value for name, value in schema.items() if name != "title"}
    return {**untitled, "description": cleandoc(untitled["description"])} if "description" in untitled else untitled


def _register(auto_schema: AutoSchema, schemas: Mapping[str, Any]) -> None:
    for name, schema in schemas.items():
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=_described(schema))
        registry = auto_schema.registry
        if component in registry and registry[component].schema != component.schema:
            raise ValueError(f"two structs are called {name}: the document can have one of them")
        registry.register_on_missing(component)


class BearerScheme(OpenApiAuthenticationExtension):
    """`Authorization: Bearer <token>`."""

    target_class = "idcsched.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):
    """The Django session of somebody logged in to the admin."""

    target_class = "idcsched.api.authentication.SessionPrincipal"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
