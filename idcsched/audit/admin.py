from typing import Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateTimeFilter

from .history import shown_change
from .models import Change
from .showing import kind_name, kinds

__all__ = ["ChangeAdmin", "ReadOnlyAdmin"]


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


class KindFilter(DropdownFilter):
    """The kinds that there are are known: no need to look through all changes for them."""

    title, parameter_name = _("kind"), "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return sorted(kinds().items(), key=lambda kind: kind[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Change]) -> QuerySet[Change]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    """Everything that was changed, by whom, and why."""

    list_display = ["at", "actor", "via", "action", "kind_shown", "key", "message"]
    list_display_links = ["at", "key"]
    list_filter = [
        KindFilter,
        ("action", ChoicesDropdownFilter),
        ("via", ChoicesDropdownFilter),
        ("at", RangeDateTimeFilter),
    ]
    search_fields = ["key", "actor", "request_id", "message"]
    search_help_text = _("name of what was changed, who did it, request id, message")
    show_full_result_count = False
    fields = readonly_fields = ["what"]

    @admin.display(description=_("kind"), ordering="kind")
    def kind_shown(self, change: Change) -> str:
        return kind_name(change.kind)

    @admin.display(description=_("change"))
    def what(self, change: Change) -> str:
        return render_to_string("administration/change.html", {"shown": shown_change(change)})
