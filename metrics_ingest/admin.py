from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter, RelatedDropdownFilter

from idcsched.accounts.administration import RowServices, ServiceAdmin
from idcsched.audit.admin import ReadOnlyAdmin
from metrics_ingest.sources.admin import RunAdmin, SourceAdmin

from . import services
from .models import BandwidthDay, BandwidthMonth, BandwidthRollup, Latest, Metric

__all__ = [
    "BandwidthDayAdmin",
    "BandwidthMonthAdmin",
    "BandwidthRollupAdmin",
    "LatestAdmin",
    "MetricAdmin",
    "RunAdmin",
    "SourceAdmin",
]


@admin.register(Metric)
class MetricAdmin(ServiceAdmin):
    writes = "write_metrics"
    services = RowServices(
        create=services.metric_create,
        update=lambda row, changes: services.metric_update(metric=row, changes=changes),
        delete=lambda row: services.metric_delete(metric=row),
    )
    list_display = ["code", "name", "unit", "direction", "scope", "max_age_seconds", "low", "high", "builtin"]
    list_filter = [("scope", ChoicesDropdownFilter), ("direction", ChoicesDropdownFilter), "builtin"]
    search_fields = ["code", "name"]


@admin.register(Latest)
class LatestAdmin(ReadOnlyAdmin):
    list_display = ["metric", "idc", "line", "value", "at"]
    list_filter = [("metric", RelatedDropdownFilter), ("at", RangeDateTimeFilter)]
    list_select_related = ["metric", "idc", "line__idc"]
    search_fields = ["idc__code", "line__code"]
    show_full_result_count = False


@admin.register(BandwidthRollup)
class BandwidthRollupAdmin(ReadOnlyAdmin):
    list_display = ["line", "p95_mbps", "window_seconds", "covered_slots", "computed_at"]
    list_select_related = ["line__idc"]
    search_fields = ["line__idc__code", "line__code"]


@admin.register(BandwidthMonth)
class BandwidthMonthAdmin(ReadOnlyAdmin):
    list_display = ["line", "month", "p95_mbps", "fourth_peak_mbps", "enhanced_95_mbps", "covered_slots", "slots"]
    list_filter = ["month"]
    list_select_related = ["line__idc"]
    search_fields = ["line__idc__code", "line__code"]


@admin.register(BandwidthDay)
class BandwidthDayAdmin(ReadOnlyAdmin):
    list_display = ["line", "day", "peak_mbps", "p95_mbps", "mean_mbps", "covered_slots"]
    list_filter = ["day"]
    list_select_related = ["line__idc"]
    search_fields = ["line__idc__code", "line__code"]
    show_full_result_count = False
