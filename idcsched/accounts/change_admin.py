"""The admin's page of the change history."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateTimeFilter

from idcsched.audit.admin import ReadOnlyAdmin
from idcsched.audit.change_display import kind_name, kinds
from idcsched.audit.history import shown_change
from idcsched.audit.models import Change

from .models import User
from .roles import principal_of
from .selectors import changes_visible

__all__ = ["ChangeAdmin"]


class KindFilter(DropdownFilter):
    """Filter by kind; the kinds are known, so that no query has to collect them from all changes."""

    title, parameter_name = _("kind"), "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return sorted(kinds().items(), key=lambda kind: kind[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Change]) -> QuerySet[Change]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    """The changes that the user may see: what was changed, by whom, and why."""

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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Change]:
        user = request.user
        visible = changes_visible(principal_of(user)) if isinstance(user, User) else Change.objects.none()
        return visible.order_by(*self.get_ordering(request))

    @admin.display(description=_("kind"), ordering="kind")
    def kind_shown(self, change: Change) -> str:
        return kind_name(change.kind)

    @admin.display(description=_("change"))
    def what(self, change: Change) -> str:
        return render_to_string("administration/change.html", {"shown": shown_change(change)})
