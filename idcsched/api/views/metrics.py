"""`metrics/` and `samples/`: the definitions of metrics, and their values."""

from datetime import datetime
from typing import Annotated

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.bodies import body_bytes
from idcsched.api.filtering import FilterSet
from idcsched.api.idempotency import Idempotent
from idcsched.api.openapi import list_of
from idcsched.api.origin import caller_origin
from idcsched.api.permissions import principal_of_request
from idcsched.api.resources import Resource, StrictModelSerializer, struct_response
from idcsched.framework.decoding import decode_json
from idcsched.framework.errors import IdcschedError
from metrics_ingest import services
from metrics_ingest.instruments import pushed_samples
from metrics_ingest.models import Metric

from .series import SERIES_PARAMETERS, SeriesPage, series_page

__all__ = ["MetricViewSet", "SamplesView"]


class MetricSerializer(StrictModelSerializer):
    class Meta:
        model = Metric
        fields = ("code", "name", "unit", "direction", "scope", "max_age_seconds", "low", "high", "builtin")
        read_only_fields = ("builtin",)


class MetricFilters(FilterSet):
    class Meta:
        model = Metric
        columns = ("code", "name", "unit", "direction", "scope", "builtin")
        searched = ("code", "name")


class MetricViewSet(Resource):
    """Metrics: unit, direction, range, and how long a sample stays fresh. The built-in ones are always there."""

    capability = "write_metrics"
    noun = "metric"
    queryset = Metric.objects.all()
    serializer_class = MetricSerializer
    filterset_class = MetricFilters
    ordering_fields = ("code", "name")
    create_service = staticmethod(services.metric_create)
    update_service = staticmethod(services.metric_update)
    delete_service = staticmethod(services.metric_delete)


class SampleDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One value; `at` defaults to now."""

    idc: str
    metric: str
    value: float
    line: str | None = None
    at: datetime | None = None


class Accepted(msgspec.Struct, frozen=True):
    """The number of samples, all of which were stored."""

    accepted: int


EXAMPLE = [
    {"idc": "a", "metric": "cpu_load", "value": 0.4},
    {"idc": "d", "metric": "memory_load", "value": 0.35},
]
Documents = Annotated[list[SampleDocument], msgspec.Meta(max_length=services.MAX_SAMPLES)]


class SamplesView(Idempotent):
    """Samples, pushed and read back."""

    capability = "write_samples"

    @extend_schema(
        operation_id="samples_push",
        request=list_of(SampleDocument),
        responses=Accepted,
        examples=[OpenApiExample("Two values", value=EXAMPLE, request_only=True)],
    )
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
        try:
            with caller_origin(request):
                accepted = services.samples_store(samples=samples, now=now, principal=principal)
        except IdcschedError:
            pushed_samples.labels("refused").inc(len(samples))
            raise
        pushed_samples.labels("stored").inc(accepted)
        return Response({"accepted": accepted})

    @extend_schema(operation_id="samples_read", parameters=SERIES_PARAMETERS, responses=SeriesPage)
    def get(self, request: Request) -> HttpResponse:
        """One metric of an IDC or line over time."""
        return struct_response(series_page(request))
