"""The refusals in the OpenAPI document: their schema, and those with which each operation may answer."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

import msgspec
from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent

from .problems import CONTENT_TYPE

__all__ = ["Problem", "refusals"]


class FieldProblem(msgspec.Struct, frozen=True):
    """One error; `pointer` is a JSON pointer into the body, or `?name` for a query parameter."""

    pointer: str
    code: str
    detail: str


class Problem(msgspec.Struct, frozen=True):
    """An RFC 9457 problem. `code` is stable, `detail` is for people, in their language; some codes add members."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem]


SECONDS: Final = {
    "description": "Seconds after which the request may be sent again.",
    "schema": {"type": "integer", "minimum": 0},
}
HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: {"WWW-Authenticate": {"description": "The scheme by which to authenticate.", "schema": {"type": "string"}}},
    429: {"Retry-After": SECONDS},
    503: {"Retry-After": SECONDS},
}
DESCRIPTIONS: Final = {
    400: "The request is malformed, or names something that does not exist: `errors` says where.",
    401: "The token is missing, unknown, revoked or expired.",
    403: "The token's role, tenant or regions do not allow this.",
    404: "There is no such object, or the token may not see it.",
    406: "None of the media types in `Accept` is available.",
    409: "The request conflicts with the current state; `code` says how.",
    412: "The object has changed: its ETag is not the one in `If-Match`.",
    413: "The body is larger than the server accepts.",
    415: "The body's media type is not `application/json`.",
    422: "The `Idempotency-Key` was used for another request.",
    429: "The token has sent too many requests.",
    503: "The server is too busy, or the database is away.",
}
ALWAYS: Final = (400, 401, 403, 406, 429, 503)
WITH_A_BODY: Final = (413, 415)


def refusals(
    registry: ComponentRegistry, *, method: str, one_object: bool, body: bool, conditional: bool
) -> dict[str, Any]:
    """Return the refusals of an operation as responses by status; each is a component, registered once."""
    schema = _component(registry, ResolvedComponent.SCHEMA, Problem.__name__, _schema(registry))
    statuses = sorted(_statuses(method, one_object, body, conditional))
    return {
        str(status): _component(registry, ResolvedComponent.RESPONSE, _name(status), _response(status, schema))
        for status in statuses
    }


def _name(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")


def _statuses(method: str, one_object: bool, body: bool, conditional: bool) -> Iterator[int]:
    yield from ALWAYS
    yield from WITH_A_BODY if body else ()
    yield from (404,) if one_object else ()
    yield from () if method == "GET" else (409,)
    yield from (412,) if conditional else ()
    yield from (422,) if method == "POST" else ()


def _response(status: int, schema: dict[str, Any]) -> dict[str, Any]:
    content = {CONTENT_TYPE: {"schema": schema}}
    headers = {"headers": HEADERS[status]} if status in HEADERS else {}
    return {"description": DESCRIPTIONS[status], **headers, "content": content}


def _schema(registry: ComponentRegistry) -> dict[str, Any]:
    _, schemas = msgspec.json.schema_components((Problem,), ref_template="#/components/schemas/{name}")
    problem = schemas.pop(Problem.__name__)
    for name, schema in schemas.items():
        _component(registry, ResolvedComponent.SCHEMA, name, schema)
    return dict(problem)


def _component(registry: ComponentRegistry, kind: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    component = ResolvedComponent(name=name, type=kind, object=name, schema=schema)
    registry.register_on_missing(component)
    return {"$ref": f"#/components/{kind}/{name}"}
