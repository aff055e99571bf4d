"""What all resources have in common: strict fields, addresses by code, writes through services, lists all or none.

A viewset declares its queryset, serializer, filterset, capability and services; nothing more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import msgspec
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator
from rest_framework.viewsets import GenericViewSet

from idcsched.audit.bulk import each, places
from idcsched.audit.writing import below
from idcsched.framework.errors import Invalid, NotFound

from .idempotency import Idempotent
from .origin import caller_origin
from .problems import field_errors

__all__ = [
    "CodeOf",
    "ReadOnlyResource",
    "Resource",
    "StrictModelSerializer",
    "StrictSerializer",
    "encoded",
    "struct_response",
]

Service = Callable[..., Any]
PLAIN_FIELDS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], type], ...] = (
    (serializers.CharField, str),
    (serializers.ChoiceField, str),
    (serializers.DateTimeField, str),
    (serializers.FloatField, float),
    (serializers.IntegerField, int),
    (serializers.BooleanField, bool),
)
_encoder = msgspec.json.Encoder()


class _Strict(serializers.Serializer[Any]):
    """An unknown field in a body is an error; a field that only answers carry is unknown in a request."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            refused = {
                name: _no_such_field() for name in data if name not in self.fields or self.fields[name].read_only
            }
            for name, kind in self._kinds():
                if not _fits(data.get(name), kind):
                    refused[name] = _wrong_type(kind)
            if refused:
                raise serializers.ValidationError(refused)
        return super().to_internal_value(data)

    def _kinds(self) -> Iterator[tuple[str, type]]:
        """The JSON types of the plain fields; DRF by itself would take a number for a text, and true for 1."""
        for name, field in self.fields.items():
            for declared, kind in PLAIN_FIELDS:
                if isinstance(field, declared):
                    yield name, kind


class StrictSerializer(_Strict):
    """For bodies that are no model's."""


class StrictModelSerializer(_Strict, serializers.ModelSerializer[Any]):
    """For a model's rows. Uniqueness and the like are the services' business, which know them race-free."""

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
    """A reference to another object by the code that people know it by; the services look it up."""

    def to_representation(self, value: Any) -> str:
        return str(value.code)


class ReadOnlyResource(Idempotent, mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Any]):
    """A list and its members."""

    capability: ClassVar[str] = "read"
    lookup_field = "code"
    lookup_value_regex = "[^/]+"

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The filters are the list's; below a member, parameters mean what its own view says."""
        found: QuerySet[Any] = queryset if self.detail else super().filter_queryset(queryset)
        return found

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, whose changes are put down to the caller."""
        with caller_origin(self.request), transaction.atomic():
            yield


class Resource(ReadOnlyResource):
    """A list whose members can be made, changed and deleted; a JSON list makes many, all or none."""

    create_service: ClassVar[Service]
    create_many_service: ClassVar[Service | None] = None
    """Makes all `documents` in a few statements; without one they are made one after the other."""
    update_service: ClassVar[Service]
    delete_service: ClassVar[Service]
    noun: ClassVar[str]
    """What the services call the row."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """References that a row keeps for good: a change may repeat them, not change them."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        many = isinstance(request.data, list)
        documents = request.data if many else [request.data]
        with self.writing():
            if many and type(self).create_many_service is not None:
                made = self._made_at_once(documents)
            else:
                made = [
                    row
                    for index, document in enumerate(documents)
                    for row in self._made(document, f"/{index}" if many else "")
                ]
        single = not many and len(made) == 1
        shown = self.get_serializer(made[0] if single else made, many=not single)
        return Response(shown.data, status=status.HTTP_201_CREATED)

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """PUT: the whole object, what is left out falls back to its default."""
        return self._changed(request, partial=False)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """PATCH: only what is named."""
        return self._changed(request, partial=True)

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        self.check_rows([row])
        with self.writing():
            type(self).delete_service(**{self.noun: row})
        return Response(status=status.HTTP_204_NO_CONTENT)

    def check_rows(self, rows: Sequence[Any]) -> None:
        """Raises Forbidden where the caller may not touch one; called before and after a change, in its transaction."""

    def get_object(self) -> Model:
        key = self.kwargs[self.lookup_url_kwarg or self.lookup_field]
        if "\x00" in key:
            raise NotFound("not_found", "there is no {noun} {key}", noun=self.noun, key="")
        found: Model = super().get_object()
        return found

    def _made(self, document: Any, pointer: str) -> list[Any]:
        with below(pointer):
            made = type(self).create_service(**self._validated(document))
        rows = made if isinstance(made, list) else [made]
        self.check_rows(rows)
        return rows

    def _made_at_once(self, documents: Any) -> list[Any]:
        """Many of them; read again as the list reads them, so that showing them takes no query each."""
        service = cast("Service", type(self).create_many_service)
        rows = service(documents=each(documents, places(documents), self._validated))
        self.check_rows(rows)
        found = self.get_queryset().in_bulk([row.pk for row in rows])
        return [found[row.pk] for row in rows]

    def _validated(self, document: Any) -> Mapping[str, Any]:
        serializer = self.get_serializer(data=document)
        _validate(serializer)
        return serializer.validated_data

    def _changed(self, request: Request, *, partial: bool) -> Response:
        row = self.get_object()
        self.check_rows([row])
        serializer = self.get_serializer(row, data=request.data, partial=partial)
        _validate(serializer)
        changes = serializer.validated_data if partial else {**_defaults(serializer), **serializer.validated_data}
        for name in self.fixed:
            if changes.pop(name, shown := serializer.data.get(name)) != shown:
                raise Invalid("read_only", "this can't be changed", f"/{name}")
        with self.writing():
            changed = type(self).update_service(**{self.noun: row, "changes": changes})
            self.check_rows([changed])
        return Response(self.get_serializer(changed).data)


def encoded(answer: Any) -> HttpResponse:
    """Structs, or anything made of them, as JSON."""
    return HttpResponse(_encoder.encode(answer), content_type="application/json")


def struct_response(answer: msgspec.Struct, status: int = status.HTTP_200_OK) -> HttpResponse:
    """A struct as JSON, encoded once."""
    return HttpResponse(_encoder.encode(answer), status=status, content_type="application/json")


def _no_such_field() -> ErrorDetail:
    return ErrorDetail(gettext("there is no such field"), code="unknown_field")


def _wrong_type(kind: type) -> ErrorDetail:
    text = {str: gettext("this must be a text"), bool: gettext("this must be true or false")}
    return ErrorDetail(text.get(kind, gettext("this must be a number")), code="wrong_type")


def _fits(value: Any, kind: type) -> bool:
    """Whether a JSON value is of that type; null and what is not there are for others to judge."""
    if value is None:
        return True
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _defaults(serializer: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """What a model's optional fields fall back to where a whole object leaves them out; nested lists stay."""
    model = serializer.Meta.model  # type: ignore[attr-defined]
    fields = {field.name: field for field in model._meta.get_fields() if field.concrete}
    named = (name for name in _sources(serializer.fields.values()) if name in fields)  # type: ignore[attr-defined]
    return {name: fields[name].get_default() for name in named if fields[name].blank or fields[name].has_default()}


def _sources(declared: Iterable[serializers.Field[Any, Any, Any, Any]]) -> Iterator[str]:
    for field in declared:
        if field.source == "*":
            yield from _sources(field.fields.values())  # type: ignore[attr-defined]
        elif not field.read_only:
            yield str(field.source)


def _validate(serializer: serializers.BaseSerializer[Any]) -> None:
    """What DRF finds wrong, as this project's field errors."""
    try:
        serializer.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise Invalid.of(field_errors(error)) from None
