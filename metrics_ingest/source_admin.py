"""Sources and their runs in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django_celery_beat import models as beat
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter, RelatedDropdownFilter

from idcsched.accounts.administration import RowServices, ServiceAdmin, admin_origin
from idcsched.audit.admin import ReadOnlyAdmin
from idcsched.framework.errors import IdcschedError
from idcsched.wording import explained

from . import services
from .models import Run, Source
from .periodic import source_hint
from .run_notes import note_said

__all__ = ["RunAdmin", "SourceAdmin"]

# Beat's tables follow the sources and the settings: who edited them here would be overruled, or run any task at all.
for model in (
    beat.PeriodicTask,
    beat.IntervalSchedule,
    beat.CrontabSchedule,
    beat.SolarSchedule,
    beat.ClockedSchedule,
):
    admin.site.unregister(model)


@admin.register(Source)
class SourceAdmin(ServiceAdmin):
    writes = "write_sources"
    services = RowServices(
        create=services.source_create,
        update=lambda row, changes: services.source_update(source=row, changes=changes),
        delete=lambda row: services.source_delete(source=row),
    )
    list_display = ["code", "kind", "schedule", "enabled", "started_at", "succeeded_at", "failures", "due_at"]
    list_filter = ["kind", "enabled"]
    search_fields = ["code", "kind"]
    actions = ["ask"]

    @admin.action(description=_("Ask now"), permissions=["change"])
    def ask(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        """Have them asked as soon as a worker is free."""
        with admin_origin(request):
            for source in queryset:
                try:
                    services.source_ask(source=source, now=timezone.now())
                except IdcschedError as error:
                    self.message_user(request, f"{source}: {explained(error)}", messages.WARNING)
                else:
                    source_hint(source.pk)
                    self.message_user(request, _("{source} will be asked.").format(source=source))


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """How asking the sources went."""

    list_display = ["source", "started_at", "state", "fetched", "stored", "refused", "unmatched", "reason"]
    list_filter = [
        ("source", RelatedDropdownFilter),
        ("state", ChoicesDropdownFilter),
        ("started_at", RangeDateTimeFilter),
    ]
    list_select_related = ["source"]
    search_fields = ["source__code"]
    show_full_result_count = False
    exclude = ["claim", "error", "refusals", "unmatched_names"]
    readonly_fields = ["reason", "refused_examples", "unknown_names"]

    @admin.display(description=_("error"))
    def reason(self, run: Run) -> str:
        return note_said(run.error) if run.error else ""

    @admin.display(description=_("refusals"))
    def refused_examples(self, run: Run) -> str:
        examples = [each for refusal in run.refusals for each in refusal["examples"]]
        return format_html_join("", "<div>{}: {} ({})</div>", (_example(each) for each in examples))

    @admin.display(description=_("names that match nothing"))
    def unknown_names(self, run: Run) -> str:
        names = ((each["idc"], each["line"] or "", each["count"]) for each in run.unmatched_names)
        return format_html_join("", "<div>{} {}: {}</div>", names)


def _example(example: dict[str, Any]) -> tuple[str, str, str]:
    names = (example["idc"], example["line"], example["metric"])
    return " ".join(filter(None, names)), note_said(example["reason"]), example["value"] or ""
