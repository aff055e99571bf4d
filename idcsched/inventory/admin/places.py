"""The admin pages of regions, ISPs, IDCs and their lines."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import (
    AllValuesCheckboxFilter,
    AutocompleteSelectMultipleFilter,
    ChoicesDropdownFilter,
    MultipleRelatedDropdownFilter,
)
from unfold.decorators import action, display

from idcsched.accounts.administration import RowServices, ServiceAdmin, ServiceInline
from idcsched.accounts.known_codes import codes_offered
from idcsched.audit.history import changes_of
from idcsched.audit.models import Change
from idcsched.inventory import services
from idcsched.inventory.choices import Effect
from idcsched.inventory.models import STOCK_FIELDS, Idc, Isp, Line, Region, Taint
from idcsched.inventory.taint_state import TaintState, state_of

from .selections import lift_from_page, may_write, retire_page, taint_page

__all__ = ["IDC_PANELS", "LINE_LEVELS", "IdcAdmin", "IspAdmin", "LineAdmin", "RegionAdmin"]

IDC_PANELS: list[Callable[[Idc], str]] = []
"""Functions that return safe HTML for an IDC's page; packages further up append theirs when the admin is loaded."""
LINE_LEVELS: list[Callable[[Collection[Line]], Mapping[int, tuple[str, str]]]] = []
"""Functions that return lines' water levels by primary key, as a text and its style; packages further up append."""

LINE_SERVICES = RowServices(
    create=services.line_create,
    update=lambda row, changes: services.line_update(line=row, changes=changes),
    delete=lambda row: services.line_delete(line=row),
)


@admin.register(Region)
class RegionAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.region_create,
        update=lambda row, changes: services.region_update(region=row, changes=changes),
        delete=lambda row: services.region_delete(region=row),
    )
    list_display = ["code", "name", "parent", "latitude", "longitude"]
    list_filter = [("parent", AutocompleteSelectMultipleFilter)]
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
    list_display = ["code", "name", "other_names"]
    search_fields = ["code", "name"]

    @display(description=_("aliases"))
    def other_names(self, isp: Isp) -> str:
        return ", ".join(isp.aliases)


class LineForm(ModelForm):
    """The form of a line; an empty code becomes the ISP's code."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not cleaned.get("code") and cleaned.get("isp"):
            cleaned["code"] = cleaned["isp"].code
        return cleaned


class LineInline(ServiceInline):
    model = Line
    form = LineForm
    writes = "write_inventory"
    services = LINE_SERVICES
    autocomplete_fields = ["isp"]
    fields = [
        "code",
        "isp",
        "purchased_mbps",
        "commit_mbps",
        "max_level",
        "charge_type",
        "price_per_mbps",
        "price_per_gb",
    ]


@admin.register(Idc)
class IdcAdmin(ServiceAdmin):
    """The admin of IDCs, with panels of their present state, lines and taints."""

    writes = "write_inventory"
    services = RowServices(
        create=services.idc_create,
        update=lambda row, changes: services.idc_update(idc=row, changes=changes),
        delete=lambda row: services.idc_delete(idc=row),
    )
    offers = {"provider": lambda: [(code, code) for code in codes_offered("provider")]}
    list_display = ["code", "name", "region", "tier", "state", "levels", "marks"]  # what fits; the filters have more
    list_filter = [
        ("region", AutocompleteSelectMultipleFilter),
        ("status", ChoicesDropdownFilter),
        ("tier", ChoicesDropdownFilter),
        ("lines__isp", MultipleRelatedDropdownFilter),
        ("partition", AllValuesCheckboxFilter),
        ("provider", AllValuesCheckboxFilter),
    ]
    list_select_related = ["region"]
    search_fields = ["code", "name", "region__code", "region__name"]
    search_help_text = _("code, name, region")
    autocomplete_fields = ["region"]
    inlines = [LineInline]
    actions = ["taint", "lift", "retire"]
    delete_confirmation_template = "administration/delete_idc.html"
    delete_selected_confirmation_template = "administration/delete_selected_idcs.html"
    actions_detail = ["taint_this", "show_taints"]
    change_form_outer_before_template = "administration/idc_panels.html"
    fieldsets = [
        (None, {"fields": ["code", "name", "region", "tier", "status", "partition", "provider", "labels"]}),
        (_("place"), {"fields": ["latitude", "longitude"]}),
        (_("stock"), {"fields": list(STOCK_FIELDS)}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Idc]:
        idcs: QuerySet[Idc] = super().get_queryset(request).prefetch_related("taints", "lines__isp")
        return idcs

    def history(self, row: Idc) -> QuerySet[Change]:
        """Return the changes of the IDC and of its lines and taints."""
        return changes_of("idc", row.code, parts=["line", "taint"])

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        idc = self.get_object(request, object_id)
        panels = [panel(idc) for panel in IDC_PANELS] if idc is not None else []
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "panels": panels})

    @display(
        description=_("status"),
        ordering="status",
        label={"online": "success", "offline": "danger", "draining": "warning", "retired": "default"},
    )
    def state(self, idc: Idc) -> tuple[str, Any]:
        return idc.status, idc.get_status_display()

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist: ChangeList = super().get_changelist_instance(request)
        _read_levels([line for idc in changelist.result_list for line in idc.lines.all()])
        return changelist

    @display(description=_("water level"))
    def levels(self, idc: Idc) -> str | None:
        return format_html_join(" ", "{}", ((_level_html(line, line.code),) for line in idc.lines.all())) or None

    @display(description=_("taints in force"))
    def marks(self, idc: Idc) -> str | None:
        now = timezone.now()
        in_force = [taint for taint in idc.taints.all() if state_of(taint, now) == TaintState.IN_FORCE]
        styles: dict[str, str] = {Effect.PREFER_NO_SCHEDULE: "mark-warn"}
        marks = ((styles.get(taint.effect, "mark-bad"), str(taint)) for taint in in_force)
        return format_html_join(" ", '<span class="mark {}">{}</span>', marks) or None

    def has_mark_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        if not self._may(request, "write_taints"):
            return False
        idc = None if object_id is None else self.get_object(request, object_id)
        return idc is None or may_write(request, idc)

    @admin.action(description=_("Taint…"), permissions=["mark"])
    def taint(self, request: HttpRequest, queryset: QuerySet[Idc]) -> HttpResponse:
        return taint_page(self, request, queryset)

    @admin.action(description=_("Lift taints…"), permissions=["mark"])
    def lift(self, request: HttpRequest, queryset: QuerySet[Idc]) -> HttpResponse:
        return lift_from_page(self, request, queryset)

    @admin.action(description=_("Retire…"), permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Idc]) -> HttpResponse:
        return retire_page(self, request, queryset)

    @action(description=_("Taint…"), icon="block", url_path="taint", permissions=["mark"])
    def taint_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._to_taints(request, object_id, "add", "idc")

    @action(description=_("Its taints"), icon="list", url_path="taints", permissions=["view"])
    def show_taints(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._to_taints(request, object_id, "changelist", "q")

    def _to_taints(self, request: HttpRequest, object_id: str, page: str, parameter: str) -> HttpResponse:
        idc = self.get_object(request, object_id)
        query = f"?{urlencode({parameter: idc.code})}" if idc is not None else ""
        return HttpResponseRedirect(reverse(f"admin:{Taint._meta.app_label}_{Taint._meta.model_name}_{page}") + query)


@admin.register(Line)
class LineAdmin(ServiceAdmin):
    form = LineForm
    writes = "write_inventory"
    services = LINE_SERVICES
    list_display = ["idc", "code", "isp", "level", "purchased_mbps", "commit_mbps", "charge_type", "price_per_mbps"]
    list_display_links = ["idc", "code"]
    list_filter = [("isp", MultipleRelatedDropdownFilter), ("charge_type", ChoicesDropdownFilter)]
    list_select_related = ["idc", "isp"]
    search_fields = ["idc__code", "idc__name", "code"]
    autocomplete_fields = ["idc", "isp"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["idc"] if obj else []

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist: ChangeList = super().get_changelist_instance(request)
        _read_levels(list(changelist.result_list))
        return changelist

    @display(description=_("water level"))
    def level(self, line: Line) -> str:
        return _level_html(line)


def _read_levels(lines: Collection[Line]) -> None:
    """Read the water levels of all lines of a page at once, and set each as `level_shown` of its line."""
    levels = {key: level for read in LINE_LEVELS for key, level in read(lines).items()}
    for line in lines:
        line.level_shown = levels.get(line.pk, ("?", ""))  # type: ignore[attr-defined]


def _level_html(line: Any, name: str = "") -> str:
    text, style = line.level_shown
    return format_html('<span class="mark {}">{} {}</span>', style, name, text)
