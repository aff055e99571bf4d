from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_info, gettext_lazy
from django.utils.translation import gettext as _
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.widgets import UnfoldAdminPasswordWidget

from idcsched.framework.errors import Conflict
from idcsched.language.wording import explained

from . import services
from .administration import RowServices, ServiceAdmin
from .change_admin import ChangeAdmin
from .known_codes import codes_offered
from .models import ApiToken, Tenant, User
from .services import IssuedToken

__all__ = ["ApiTokenAdmin", "ChangeAdmin", "TenantAdmin", "UserAdmin"]

OVERLAP = timedelta(days=1)

admin.site.unregister(Group)  # only a user's role decides what the user may do
admin.site.unregister([TOTPDevice, StaticDevice])  # these pages show the secrets of others


@admin.register(Tenant)
class TenantAdmin(ServiceAdmin):
    reads, writes = "read_accounts", "write_tenants"
    services = RowServices(
        create=services.tenant_create,
        update=lambda row, changes: services.tenant_update(tenant=row, changes=changes),
        delete=lambda row: services.tenant_delete(tenant=row),
    )
    offers = {"default_profile": lambda: [(code, code) for code in codes_offered("profile")]}
    list_display = ["code", "name", "default_profile", "quota_bandwidth_mbps", "quota_machines"]
    search_fields = ["code", "name"]
    actions = ["make_callback_secret"]

    @admin.action(description=gettext_lazy("Make a new callback secret"), permissions=["change"])
    def make_callback_secret(self, request: HttpRequest, queryset: QuerySet[Tenant]) -> None:
        template = _("Copy the callback secret of %(tenant)s now, it can't be shown again: %(secret)s")
        for tenant in queryset:
            secret = services.tenant_callback_secret_make(tenant=tenant)
            self.message_user(request, template % {"tenant": tenant.code, "secret": secret}, messages.WARNING)


class UserForm(ModelForm):
    password = forms.CharField(
        label=gettext_lazy("New password"),
        required=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("Empty: the password stays as it is; a new user without one can only use tokens."),
    )

    class Meta:
        model = User
        fields = ["username", "first_name", "last_name", "email", "role", "tenant", "language"]


class ActiveUserForm(UserForm):
    """The form of an existing user, who can also be locked out."""

    class Meta(UserForm.Meta):
        fields = [*UserForm.Meta.fields, "is_active"]


@admin.register(User)
class UserAdmin(ServiceAdmin):
    reads, writes = "read_accounts", "write_users"
    services = RowServices(
        create=services.user_create,
        update=lambda row, changes: services.user_update(user=row, changes=changes),
        delete=lambda row: services.user_delete(user=row),
    )
    offers = {"language": lambda: [(code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES]}
    list_display = ["username", "first_name", "last_name", "role", "tenant", "is_active", "last_login"]
    list_filter = ["role", "is_active", "tenant"]
    list_select_related = ["tenant"]
    search_fields = ["username", "first_name", "last_name", "email"]
    autocomplete_fields = ["tenant"]
    actions = ["reset_second_factor"]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        if settings.SECOND_FACTOR == "off":
            actions.pop("reset_second_factor", None)
        return actions

    @admin.action(description=gettext_lazy("Reset the second factor"), permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            services.second_factor_reset(user=user)
        self.message_user(request, _("They set up a new one when they sign in next."), messages.SUCCESS)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, form=ActiveUserForm if obj else UserForm, **kwargs)

    def creation(self, form: ModelForm) -> dict[str, Any]:
        fields = super().creation(form)
        return fields | {"password": fields["password"] or None}

    def changes(self, form: ModelForm) -> dict[str, Any]:
        changes = super().changes(form)
        if not changes.get("password"):
            changes.pop("password", None)
        return changes


@admin.register(ApiToken)
class ApiTokenAdmin(ServiceAdmin):
    """Tokens, which can be made, rotated and revoked, but not changed."""

    reads, writes = "read_accounts", "write_tokens"
    services = RowServices(create=services.token_issue)  # type: ignore[arg-type]  # `save_model` uses the IssuedToken
    list_display = ["name", "prefix", "user", "tenant", "read_only", "expires_at", "last_used_at", "revoked_at"]
    list_filter = ["read_only", "revoked_at", "expires_at"]
    list_select_related = ["user", "tenant"]
    search_fields = ["name", "prefix", "user__username"]
    autocomplete_fields = ["user", "tenant"]
    actions = ["rotate", "revoke"]
    change_form_outer_after_template = "administration/token_rotate.html"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        token = self.get_object(request, object_id)
        usable = token is not None and token.revoked_at is None and token.rotated_at is None
        context = {"may_rotate": usable and self._may(request, self.writes)}
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        issued = services.token_issue(**self.creation(form))
        obj.__dict__.update(issued.token.__dict__)
        self._show(request, issued)

    def _show(self, request: HttpRequest, issued: IssuedToken) -> None:
        template = _("Copy the token %(name)s now, it can't be shown again: %(token)s")
        self.message_user(request, template % {"name": issued.token.name, "token": issued.text}, messages.WARNING)

    def has_end_permission(self, request: HttpRequest) -> bool:
        return self._may(request, self.writes)

    @admin.action(description=gettext_lazy("Rotate the selected tokens"), permissions=["end"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Replace each token by a new one; the old ones stay valid for a day, so that programs can change over."""
        for token in queryset:
            try:
                self._show(request, services.token_rotate(token=token, overlap=OVERLAP))
            except Conflict as error:
                self.message_user(request, f"{token}: {explained(error)}", messages.ERROR)

    @admin.action(description=gettext_lazy("Revoke the selected tokens"), permissions=["end"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset:
            services.token_revoke(token=token)
        self.message_user(request, _("The tokens are revoked."), messages.SUCCESS)
