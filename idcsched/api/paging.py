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
    """Return the parameter as the OpenAPI document has it."""
    schema: Any = parameter.type
    return build_parameter_type(
        name=parameter.name, schema=schema, location=parameter.location, description=parameter.description
    )


LIMIT_PARAMETER = _parameter("limit", "The most objects in one page.", minimum=1, maximum=MAX_LIMIT, default=LIMIT)
PAGE_PARAMETERS = [
    LIMIT_PARAMETER,
    _parameter("offset", "How many objects to skip.", minimum=0, maximum=MOST_ROWS, default=0),
]
CURSOR_PARAMETERS = [
    LIMIT_PARAMETER,
    OpenApiParameter("cursor", {"type": "string"}, description="The position from which to go on, as `next` gives it."),
]


def _page_schema(results: Any, *counts: str) -> dict[str, Any]:
    link = {"type": ["string", "null"], "format": "uri"}
    properties = {
        **{name: {"type": "integer", "minimum": 0} for name in counts},
        "next": link,
        "previous": link,
        "results": results,
    }
    return {"type": "object", "required": list(properties), "properties": properties}


class Pages(LimitOffsetPagination):
    """Paging by `limit` and `offset`: 100 rows by default, at most 1000."""

    parameters: ClassVar[tuple[str, ...]] = ("limit", "offset")
    default_limit = LIMIT
    max_limit = MAX_LIMIT

    def get_limit(self, request: Request) -> int:
        return whole_number_given(request, "limit", default=LIMIT, low=1, high=MAX_LIMIT)

    def get_offset(self, request: Request) -> int:
        return whole_number_given(request, "offset", default=0, low=0, high=MOST_ROWS)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _page_schema(schema, "count")

    def get_schema_operation_parameters(self, view: "APIView") -> list[dict[str, Any]]:
        return list(map(described, PAGE_PARAMETERS))


class CursorPages(CursorPagination):
    """Paging by cursor, the newest row first: pages stay put while rows arrive. 100 rows by default, at most 1000."""

    parameters: ClassVar[tuple[str, ...]] = ("limit", "cursor")
    ordering = "-id"
    page_size = LIMIT
    page_size_query_param = "limit"
    max_page_size = MAX_LIMIT

    def get_page_size(self, request: Request) -> int:
        return whole_number_given(request, "limit", default=LIMIT, low=1, high=MAX_LIMIT)

    def decode_cursor(self, request: Request) -> Cursor | None:
        try:
            cursor: Cursor | None = super().decode_cursor(request)
        except NotFound:
            raise _invalid_cursor() from None
        if cursor is not None and _encoded(cursor) != request.query_params[self.cursor_query_param]:
            raise _invalid_cursor()
        return cursor

    def paginate_queryset(self, queryset: Any, request: Request, view: "APIView | None" = None) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except Invalid:
            raise
        except (ValidationError, ValueError, OverflowError, DataError):  # the position in the cursor is no id
            if "cursor" not in request.query_params:
                raise
            raise _invalid_cursor() from None

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _page_schema(schema)

    def get_schema_operation_parameters(self, view: "APIView") -> list[dict[str, Any]]:
        return list(map(described, CURSOR_PARAMETERS))


def _encoded(cursor: Cursor) -> str | None:
    """Return the cursor's text as answers give it; None for the first page, which has no cursor."""
    parts = {"o": str(cursor.offset) if cursor.offset else "", "r": "1" if cursor.reverse else ""}
    query: dict[str, Any] = {name: value for name, value in parts.items() if value}
    if cursor.position is not None:
        query["p"] = cursor.position
    return b64encode(urlencode(query, doseq=True).encode("ascii")).decode("ascii") if query else None


def _invalid_cursor() -> Invalid:
    return Invalid("invalid_cursor", _("this is not a cursor that an answer has given"), pointer_to("cursor"))
