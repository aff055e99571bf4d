"""Sources and their runs in the admin."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django_celery_beat import models as beat
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter, RelatedDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectMultipleWidget, UnfoldAdminTextareaWidget

from idcsched.accounts.administration import RowServices, ServiceAdmin, admin_origin
from idcsched.audit.admin import ReadOnlyAdmin
from idcsched.db.fields import DocumentField
from idcsched.framework.errors import Forbidden, IdcschedError
from idcsched.inventory.admin.selections import principal_in
from idcsched.inventory.models import Region
from idcsched.inventory.scope import regions_check
from idcsched.language.wording import explained
from metrics_ingest import services
from metrics_ingest.models import Run, RunState, Source
from metrics_ingest.selectors import with_last_error
from metrics_ingest.sources.condition import source_condition
from metrics_ingest.sources.kinds import kinds
from metrics_ingest.sources.periodic import source_announce
from metrics_ingest.sources.run_notes import note_said
from metrics_ingest.sources.trial_view import trial_context, unmatched_row
from metrics_ingest.sources.trying import source_try

__all__ = ["RunAdmin", "SourceAdmin"]

RUNS_SHOWN = 5
SOURCE_LABELS = {"answering": "success", "failed": "warning", "failing": "danger", "off": "default", "new": "default"}
RUN_LABELS = {
    RunState.SUCCEEDED: "success",
    RunState.RUNNING: "info",
    RunState.FAILED: "danger",
    RunState.LOST: "danger",
}

# Beat's tables are written from the sources and the settings: an edit here would be overwritten, or could run any task.
for model in (
    beat.PeriodicTask,
    beat.IntervalSchedule,
    beat.CrontabSchedule,
    beat.SolarSchedule,
    beat.ClockedSchedule,
):
    admin.site.unregister(model)


class SourceForm(forms.ModelForm):
    """The form of a source, with a choice of the existing regions."""

    regions = forms.MultipleChoiceField(
        label=_("regions"),
        required=False,
        widget=UnfoldAdminSelectMultipleWidget,
        help_text=Source._meta.get_field("regions").help_text,
    )

    class Meta:
        model = Source
        fields = ("code", "kind", "schedule", "config", "mapping", "secret_ref", "regions", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "regions" in self.fields:
            known = [(region.code, str(region)) for region in Region.objects.order_by("code")]
            gone = set(self.instance.regions or ()) - {code for code, _name in known}
            self.fields["regions"].choices = [*known, *((code, code) for code in sorted(gone))]  # type: ignore[attr-defined]

    def clean_regions(self) -> list[str] | None:
        """Return None, which stands for everywhere, where no region is chosen."""
        return self.cleaned_data["regions"] or None


@admin.register(Source)
class SourceAdmin(ServiceAdmin):
    """Operators who are bound to regions change only sources that write in these."""

    writes = "write_sources"
    form = SourceForm
    services = RowServices(
        create=services.source_create,
        update=lambda row, changes: services.source_update(source=row, changes=changes),
        delete=lambda row: services.source_delete(source=row),
    )
    offers = {"kind": lambda: [(kind, kind) for kind in sorted(kinds().classes)]}
    list_display = ["code", "kind", "state", "why", "schedule", "started_at", "succeeded_at", "due_at"]
    list_filter = ["kind", "enabled"]
    search_fields = ["code", "kind"]
    actions = ["ask"]
    change_form_outer_after_template = "administration/source_runs.html"
    formfield_overrides = {
        **ServiceAdmin.formfield_overrides,
        DocumentField: {
            "widget": UnfoldAdminTextareaWidget(attrs={"rows": 9, "class": "document", "spellcheck": "false"})
        },
    }

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return with_last_error(super().get_queryset(request))

    @display(description=_("state"), ordering="failures", label=SOURCE_LABELS)
    def state(self, source: Source) -> tuple[str, Any]:
        return source_condition(source)

    @display(description=_("error"))
    def why(self, source: Any) -> str:
        return note_said(source.last_error) if source.failures and source.last_error else ""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and _writes_within(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and _writes_within(request, obj)

    def check_scope(self, request: HttpRequest, row: Source) -> None:
        """Check the source's regions both as stored and as in the form; raises Forbidden."""
        if (principal := principal_in(request)) is not None:
            for source in (row, *Source.objects.filter(pk=row.pk)):
                regions_check(principal, source.regions)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Give the source the regions of the operator, if the operator is bound to regions and has chosen none."""
        principal = principal_in(request)
        if principal is not None and principal.regions is not None and obj.regions is None:
            obj.regions = form.cleaned_data["regions"] = list(principal.regions)
        super().save_model(request, obj, form, change)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.try_view)
        return [path("<int:pk>/try/", view, name="metrics_ingest_source_try"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        source = self.get_object(request, object_id)
        runs = [] if source is None else list(source.runs.all()[:RUNS_SHOWN])
        for run in runs:
            run.said = note_said(run.error) if run.error else ""
        context = {"runs": runs, "may_try": self.has_change_permission(request, source)}
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def try_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask the saved source, never an unsaved form, so that the history has all that is asked; show the answer."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        source = get_object_or_404(Source, pk=pk)
        if not self.has_change_permission(request, source):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            **trial_context(source_try(source=source, now=timezone.now())),
            "opts": self.opts,
            "object": source,
            "title": _("What {source} says now").format(source=source),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "administration/source_trial.html", context)

    @admin.action(description=_("Ask now"), permissions=["change"])
    def ask(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        """Make the chosen sources due now."""
        with admin_origin(request):
            for source in queryset:
                try:
                    self.check_scope(request, source)
                    services.source_ask(source=source, now=timezone.now())
                except IdcschedError as error:
                    self.message_user(request, f"{source}: {explained(error)}", messages.WARNING)
                else:
                    source_announce(source.pk, by_hand=True)
                    self.message_user(request, _("{source} will be asked.").format(source=source))


def _writes_within(request: HttpRequest, source: Source | None) -> bool:
    principal = principal_in(request)
    if source is None or principal is None:
        return True
    try:
        regions_check(principal, source.regions)
    except Forbidden:
        return False
    return True


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """The runs of sources, with their counts, errors and refusals."""

    list_display = ["source", "started_at", "ended", "fetched", "stored", "refused", "unmatched", "reason"]
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

    @display(description=_("state"), ordering="state", label=RUN_LABELS)
    def ended(self, run: Run) -> tuple[str, Any]:
        return run.state, run.get_state_display()

    @admin.display(description=_("error"))
    def reason(self, run: Run) -> str:
        return note_said(run.error) if run.error else ""

    @admin.display(description=_("refusals"))
    def refused_examples(self, run: Run) -> str:
        examples = (_example(example) for refusal in run.refusals for example in refusal["examples"])
        return format_html_join("", "<div>{}: {} ({})</div>", examples)

    @admin.display(description=_("names that match nothing"))
    def unknown_names(self, run: Run) -> str:
        names = (unmatched_row(**name) for name in run.unmatched_names)
        return format_html_join("", "<div>{} {}: {}</div>", names)


def _example(example: dict[str, Any]) -> tuple[str, str, str]:
    names = (example["idc"], example["line"], example["metric"])
    return " ".join(filter(None, names)), note_said(example["reason"]), example["value"] or ""
