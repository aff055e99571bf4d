from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy
from unfold.decorators import display

from idcsched.accounts.administration import RowServices, ServiceAdmin, TenantReadOnlyAdmin, admin_origin
from idcsched.accounts.models import User
from idcsched.accounts.roles import role_can

from . import services
from .lifecycle import State
from .models import Delivery, Machine, Placement, Provider

__all__ = ["DeliveryAdmin", "MachineAdmin", "PlacementAdmin", "ProviderAdmin"]


STATE_LABELS: Mapping[str, str] = {
    State.ACTIVE: "success",
    State.RESERVED: "info",
    State.PROVISIONING: "info",
    State.WAITING: "warning",
    State.RELEASING: "warning",
    State.FAILED: "danger",
}
MARKS = {"success": "mark-good", "info": "mark-soon", "warning": "mark-warn", "danger": "mark-bad"}


@admin.register(Placement)
class PlacementAdmin(TenantReadOnlyAdmin):
    """What was ordered, what it holds, and what happened to it."""

    list_display = [
        "created_at",
        "request_id",
        "stands",
        "idc",
        "tenant",
        "machine_count",
        "bandwidth_mbps",
        "attention",
    ]
    list_display_links = ["created_at", "request_id"]
    list_filter = ["state", "needs_attention", "tenant"]
    list_select_related = ["tenant", "idc"]
    search_fields = ["id", "request_id", "idc__code", "actor", "group_id"]
    search_help_text = gettext_lazy("order number, IDC, who asked, group")
    change_form_outer_before_template = "administration/placement.html"

    def get_fieldsets(self, request: HttpRequest, obj: Placement | None = None) -> list[Any]:
        """The template tells it all."""
        return []

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        placement = self.get_object(request, object_id)
        shown = {} if placement is None else _shown(placement)
        return super().change_view(request, object_id, form_url, {**shown, **(extra_context or {})})

    @display(description=gettext_lazy("state"), ordering="state", label=STATE_LABELS)
    def stands(self, placement: Placement) -> tuple[str, Any]:
        return placement.state, placement.get_state_display()

    @display(description=gettext_lazy("needs attention"), ordering="needs_attention", label={"yes": "danger"})
    def attention(self, placement: Placement) -> tuple[str, Any]:
        return ("yes", gettext("needs attention")) if placement.needs_attention else ("no", "–")


def _shown(placement: Placement) -> dict[str, Any]:
    return {
        "placement": placement,
        "state_mark": MARKS.get(STATE_LABELS.get(placement.state, ""), ""),
        "events": placement.events.order_by("-version"),
        "attempts": placement.attempts.select_related("idc").prefetch_related("machines").order_by("-number"),
    }


@admin.register(Machine)
class MachineAdmin(TenantReadOnlyAdmin):
    tenant_lookup = "attempt__placement__tenant"
    list_display = ["name", "state", "provider", "provider_id", "tries", "created_at"]
    list_filter = ["state", "provider"]
    search_fields = ["id", "name", "provider_id"]


@admin.register(Delivery)
class DeliveryAdmin(TenantReadOnlyAdmin):
    tenant_lookup = "placement__tenant"
    list_display = ["created_at", "placement", "kind", "state", "tries", "tried_at", "next_try_at", "error"]
    list_filter = ["state", "kind", "placement__tenant"]
    list_select_related = ["placement"]
    search_fields = ["id", "placement__id", "placement__request_id", "url"]
    actions = ["resend"]

    def has_resend_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return isinstance(user, User) and user.is_active and role_can(user.role, "schedule")

    @admin.action(description=gettext_lazy("Send the selected callbacks again"), permissions=["resend"])
    def resend(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        with admin_origin(request):
            for delivery in queryset:
                services.delivery_resend(delivery=delivery)
        self.message_user(request, gettext("The callbacks are on their way."), messages.SUCCESS)


@admin.register(Provider)
class ProviderAdmin(ServiceAdmin):
    writes = "write_inventory"
    services = RowServices(
        create=services.provider_create,
        update=lambda row, changes: services.provider_update(provider=row, changes=changes),
        delete=lambda row: services.provider_delete(provider=row),
    )
    list_display = ["code", "name", "kind", "enabled"]
    list_filter = ["kind", "enabled"]
    search_fields = ["code", "name", "kind"]
