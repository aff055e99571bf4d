"""Admin pages that write through services and take their permissions from the roles.

A service's refusal is shown in the form, which keeps all that was filled in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.admin.utils import get_fields_from_path
from django.db.models import DateTimeField, Model, QuerySet, TextField
from django.forms import BaseModelFormSet, ChoiceField, ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from idcsched.accounts.models import ApiToken, Tenant, User
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
ACCOUNTS = (Tenant, User, ApiToken)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowServices:
    """The services behind an admin page; None: the page does not allow this."""

    create: Callable[..., Model] | None = None
    update: Callable[[Any, Mapping[str, Any]], Model] | None = None
    delete: Callable[[Any], object] | None = None


@contextmanager
def admin_origin(request: HttpRequest) -> Iterator[None]:
    """Record the changes made inside as the logged-in user's, made in the admin, with the form's message."""
    request_id = str(getattr(request, "request_id", ""))
    message = request.POST.get("message", "").replace("\x00", "").strip()[:MAX_MESSAGE]
    with origin_set(actor=request.user.get_username(), via="admin", request_id=request_id, message=message):
        yield


class RoleMixin:
    """Django's permission hooks, answered by the user's role and by the services that the page has."""

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
    """Whether the user may write in some regions only; queried once for each request."""
    if user.role != Role.OPERATOR:
        return False
    if "in_regions" not in user.__dict__:
        user.__dict__["in_regions"] = user.region_scopes.exists()
    return bool(user.__dict__["in_regions"])


TEXTS: dict[Any, dict[str, Any]] = {
    DocumentField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 3, "class": "document", "spellcheck": "false"})},
    TextField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 3})},
}
"""Small text areas: most documents and reasons have a line or two."""


class ServiceInline(RoleMixin, PlainValuesMixin, TabularInline):
    """Rows that are edited on another row's page, through services of their own."""

    extra = 0

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        fields = list(super().get_readonly_fields(request, obj))
        if self.only_shown(request, obj):
            columns = (plain_column(self.model, name) for name in self.fields or ())
            fields += [column for column in columns if callable(column)]
        return fields


class ServiceAdmin(RoleMixin, HistoryMixin, ChosenRowsMixin, PlainValuesMixin, ModelAdmin):
    """Admin of a model that is written through `services`; the project's history takes the place of Django's log."""

    formfield_overrides = TEXTS
    offers: ClassVar[Mapping[str, Callable[[], Iterable[tuple[str, Any]]]]] = {}
    """Text fields for which the form offers values: pairs of a value and its name."""
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
        """Do nothing: the service has recorded the change."""

    log_change = log_addition

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Do nothing: the service has recorded the deletions."""

    def check_scope(self, request: HttpRequest, row: Any) -> None:
        """Raise Forbidden where the user may not write the row; by default every row may be written."""

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        self.check_scope(request, obj)
        if change:
            saved = _required(self.services.update)(obj, self.changes(form))
        else:
            saved = _required(self.services.create)(**self.creation(form))
        obj.__dict__.update(saved.__dict__)

    def creation(self, form: ModelForm) -> dict[str, Any]:
        """Return the arguments of the creating service."""
        return {name: form.cleaned_data[name] for name in form.fields if name in form.cleaned_data}

    def changes(self, form: ModelForm) -> dict[str, Any]:
        """Return the fields to change for the updating service."""
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
                return show(request, object_id, form_url, extra_context)  # Django's transaction, which a refusal undoes
            except IdcschedError as error:
                request.refusal = error  # type: ignore[attr-defined]  # `get_form` shows it in the same form
                return show(request, object_id, form_url, extra_context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List what a deletion removes; a user who may delete a row may delete the rows that belong to it."""
        removed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return removed, counts, {name for name in lacking if name == self.opts.verbose_name}, protected

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._guarded(request, lambda: super(ServiceAdmin, self).delete_view(request, object_id, extra_context))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return self._guarded(request, lambda: super(ServiceAdmin, self).changelist_view(request, extra_context))

    def _guarded(self, request: HttpRequest, show: Callable[[], HttpResponse]) -> HttpResponse:
        """Show the page; where a service refuses, undo everything and show the refusal on the same page."""
        with admin_origin(request):
            try:
                return all_or_none(show)
            except IdcschedError as error:
                self.message_user(request, explained(error), messages.ERROR)
                return HttpResponseRedirect(request.get_full_path())


def _required(service: Callable[..., Any] | None) -> Callable[..., Any]:
    if service is None:
        raise TypeError("there is no service for this")  # the permissions should have refused this before
    return service


def _editable(row: Model) -> dict[str, Any]:
    fields = row._meta.concrete_fields
    return {field.name: getattr(row, field.name) for field in fields if field.editable and not field.primary_key}


def _refused(form: type[ModelForm], refusal: IdcschedError) -> type[ModelForm]:
    """Return a subclass of the form that shows the refusal at the fields that it points at."""

    def clean(self: ModelForm) -> dict[str, Any] | None:
        cleaned = super(refused, self).clean()
        for pointer, detail in _details(refusal):
            name, _, inside = pointer.removeprefix("/").partition("/")
            message = f"{inside}: {detail}" if inside else detail
            self.add_error(name if name in self.fields else None, message)
        return cleaned

    refused = cast("type[ModelForm]", type(form.__name__, (form,), {"clean": clean}))
    return refused


def _details(refusal: IdcschedError) -> list[tuple[str, str]]:
    if isinstance(refusal, Invalid):
        return [(item.pointer, explained(item)) for item in refusal.errors]
    return [("", explained(refusal))]


def _choice_field(db_field: Any, offered: Callable[[], Iterable[tuple[str, Any]]]) -> ChoiceField:
    """Return a field that offers these values, and those that rows still have although they are no longer offered."""

    def choices() -> Iterator[tuple[str, Any]]:
        names = dict(offered())
        in_use = db_field.model.objects.order_by(db_field.name).values_list(db_field.name, flat=True).distinct()
        if db_field.blank:
            yield "", "—"
        yield from names.items()
        yield from ((value, value) for value in in_use if value and value not in names)

    return ChoiceField(
        label=capfirst(db_field.verbose_name),
        required=not db_field.blank,
        choices=choices,
        help_text=db_field.help_text,
        widget=UnfoldAdminSelectWidget,
    )


class TenantReadOnlyAdmin(ReadOnlyAdmin):
    """Read-only admin of tenants' rows: users of a tenant see their tenant's rows, all others see all."""

    tenant_lookup: ClassVar[str | None] = "tenant"
    """The look-up from a row to its tenant; None: rows have no tenant, and users of a tenant see none of them."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        user = request.user
        if _of_all_tenants(user):
            return rows
        return rows.none() if self.tenant_lookup is None else rows.filter(**{self.tenant_lookup: user.tenant_id})  # type: ignore[union-attr]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        """Return the filters; a filter by tenant, user or token offers all of them, so users of a tenant get none."""
        filters = list(super().get_list_filter(request))
        if _of_all_tenants(request.user):
            return filters
        return [listed for listed in filters if not self._by_account(listed)]

    def _by_account(self, listed: Any) -> bool:
        path = listed[0] if isinstance(listed, tuple) else listed
        return isinstance(path, str) and get_fields_from_path(self.model, path)[-1].related_model in ACCOUNTS


def _of_all_tenants(user: Any) -> bool:
    return isinstance(user, User) and user.tenant_id is None
