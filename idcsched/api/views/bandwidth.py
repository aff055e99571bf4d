"""`bandwidth/`: the percentiles of the lines' measured bandwidth, its bill and its forecast."""

from typing import Any

import msgspec
from django.db.models import F, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from idcsched.api.figures import rounded_figures
from idcsched.api.filtering import FilterSet, Number
from idcsched.api.openapi import paged
from idcsched.api.resources import ReadOnlyResource
from metrics_ingest.billing.report import BandwidthReport, DayReport, MonthReport, month_reports, rollups_reported
from metrics_ingest.models import BandwidthDay, BandwidthMonth, BandwidthRollup

__all__ = ["BandwidthViewSet"]


class BandwidthSerializer(serializers.BaseSerializer[BandwidthRollup]):
    def to_representation(self, instance: BandwidthRollup) -> dict[str, Any]:
        document: dict[str, Any] = rounded_figures(msgspec.to_builtins(BandwidthReport.of(instance, timezone.now())))
        return document


class BandwidthFilters(FilterSet):
    days_until_high_water__gte = Number(field_name="days_until_high_water", lookup_expr="gte")
    days_until_high_water__lte = Number(field_name="days_until_high_water", lookup_expr="lte")

    class Meta:
        model = BandwidthRollup
        columns = ("p95_24h_mbps", "p95_7d_mbps", "p95_30d_mbps", "trend_mbps_per_day", "computed_at")
        paths = {
            "line": "line__id",
            "line_code": "line__code",
            "idc": "line__idc__code",
            "region": "line__idc__region__code",
            "isp": "line__isp__code",
            "charge_type": "line__charge_type",
        }
        searched = ("line__code", "line__idc__code", "line__idc__name")


@extend_schema_view(
    list=extend_schema(responses=BandwidthReport),
    retrieve=extend_schema(responses=BandwidthReport),
)
class BandwidthViewSet(ReadOnlyResource):
    """Percentiles with their coverage, the running month and its bill, its forecast, and days until a line is full.

    A member is named by its line's id. Days and months are those of the billing zone.
    """

    unchanged_actions = ("list", "retrieve", "months", "days")
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
        """Order unknown values last, whichever way the list is ordered, and on every database."""
        filtered = super().filter_queryset(queryset)
        order = [(F(str(name).removeprefix("-")), str(name).startswith("-")) for name in filtered.query.order_by]
        return filtered.order_by(
            *(field.desc(nulls_last=True) if down else field.asc(nulls_last=True) for field, down in order)
        )

    @paged(MonthReport)
    @action(detail=True, filterset_class=None, ordering_fields=())
    def months(self, request: Request, line: str) -> Response:
        """The billing months of a line, with what its present contract bills for them."""
        rollup = self.get_object()
        page = (
            self.paginate_queryset(
                self.filter_rows_of_member(BandwidthMonth.objects.filter(line=rollup.line).order_by("-month"))
            )
            or []
        )
        reports = month_reports(rollup.line, page, timezone.now())
        return self.get_paginated_response([rounded_figures(msgspec.to_builtins(report)) for report in reports])

    @paged(DayReport)
    @action(detail=True, filterset_class=None, ordering_fields=())
    def days(self, request: Request, line: str) -> Response:
        """The billing days of a line."""
        rollup = self.get_object()
        page = (
            self.paginate_queryset(
                self.filter_rows_of_member(BandwidthDay.objects.filter(line=rollup.line).order_by("-day"))
            )
            or []
        )
        return self.get_paginated_response([rounded_figures(msgspec.to_builtins(DayReport.of(row))) for row in page])
