from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

__all__ = ["ReadOnlyAdmin"]


class ReadOnlyAdmin(ModelAdmin):
    """Something that everybody in the admin may look at and nobody may touch; so it has no history."""

    list_fullwidth = True
    list_filter_submit = True

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

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"show_history": False, **(extra_context or {})}
        return cast("HttpResponse", super().change_view(request, object_id, form_url, context))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        raise Http404
