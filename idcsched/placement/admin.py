from django.contrib import admin
from unfold.admin import TabularInline

from idcsched.audit.admin import ReadOnlyAdmin

from .models import Attempt, Event, Machine, Placement

__all__ = ["PlacementAdmin"]


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
class PlacementAdmin(ReadOnlyAdmin):
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
class MachineAdmin(ReadOnlyAdmin):
    list_display = ["name", "state", "provider", "provider_id", "tries", "created_at"]
    list_filter = ["state", "provider"]
    search_fields = ["id", "name", "provider_id"]
