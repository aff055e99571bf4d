from django.contrib import admin
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter, RelatedDropdownFilter
from unfold.decorators import display

from idcsched.accounts.administration import TenantReadOnlyAdmin
from idcsched.audit.admin import ReadOnlyAdmin

from .models import Claim, Headcount, Holding

__all__ = ["ClaimAdmin", "HeadcountAdmin", "HoldingAdmin"]


@admin.register(Holding)
class HoldingAdmin(ReadOnlyAdmin):
    list_display = ["idc", "line", "resource", "taken", "ordered", "kept", "kept_for", "kept_until"]
    list_filter = [("resource", ChoicesDropdownFilter)]
    list_select_related = ["idc", "line__idc"]
    search_fields = ["idc__code", "line__code"]


@admin.register(Claim)
class ClaimAdmin(TenantReadOnlyAdmin):
    tenant_lookup = None
    list_display = ["placement", "holding", "amount", "remaining", "created_at", "released_at"]
    list_filter = [("holding__resource", ChoicesDropdownFilter), ("released_at", RangeDateTimeFilter)]
    list_select_related = ["holding__idc", "holding__line__idc"]
    search_fields = ["placement", "holding__idc__code"]


@admin.register(Headcount)
class HeadcountAdmin(TenantReadOnlyAdmin):
    list_display = ["idc", "tenant", "business", "count"]
    list_filter = [("tenant", RelatedDropdownFilter)]
    list_select_related = ["idc", "tenant"]
    search_fields = ["idc__code", "tenant__code", "business"]

    @display(description=gettext_lazy("number of machines"), ordering="machines")
    def count(self, headcount: Headcount) -> int:
        return headcount.machines
