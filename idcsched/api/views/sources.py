"""`sources/` and `collectors/`: the systems that are asked for samples, their runs, and the kinds of sources."""

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
from metrics_ingest.sources.periodic import source_announce
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
        writable = ("code", "kind", "schedule", "config", "mapping", "secret_ref", "regions", "enabled")
        read_only_fields = ("running", "due_at", "started_at", "succeeded_at", "failures")
        fields = (*writable, *read_only_fields)

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
    """The number of values that were refused for one reason, and a few of them."""

    code: str
    count: int
    examples: list[RunRefusal]


class UnmatchedName(msgspec.Struct, frozen=True):
    """An IDC and line that the source named and that are unknown here, and the number of values for them.

    An empty `idc`: the mapping's `idc` found nothing in the record.
    """

    idc: str
    line: str | None
    count: int


class RunError(msgspec.Struct, frozen=True):
    code: str
    detail: str


class ShownRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the source; `fetched` is `stored` + `refused` + `unmatched`."""

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
    """What would be stored of the source's values now; each list shows only its first entries."""

    fetched: int
    storable: int
    refused: int
    unmatched: int
    samples: list[TriedSample]
    refusals: list[RunRefusal]
    unmatched_names: list[UnmatchedName]
    error: RunError | None


class CollectorDocument(msgspec.Struct, frozen=True):
    """One kind of source; `config` is the JSON Schema of its configuration."""

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
    """Systems that are asked for samples, with their schedules and the mapping of their answers."""

    capability = "write_sources"
    conditional_actions = ("run",)
    noun = "source"
    moving_fields = frozenset(SourceSerializer.Meta.read_only_fields)
    unchanged_actions = ("list", "runs")
    queryset = Source.objects.all()
    serializer_class = SourceSerializer
    filterset_class = SourceFilters
    ordering_fields = ("code", "kind", "due_at", "started_at", "succeeded_at", "failures")
    create_service = staticmethod(services.source_create)
    update_service = staticmethod(services.source_update)
    delete_service = staticmethod(services.source_delete)

    def make(self, document: Any) -> Source:
        return services.source_create(**self._with_regions_of_caller(self._validated(document)))

    def change(self, row: Any, document: Any, *, partial: bool) -> Any:
        if not partial and isinstance(document, Mapping):
            document = self._with_regions_of_caller(document)
        return super().change(row, document, partial=partial)

    def _with_regions_of_caller(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Add `regions` where they are missing: those that the caller is bound to, if any."""
        regions = principal_of_request(self.request).regions
        return dict(fields) if regions is None or "regions" in fields else {**fields, "regions": list(regions)}

    def check_rows(self, rows: Sequence[Any], pointers: Iterable[str] = repeat("")) -> None:
        """Raise Forbidden where an operator is bound to some regions and a source writes in others."""
        for row, pointer in zip(rows, pointers, strict=False):
            with below(pointer):
                regions_check(principal_of_request(self.request), row.regions)

    @paged(ShownRun, operation_id="source_runs_list", filters=True)
    @action(detail=True, methods=["get"], filterset_class=RunFilters, ordering_fields=("id", "started_at"))
    def runs(self, request: Request, code: str) -> Response:
        """The runs of the source, the latest first."""
        source: Any = self.get_object()
        rows = self.paginate_queryset(self.filter_rows_of_member(Run.objects.filter(source=source)))
        return self.get_paginated_response([msgspec.to_builtins(_run(row)) for row in rows or ()])

    @extend_schema(operation_id="source_run", request=None, responses={202: SourceSerializer})
    @action(detail=True, methods=["post"])
    def run(self, request: Request, code: str) -> Response:
        """Have the source asked as soon as a worker is free."""
        source = self.edited_object(lambda row: services.source_ask(source=row, now=timezone.now()))
        source_announce(source.pk, by_hand=True)  # a worker need not wait for the next sweep
        return Response(self.get_serializer(source).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="source_test", request=None, responses=ShownTrial)
    @action(detail=True, methods=["post"])
    def test(self, request: Request, code: str) -> HttpResponse:
        """Ask the source now and show what would be stored, without storing anything."""
        source: Any = self.get_object()
        self.check_rows([source])
        return struct_response(_trial(source_try(source=source, now=timezone.now())))


class CollectorsView(APIView):
    """The kinds of sources that exist, third parties' among them."""

    capability = "read"

    @paged(CollectorDocument, operation_id="collectors_list")
    def get(self, request: Request) -> HttpResponse:
        return page_response(request, [collector for _, collector in sorted(kinds().classes.items())], _document)


def _document(collector: type[Collector]) -> CollectorDocument:
    return CollectorDocument(
        kind=collector.kind,
        description=(collector.__doc__ or "").strip(),
        config=msgspec.json.schema(collector.Config),
        mapping=dict(collector.mapping),
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
            RunRefusals(group["code"], group["count"], [_run_refusal(example) for example in group["examples"]])
            for group in row.refusals
        ],
        unmatched_names=[UnmatchedName(**name) for name in row.unmatched_names],
        error=None if row.error is None else RunError(row.error["code"], note_said(row.error)),
    )


def _run_refusal(example: Mapping[str, Any]) -> RunRefusal:
    detail = note_said(example["reason"])
    return RunRefusal(example["idc"], example["line"], example["metric"], example["value"], detail)


def _trial(trial: Trial) -> ShownTrial:
    return ShownTrial(
        fetched=trial.fetched,
        storable=trial.storable,
        refused=trial.refused_count,
        unmatched=trial.unmatched_count,
        samples=[
            TriedSample(sample.idc, sample.line, sample.metric, sample.value, sample.at) for sample in trial.samples
        ],
        refusals=[_trial_refusal(refused) for refused in trial.refused],
        unmatched_names=[UnmatchedName(*name) for name in trial.unmatched],
        error=None if trial.error is None else RunError(trial.error.code, explained(trial.error)),
    )


def _trial_refusal(refused: Refused) -> RunRefusal:
    value = None if refused.value is None else str(refused.value)
    return RunRefusal(refused.idc, refused.line, refused.metric, value, explained(refused.reason))
