"""`sources/` and `collectors/`: who is asked for numbers, how that went, and which kinds there are."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from idcsched.api.fields import ObjectField, TextsField
from idcsched.api.filtering import FilterSet
from idcsched.api.openapi import paged
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import Resource, StrictModelSerializer, page_response, struct_response
from idcsched.audit.writing import below
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.scope import regions_check
from idcsched.language.wording import explained
from metrics_ingest import services
from metrics_ingest.collector import Collector
from metrics_ingest.models import Run, Source
from metrics_ingest.sources.kinds import kinds
from metrics_ingest.sources.mapping import Refused
from metrics_ingest.sources.periodic import source_hint
from metrics_ingest.sources.run_notes import note_said
from metrics_ingest.sources.trying import Trial, source_try

__all__ = ["CollectorsView", "SourceViewSet"]


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class ScheduleField(serializers.Field[str, Any, Any, Any]):
    """A number of seconds, or cron's five fields."""

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, int | str):
            raise Invalid("wrong_type", _("this must be a number of seconds, or cron's five fields"), "/schedule")
        return str(data)

    def to_representation(self, value: str) -> int | str:
        return int(value) if value.isdigit() else value


class SourceSerializer(StrictModelSerializer):
    schedule = ScheduleField()
    config = ObjectField(required=False)
    mapping = ObjectField(required=False)
    regions = TextsField(required=False, allow_null=True, help_text="Where it writes samples; null: everywhere.")
    running = serializers.SerializerMethodField()

    class Meta:
        model = Source
        own = ("code", "kind", "schedule", "config", "mapping", "secret_ref", "regions", "enabled")
        read_only_fields = ("running", "due_at", "started_at", "succeeded_at", "failures")
        fields = (*own, *read_only_fields)

    def get_running(self, source: Source) -> bool:
        return source.claim is not None


class RunRefusal(msgspec.Struct, frozen=True):
    """A value that was not stored, as the source named it."""

    idc: str
    line: str | None
    metric: str | None
    value: str | None
    detail: str


class RunRefusals(msgspec.Struct, frozen=True):
    """How many were refused for one reason, and a few of them."""

    code: str
    count: int
    examples: list[RunRefusal]


class UnmatchedName(msgspec.Struct, frozen=True):
    """An IDC and line that the source named and nobody knows, and how many values it gave for it."""

    idc: str
    line: str | None
    count: int


class RunError(msgspec.Struct, frozen=True):
    code: str
    detail: str


class ShownRun(msgspec.Struct, frozen=True, kw_only=True):
    """One time that the source was asked; `fetched` is `stored` + `refused` + `unmatched`."""

    id: int
    state: str
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None
    fetched: int
    stored: int
    refused: int
    unmatched: int
    refusals: list[RunRefusals]
    unmatched_names: list[UnmatchedName]
    error: RunError | None


class TriedSample(msgspec.Struct, frozen=True):
    idc: str
    line: str | None
    metric: str
    value: float
    at: datetime


class ShownTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What would be stored of what the source says now; the first of each are shown."""

    fetched: int
    storable: int
    refused: int
    unmatched: int
    samples: list[TriedSample]
    refusals: list[RunRefusal]
    unmatched_names: list[UnmatchedName]
    error: RunError | None


class CollectorDocument(msgspec.Struct, frozen=True):
    """One kind of source; `config` is the JSON Schema of what it can be told."""

    kind: str
    description: str
    config: dict[str, Any]
    mapping: dict[str, Any]


class SourceFilters(FilterSet):
    class Meta:
        model = Source
        columns = (
            *("code", "kind", "schedule", "secret_ref", "enabled"),
            *("due_at", "started_at", "succeeded_at", "failures"),
        )
        searched = ("code", "kind")


class RunFilters(FilterSet):
    class Meta:
        model = Run
        columns = ("id", "state", "started_at", "finished_at", "fetched", "stored", "refused", "unmatched")
        searched = ()


class SourceViewSet(Resource):
    """Who is asked for numbers, when, and what becomes of the answers."""

    capability = "write_sources"
    conditional_actions = ("run",)
    noun = "source"
    moving_fields = frozenset(SourceSerializer.Meta.read_only_fields)
    queryset = Source.objects.all()
    serializer_class = SourceSerializer
    filterset_class = SourceFilters
    ordering_fields = ("code", "kind", "due_at", "started_at", "succeeded_at", "failures")
    create_service = staticmethod(services.source_create)
    update_service = staticmethod(services.source_update)
    delete_service = staticmethod(services.source_delete)

    def make(self, document: Any) -> Source:
        return services.source_create(**self._in_own_regions(self._validated(document)))

    def change(self, row: Any, document: Any, *, partial: bool) -> Any:
        if not partial and isinstance(document, Mapping):
            document = self._in_own_regions(document)
        return super().change(row, document, partial=partial)

    def _in_own_regions(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The source of an operator of some regions writes there, unless fewer are named."""
        regions = principal_of_request(self.request).regions
        return dict(fields) if regions is None or "regions" in fields else {**fields, "regions": list(regions)}

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        """An operator of some regions changes only sources that write in these."""
        for row, pointer in zip(rows, pointers, strict=False):
            with below(pointer):
                regions_check(principal_of_request(self.request), row.regions)

    @paged(ShownRun, operation_id="source_runs_list", filters=True)
    @action(detail=True, methods=["get"], filterset_class=RunFilters, ordering_fields=("id", "started_at"))
    def runs(self, request: Request, code: str) -> Response:
        """How asking it went, the latest first."""
        source: Any = self.get_object()
        rows = self.paginate_queryset(self.filter_members(Run.objects.filter(source=source)))
        return self.get_paginated_response([msgspec.to_builtins(_run(row)) for row in rows or ()])

    @extend_schema(operation_id="source_run", request=None, responses={202: SourceSerializer})
    @action(detail=True, methods=["post"])
    def run(self, request: Request, code: str) -> Response:
        """Have it asked as soon as a worker is free."""
        asked = self.edited_object(lambda source: services.source_ask(source=source, now=timezone.now()))
        source_hint(asked.pk)
        return Response(self.get_serializer(asked).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="source_test", request=None, responses=ShownTrial)
    @action(detail=True, methods=["post"])
    def test(self, request: Request, code: str) -> HttpResponse:
        """Ask it now and show what would be stored; nothing is."""
        source: Any = self.get_object()
        self.check_rows([source])
        return struct_response(_trial(source_try(source=source, now=timezone.now())))


class CollectorsView(APIView):
    """The kinds of sources that there are, third parties' among them."""

    capability = "read"

    @paged(CollectorDocument, operation_id="collectors_list")
    def get(self, request: Request) -> HttpResponse:
        return page_response(request, [found for _, found in sorted(kinds().collectors.items())], _collector)


def _collector(found: type[Collector]) -> CollectorDocument:
    return CollectorDocument(
        kind=found.kind,
        description=(found.__doc__ or "").strip(),
        config=msgspec.json.schema(found.Config),
        mapping=dict(found.mapping),
    )


def _run(row: Run) -> ShownRun:
    ended = row.finished_at
    return ShownRun(
        id=row.pk,
        state=row.state,
        started_at=row.started_at,
        finished_at=ended,
        seconds=None if ended is None else round((ended - row.started_at).total_seconds(), 3),
        fetched=row.fetched,
        stored=row.stored,
        refused=row.refused,
        unmatched=row.unmatched,
        refusals=[
            RunRefusals(each["code"], each["count"], [_stored_refusal(example) for example in each["examples"]])
            for each in row.refusals
        ],
        unmatched_names=[UnmatchedName(**each) for each in row.unmatched_names],
        error=None if row.error is None else RunError(row.error["code"], note_said(row.error)),
    )


def _stored_refusal(example: Mapping[str, Any]) -> RunRefusal:
    said = note_said(example["reason"])
    return RunRefusal(example["idc"], example["line"], example["metric"], example["value"], said)


def _trial(trial: Trial) -> ShownTrial:
    return ShownTrial(
        fetched=trial.fetched,
        storable=trial.storable,
        refused=trial.refused_count,
        unmatched=trial.unmatched_count,
        samples=[TriedSample(each.idc, each.line, each.metric, each.value, each.at) for each in trial.samples],
        refusals=[_refusal(each) for each in trial.refused],
        unmatched_names=[UnmatchedName(*each) for each in trial.unmatched],
        error=None if trial.error is None else RunError(trial.error.code, explained(trial.error)),
    )


def _refusal(refused: Refused) -> RunRefusal:
    value = None if refused.value is None else str(refused.value)
    return RunRefusal(refused.idc, refused.line, refused.metric, value, explained(refused.reason))
