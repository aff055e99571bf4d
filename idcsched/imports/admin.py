"""The admin pages of imports: upload a file, follow its check, see what it would change, confirm it."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.http import content_disposition_header, urlencode
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST
from import_export.admin import ExportMixin
from import_export.formats.base_formats import CSV, XLSX
from unfold.admin import ModelAdmin
from unfold.contrib.import_export.forms import SelectableFieldsExportForm
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget

from idcsched.accounts.administration import RoleMixin, RowServices, admin_origin
from idcsched.accounts.models import User
from idcsched.framework.errors import IdcschedError
from idcsched.language.wording import explained

from . import services
from .exporting import json_document, template
from .models import Import, State
from .reading import FORM_BYTES, MAX_BYTES
from .resources import KINDS, Kind, kind_named

__all__ = ["ExportForm", "FilesMixin", "ImportAdmin"]

KEY = re.compile(r"[0-9]{1,18}")
PER_PAGE = 100
FEW = 20
"""How many rows the first page shows of each kind and action."""
LABELS = {
    State.CHECKED: "warning",
    State.APPLIED: "success",
    State.REFUSED: "danger",
    State.FAILED: "danger",
}


class ImportForm(forms.ModelForm):
    """The form that uploads a file to be imported."""

    file = forms.FileField(
        label=_("file"),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".xlsx,.csv,.tsv,.txt,.json"}),
        help_text=_("Excel, CSV or JSON. It is checked first; nothing changes before you have seen what would."),
    )
    kind = forms.ChoiceField(
        label=_("kind of rows"),
        choices=lambda: [("", _("as the file says")), *((kind.name, kind.title) for kind in KINDS)],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Of a table whose name does not say it."),
    )

    class Meta:
        model = Import
        fields = ("kind", "missing", "message")
        labels = {"missing": _("Rows that the file does not have"), "message": _("why")}
        help_texts = {"message": _("Stands in the history beside each change.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        templates = ((reverse("admin:transfer_import_template", args=[kind.name]), kind.title) for kind in KINDS)
        links = format_html_join(" · ", '<a href="{}">{}</a>', templates)
        self.fields["file"].help_text = format_html("{} {} {}", self.fields["file"].help_text, _("Templates:"), links)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            text = gettext("the file has more than {limit} MiB").format(limit=MAX_BYTES >> 20)
            raise forms.ValidationError(text)
        return file


@admin.register(Import)
class ImportAdmin(RoleMixin, ModelAdmin):
    """The admin of imports, the newest first."""

    writes = "write_taints"  # what all importers may write; whether they may write a file's kinds is checked later
    services = RowServices(create=services.import_create)
    form = ImportForm
    fields = ["file", "kind", "missing", "message"]
    add_form_template = "administration/import_form.html"
    list_display = ["created_at", "file_name", "kind", "actor", "standing", "message"]
    list_display_links = ["created_at", "file_name"]
    list_filter = ["state", "created_at"]
    search_fields = ["file_name", "actor", "message"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        """Return the imports that the user may see: a user of a tenant sees their own, as in the history."""
        imports: QuerySet[Import] = super().get_queryset(request).defer("content", "changes", "faults", "notes")
        user = _user(request)
        return imports if user.tenant_id is None else imports.filter(user=user)

    @display(description=_("state"), ordering="state", label=LABELS)
    def standing(self, job: Import) -> tuple[str, Any]:
        return job.state, job.get_state_display()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("template/<slug:name>/", view(self.template_view), name="transfer_import_template"),
            path("<int:pk>/progress/", view(self.progress_view), name="transfer_import_progress"),
            path("<int:pk>/confirm/", view(require_POST(self.confirm_view)), name="transfer_import_confirm"),
            path("<int:pk>/withdraw/", view(require_POST(self.withdraw_view)), name="transfer_import_withdraw"),
            *super().get_urls(),
        ]

    # Protected inside instead: csrf_protect reads the whole body, and a body that is too long must be refused first.
    @method_decorator(csrf_exempt)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if _content_length(request) > MAX_BYTES + FORM_BYTES:
            text = gettext("the file has more than {limit} MiB").format(limit=MAX_BYTES >> 20)
            self.message_user(request, text, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        response: HttpResponse = csrf_protect(super().add_view)(request, form_url, extra_context)
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        file = form.cleaned_data["file"]
        with admin_origin(request):
            job = services.import_create(
                user=_user(request),
                file_name=file.name,
                content=file.read(),
                language=get_language() or "en",
                **{name: form.cleaned_data[name] for name in ("kind", "missing", "message")},
            )
        obj.__dict__.update(job.__dict__)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """Log nothing, since the list of imports is the log."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponseRedirect(_page_url(obj.pk))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an import, which is not a form: its progress, the changes that it would make, or its faults."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = self._import_or_404(request, object_id)
        groups: dict[tuple[str, str], list[Any]] = {}
        for change in job.changes:
            groups.setdefault((change["kind"], change["action"]), []).append(change)
        chosen = request.GET.get("kind", ""), request.GET.get("action", "")
        page = Paginator(groups.get(chosen, []), PER_PAGE).get_page(request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "title": str(job),
            "job": job,
            "counts": [(_title(kind), counts) for kind, counts in job.counts.items()],
            "page": page,
            "groups": [
                {
                    "title": _title(kind),
                    "action": action,
                    "rows": page.object_list or rows[:FEW],
                    "count": job.counts[kind][action],
                    "more": 0 if page.object_list or len(rows) <= FEW else len(rows),
                    "query": urlencode({"kind": kind, "action": action}),
                }
                for (kind, action), rows in groups.items()
                if not page.object_list or chosen == (kind, action)
            ],
            "may_go_on": job.state == State.CHECKED and job.user_id == request.user.pk,
            "opts": self.model._meta,
            "again_url": reverse("admin:transfer_import_add", query={"kind": job.kind, "missing": job.missing}),
            "progress_url": reverse("admin:transfer_import_progress", args=[job.pk]),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "administration/import.html", context)

    def template_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Return an Excel file with the headings of a kind and an example row."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        kind = kind_named(name)
        if kind is None:
            raise Http404
        return _download(template(kind), XLSX.CONTENT_TYPE, f"{name}-template.xlsx")

    def progress_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the progress of an import, for which its page asks once a second."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = self._import_or_404(request, str(pk))
        return JsonResponse({"state": job.state, "done": job.done, "total": job.total, "working": job.working})

    def confirm_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._decide(request, pk, services.import_confirm)

    def withdraw_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._decide(request, pk, services.import_withdraw)

    def _decide(self, request: HttpRequest, pk: int, service: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        try:
            service(job=self._import_or_404(request, str(pk)), user=_user(request))
        except IdcschedError as refusal:
            self.message_user(request, explained(refusal), messages.ERROR)
        return HttpResponseRedirect(_page_url(pk))

    def _import_or_404(self, request: HttpRequest, key: str) -> Import:
        job = self.get_queryset(request).filter(pk=key).first() if KEY.fullmatch(key) else None
        if job is None:
            raise Http404
        return job


def _page_url(pk: int) -> str:
    return reverse("admin:transfer_import_change", args=[pk])


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def _title(name: str) -> str:
    kind = kind_named(name)
    return kind.title if kind else name


def _content_length(request: HttpRequest) -> int:
    length = request.headers.get("Content-Length", "0")
    return int(length) if length.isdecimal() else 0


def _download(content: bytes, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": content_disposition_header(as_attachment=True, filename=name)}
    return HttpResponse(content, content_type=content_type, headers=headers)


class ExportForm(SelectableFieldsExportForm):
    """The form that selects the columns to be exported, labelled by the fields' names in the user's language."""

    def __init__(self, formats: Any, resources: Any, **kwargs: Any) -> None:
        super().__init__(formats, resources, **kwargs)
        self.fields["format"].choices = [("0", "Excel (.xlsx)"), ("1", "CSV")]  # in the order of FilesMixin.formats
        (kind,) = (resource() for resource in resources)
        for column in kind.fields:
            field = self.fields[self.create_boolean_field_name(type(kind), column)]
            field.label = f"{capfirst(kind.model_field(column).verbose_name)} ({column})"


class FilesMixin(ExportMixin):
    """Buttons above a list of the inventory: import a file, download a template, export what the list shows."""

    export_form_class = ExportForm
    export_template_name = "administration/export.html"
    formats = (XLSX, CSV)
    to_encoding = "utf-8-sig"
    actions_list = ["import_file", "download_template", "export_json"]

    @property
    def kind(self) -> Kind:
        return next(kind for kind in KINDS if kind._meta.model is self.model)

    def get_resource_classes(self, request: HttpRequest) -> list[type[Kind]]:
        return [type(self.kind)]

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request))

    def get_export_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        try:
            return super().get_export_queryset(request)
        except IncorrectLookupParameters as error:
            raise BadRequest(str(error)) from error

    def get_export_filename(self, request: HttpRequest, queryset: QuerySet[Any], file_format: Any) -> str:
        return f"{self.kind.name}-{_today()}.{file_format.get_extension()}"

    @action(description=_("Import a file"), icon="upload_file", url_path="import", permissions=["add"])
    def import_file(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(f"{reverse('admin:transfer_import_add')}?kind={self.kind.name}")

    @action(description=_("Download a template"), icon="draft", url_path="template", permissions=["add"])
    def download_template(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:transfer_import_template", args=[self.kind.name]))

    @action(description=_("Export as JSON"), icon="data_object", url_path="export-json", permissions=["view"])
    def export_json(self, request: HttpRequest) -> HttpResponse:
        content = "".join(json_document([self.kind])).encode()
        return _download(content, "application/json", f"{self.kind.name}-{_today()}.json")


def _today() -> str:
    return timezone.now().strftime("%Y-%m-%d")


for kind in KINDS:
    model = kind._meta.model
    page = type(admin.site.get_model_admin(model))
    admin.site.unregister(model)
    admin.site.register(model, type(page.__name__, (FilesMixin, page), {}))
