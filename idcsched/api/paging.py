"""Lists come in pages: by `limit` and `offset`, or, where new rows keep arriving, by `cursor`."""

from base64 import b64encode
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db import DataError
from drf_spectacular.plumbing import build_parameter_type
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination, LimitOffsetPagination
from rest_framework.request import Request

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .parameters import pointer_to, whole_number_given

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["LIMIT_PARAMETER", "PAGE_PARAMETERS", "CursorPages", "Pages"]

MOST_ROWS = 10**9
LIMIT = 100
MAX_LIMIT = 1000


def _parameter(name: str, description: str, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "integer", **schema}, description=description)


def described(parameter: OpenApiParameter) -> dict[str, Any]:
    """The same as the OpenAPI document has it."""
    schema: Any = parameter.type
    return build_parameter_type(
        name=parameter.name, schema=schema, location=parameter.location, description=parameter.description
    )


LIMIT_PARAMETER = _parameter("limit", "So many at most.", minimum=1, maximum=MAX_LIMIT, default=LIMIT)
PAGE_PARAMETERS = [
    LIMIT_PARAMETER,
    _parameter("offset", "After so many.", minimum=0, maximum=MOST_ROWS, default=0),
]
CURSOR_PARAMETERS = [LIMIT_PARAMETER, OpenApiParameter("cursor", {"type": "string"}, description="As `next` has it.")]


def _shown_page(results: Any, *always: str) -> dict[str, Any]:
    link = {"type": ["string", "null"], "format": "uri"}
    properties = {
        **{name: {"type": "integer", "minimum": 0} for name in always},
        "next": link,
        "previous": link,
        "results": results,
    }
    return {"type": "object", "required": list(properties), "properties": properties}


class Pages(LimitOffsetPagination):
    """`limit` and `offset`; 100 unless asked, at most 1000."""

    parameters: ClassVar[tuple[str, ...]] = ("limit", "offset")
    default_limit = LIMIT
    max_limit = MAX_LIMIT

    def get_limit(self, request: Request) -> int:
        return whole_number_given(request, "limit", LIMIT, low=1, high=MAX_LIMIT)

    def get_offset(self, request: Request) -> int:
        return whole_number_given(request, "offset", 0, low=0, high=MOST_ROWS)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _shown_page(schema, "count")

    def get_schema_operation_parameters(self, view: "APIView") -> list[dict[str, Any]]:
        return list(map(described, PAGE_PARAMETERS))


class CursorPages(CursorPagination):
    """The newest first, by id; pages stay put while new rows arrive. 100 unless `limit` asks, at most 1000."""

    parameters: ClassVar[tuple[str, ...]] = ("limit", "cursor")
    ordering = "-id"
    page_size = LIMIT
    page_size_query_param = "limit"
    max_page_size = MAX_LIMIT

    def get_page_size(self, request: Request) -> int:
        return whole_number_given(request, "limit", LIMIT, low=1, high=MAX_LIMIT)

    def decode_cursor(self, request: Request) -> Cursor | None:
        try:
            found: Cursor | None = super().decode_cursor(request)
        except NotFound:
            raise _not_ours() from None
        if found is not None and _encoded(found) != request.query_params[self.cursor_query_param]:
            raise _not_ours()
        return found

    def paginate_queryset(self, queryset: Any, request: Request, view: "APIView | None" = None) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except Invalid:
            raise
        except (ValidationError, ValueError, OverflowError, DataError):  # the position in it is no id
            if "cursor" not in request.query_params:
                raise
            raise _not_ours() from None

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _shown_page(schema)

    def get_schema_operation_parameters(self, view: "APIView") -> list[dict[str, Any]]:
        return list(map(described, CURSOR_PARAMETERS))


def _encoded(cursor: Cursor) -> str | None:
    """As an answer gives it; None for the first page, which has none."""
    parts = {"o": str(cursor.offset) if cursor.offset else "", "r": "1" if cursor.reverse else ""}
    given: dict[str, Any] = {name: value for name, value in parts.items() if value}
    if cursor.position is not None:
        given["p"] = cursor.position
    return b64encode(urlencode(given, doseq=True).encode("ascii")).decode("ascii") if given else None


def _not_ours() -> Invalid:
    return Invalid("invalid_cursor", _("this is not a cursor that an answer has given"), pointer_to("cursor"))
