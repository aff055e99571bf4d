"""What all resources have in common: strict fields, addresses by code, writes through services, lists all or none.

A viewset declares its queryset, serializer, filterset, capability and services; nothing more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import msgspec
from django.db.models import Model, QuerySet
from django.http import Http404, HttpResponse
from django.utils.translation import gettext, gettext_lazy
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator
from rest_framework.viewsets import GenericViewSet

from idcsched.audit.bulk import each, places
from idcsched.audit.edits import all_or_none, edited
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
Made = TypeVar("Made")
PLAIN_FIELDS: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], type], ...] = (
    (serializers.CharField, str),
    (serializers.ChoiceField, str),
    (serializers.DateTimeField, str),
    (serializers.FloatField, float),
    (serializers.IntegerField, int),
    (serializers.BooleanField, bool),
)
MOST_OBJECTS = 1000
"""As many as one request may write."""
_encoder = msgspec.json.Encoder()


class _Strict(serializers.Serializer[Any]):
    """An unknown field in a body is an error; a field that only answers carry is unknown in a request."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = [name for name, field in self.fields.items() if not field.read_only]
            unknown = [name for name in data if name not in known]
            refused = {name: _no_such_field(known if len(unknown) <= MOST_LISTED else ()) for name in unknown}
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


class OneOf(serializers.ChoiceField):
    """A choice that is refused with what there is to choose from."""

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid_choice": gettext_lazy("this must be one of {choices}")}

    def fail(self, key: str, **params: Any) -> NoReturn:
        super().fail(key, choices=", ".join(map(str, self.choices)), **params)


class StrictModelSerializer(_Strict, serializers.ModelSerializer[Any]):
    """For a model's rows. Uniqueness and the like are the services' business, which know them race-free."""

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
    """A reference to another object by the code that people know it by; the services look it up."""

    def to_representation(self, value: Any) -> str:
        return str(value.code)


class ReadOnlyResource(Conditional, Idempotent, mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Any]):
    """A list and its members."""

    capability: ClassVar[str] = "read"
    conditional_actions: ClassVar[tuple[str, ...]] = ()
    """Of those that are sent by POST, the ones that honour `If-Match`."""
    looking_for_actions: ClassVar[tuple[str, ...]] = ()
    """Of those about no member, the ones that answer 404 where what their body names is not there."""
    lookup_field = "code"
    lookup_value_regex = "[^/]+"

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The filters are the list's; below a member, parameters mean what its own view says."""
        found: QuerySet[Any] = queryset if self.detail else super().filter_queryset(queryset)
        return found

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        refuse_unknown_parameters(request, (), single=())
        return super().retrieve(request, *args, **kwargs)

    def filter_members(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Rows that belong to a member, filtered and ordered as its own view declares; raises Invalid."""
        return super().filter_queryset(rows)

    def get_object(self) -> Any:
        if "\x00" in self.kwargs[self.lookup_url_kwarg or self.lookup_field]:
            raise Http404
        return super().get_object()

    def versioned(self, shown: Any) -> Any:
        """An object without its secrets, and without what moves though nobody edits it; a list as it is shown."""
        if not isinstance(shown, dict) or "results" in shown:
            return shown
        return {name: shown[name] for name in shown if name not in self.secret_fields | self.moving_fields}


class Resource(ReadOnlyResource):
    """A list whose members can be made, changed and deleted; a JSON list makes or changes many, all or none.

    An edit holds what it is about from before its `If-Match` is looked at until it is done.
    """

    create_service: ClassVar[Service]
    create_many_service: ClassVar[Service | None] = None
    """Makes all `documents` in a few statements; without one they are made one after the other."""
    update_service: ClassVar[Service]
    delete_service: ClassVar[Service]
    noun: ClassVar[str]
    """What the services call the row."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """References that a row keeps for good: a change may repeat them, not change them."""
    held_with: ClassVar[tuple[str, ...]] = ()
    """The rows that belong to a row and are shown in it."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        with caller_origin(request):
            shown = all_or_none(lambda: self._created(request.data))
        return Response(shown, status=status.HTTP_201_CREATED)

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """PUT: the whole object, what is left out falls back to its default."""
        return self._updated(request, partial=False)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """PATCH: only what is named."""
        return self._updated(request, partial=True)

    def partial_update_many(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """PATCH of a list to the collection: only what is named, of the objects that say which they are."""
        documents = self._keyed(request.data)
        keys = list(documents)

        def change(rows: Sequence[Any]) -> Any:
            changed = []
            for index, (row, document) in enumerate(zip(rows, documents.values(), strict=True)):
                with below(f"/{index}"):
                    changed.append(self._changed(row, document, partial=True))
            return self._shown(changed, many=True)

        named = self.get_queryset().filter(**{f"{self.lookup_field}__in": keys})
        return Response(self._edited(list(named.values_list("pk", flat=True)), lambda: self._read_by_key(keys), change))

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        self.edited_object(lambda row: type(self).delete_service(**{self.noun: row}))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        """Raises Forbidden where the caller may not touch one; called before and after a change, in its transaction."""

    def told_of_many(self) -> Mapping[str, Any]:
        """What else `create_many_service` is told."""
        return {}

    def make(self, document: Any) -> Any:
        """The row that a document describes, or several; raises Invalid, Conflict."""
        return type(self).create_service(**self._validated(document))

    def change(self, row: Any, document: Any, *, partial: bool) -> Any:
        """The row as the document wants it; raises Invalid, Conflict."""
        serializer = self.get_serializer(row, data=document, partial=partial)
        _validate(serializer)
        changes = serializer.validated_data if partial else {**_defaults(serializer), **serializer.validated_data}
        for name in self.fixed:
            if changes.pop(name, shown := serializer.data.get(name)) != shown:
                raise Invalid("read_only", _("this can't be changed"), f"/{name}")
        return type(self).update_service(**{self.noun: row, "changes": changes})

    def edited_object(self, change: Callable[[Any], Made]) -> Made:
        """What `change` makes of the row of this address, as it stands now and nobody else changes it meanwhile.

        Raises NotFound, Forbidden, StaleETag.
        """

        def read() -> Any:
            row = self.get_object()
            self._check_held([row])
            return row

        return self._edited([self.get_object().pk], read, change)

    def fresh(self, rows: Sequence[Any]) -> list[Any]:
        """The rows read again, all at once, as the list reads them."""
        found = self.get_queryset().in_bulk([row.pk for row in rows])
        return [found[row.pk] for row in rows]

    def _made(self, document: Any, pointer: str) -> list[Any]:
        with below(pointer):
            made = self.make(document)
            rows = made if isinstance(made, list) else [made]
            self.check_rows(rows)
        return rows

    def _made_at_once(self, data: Any) -> list[Any]:
        service = cast("Service", type(self).create_many_service)
        documents = [document for _, document in _items(data)]
        validated = each(documents, places(documents), self._validated)
        rows: list[Any] = service(documents=validated, **self.told_of_many())
        return rows

    def _validated(self, document: Any) -> Mapping[str, Any]:
        serializer = self.get_serializer(data=document)
        _validate(serializer)
        return serializer.validated_data

    def _created(self, data: Any) -> Any:
        """What the documents have made, as it is shown."""
        many = isinstance(data, list)
        if many and type(self).create_many_service is not None:
            made = self._made_at_once(data)
        else:
            made = [row for pointer, document in _items(data) for row in self._made(document, pointer)]
        return self._shown(made, many=many or len(made) != 1)

    def _updated(self, request: Request, *, partial: bool) -> Response:
        return Response(
            self.edited_object(lambda row: self._shown([self._changed(row, request.data, partial=partial)], many=False))
        )

    def _edited(self, keys: Sequence[Any], read: Callable[[], Any], change: Callable[[Any], Made]) -> Made:
        rows = self.get_queryset().model._default_manager.filter(pk__in=keys)
        with caller_origin(self.request):
            return edited(rows, read=read, change=change, held_with=self.held_with)

    def _changed(self, row: Any, document: Any, *, partial: bool) -> Any:
        changed = self.change(row, document, partial=partial)
        self.check_rows([changed])
        return changed

    def _keyed(self, data: Any) -> dict[Any, Any]:
        """Each object's name, and what is to change; raises Invalid where one has none, or another's."""
        if not isinstance(data, list):
            raise Invalid(
                "wrong_type", _("this must be a list of objects, each with its `{key}`"), key=self.lookup_field
            )
        found: dict[Any, Any] = {}
        by_id = self.lookup_field == "id"  # which no document may set, as it may repeat its code
        for pointer, document in _items(data):
            with below(pointer):
                key = _key(document, self.lookup_field)
                if key in found:
                    raise Invalid("given_twice", _("this can be given once"), f"/{self.lookup_field}")
            found[key] = {name: value for name, value in document.items() if name != "id"} if by_id else document
        return found

    def _read_by_key(self, keys: Sequence[Any]) -> list[Model]:
        named = self.get_queryset().filter(**{f"{self.lookup_field}__in": keys})
        found = {getattr(row, self.lookup_field): row for row in named}
        for index, key in enumerate(keys):
            if key not in found:
                raise Invalid("unknown", _("there is no {name}"), f"/{index}/{self.lookup_field}", name=key)
        rows = [found[key] for key in keys]
        self._check_held(rows, places(rows))
        return rows

    def _check_held(self, rows: Sequence[Model], pointers: Sequence[str] = ("",)) -> None:
        self.check_rows(rows, pointers)
        if "If-Match" in self.request.headers:
            shown = self.get_serializer(rows, many=True).data
            if_match_check(self.request, [self.versioned(document) for document in shown], pointers)

    def _shown(self, rows: Sequence[Any], *, many: bool) -> Any:
        """The rows as a reader would find them."""
        fresh = self.fresh(rows)
        return self.get_serializer(fresh if many else fresh[0], many=many).data


def encoded(answer: Any) -> HttpResponse:
    """Structs, or anything made of them, as JSON."""
    return HttpResponse(_encoder.encode(answer), content_type="application/json")


def page_response(
    request: Request, rows: Any, shown: Callable[[Any], Any] | None = None, own: Sequence[str] = ()
) -> HttpResponse:
    """A page of rows that no list's filters are about, each as `shown` has it; `own`: the view's other parameters.

    Raises Invalid for any other parameter.
    """
    known = (*Pages.parameters, *own)
    refuse_unknown_parameters(request, known, single=known)
    pages = Pages()
    part: Any = pages.paginate_queryset(rows, request)
    return encoded(pages.get_paginated_response([*map(shown, part)] if shown else part).data)


def struct_response(answer: msgspec.Struct, status: int = status.HTTP_200_OK) -> HttpResponse:
    """A struct as JSON, encoded once."""
    return HttpResponse(_encoder.encode(answer), content_type="application/json", status=status)


def _no_such_field(known: Sequence[str]) -> ErrorDetail:
    """`known` are those that there are, where the refusal is to list them."""
    listing = gettext("there is no such field; there are {choices}").format(choices=", ".join(known))
    return ErrorDetail(listing if known else gettext("there is no such field"), code="unknown_field")


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


def _items(data: Any) -> Iterator[tuple[str, Any]]:
    """What a body holds, with pointers: the object itself, or each of a list; raises Invalid for too many."""
    if not isinstance(data, list):
        yield "", data
        return
    if len(data) > MOST_OBJECTS:
        raise Invalid("too_many", _("this can be a list of {most} objects at most"), most=MOST_OBJECTS)
    yield from ((f"/{index}", document) for index, document in enumerate(data))


def _key(document: Any, name: str) -> Any:
    """By which name an object of a list says which one it is; raises Invalid."""
    if not isinstance(document, dict):
        raise Invalid("wrong_type", _("this must be an object"))
    if name not in document:
        raise Invalid("required", _("this is required"), f"/{name}")
    key, kind = document[name], int if name == "id" else str
    if not isinstance(key, kind) or isinstance(key, bool):
        raise Invalid("wrong_type", _("this is no name of an object"), f"/{name}")
    return key


def _defaults(serializer: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """What a model's optional fields fall back to where a whole object leaves them out; nested lists stay."""
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
    """What DRF finds wrong, as this project's field errors."""
    try:
        serializer.is_valid(raise_exception=True)
    except serializers.ValidationError as error:
        raise Invalid.of(field_errors(error)) from None
