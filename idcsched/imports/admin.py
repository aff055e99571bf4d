"""Imports in the admin: bring a file, watch it being looked through, see what it would change, agree."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from idcsched.accounts.administration import RoleMixin, RowServices, admin_origin
from idcsched.accounts.models import User
from idcsched.framework.errors import IdcschedError
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from idcsched.wording import explained

from . import services
from .importing import Missing
from .list_buttons import FilesMixin
from .models import Import, State
from .reading import FORM_BYTES, MAX_BYTES
from .sheets import SHEETS

__all__ = ["ImportAdmin"]

KEY = re.compile(r"[0-9]{1,18}")
PER_PAGE = 100
"""What a form has beside its file."""
LABELS = {
    State.CHECKED: "warning",
    State.APPLIED: "success",
    State.REFUSED: "danger",
    State.FAILED: "danger",
}


class ImportForm(forms.ModelForm):
    """What somebody brings."""

    file = forms.FileField(
        label=_("file"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=_("CSV or JSON, as the exports are. It is looked through first; nothing changes before you agree."),
    )
    kind = forms.ChoiceField(
        label=_("kind of rows"),
        choices=[("", _("as the file says"))],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("Of a table whose name does not begin with it."),
    )
    missing = forms.ChoiceField(
        label=_("Rows that the file does not have"), choices=Missing.choices, widget=UnfoldAdminSelectWidget
    )
    message = forms.CharField(
        label=_("why"),
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Stands in the history beside each change."),
    )

    class Meta:
        model = Import
        fields = ("kind", "missing", "message")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [(sheet.name, sheet.model._meta.verbose_name_plural) for sheet in SHEETS]
        self.fields["kind"].choices = [("", _("as the file says")), *kinds]  # type: ignore[attr-defined]

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            text = gettext("the file has more than {limit} MiB").format(limit=MAX_BYTES >> 20)
            raise forms.ValidationError(text)
        return file


@admin.register(Import)
class ImportAdmin(RoleMixin, ModelAdmin):
    """The files that were brought, the newest first."""

    writes = "write_taints"  # whoever may import any kind of rows; which ones is looked at for each file
    services = RowServices(create=services.import_create)
    form = ImportForm
    list_display = ["created_at", "file_name", "kind", "actor", "standing", "message"]
    list_display_links = ["created_at", "file_name"]
    list_filter = ["state", "created_at"]
    search_fields = ["file_name", "actor", "message"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Import]:
        found: QuerySet[Import] = super().get_queryset(request).defer("content", "changes", "faults", "notes")
        return found

    @display(description=_("state"), ordering="state", label=LABELS)
    def standing(self, job: Import) -> tuple[str, Any]:
        return job.state, job.get_state_display()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/progress/", view(self.progress_view), name="transfer_import_progress"),
            path("<int:pk>/confirm/", view(require_POST(self.confirm_view)), name="transfer_import_confirm"),
            path("<int:pk>/withdraw/", view(require_POST(self.withdraw_view)), name="transfer_import_withdraw"),
            *super().get_urls(),
        ]

    # Exempt here and protected inside: reading the token reads the whole body, which must be refused before that.
    @method_decorator(csrf_exempt)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if _length(request) > MAX_BYTES + FORM_BYTES:
            text = gettext("the file has more than {limit} MiB").format(limit=MAX_BYTES >> 20)
            self.message_user(request, text, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        shown: HttpResponse = csrf_protect(super().add_view)(request, form_url, extra_context)
        return shown

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
        """The list of imports is the log."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponseRedirect(_page(obj.pk))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Not a form: how far it is, what it would change, or what is wrong with it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = _found(object_id)
        page = Paginator(job.changes, PER_PAGE).get_page(request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "title": str(job),
            "job": job,
            "counts": [(_kind(kind), counts) for kind, counts in job.counts.items()],
            "page": page,
            "hidden": max(0, _changed(job) - len(job.changes)),
            "may_go_on": job.state == State.CHECKED and job.user_id == request.user.pk,
            "opts": self.model._meta,
            "progress_url": reverse("admin:transfer_import_progress", args=[job.pk]),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "administration/import.html", context)

    def progress_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What the page asks once a second."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = Import.objects.only("state", "done", "total").filter(pk=pk).first()
        if job is None:
            raise Http404
        return JsonResponse({"state": job.state, "done": job.done, "total": job.total, "working": job.working})

    def confirm_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._decided(request, pk, services.import_confirm)

    def withdraw_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._decided(request, pk, services.import_withdraw)

    def _decided(self, request: HttpRequest, pk: int, service: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        try:
            service(job=_found(str(pk)), user=_user(request))
        except IdcschedError as refusal:
            self.message_user(request, explained(refusal), messages.ERROR)
        return HttpResponseRedirect(_page(pk))


def _found(key: str) -> Import:
    job = Import.objects.defer("content").filter(pk=key).first() if KEY.fullmatch(key) else None
    if job is None:
        raise Http404
    return job


def _page(pk: int) -> str:
    return reverse("admin:transfer_import_change", args=[pk])


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def _kind(name: str) -> str:
    return str(next(sheet.model._meta.verbose_name_plural for sheet in SHEETS if sheet.name == name))


def _changed(job: Import) -> int:
    return sum(count for counts in job.counts.values() for action, count in counts.items() if action != "unchanged")


def _length(request: HttpRequest) -> int:
    length = request.headers.get("Content-Length", "0")
    return int(length) if length.isdecimal() else 0


for model in (Region, Isp, Idc, Line, Taint, Affinity):
    page = type(admin.site.get_model_admin(model))
    admin.site.unregister(model)
    admin.site.register(model, type(page.__name__, (FilesMixin, page), {}))
