from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.decorators import display

from idcsched.accounts.administration import TenantReadOnlyAdmin, admin_origin
from idcsched.accounts.models import User
from idcsched.accounts.roles import principal_of, role_can
from idcsched.framework.errors import Forbidden, IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.scope import scope_check, scoped
from idcsched.language.wording import explained

from . import services
from .lifecycle import State
from .models import Delivery, Machine, Placement
from .rollup import stuck

__all__ = ["DeliveryAdmin", "MachineAdmin", "PlacementAdmin"]


LONGEST_REASON = 500
STATE_LABELS: Mapping[str, str] = {
    State.ACTIVE: "success",
    State.RESERVED: "info",
    State.PROVISIONING: "info",
    State.WAITING: "warning",
    State.RELEASING: "warning",
    State.FAILED: "danger",
    State.RELEASED: "default",
    State.EXPIRED: "default",
}
MARKS = {"success": "mark-good", "info": "mark-soon", "warning": "mark-warn", "danger": "mark-bad"}


@admin.register(Placement)
class PlacementAdmin(TenantReadOnlyAdmin):
    """The admin of placements: the order, the capacity that it holds, and its events."""

    list_display = [
        "created_at",
        "request_id",
        "stands",
        "idc",
        "tenant",
        "machines",
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
        """Return no fieldsets: the template shows everything."""
        return []

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        placement = self.get_object(request, object_id)
        context = {} if placement is None else _page_context(placement, may_give_up=_may_give_up(request, placement))
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def get_urls(self) -> list[URLPattern]:
        """Add the address at which a stuck release is given up."""
        view = self.admin_site.admin_view(self.give_up_view)
        return [path("<uuid:pk>/give-up/", view, name="placement_placement_give_up"), *super().get_urls()]

    def give_up_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Give up the release of a placement, for a reason that the user must state."""
        placement = get_object_or_404(self.get_queryset(request), pk=pk)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not _may_give_up(request, placement):
            raise PermissionDenied
        reason = request.POST.get("message", "").replace("\x00", "").strip()[:LONGEST_REASON]
        try:
            if not reason:
                raise Invalid("required", _("say why, and what is to become of the machines"), "/message")
            with admin_origin(request):
                services.placement_give_up(placement=placement, reason=reason)
        except IdcschedError as error:
            self.message_user(request, explained(error), messages.ERROR)
        else:
            self.message_user(request, gettext("It is given up, and its capacity is free."), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:placement_placement_change", args=[pk]))

    @display(description=gettext_lazy("state"), ordering="state", label=STATE_LABELS)
    def stands(self, placement: Placement) -> tuple[str, Any]:
        return placement.state, placement.get_state_display()

    @display(description=gettext_lazy("number of machines"), ordering="machine_count")
    def machines(self, placement: Placement) -> int:
        return placement.machine_count

    @display(description=gettext_lazy("needs attention"), ordering="needs_attention", label={"yes": "danger"})
    def attention(self, placement: Placement) -> tuple[str, Any] | None:
        return ("yes", gettext("needs attention")) if placement.needs_attention else None


def _may_give_up(request: HttpRequest, placement: Placement) -> bool:
    user = request.user
    if not isinstance(user, User) or not user.is_active or not role_can(user.role, "give_up_placements"):
        return False
    try:
        scope_check(scoped(principal_of(user)), placement.idc)
    except Forbidden:
        return False
    return True


def _page_context(placement: Placement, *, may_give_up: bool) -> dict[str, Any]:
    releasing = placement.needs_attention and placement.state == State.RELEASING
    return {
        "stuck": Placement.objects.filter(stuck(timezone.now()), pk=placement.pk).exists(),
        "may_give_up": may_give_up and releasing,
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
