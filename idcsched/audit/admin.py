from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from .models import Change

__all__ = ["ReadOnlyAdmin"]


class ReadOnlyAdmin(ModelAdmin):
    """Something that everybody in the admin may look at and nobody may touch."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and bool(getattr(request.user, "is_staff", False))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "via", "action", "kind", "key", "message"]
    list_display_links = ["at", "key"]
    list_filter = ["kind", "action", "via", "at"]
    search_fields = ["key", "actor", "request_id", "message"]
    show_full_result_count = False
