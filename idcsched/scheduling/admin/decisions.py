"""The admin pages of decisions: why an order went where it went."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AllValuesCheckboxFilter, ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from idcsched.accounts.administration import TenantReadOnlyAdmin
from idcsched.scheduling.decision_page import decision_shown
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.sentences import read

__all__ = ["DecisionAdmin"]


@admin.register(Decision)
class DecisionAdmin(TenantReadOnlyAdmin):
    """Admin of recorded answers, with the full explanation where the inputs were kept."""

    list_display = ("created_at", "request_id", "outcome", "summary", "tenant", "actor", "profile", "profile_revision")
    list_display_links = ("created_at", "request_id")
    list_filter = (
        ("result", ChoicesDropdownFilter),
        ("profile", AllValuesCheckboxFilter),
        ("created_at", RangeDateTimeFilter),
    )
    list_select_related = ("tenant",)
    search_fields = ("request_id", "http_request_id", "idc")
    search_help_text = _("order number, HTTP request id, IDC")
    show_full_result_count = False
    change_form_outer_before_template = "administration/decision.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        decisions: QuerySet[Decision] = super().get_queryset(request).defer("inputs")
        return decisions

    def get_fieldsets(self, request: HttpRequest, obj: Decision | None = None) -> list[Any]:
        """Return no fieldsets: the template shows everything."""
        return []

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Decision], search_term: str
    ) -> tuple[QuerySet[Decision], bool]:
        """Find an existing order number by its index; search all texts for anything else."""
        exact = queryset.filter(request_id=search_term)
        if search_term and exact.exists():
            return exact, False
        return super().get_search_results(request, queryset, search_term)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        decision = self.get_object(request, object_id)
        context = {} if decision is None else _context(decision)
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    @display(description=_("IDC"), ordering="idc", label={"scheduled": "success", "unschedulable": "danger"})
    def outcome(self, decision: Decision) -> tuple[str, Any]:
        return decision.result, decision.idc or decision.get_result_display()

    @admin.display(description=_("summary"))
    def summary(self, decision: Decision) -> str:
        return str(read(decision.answer, decision.sentences).get("summary", ""))


def _context(decision: Decision) -> dict[str, Any]:
    """Return the template's context: the recorded answer, and, from the inputs, the ranking and the rejections."""
    page = decision_shown(decision)
    return {
        "decision": decision,
        **{name: getattr(page, name) for name in ("answer", "candidates", "rejected", "rejected_more", "not_kept")},
        "profile_id": Profile.objects.filter(code=decision.profile).values_list("pk", flat=True).first(),
    }
