"""How msgspec structs and this project's tokens appear in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction

__all__ = ["BearerScheme", "Schema", "SessionScheme", "StructExtension", "StructList", "StructListExtension", "list_of"]


MANY = "partial_update_many"


class Schema(AutoSchema):
    """drf-spectacular's, which does not know that a collection can be patched."""

    def get_operation_id(self) -> str:
        found = str(super().get_operation_id())
        return f"{found}_many" if self._is_of_many() else found

    def get_request_serializer(self) -> Any:
        return self._listed(partial=True) if self._is_of_many() else super().get_request_serializer()

    def get_response_serializers(self) -> Any:
        return self._listed() if self._is_of_many() else super().get_response_serializers()

    def _listed(self, **options: Any) -> Any:
        view: Any = self.view
        return view.get_serializer(many=True, **options)

    def _is_of_many(self) -> bool:
        return getattr(self.view, "action", None) == MANY


class StructExtension(OpenApiSerializerExtension):
    """A msgspec struct, with the structs it is made of as components of their own."""

    target_class = "msgspec.Struct"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.__name__)

    def get_identity(self, auto_schema: AutoSchema, direction: Direction) -> str:
        """The name, by which msgspec knows the structs inside of others, too."""
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        (reference,), components = msgspec.json.schema_components(
            (self.target,), ref_template="#/components/schemas/{name}"
        )
        own = reference["$ref"].rpartition("/")[2]
        schema = components.pop(own)
        _register(auto_schema, components)
        return dict(schema)


class StructList:
    """A JSON list of structs, for the OpenAPI document; see `list_of`."""

    item: ClassVar[type[msgspec.Struct]]


def list_of(item: type[msgspec.Struct]) -> type[StructList]:
    """What `extend_schema` takes for a list of `item`."""
    return type(f"{item.__name__}List", (StructList,), {"item": item})


class StructListExtension(OpenApiSerializerExtension):
    """A list whose items are a component."""

    target_class = "idcsched.api.openapi.StructList"
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        (item,), components = msgspec.json.schema_components(
            (self.target.item,), ref_template="#/components/schemas/{name}"
        )
        _register(auto_schema, components)
        return {"type": "array", "items": item}


def _register(auto_schema: AutoSchema, schemas: Mapping[str, Any]) -> None:
    for name, schema in schemas.items():
        component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=schema)
        auto_schema.registry.register_on_missing(component)


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
