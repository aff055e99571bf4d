"""Admin pages whose every write is a service, and whose permissions are the roles.

What a service refuses is shown in the form, with all that was filled in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib import messages
from django.db.models import DateTimeField, Model, QuerySet, TextField
from django.forms import BaseModelFormSet, ChoiceField, ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from idcsched.accounts.models import User
from idcsched.accounts.roles import INSTALLATION_WIDE, Role, principal_of, role_can
from idcsched.accounts.selectors import changes_visible
from idcsched.audit.admin import ChosenRowsMixin, PlainValuesMixin, ReadOnlyAdmin, plain_column
from idcsched.audit.context import origin_set
from idcsched.audit.edits import all_or_none
from idcsched.audit.history import HistoryMixin
from idcsched.audit.models import Change
from idcsched.db.fields import DocumentField
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.language.wording import explained

__all__ = ["RoleMixin", "RowServices", "ServiceAdmin", "ServiceInline", "TenantReadOnlyAdmin", "admin_origin"]

MAX_MESSAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RowServices:
    """The services behind a page; what has none can't be done there."""

    create: Callable[..., Model] | None = None
    update: Callable[[Any, Mapping[str, Any]], Model] | None = None
    delete: Callable[[Any], object] | None = None


@contextmanager
def admin_origin(request: HttpRequest) -> Iterator[None]:
    """Changes made inside are recorded as the logged-in user's, made in the admin, with the reason that was given."""
    request_id = str(getattr(request, "request_id", ""))
    message = request.POST.get("message", "").replace("\x00", "").strip()[:MAX_MESSAGE]
    with origin_set(actor=request.user.get_username(), via="admin", request_id=request_id, message=message):
        yield


class RoleMixin:
    """Django's questions about permissions, answered by the role and by what there is a service for."""

    reads: ClassVar[str] = "read"
    writes: ClassVar[str]
    services: ClassVar[RowServices]

    def _may(self, request: HttpRequest, capability: str) -> bool:
        user = request.user
        if not isinstance(user, User) or not user.is_active or not user.is_staff:
            return False
        return role_can(user.role, capability) and not (capability in INSTALLATION_WIDE and _in_regions(user))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may(request, self.reads)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, self.reads)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.services.create is not None and self._may(request, self.writes)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.services.update is not None and self._may(request, self.writes)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.services.delete is not None and self._may(request, self.writes)


def _in_regions(user: User) -> bool:
    """Whether the user may write in some regions only; asked once for each page."""
    if user.role != Role.OPERATOR:
        return False
    if "in_regions" not in user.__dict__:
        user.__dict__["in_regions"] = user.region_scopes.exists()
    return bool(user.__dict__["in_regions"])


TEXTS: dict[Any, dict[str, Any]] = {
    DocumentField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 3, "class": "document", "spellcheck": "false"})},
    TextField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 3})},
}
"""Most documents and reasons are a line or two."""


class ServiceInline(RoleMixin, PlainValuesMixin, TabularInline):
    """Rows that are edited on another row's page, by their own services."""

    extra = 0

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        found = list(super().get_readonly_fields(request, obj))
        if self.only_shown(request, obj):
            shown = (plain_column(self.model, name) for name in self.fields or ())
            found += [column for column in shown if callable(column)]
        return found


class ServiceAdmin(RoleMixin, HistoryMixin, ChosenRowsMixin, PlainValuesMixin, ModelAdmin):
    """A page per row, written by `services`. The history is the project's own: Django's log is not kept beside it."""

    formfield_overrides = TEXTS
    offers: ClassVar[Mapping[str, Callable[[], Iterable[tuple[str, Any]]]]] = {}
    """Text fields for which the form offers values: what each may be, with its name."""
    change_form_after_template = "administration/why.html"
    delete_confirmation_template = "administration/delete.html"
    delete_selected_confirmation_template = "administration/delete_selected.html"
    list_filter_submit = True
    list_fullwidth = True
    warn_unsaved_form = True

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.offers:
            return _choice_field(db_field, self.offers[db_field.name])
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(db_field, DateTimeField) and field is not None:
            field.help_text = format_lazy(_("{help} Time of {zone}."), help=field.help_text, zone=settings.BILLING_ZONE)
        return field

    def visible_changes(self, request: HttpRequest) -> QuerySet[Change]:
        user = request.user
        return changes_visible(principal_of(user)) if isinstance(user, User) else Change.objects.none()

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """The service has recorded it."""

    log_change = log_addition

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """The service has recorded them."""

    def check_scope(self, request: HttpRequest, row: Any) -> None:
        """Raises Forbidden where this user may not write this row; here every row is fine."""

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        self.check_scope(request, obj)
        if change:
            saved = _required(self.services.update)(obj, self.changes(form))
        else:
            saved = _required(self.services.create)(**self.creation(form))
        obj.__dict__.update(saved.__dict__)

    def creation(self, form: ModelForm) -> dict[str, Any]:
        """What the service that creates is called with."""
        return {name: form.cleaned_data[name] for name in form.fields if name in form.cleaned_data}

    def changes(self, form: ModelForm) -> dict[str, Any]:
        """What the service that updates is told to change."""
        return {name: form.cleaned_data[name] for name in form.changed_data}

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.check_scope(request, obj)
        _required(self.services.delete)(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def save_formset(self, request: HttpRequest, form: Any, formset: BaseModelFormSet, change: bool) -> None:
        services = next(inline.services for inline in self._service_inlines() if inline.model is formset.model)
        formset.save(commit=False)
        for row in formset.deleted_objects:
            _required(services.delete)(row)
        for row, changed in formset.changed_objects:
            _required(services.update)(row, {name: getattr(row, name) for name in changed})
        for row in formset.new_objects:
            saved = _required(services.create)(**_editable(row))
            row.__dict__.update(saved.__dict__)

    def _service_inlines(self) -> list[type[ServiceInline]]:
        return [inline for inline in self.inlines if issubclass(inline, ServiceInline)]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        refusal = getattr(request, "refusal", None)
        return form if refusal is None else _refused(form, refusal)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        show = super().changeform_view
        with admin_origin(request):
            try:
                return show(request, object_id, form_url, extra_context)  # in a transaction of Django's
            except IdcschedError as error:
                request.refusal = error  # type: ignore[attr-defined]  # the form is shown again and says so
                return show(request, object_id, form_url, extra_context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List what would go; whoever may delete a row may delete what is part of it."""
        shown, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return shown, counts, {name for name in lacking if name == self.opts.verbose_name}, protected

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._guarded(request, lambda: super(ServiceAdmin, self).delete_view(request, object_id, extra_context))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return self._guarded(request, lambda: super(ServiceAdmin, self).changelist_view(request, extra_context))

    def _guarded(self, request: HttpRequest, show: Callable[[], HttpResponse]) -> HttpResponse:
        """Show the page; where a service refuses, do nothing and say so on the same page."""
        with admin_origin(request):
            try:
                return all_or_none(show)
            except IdcschedError as error:
                self.message_user(request, explained(error), messages.ERROR)
                return HttpResponseRedirect(request.get_full_path())


def _required(service: Callable[..., Any] | None) -> Callable[..., Any]:
    if service is None:
        raise TypeError("there is no service for this")  # the permissions have refused it before
    return service


def _editable(row: Model) -> dict[str, Any]:
    fields = row._meta.concrete_fields
    return {field.name: getattr(row, field.name) for field in fields if field.editable and not field.primary_key}


def _refused(form: type[ModelForm], refusal: IdcschedError) -> type[ModelForm]:
    """The form with the refusal in it, at the fields that it names."""

    def clean(self: ModelForm) -> dict[str, Any] | None:
        cleaned = super(refused, self).clean()
        for pointer, detail in _details(refusal):
            name, _, inside = pointer.removeprefix("/").partition("/")
            said = f"{inside}: {detail}" if inside else detail
            self.add_error(name if name in self.fields else None, said)
        return cleaned

    refused = cast("type[ModelForm]", type(form.__name__, (form,), {"clean": clean}))
    return refused


def _details(refusal: IdcschedError) -> list[tuple[str, str]]:
    if isinstance(refusal, Invalid):
        return [(item.pointer, explained(item)) for item in refusal.errors]
    return [("", explained(refusal))]


def _choice_field(db_field: Any, offered: Callable[[], Iterable[tuple[str, Any]]]) -> ChoiceField:
    """Offer these values, and those that rows have already: they may be gone meanwhile."""

    def choices() -> Iterator[tuple[str, Any]]:
        known = dict(offered())
        there = db_field.model.objects.order_by(db_field.name).values_list(db_field.name, flat=True).distinct()
        if db_field.blank:
            yield "", "—"
        yield from known.items()
        yield from ((value, value) for value in there if value and value not in known)

    return ChoiceField(
        label=capfirst(db_field.verbose_name),
        required=not db_field.blank,
        choices=choices,
        help_text=db_field.help_text,
        widget=UnfoldAdminSelectWidget,
    )


class TenantReadOnlyAdmin(ReadOnlyAdmin):
    """Rows of tenants: whoever belongs to one sees its own, everybody else all."""

    tenant_lookup: ClassVar[str | None] = "tenant"
    """What leads from a row to its tenant; None: no row tells, so that those of one tenant see none."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        user = request.user
        if isinstance(user, User) and user.tenant_id is None:
            return found
        return found.none() if self.tenant_lookup is None else found.filter(**{self.tenant_lookup: user.tenant_id})  # type: ignore[union-attr]
