from typing import Any

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest

from idcsched.accounts.administration import RowServices, ServiceAdmin, ServiceInline
from idcsched.accounts.models import User
from idcsched.accounts.roles import principal_of

from . import services
from .models import STOCK_FIELDS, Affinity, Idc, Isp, Line, Region, RegionScope, Taint
from .scope import scope_check, scoped

__all__ = ["AffinityAdmin", "IdcAdmin", "IspAdmin", "LineAdmin", "RegionAdmin", "RegionScopeAdmin", "TaintAdmin"]

LINE_SERVICES = RowServices(
    create=services.line_create,
    update=lambda row, changes: services.line_update(line=row, changes=changes),
    delete=lambda row: services.line_delete(line=row),
)


class ScopedAdmin(ServiceAdmin):
    """Rows about an IDC: operators write them in their regions only."""

    def check_scope(self, request: HttpRequest, row: Any) -> None:
        if isinstance(request.user, User):
            scope_check(scoped(principal_of(request.user)), row.idc)


@admin.register(Region)
class RegionAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.region_create,
        update=lambda row, changes: services.region_update(region=row, changes=changes),
        delete=lambda row: services.region_delete(region=row),
    )
    list_display = ["code", "name", "parent", "latitude", "longitude"]
    list_select_related = ["parent"]
    search_fields = ["code", "name"]
    autocomplete_fields = ["parent"]


@admin.register(Isp)
class IspAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.isp_create,
        update=lambda row, changes: services.isp_update(isp=row, changes=changes),
        delete=lambda row: services.isp_delete(isp=row),
    )
    list_display = ["code", "name", "aliases"]
    search_fields = ["code", "name"]


class LineForm(ModelForm):
    """A line without a code is called like its ISP."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("code") and cleaned.get("isp"):
            cleaned["code"] = cleaned["isp"].code
        return cleaned


class LineInline(ServiceInline):
    model = Line
    form = LineForm
    writes = "write_inventory"
    services = LINE_SERVICES
    autocomplete_fields = ["isp"]


@admin.register(Idc)
class IdcAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.idc_create,
        update=lambda row, changes: services.idc_update(idc=row, changes=changes),
        delete=lambda row: services.idc_delete(idc=row),
    )
    list_display = ["code", "name", "region", "tier", "status", "partition", "provider"]
    list_filter = ["status", "tier", "partition", "provider"]
    list_select_related = ["region"]
    search_fields = ["code", "name", "region__code", "region__name"]
    autocomplete_fields = ["region"]
    inlines = [LineInline]
    fieldsets = [
        (None, {"fields": ["code", "name", "region", "tier", "status", "partition", "provider", "labels"]}),
        (None, {"fields": ["latitude", "longitude"]}),
        (None, {"fields": list(STOCK_FIELDS)}),
    ]


@admin.register(Line)
class LineAdmin(ServiceAdmin):
    form = LineForm
    writes = "write_inventory"
    services = LINE_SERVICES
    list_display = ["idc", "code", "isp", "purchased_mbps", "commit_mbps", "charge_type", "price_per_mbps"]
    list_display_links = ["idc", "code"]
    list_filter = ["isp", "charge_type"]
    list_select_related = ["idc", "isp"]
    search_fields = ["idc__code", "idc__name", "code"]
    autocomplete_fields = ["idc", "isp"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["idc"] if obj else []


@admin.register(Taint)
class TaintAdmin(ScopedAdmin):
    writes = "write_taints"
    services = RowServices(
        create=lambda **fields: services.taint_create(**fields)[0],
        update=lambda row, changes: services.taint_update(taint=row, changes=changes),
        delete=lambda row: services.taint_delete(taint=row),
    )
    list_display = ["idc", "key", "value", "effect", "starts_at", "ends_at", "reason"]
    list_display_links = ["idc", "key"]
    list_filter = ["effect", "starts_at", "ends_at"]
    list_select_related = ["idc"]
    search_fields = ["idc__code", "idc__name", "key", "value", "reason"]
    autocomplete_fields = ["idc"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["idc"] if obj else []


@admin.register(Affinity)
class AffinityAdmin(ScopedAdmin):
    writes = "write_affinities"
    services = RowServices(
        create=services.affinity_create,
        update=lambda row, changes: services.affinity_update(affinity=row, changes=changes),
        delete=lambda row: services.affinity_delete(affinity=row),
    )
    list_display = ["id", "kind", "weight", "idc", "selector", "request_selector", "reason", "starts_at", "ends_at"]
    list_filter = ["kind", "starts_at", "ends_at"]
    list_select_related = ["idc"]
    search_fields = ["idc__code", "idc__name", "reason"]
    autocomplete_fields = ["idc"]


@admin.register(RegionScope)
class RegionScopeAdmin(ServiceAdmin):
    reads, writes = "read_accounts", "write_users"
    services = RowServices(
        create=services.region_scope_create,
        delete=lambda row: services.region_scope_delete(region_scope=row),
    )
    list_display = ["user", "region"]
    list_select_related = ["user", "region"]
    search_fields = ["user__username", "region__code"]
    autocomplete_fields = ["user", "region"]
