"""`bandwidth/`: what the measured bandwidth of lines comes to, what it bills, and where it is going."""

from typing import Any

import django_filters
import msgspec
from django.db.models import F, QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.filtering import AnyOf, FilterSet
from idcsched.api.resources import ReadOnlyResource
from metrics_ingest.bandwidth_report import BandwidthReport, DayReport, MonthReport, month_reports, rollups_reported
from metrics_ingest.models import BandwidthDay, BandwidthMonth, BandwidthRollup

__all__ = ["BandwidthViewSet"]


class BandwidthSerializer(serializers.BaseSerializer[BandwidthRollup]):
    def to_representation(self, instance: BandwidthRollup) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(BandwidthReport.of(instance, timezone.now()))
        return document


class BandwidthFilters(FilterSet):
    idc = AnyOf(field_name="line__idc__code")
    isp = AnyOf(field_name="line__isp__code")
    charge_type = AnyOf(field_name="line__charge_type")
    days_until_high_water__lte = django_filters.NumberFilter(field_name="days_until_high_water", lookup_expr="lte")

    class Meta:
        model = BandwidthRollup
        fields = ("idc", "isp", "charge_type")
        searched = ("line__code", "line__idc__code", "line__idc__name")


class MonthPage(msgspec.Struct, frozen=True, kw_only=True):
    """A line's months, the newest first."""

    count: int
    next: str | None
    previous: str | None
    results: list[MonthReport]


class DayPage(msgspec.Struct, frozen=True, kw_only=True):
    """A line's billing days, the newest first."""

    count: int
    next: str | None
    previous: str | None
    results: list[DayReport]


def paged(page: type[msgspec.Struct]) -> Any:
    return extend_schema(
        responses=page, filters=False, parameters=[OpenApiParameter("limit", int), OpenApiParameter("offset", int)]
    )


@extend_schema_view(
    list=extend_schema(responses=BandwidthReport),
    retrieve=extend_schema(responses=BandwidthReport),
)
class BandwidthViewSet(ReadOnlyResource):
    """Percentiles with their coverage, the running month and its bill, its forecast, and days until a line is full.

    A member is named by its line's id. Days and months are those of the billing zone.
    """

    queryset = BandwidthRollup.objects.all()
    serializer_class = BandwidthSerializer
    filterset_class = BandwidthFilters
    ordering_fields = ("line", "p95_7d_mbps", "p95_30d_mbps", "trend_mbps_per_day", "days_until_high_water")
    lookup_field = "line"
    lookup_url_kwarg = "line"
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> QuerySet[BandwidthRollup]:
        return rollups_reported(timezone.now()).order_by("line_id")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """What is not known comes last, whichever way the list is ordered, and on every database."""
        found = super().filter_queryset(queryset)
        wanted = [(F(str(name).removeprefix("-")), str(name).startswith("-")) for name in found.query.order_by]
        return found.order_by(
            *(field.desc(nulls_last=True) if down else field.asc(nulls_last=True) for field, down in wanted)
        )

    @paged(MonthPage)
    @action(detail=True)
    def months(self, request: Request, line: str) -> Response:
        """Billing months with what the line's present contract bills for them."""
        rollup = self.get_object()
        page = self.paginate_queryset(BandwidthMonth.objects.filter(line=rollup.line).order_by("-month")) or []
        reports = month_reports(rollup.line, page)
        return self.get_paginated_response([msgspec.to_builtins(report) for report in reports])

    @paged(DayPage)
    @action(detail=True)
    def days(self, request: Request, line: str) -> Response:
        """Billing days."""
        rollup = self.get_object()
        page = self.paginate_queryset(BandwidthDay.objects.filter(line=rollup.line).order_by("-day")) or []
        return self.get_paginated_response([msgspec.to_builtins(DayReport.of(row)) for row in page])
