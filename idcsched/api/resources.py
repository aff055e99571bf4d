"""The base classes of all resources.

Fields are strict, addresses are codes, writes go through services, and a list is written as a whole or not at all. A
viewset declares only its queryset, serializer, filterset, capability and services.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import msgspec
from django.db.models import DateTimeField, Model, QuerySet
from django.http import Http404, HttpResponse
from django.utils.timezone import is_naive
from django.utils.translation import gettext, gettext_lazy
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator
from rest_framework.viewsets import GenericViewSet

from idcsched.audit.bulk import apply_to_each, places
from idcsched.audit.edits import all_or_none, change_locked
from idcsched.audit.writing import below
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .conditions import Conditional, if_match_check
from .idempotency import Idempotent
from .origin import caller_origin
from .paging import Pages
from .parameters import MOST_LISTED, refuse_unknown_parameters
from .problems import field_errors

__all__ = [
    "CodeOf",
    "OneOf",
    "ReadOnlyResource",
    "Resource",
    "StrictModelSerializer",
    "StrictSerializer",
    "encoded",
    "page_response",
    "struct_response",
]

Service = Callable[..., Any]
Result = TypeVar("Result")
PLAIN_FIELDS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], type], ...] = (
    (serializers.CharField, str),
    (serializers.ChoiceField, str),
    (serializers.DateTimeField, str),
    (serializers.FloatField, float),
    (serializers.IntegerField, int),
    (serializers.BooleanField, bool),
)
MOST_OBJECTS = 1000
"""The most objects that one request may write."""
_encoder = msgspec.json.Encoder()


class _Strict(serializers.Serializer[Any]):
    """Serializer that refuses unknown fields, read-only ones among them, and values of the wrong JSON type."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = [name for name, field in self.fields.items() if not field.read_only]
            unknown = [name for name in data if name not in known]
            errors = {name: _no_such_field(known if len(unknown) <= MOST_LISTED else ()) for name in unknown}
            for name, kind in self._json_types():
                if not _fits(data.get(name), kind):
                    errors[name] = _wrong_type(kind)
            if errors:
                raise serializers.ValidationError(errors)
        return super().to_internal_value(data)

    def _json_types(self) -> Iterator[tuple[str, type]]:
        """Yield the JSON type of each plain field; DRF alone would accept a number as a text, and true as 1."""
        for name, field in self.fields.items():
            for declared, kind in PLAIN_FIELDS:
                if isinstance(field, declared):
                    yield name, kind


class StrictSerializer(_Strict):
    """Strict serializer for bodies that are not a model's rows."""


class OneOf(serializers.ChoiceField):
    """Choice field whose error lists the allowed values."""

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid_choice": gettext_lazy("this must be one of {choices}")}

    def fail(self, key: str, **params: Any) -> NoReturn:
        super().fail(key, choices=", ".join(map(str, self.choices)), **params)


class ZonedTime(serializers.DateTimeField):
    """Time that must be given with its zone; DRF alone would take one without a zone for UTC."""

    default_error_messages: ClassVar[dict[str, Any]] = {"zone_required": gettext_lazy("a time needs its time zone")}

    def enforce_timezone(self, value: datetime) -> datetime:
        if is_naive(value):
            self.fail("zone_required")
        return super().enforce_timezone(value)


class StrictModelSerializer(_Strict, serializers.ModelSerializer[Any]):
    """Strict serializer for a model's rows. Uniqueness is left to the services, which check it without a race."""

    serializer_field_mapping: ClassVar[Any] = {
        **serializers.ModelSerializer.serializer_field_mapping,
        DateTimeField: ZonedTime,
    }
    serializer_choice_field = OneOf

    def get_validators(self) -> list[Any]:
        return []

    def build_standard_field(
        self, field_name: str, model_field: Any
    ) -> tuple[type[serializers.Field[Any, Any, Any, Any]], dict[str, Any]]:
        kind, options = super().build_standard_field(field_name, model_field)
        validators = options.get("validators", ())
        options["validators"] = [validator for validator in validators if not isinstance(validator, UniqueValidator)]
        return kind, options


class CodeOf(serializers.CharField):
    """Reference to another object by its code; the services look the code up."""

    def to_representation(self, value: Any) -> str:
        return str(value.code)


class ReadOnlyResource(Conditional, Idempotent, mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Any]):
    """Viewset for reading a list and its members."""

    capability: ClassVar[str] = "read"
    conditional_actions: ClassVar[tuple[str, ...]] = ()
    """The names of the POST actions that check `If-Match`, which PUT, PATCH and DELETE always do."""
    body_lookup_actions: ClassVar[tuple[str, ...]] = ()
    """The names of the actions on the list that look up an object named in the body, and may answer 404."""
    lookup_field = "code"
    lookup_value_regex = "[^/]+"

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter only the resource's own list.

        An action on one member, such as `sources/<code>/runs/`, interprets the parameters itself.
        """
        filtered: QuerySet[Any] = queryset if self.detail else super().filter_queryset(queryset)
        return filtered

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        refuse_unknown_parameters(request, (), at_most_once=())
        return super().retrieve(request, *args, **kwargs)

    def filter_rows_of_member(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Filter and order the rows nested under one member, such as a source's runs; raises Invalid.

        The action declares the filterset and the ordering.
        """
        return super().filter_queryset(rows)

    def get_object(self) -> Any:
        if "\x00" in self.kwargs[self.lookup_url_kwarg or self.lookup_field]:
            raise Http404
        return super().get_object()

    def etag_content(self, shown: Any) -> Any:
        """Return what the ETag covers: an object without its `secret_fields` and `moving_fields`, a list as it is."""
        if not isinstance(shown, dict) or "results" in shown:
            return shown
        return {name: shown[name] for name in shown if name not in self.secret_fields | self.moving_fields}


class Resource(ReadOnlyResource):
    """Viewset whose members can be created, changed and deleted; a JSON list creates or changes many, all or none.

    Optimistic concurrency: an edit locks its rows, checks `If-Match` and changes the rows in one transaction.
    """

    create_service: ClassVar[Service]
    create_many_service: ClassVar[Service | None] = None
    """Service that creates all `documents` of a list in a few statements; None: they are created one by one."""
    update_service: ClassVar[Service]
    delete_service: ClassVar[Service]
    noun: ClassVar[str]
    """The services' keyword argument for the row."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Fields that a row keeps for good: a change may repeat their values only."""
    held_with: ClassVar[tuple[str, ...]] = ()
    """Relations of the row, such as an IDC's lines, whose rows are shown in it and locked with it."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        with caller_origin(request):
            shown = all_or_none(lambda: self._create_and_show(request.data))
        return Response(shown, status=status.HTTP_201_CREATED)

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Replace the whole object; a field that is left out falls back to its default."""
        return self._update_one(request, partial=False)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Change only the fields that the body names."""
        return self._update_one(request, partial=True)

    def partial_update_many(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Change several members, all or none: each object of the list has a member's key and the fields to change."""
        documents = self._documents_by_key(request.data)
        keys = list(documents)

        def change(rows: Sequence[Any]) -> Any:
            changed = []
            for index, (row, document) in enumerate(zip(rows, documents.values(), strict=True)):
                with below(f"/{index}"):
                    changed.append(self._change_row(row, document, partial=True))
            return self._serialized(changed, many=True)

        named = self.get_queryset().filter(**{f"{self.lookup_field}__in": keys})
        primary_keys = list(named.values_list("pk", flat=True))
        return Response(self._edit_rows(primary_keys, lambda: self._read_by_key(keys), change))

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        self.edited_object(lambda row: type(self).delete_service(**{self.noun: row}))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        """Raise Forbidden if the caller may not write a row; called before and after a change, in its transaction."""

    def create_many_arguments(self) -> Mapping[str, Any]:
        """Return further arguments for `create_many_service`."""
        return {}

    def service_arguments(self) -> Mapping[str, Any]:
        """Return further arguments for `create_service` and `update_service`."""
        return {}

    def make(self, document: Any) -> Any:
        """Create the row, or the rows, that a document describes; raises Invalid, Conflict."""
        return type(self).create_service(**self._validated(document), **self.service_arguments())

    def change(self, row: Any, document: Any, *, partial: bool) -> Any:
        """Change the row as the document says; raises Invalid, Conflict."""
        serializer = self.get_serializer(row, data=document, partial=partial)
        _validate(serializer)
        changes = serializer.validated_data if partial else {**_defaults(serializer), **serializer.validated_data}
        for name in self.fixed:
            present = serializer.data.get(name)
            if changes.pop(name, present) != present:
                raise Invalid("read_only", _("this can't be changed"), f"/{name}")
        return type(self).update_service(**{self.noun: row, "changes": changes}, **self.service_arguments())

    def edited_object(self, change: Callable[[Any], Result]) -> Result:
        """Lock the row that the URL names, check `If-Match`, call `change` with the row, and return its result.

        All of it is one transaction. Raises NotFound, Forbidden, StaleETag.
        """

        def read() -> Any:
            row = self.get_object()
            self._check_locked([row])
            return row

        return self._edit_rows([self.get_object().pk], read, change)

    def fresh(self, rows: Sequence[Any]) -> list[Any]:
        """Read the rows again, all at once, with the viewset's queryset."""
        by_pk = self.get_queryset().in_bulk([row.pk for row in rows])
        return [by_pk[row.pk] for row in rows]

    def _create_rows(self, document: Any, pointer: str) -> list[Any]:
        with below(pointer):
            created = self.make(document)
            rows = created if isinstance(created, list) else [created]
            self.check_rows(rows)
        return rows

    def _create_in_bulk(self, data: Any) -> list[Any]:
        service = cast("Service", type(self).create_many_service)
        documents = [document for _, document in _items(data)]
        validated = apply_to_each(documents, places(documents), self._validated)
        rows: list[Any] = service(documents=validated, **self.create_many_arguments())
        return rows

    def _validated(self, document: Any) -> Mapping[str, Any]:
        serializer = self.get_serializer(data=document)
        _validate(serializer)
        return serializer.validated_data

    def _create_and_show(self, data: Any) -> Any:
        """Create the rows that a body describes, and return them serialized."""
        many = isinstance(data, list)
        if many and type(self).create_many_service is not None:
            rows = self._create_in_bulk(data)
        else:
            rows = [row for pointer, document in _items(data) for row in self._create_rows(document, pointer)]
        return self._serialized(rows, many=many or len(rows) != 1)

    def _update_one(self, request: Request, *, partial: bool) -> Response:
        def change(row: Any) -> Any:
            return self._serialized([self._change_row(row, request.data, partial=partial)], many=False)

        return Response(self.edited_object(change))

    def _edit_rows(self, keys: Sequence[Any], read: Callable[[], Any], change: Callable[[Any], Result]) -> Result:
        rows = self.get_queryset().model._default_manager.filter(pk__in=keys)
        with caller_origin(self.request):
            return change_locked(rows, read=read, change=change, held_with=self.held_with)

    def _change_row(self, row: Any, document: Any, *, partial: bool) -> Any:
        changed = self.change(row, document, partial=partial)
        self.check_rows([changed])
        return changed

    def _documents_by_key(self, data: Any) -> dict[Any, Any]:
        """Return the changes by their members' keys; raises Invalid where a key is missing or given twice."""
        if not isinstance(data, list):
            raise Invalid(
                "wrong_type", _("this must be a list of objects, each with its `{key}`"), key=self.lookup_field
            )
        documents: dict[Any, Any] = {}
        # An "id" is read-only, so the serializer would refuse it; a code may stay, as it equals the row's own.
        by_id = self.lookup_field == "id"
        for pointer, document in _items(data):
            with below(pointer):
                key = _key(document, self.lookup_field)
                if key in documents:
                    raise Invalid("given_twice", _("this can be given once"), f"/{self.lookup_field}")
            documents[key] = {name: value for name, value in document.items() if name != "id"} if by_id else document
        return documents

    def _read_by_key(self, keys: Sequence[Any]) -> list[Model]:
        named = self.get_queryset().filter(**{f"{self.lookup_field}__in": keys})
        by_key = {getattr(row, self.lookup_field): row for row in named}
        for index, key in enumerate(keys):
            if key not in by_key:
                raise Invalid("unknown", _("there is no {name}"), f"/{index}/{self.lookup_field}", name=key)
        rows = [by_key[key] for key in keys]
        self._check_locked(rows, places(rows))
        return rows

    def _check_locked(self, rows: Sequence[Model], pointers: Sequence[str] = ("",)) -> None:
        self.check_rows(rows, pointers)
        if "If-Match" in self.request.headers:
            shown = self.get_serializer(rows, many=True).data
            if_match_check(self.request, [self.etag_content(document) for document in shown], pointers)

    def _serialized(self, rows: Sequence[Any], *, many: bool) -> Any:
        """Read the rows again and serialize them, as a GET would show them."""
        fresh = self.fresh(rows)
        return self.get_serializer(fresh if many else fresh[0], many=many).data


def encoded(answer: Any) -> HttpResponse:
    """Return a JSON response of structs, or of anything made of them."""
    return HttpResponse(_encoder.encode(answer), content_type="application/json")


def page_response(
    request: Request, rows: Any, shown: Callable[[Any], Any] | None = None, own_parameters: Sequence[str] = ()
) -> HttpResponse:
    """Return an unfiltered page of rows, each turned by `shown` into its answer.

    `own_parameters` names the view's parameters beside those of paging; raises Invalid for any other parameter.
    """
    known = (*Pages.parameters, *own_parameters)
    refuse_unknown_parameters(request, known, at_most_once=known)
    pages = Pages()
    page: Any = pages.paginate_queryset(rows, request)
    return encoded(pages.get_paginated_response([*map(shown, page)] if shown else page).data)


def struct_response(answer: msgspec.Struct, status: int = status.HTTP_200_OK) -> HttpResponse:
    """Return a JSON response of a struct, encoded without DRF's renderers."""
    return HttpResponse(_encoder.encode(answer), content_type="application/json", status=status)


def _no_such_field(known: Sequence[str]) -> ErrorDetail:
    """Return the error of an unknown field; it lists the `known` fields.

    The caller passes none where too many fields are unknown, to keep the answer short.
    """
    listing = gettext("there is no such field; there are {choices}").format(choices=", ".join(known))
    return ErrorDetail(listing if known else gettext("there is no such field"), code="unknown_field")


def _wrong_type(kind: type) -> ErrorDetail:
    text = {str: gettext("this must be a text"), bool: gettext("this must be true or false")}
    return ErrorDetail(text.get(kind, gettext("this must be a number")), code="wrong_type")


def _fits(value: Any, kind: type) -> bool:
    """Whether a JSON value is of that type; null and absent values are left to DRF's own checks."""
    if value is None:
        return True
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _items(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield each object of a body with its pointer: the body itself, or a list's items; raises Invalid for too many."""
    if not isinstance(data, list):
        yield "", data
        return
    if len(data) > MOST_OBJECTS:
        raise Invalid("too_many", _("this can be a list of {most} objects at most"), most=MOST_OBJECTS)
    yield from ((f"/{index}", document) for index, document in enumerate(data))


def _key(document: Any, name: str) -> Any:
    """Return the key by which an object of a list names its member; raises Invalid."""
    if not isinstance(document, dict):
        raise Invalid("wrong_type", _("this must be an object"))
    if name not in document:
        raise Invalid("required", _("this is required"), f"/{name}")
    key, kind = document[name], int if name == "id" else str
    if not isinstance(key, kind) or isinstance(key, bool):
        detail = _("this must be a whole number") if kind is int else _("this must be a text")
        raise Invalid("wrong_type", detail, f"/{name}")
    return key


def _defaults(serializer: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """Return the defaults of optional model fields, for a PUT that leaves them out; nested lists stay as they are."""
    model = serializer.Meta.model  # type: ignore[attr-defined]
    fields = {field.name: field for field in model._meta.get_fields() if field.concrete}
    named = (name for name in _sources(serializer.fields.values()) if name in fields)  # type: ignore[attr-defined]
    return {name: fields[name].get_default() for name in named if fields[name].blank or fields[name].has_default()}


def _sources(declared: Iterable[serializers.Field[Any, Any, Any, Any]]) -> Iterator[str]:
    for field in declared:
        if field.read_only:
            continue
        if field.source == "*":
            yield from _sources(field.fields.values())  # type: ignore[attr-defined]
        else:
            yield str(field.source)


def _validate(serializer: serializers.BaseSerializer[Any]) -> None:
    """Validate with DRF; raises Invalid in place of DRF's ValidationError."""
    try:
        serializer.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise Invalid.of(field_errors(error)) from None
