"""Filters of lists: `?field=a&field=b` means either, `q` searches, an unknown parameter or value is an error.

A filter set names its columns; each column gets the look-ups of its kind:

    text      name, name__n (none of these), name__ic (contains, in upper or lower case)
    choice    name, name__n
    reference name, name__n; the code of something that exists
    true or false, id   name, name__n
    number    name, name__n, name__gte, name__lte
    time      name__gte, name__lte
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import UUID

import django_filters
from django import forms
from django.db import models
from django.db.models import Func, Q, QuerySet, Value
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy
from django_filters.rest_framework import DjangoFilterBackend
from django_filters.utils import get_model_field
from drf_spectacular.utils import extend_schema_field
from rest_framework.filters import OrderingFilter
from rest_framework.request import Request

from idcsched.audit.row_check import code_of, not_one_of
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import Message, _
from idcsched.inventory.models import Idc, Isp, Region
from idcsched.inventory.selectors import idc_codes, isp_codes, region_codes_within
from idcsched.language.wording import explained

from .parameters import pointer_to, refuse_unknown_parameters, time_given

if TYPE_CHECKING:  # DRF's settings name this module, and its views read them
    from rest_framework.views import APIView

__all__ = ["WITHOUT_LABEL", "AnyLabel", "AnyOf", "FilterSet", "Number", "Ordering", "StrictFilterBackend", "flag"]

MOST_VALUES = 100
WHOLE: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
UUID_SHAPED: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NONE_OF = gettext_lazy("None of these.")
CONTAINS = gettext_lazy("Contains one of these, in upper or lower case.")
AT_LEAST = gettext_lazy("At least.")
AT_MOST = gettext_lazy("At most.")
BY_FIELDS = gettext_lazy("By these fields, with a minus from high to low.")
WITHIN = gettext_lazy("With sub-regions.")
LABELLED = gettext_lazy("With this label: `key=value`, or `key` with any value.")
WITHOUT_LABEL = gettext_lazy("Without any of these labels: `key=value`, or `key` with any value.")

Find = Callable[..., Collection[str]]
"""Function that returns the codes meant by the given names; raises Invalid at its `pointer` for an unknown name."""


class _Values(forms.MultipleChoiceField):
    """Form field of any number of values of one kind, without a list of choices."""

    def __init__(self, *, parse: Callable[[str], Any] = str, **options: Any) -> None:
        super().__init__(**options)
        self.parse = parse

    def clean(self, value: Any) -> list[Any]:
        given = list(value or ())
        if len(given) > MOST_VALUES:
            raise forms.ValidationError(gettext_lazy("These are too many values."), code="too_many")
        return super().clean([self.parse(text) for text in given])

    def valid_value(self, value: Any) -> bool:
        return "\x00" not in value if isinstance(value, str) else True

    def to_python(self, value: Any) -> list[Any]:
        return list(value)


class _Time(forms.Field):
    """Form field of an RFC 3339 time."""

    def to_python(self, value: Any) -> Any:
        try:
            return None if value is None else time_given(str(value), "")
        except Invalid as error:
            raise forms.ValidationError(explained(error), code=error.code) from None


class _Number(forms.FloatField):
    """Form field of a finite number; an empty text is an error."""

    default_error_messages: ClassVar[Any] = {"invalid": gettext_lazy("This must be a number.")}

    def to_python(self, value: Any) -> Any:
        if value == "":
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class AnyOf(django_filters.MultipleChoiceFilter):
    """Filter for rows whose column has one of the given values; with `exclude`, none of them."""

    field_class = _Values

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"distinct": False, **options})

    def filter(self, qs: QuerySet[Any], value: Collection[Any]) -> QuerySet[Any]:
        if not value:
            return qs
        matches = Q()
        for predicate in self._predicates(value):
            matches |= predicate
        if not self.distinct:
            return qs.exclude(matches) if self.exclude else qs.filter(matches)
        matching = qs.model._default_manager.filter(matches).values("pk")  # a join would show a row for each match
        return qs.exclude(pk__in=matching) if self.exclude else qs.filter(pk__in=matching)

    def _predicates(self, values: Collection[Any]) -> Iterator[Q]:
        if self.lookup_expr == "exact":
            yield Q((f"{self.field_name}__in", set(values)))
            return
        yield from (Q((f"{self.field_name}__{self.lookup_expr}", value)) for value in values)


class AnyChoice(AnyOf):
    """`AnyOf` for a column with choices."""

    field_class = forms.MultipleChoiceField  # type: ignore[assignment]  # mypy takes `AnyOf`'s for a declaration


class AnyNamed(AnyOf):
    """`AnyOf` for a reference to another object: an unknown code is an error."""

    def __init__(self, *args: Any, find: Find, **options: Any) -> None:
        super().__init__(*args, **options)
        self._find = find

    def filter(self, qs: QuerySet[Any], value: Collection[str]) -> QuerySet[Any]:
        return super().filter(qs, self._find(value)) if value else qs


class Time(django_filters.IsoDateTimeFilter):
    """Filter by a bound in time."""

    field_class = _Time  # type: ignore[assignment]  # mypy takes the library's default for a declaration


class Number(django_filters.NumberFilter):
    """Filter by a bound of a number."""

    field_class = _Number  # type: ignore[assignment]  # mypy takes the library's default for a declaration


REFERENCES: Mapping[type[models.Model], Find] = {Region: region_codes_within, Idc: idc_codes, Isp: isp_codes}


class FilterSet(django_filters.FilterSet):
    """The filters of a list.

    `Meta.columns` names fields of the model, `Meta.paths` paths to other fields by parameter; `q` searches the fields
    in `Meta.searched`.
    """

    q = django_filters.CharFilter(method="search", max_length=200, help_text=gettext_lazy("Words to look for."))

    class Meta:
        columns: ClassVar[tuple[str, ...]] = ()
        paths: ClassVar[Mapping[str, str]] = {}
        searched: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def get_fields(cls) -> OrderedDict[str, Any]:
        """Return what `Meta.fields`, the library's own way to declare filters, names; nothing where it is absent."""
        declared: OrderedDict[str, Any] = super().get_fields() if hasattr(cls.Meta, "fields") else OrderedDict()  # type: ignore[assignment]
        return declared

    @classmethod
    def get_filters(cls) -> OrderedDict[str, django_filters.Filter]:
        filters: OrderedDict[str, django_filters.Filter] = super().get_filters()
        if not getattr(cls.Meta, "searched", ()):
            del filters["q"]
        columns = {name: name for name in getattr(cls.Meta, "columns", ())}
        for name, path in {**columns, **getattr(cls.Meta, "paths", {})}.items():
            filters.update(_look_ups(name, path, cls.Meta.model))  # type: ignore[attr-defined]
        return filters

    def search(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        for word in value.split():
            anywhere = Q()
            for field in self.Meta.searched:
                anywhere |= Q((f"{field}__icontains", word))
            queryset = queryset.filter(anywhere)
        return queryset


def _look_ups(name: str, path: str, model: type[models.Model]) -> dict[str, django_filters.Filter]:
    """Return the filters of one column, by the kind of its field."""
    field = get_model_field(model, path)
    if isinstance(field, models.GeneratedField) and field.output_field is not None:
        field = field.output_field
    options = {"field_name": path, "distinct": _is_plural(model, path)}
    if field.name == "code" and field.model in REFERENCES and "__" in path:
        return _either(name, TEXT, partial(_reference, field.model, options, name))
    if field.choices:
        choices = {"type": "string", "enum": [value for value, _ in field.flatchoices]}
        return _either(name, choices, partial(AnyChoice, choices=field.choices, **options))
    if isinstance(field, models.DateTimeField):
        return _bounds(name, path, Time)
    for kind, (parse, schema, ordered) in PARSED.items():
        if isinstance(field, kind):
            values = _either(name, schema, partial(AnyOf, parse=parse, **options))
            return values | _bounds(name, path, Number) if ordered else values
    containing = AnyOf(lookup_expr="icontains", help_text=CONTAINS, **options)
    return _either(name, TEXT, partial(AnyOf, **options)) | {f"{name}__ic": _described(containing, TEXT)}


def _true_or_false(text: str) -> bool:
    if text not in {"true", "false"}:
        raise forms.ValidationError(gettext_lazy("This must be true or false."), code="invalid_choice")
    return text == "true"


def _whole_number(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise forms.ValidationError(gettext_lazy("This must be a whole number."), code="wrong_type")
    return int(text)


def _id(text: str) -> UUID:
    if not UUID_SHAPED.fullmatch(text):
        raise forms.ValidationError(gettext_lazy("This is no id."), code="wrong_type")
    return UUID(text)


TEXT: Final = {"type": "string"}
FLAG: Final = {"type": "boolean"}
NUMBER: Final = {"type": "number"}
MOMENT: Final = {"type": "string", "format": "date-time"}
PARSED: Final[Mapping[type, tuple[Callable[[str], Any], dict[str, str], bool]]] = {
    models.BooleanField: (_true_or_false, FLAG, False),
    models.UUIDField: (_id, {"type": "string", "format": "uuid"}, False),
    models.IntegerField: (_whole_number, {"type": "integer"}, True),
    models.FloatField: (forms.FloatField().clean, NUMBER, True),
}
"""By type of field: the parser of its values, their OpenAPI schema, and whether they have an order."""


def flag(method: str, **options: Any) -> AnyOf:
    """Return a true-or-false filter for a property of a row that `method` works out and no column holds."""
    described: AnyOf = _described(AnyOf(parse=_true_or_false, method=method, **options), FLAG)
    return described


class AnyLabel(AnyOf):
    """Filter for rows whose `labels` have one of the given keys, or one of the keys with its value."""

    def __init__(self, **options: Any) -> None:
        super().__init__(parse=_label, **{"field_name": "labels", "help_text": LABELLED, **options})

    def _predicates(self, values: Collection[tuple[str, str | None]]) -> Iterator[Q]:
        for key, value in values:
            has_key = Q((f"{self.field_name}__has_key", key))
            yield has_key if value is None else has_key & Q(Exact(_LabelValue(self.field_name, Value(key)), value))


class _LabelValue(Func):
    """SQL function for the value of a label; a JSON path would take a key of digits for an index into a list."""

    function = "jsonb_extract_path_text"
    output_field = models.TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(SELECT value FROM json_each(%(expressions)s)"
        return self.as_sql(compiler, connection, template=template, arg_joiner=") WHERE key = ", **context)


def _label(text: str) -> tuple[str, str | None]:
    key, equals, value = text.partition("=")
    if not key or "\x00" in text:
        raise forms.ValidationError(gettext_lazy("This must be `key` or `key=value`."), code="invalid")
    return key, value if equals else None


def _is_plural(model: type[models.Model], path: str) -> bool:
    """Whether a row can have several values at the path."""
    return path.partition("__")[0] in {relation.name for relation in model._meta.related_objects}


def _reference(model: type[models.Model], options: Mapping[str, Any], name: str, **more: Any) -> AnyNamed:
    pointer = pointer_to(f"{name}__n" if more.get("exclude") else name)
    if model is Region:
        more.setdefault("help_text", WITHIN)
    return AnyNamed(find=partial(REFERENCES[model], pointer=pointer), **options, **more)


def _either(name: str, schema: Mapping[str, Any], make: Callable[..., AnyOf]) -> dict[str, django_filters.Filter]:
    none_of = make(exclude=True, help_text=NONE_OF)
    return {name: _described(make(), schema), f"{name}__n": _described(none_of, schema)}


def _bounds(name: str, path: str, kind: type[django_filters.Filter]) -> dict[str, django_filters.Filter]:
    schema = NUMBER if kind is Number else MOMENT
    return {
        f"{name}__gte": _described(kind(field_name=path, lookup_expr="gte", help_text=AT_LEAST), schema),
        f"{name}__lte": _described(kind(field_name=path, lookup_expr="lte", help_text=AT_MOST), schema),
    }


def _described(bare: Any, schema: Mapping[str, Any]) -> Any:
    """Give the filter the OpenAPI schema of one value, and return that filter."""
    description = {"description": bare.extra["help_text"]} if "help_text" in bare.extra else {}
    return extend_schema_field({**schema, **description})(bare)


class StrictFilterBackend(DjangoFilterBackend):
    """Filter backend that refuses unknown parameters and invalid values."""

    def get_filterset_class(self, view: Any, queryset: Any = None) -> Any:
        """Return the view's filter set, also where that is about another model than the view's queryset."""
        return getattr(view, "filterset_class", None)

    def filter_queryset(self, request: Any, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        filterset = self.get_filterset(request, queryset, view)
        others = {*getattr(view.paginator, "parameters", ()), *(("ordering",) if view.ordering_fields else ())}  # type: ignore[attr-defined]
        filters = set(filterset.filters if filterset else ())
        refuse_unknown_parameters(request, others | filters, at_most_once={"q", *others})
        if filterset is None:
            return queryset
        if not filterset.is_valid():
            raise Invalid.of(_field_errors(filterset.form))
        filtered: QuerySet[Any] = filterset.qs
        return filtered


def _field_errors(form: forms.Form) -> Iterator[FieldError]:
    for name, errors in form.errors.as_data().items():
        for error in errors:
            choices = [value for value, _ in getattr(form.fields[name], "choices", ())]
            if error.code == "invalid_choice" and choices:
                yield not_one_of(pointer_to(name), choices)
            else:
                yield FieldError(pointer_to(name), code_of(error.code), Message(" ".join(error.messages)))


class Ordering(OrderingFilter):
    """`ordering=a,-b` over the fields that a view names in `ordering_fields`; an unknown field is an error."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        if not request.query_params.get("ordering", "by default"):
            raise self._refusal(queryset, view, request)
        fields = self.get_ordering(request, queryset, view)
        return queryset.order_by(*fields, "pk") if fields else queryset  # equal rows must not swap between two pages

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        if not view.ordering_fields:
            return []
        field = f"-?({'|'.join(view.ordering_fields)})"
        schema = {"type": "string", "pattern": f"^{field}(,{field})*$"}
        return [{"name": "ordering", "in": "query", "description": str(BY_FIELDS), "schema": schema}]

    def remove_invalid_fields(self, queryset: Any, fields: Any, view: "APIView", request: Request) -> list[str]:
        known = {name for name, _ in self.get_valid_fields(queryset, view, {"request": request})}
        if any(field.removeprefix("-") not in known for field in fields):
            raise self._refusal(queryset, view, request)
        return list(fields)

    def _refusal(self, queryset: Any, view: "APIView", request: Request) -> Invalid:
        known = ", ".join(name for name, _ in self.get_valid_fields(queryset, view, {"request": request}))
        detail = _("a list is ordered by some of {choices}, with a minus from high to low")
        return Invalid("unknown_parameter", detail, pointer_to("ordering"), choices=known)
