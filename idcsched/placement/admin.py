from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import TabularInline

from idcsched.accounts.administration import RowServices, ServiceAdmin, TenantReadOnlyAdmin, admin_origin
from idcsched.accounts.models import User
from idcsched.accounts.roles import role_can

from . import services
from .models import Attempt, Delivery, Event, Machine, Placement, Provider

__all__ = ["DeliveryAdmin", "MachineAdmin", "PlacementAdmin", "ProviderAdmin"]


class EventInline(TabularInline):
    model = Event
    extra = 0
    can_delete = False
    fields = readonly_fields = ("version", "at", "move", "state", "actor", "detail")


class AttemptInline(TabularInline):
    model = Attempt
    extra = 0
    can_delete = False
    fields = readonly_fields = ("number", "idc", "state", "error", "started_at", "ended_at")


@admin.register(Placement)
class PlacementAdmin(TenantReadOnlyAdmin):
    list_display = [
        "id",
        "request_id",
        "tenant",
        "state",
        "idc",
        "machine_count",
        "bandwidth_mbps",
        "needs_attention",
        "created_at",
    ]
    list_filter = ["state", "needs_attention", "tenant"]
    list_select_related = ["tenant", "idc"]
    search_fields = ["id", "request_id", "idc__code", "actor"]
    inlines = [AttemptInline, EventInline]


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
