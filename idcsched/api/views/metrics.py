"""`metrics/` and `samples/`: what numbers mean, and the numbers."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.bodies import body_bytes
from idcsched.api.filtering import AnyOf, FilterSet
from idcsched.api.idempotency import Idempotent
from idcsched.api.openapi import list_of
from idcsched.api.origin import caller_origin
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import Resource, StrictModelSerializer
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import Invalid
from idcsched.inventory.selectors import idc_named, line_named
from metrics_ingest import services
from metrics_ingest.models import Metric
from metrics_ingest.selectors import metric_named
from metrics_ingest.series import series_read

__all__ = ["MetricViewSet", "SamplesView"]


class MetricSerializer(StrictModelSerializer):
    class Meta:
        model = Metric
        fields = ("code", "name", "unit", "direction", "scope", "max_age_seconds", "low", "high", "builtin")
        read_only_fields = ("builtin",)


class MetricFilters(FilterSet):
    code = AnyOf(field_name="code")
    scope = AnyOf(field_name="scope")

    class Meta:
        model = Metric
        fields = ("code", "scope")
        searched = ("code", "name")


class MetricViewSet(Resource):
    """Definitions: unit, direction, range, and how long a sample stays fresh. The built-in ones are always there."""

    capability = "write_metrics"
    noun = "metric"
    queryset = Metric.objects.all()
    serializer_class = MetricSerializer
    filterset_class = MetricFilters
    ordering_fields = ("code", "name")
    create_service = staticmethod(services.metric_create)
    update_service = staticmethod(services.metric_update)
    delete_service = staticmethod(services.metric_delete)


class SampleDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value; without `at` it was taken now."""

    idc: str
    metric: str
    value: float
    line: str | None = None
    at: datetime | None = None


class Accepted(msgspec.Struct, frozen=True):
    """How many samples came in: all of them."""

    accepted: int


class Point(msgspec.Struct, frozen=True):
    """One step of a series; null where nothing is known."""

    at: datetime
    value: float | None


EARLIEST, LATEST = datetime(1970, 1, 1), datetime(2200, 1, 1)  # noqa: DTZ001  # compared without a zone: a day more or less
Documents = Annotated[list[SampleDocument], msgspec.Meta(max_length=services.MAX_SAMPLES)]
SERIES_PARAMETERS = [
    OpenApiParameter("idc", str, required=True),
    OpenApiParameter("metric", str, required=True),
    OpenApiParameter("line", str),
    OpenApiParameter("from", datetime, description="Default: a day before `to`."),
    OpenApiParameter("to", datetime, description="Default: now."),
    OpenApiParameter("step", int, description="Seconds, a multiple of 300 (the default)."),
    OpenApiParameter("agg", str, enum=["mean", "max", "min", "last", "p95"], description="Default: mean."),
]


class SamplesView(Idempotent):
    """Values pushed and read back."""

    capability = "write_samples"

    @extend_schema(operation_id="samples_push", request=list_of(SampleDocument), responses=Accepted)
    def post(self, request: Request) -> Response:
        """Store up to 10,000 samples, all or none."""
        now = timezone.now()
        documents = decode_json(body_bytes(request), Documents)
        principal = principal_of_request(request)
        samples = [
            services.Sample(
                idc=document.idc,
                metric=document.metric,
                value=document.value,
                line=document.line,
                at=now if document.at is None else document.at,
            )
            for document in documents
        ]
        with caller_origin(request):
            accepted = services.samples_store(samples=samples, now=now, principal=principal)
        return Response({"accepted": accepted})

    @extend_schema(operation_id="samples_read", parameters=SERIES_PARAMETERS, responses=list_of(Point))
    def get(self, request: Request) -> Response:
        """One metric of an IDC or line over time."""
        given = {name: request.query_params[name] for name in request.query_params}
        unknown = set(given) - {parameter.name for parameter in SERIES_PARAMETERS}
        if unknown:
            name = min(unknown)
            raise Invalid("unknown_parameter", "there is no such parameter", f"/{name}")
        idc = idc_named(_required(given, "idc"), "/idc")
        end = _time(given, "to", timezone.now())
        series = series_read(
            metric=metric_named(_required(given, "metric"), "/metric"),
            idc=idc,
            line=line_named(idc, given["line"], "/line") if "line" in given else None,
            start=_time(given, "from", end - timedelta(days=1)),
            end=end,
            step=_step(given),
            agg=given.get("agg", "mean"),
        )
        return Response([{"at": at, "value": value} for at, value in series.points()])


def _required(given: dict[str, str], name: str) -> str:
    if name not in given:
        raise Invalid("required", "this is required", f"/{name}")
    return given[name]


def _time(given: dict[str, str], name: str, default: datetime) -> datetime:
    if name not in given:
        return default
    try:
        parsed = parse_datetime(given[name].replace(" ", "+"))  # an unescaped + arrives as a blank
    except ValueError:
        parsed = None
    if parsed is None:
        raise Invalid("wrong_type", "this must be a time such as 2026-01-31T12:00:00Z", f"/{name}")
    if not EARLIEST <= parsed.replace(tzinfo=None) <= LATEST:
        raise Invalid("out_of_range", "this lies outside of the calendar that is kept", f"/{name}")
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _step(given: dict[str, str]) -> timedelta:
    text = given.get("step", "300")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):  # noqa: PLR2004  # more digits than seconds in 30 years
        raise Invalid("wrong_type", "this must be a number of seconds", "/step")
    return timedelta(seconds=int(text))
