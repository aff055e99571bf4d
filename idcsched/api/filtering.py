"""Lists: `?field=a&field=b` means either, `q` searches, an unknown parameter is an error."""

from typing import TYPE_CHECKING, Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from idcsched.framework.errors import FieldError, Invalid

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["AnyOf", "FilterSet", "Ordering", "Pages", "StrictFilterBackend"]

MOST_ROWS = 10**9
ALWAYS_ALLOWED = frozenset({"cursor", "limit", "offset", "ordering", "q"})


class _AnyValues(forms.MultipleChoiceField):
    """Any number of values, none of them known beforehand."""

    def valid_value(self, value: Any) -> bool:
        return "\x00" not in str(value)


class AnyOf(django_filters.MultipleChoiceFilter):
    """The field has one of the values given."""

    field_class = _AnyValues

    def is_noop(self, qs: QuerySet[Any], value: Any) -> bool:
        return not value


class FilterSet(django_filters.FilterSet):
    """`q` looks for its words in the fields that `Meta.searched` names."""

    q = django_filters.CharFilter(method="search", max_length=200)

    def search(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        for word in value.split():
            anywhere = Q()
            for field in self.Meta.searched:
                anywhere |= Q((f"{field}__icontains", word))
            queryset = queryset.filter(anywhere)
        return queryset

    class Meta:
        searched: tuple[str, ...] = ()


class StrictFilterBackend(DjangoFilterBackend):
    """Refuses parameters that mean nothing: a misspelt filter would silently show everything."""

    def filter_queryset(self, request: Any, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        filterset = self.get_filterset(request, queryset, view)
        known = ALWAYS_ALLOWED | set(filterset.filters if filterset else ())
        unknown = [name for name in request.query_params if name not in known]
        if unknown:
            raise Invalid.of(
                FieldError(f"/{name}", "unknown_parameter", "there is no such parameter") for name in unknown
            )
        found: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return found


class Ordering(OrderingFilter):
    """`ordering=a,-b` over the fields that a view names in `ordering_fields`; an unknown field is an error."""

    def remove_invalid_fields(self, queryset: Any, fields: Any, view: "APIView", request: Request) -> list[str]:
        known = {name for name, _ in self.get_valid_fields(queryset, view, {"request": request})}
        unknown = [field for field in fields if field.removeprefix("-") not in known]
        if unknown:
            raise Invalid("unknown_parameter", "can't order by {field}", "/ordering", field=unknown[0])
        return list(fields)


class Pages(LimitOffsetPagination):
    """`limit` and `offset`; 100 unless asked, at most 1000."""

    default_limit = 100
    max_limit = 1000

    def get_limit(self, request: Request) -> int:
        return _number(request, "limit", self.default_limit, low=1, high=self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _number(request, "offset", 0, low=0, high=MOST_ROWS)


def _number(request: Request, name: str, default: int, *, low: int, high: int) -> int:
    """A whole number from the query string; raises Invalid where it is none, or out of its range."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(high)) and low <= int(text) <= high):
        raise Invalid(
            "out_of_range", "this must be a whole number from {low} to {high}", f"/{name}", low=low, high=high
        )
    return int(text)
