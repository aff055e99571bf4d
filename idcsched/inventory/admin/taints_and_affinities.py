"""The admin pages of taints, affinities, and the regions in which operators may set them."""

import json
from collections.abc import Mapping
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from idcsched.accounts.administration import RowServices, ServiceAdmin
from idcsched.accounts.roles import Role
from idcsched.inventory import services
from idcsched.inventory.choices import AffinityKind, Effect
from idcsched.inventory.models import Affinity, Idc, RegionScope, Taint
from idcsched.inventory.scope import concerned, scope_check
from idcsched.inventory.taint_state import TaintState, in_state, state_of

from .selections import lift_page, may_write, principal_in
from .taint_forms import FIELDS, TaintForm

__all__ = ["STATE_LABELS", "AffinityAdmin", "RegionScopeAdmin", "TaintAdmin"]

STATE_LABELS = {
    "keeps_off": "danger",
    "discourages": "warning",
    "draws": "success",
    TaintState.COMING: "info",
    TaintState.OVER: "default",
}
LABELS_IN_FORCE: Mapping[str, str] = {
    Effect.PREFER_NO_SCHEDULE: "discourages",
    AffinityKind.PREFER: "draws",
    AffinityKind.REQUIRE: "discourages",
}
"""The label of taints and affinities in force, by effect or kind; the label of all others is `keeps_off`."""


class ScopedAdmin(ServiceAdmin):
    """The admin of rows about an IDC, which operators write in their regions only."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or may_write(request, concerned(obj)))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or may_write(request, concerned(obj)))

    def check_scope(self, request: HttpRequest, row: Any) -> None:
        """Check the row both as stored and as in the form, since moving a row changes both IDCs."""
        if (principal := principal_in(request)) is not None:
            stored = type(row).objects.filter(pk=row.pk).select_related("idc__region")
            for version in (row, *stored):
                scope_check(principal, concerned(version))


class StateFilter(DropdownFilter):
    """The filter by state: coming, in force, over."""

    title, parameter_name = gettext_lazy("state"), "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(TaintState.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = self.value() in TaintState.values
        return queryset.filter(in_state(self.value(), timezone.now())) if known else queryset


def _shown_state(row: Taint | Affinity, kind: str) -> tuple[str, Any]:
    """Return the key of the label's colour in STATE_LABELS, and the state's name."""
    state = state_of(row, timezone.now())
    return LABELS_IN_FORCE.get(kind, "keeps_off") if state == TaintState.IN_FORCE else state, state.label


@admin.register(Taint)
class TaintAdmin(ScopedAdmin):
    """The admin of taints; one form sets a taint on many IDCs, as rows that are changed and lifted one by one."""

    writes = "write_taints"
    services = RowServices(
        create=services.taint_create,  # type: ignore[arg-type]  # returns a list: see save_model
        update=lambda row, changes: services.taint_update(taint=row, changes=changes),
        delete=lambda row: services.taint_delete(taint=row),
    )
    list_display = ["where", "mark", "state", "starts_at", "ends_at", "reason"]
    list_display_links = ["where", "mark"]
    list_filter = [
        StateFilter,
        ("effect", ChoicesDropdownFilter),
        ("starts_at", RangeDateTimeFilter),
        ("ends_at", RangeDateTimeFilter),
    ]
    list_select_related = ["idc__region"]
    search_fields = ["idc__code", "idc__name", "key", "value", "reason"]
    search_help_text = gettext_lazy("IDC, key, value, reason")
    actions = ["lift"]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Leave out the deletion of selected rows: taints are lifted instead."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is not None:
            return ["idc", "stands", *(name for name in FIELDS if name != "lasts")]
        return ["idcs", *FIELDS]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["idc", "stands"] if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **kwargs if obj else {**kwargs, "form": TaintForm})

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Choose the IDCs that the address names, as in `?idc=gz-ct-01&idc=…`."""
        return {"idcs": list(Idc.objects.filter(code__in=request.GET.getlist("idc")))}

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        taints = services.taint_create(**cast("TaintForm", form).taint_fields(), principal=principal_in(request))
        obj.__dict__.update(taints[0].__dict__)
        form.created_taints = taints  # type: ignore[attr-defined]  # for construct_change_message

    def construct_change_message(self, request: HttpRequest, form: ModelForm, formsets: Any, add: bool = False) -> Any:
        """Tell the user on how many IDCs a taint was set."""
        if add and (count := len(form.created_taints)) > 1:  # type: ignore[attr-defined]
            self.message_user(request, _("Tainted IDCs: %(count)d") % {"count": count}, messages.SUCCESS)
        return super().construct_change_message(request, form, formsets, add)

    @display(description=gettext_lazy("IDC"), ordering="idc__code")
    def where(self, taint: Taint) -> str:
        return format_html('<span class="whole">{}</span>', taint.idc.code)

    @display(description=gettext_lazy("taint"), ordering="key")
    def mark(self, taint: Taint) -> str:
        return str(taint)

    @display(description=gettext_lazy("state"), label=STATE_LABELS)
    def state(self, taint: Taint) -> tuple[str, Any]:
        return _shown_state(taint, taint.effect)

    @display(description=gettext_lazy("state"))
    def stands(self, taint: Taint) -> Any:
        return state_of(taint, timezone.now()).label

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return self.has_delete_permission(request)

    @admin.action(description=gettext_lazy("Lift…"), permissions=["lift"])
    def lift(self, request: HttpRequest, queryset: QuerySet[Taint]) -> HttpResponse:
        return lift_page(self, request, queryset.select_related("idc__region"))


@admin.register(Affinity)
class AffinityAdmin(ScopedAdmin):
    writes = "write_affinities"
    services = RowServices(
        create=services.affinity_create,
        update=lambda row, changes: services.affinity_update(affinity=row, changes=changes),
        delete=lambda row: services.affinity_delete(affinity=row),
    )
    list_display = ["what", "where", "weight", "request_selector", "state", "starts_at", "ends_at", "reason"]
    list_display_links = ["what", "where"]
    list_filter = [
        ("kind", ChoicesDropdownFilter),
        StateFilter,
        ("starts_at", RangeDateTimeFilter),
        ("ends_at", RangeDateTimeFilter),
    ]
    list_select_related = ["idc"]
    search_fields = ["idc__code", "idc__name", "reason"]
    autocomplete_fields = ["idc"]

    @display(description=gettext_lazy("kind"), ordering="kind", label={"prefer": "info", "forbid": "danger"})
    def what(self, affinity: Affinity) -> tuple[str, Any]:
        return affinity.kind, affinity.get_kind_display()

    @display(description=gettext_lazy("IDCs"), ordering="idc__code")
    def where(self, affinity: Affinity) -> str:
        if affinity.idc:
            return format_html('<span class="whole">{}</span>', affinity.idc.code)
        return json.dumps(affinity.selector, ensure_ascii=False)

    @display(description=gettext_lazy("state"), label=STATE_LABELS)
    def state(self, affinity: Affinity) -> tuple[str, Any]:
        keeps_off = affinity.kind == AffinityKind.PREFER and (affinity.weight or 0) < 0
        return _shown_state(affinity, Effect.PREFER_NO_SCHEDULE if keeps_off else affinity.kind)


@admin.register(RegionScope)
class RegionScopeAdmin(ServiceAdmin):
    reads, writes = "read_accounts", "write_users"
    services = RowServices(
        create=services.region_scope_create,
        delete=lambda row: services.region_scope_delete(region_scope=row),
    )
    list_display = ["user", "region", "effect"]
    list_select_related = ["user", "region"]
    search_fields = ["user__username", "region__code"]
    autocomplete_fields = ["user", "region"]

    @display(description=gettext_lazy("effect"), label={"narrows": "success", "none": "warning"})
    def effect(self, scope: RegionScope) -> tuple[str, Any]:
        narrows = scope.user.role == Role.OPERATOR
        return ("narrows", _("writes here alone")) if narrows else ("none", _("none: no operator"))

    def save_model(self, request: HttpRequest, obj: RegionScope, form: ModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if obj.user.role != Role.OPERATOR:
            text = _("{user} is no operator ({role}): as long as that is so, the region has no effect.")
            warning = text.format(user=obj.user, role=obj.user.get_role_display())
            self.message_user(request, warning, messages.WARNING)
