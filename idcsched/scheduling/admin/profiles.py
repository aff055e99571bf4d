"""The admin pages of profiles: their documents, their revisions, and what a revision would have changed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from idcsched.accounts.administration import RowServices, ServiceAdmin, admin_origin
from idcsched.audit.history import changes_of
from idcsched.audit.models import Change
from idcsched.audit.writing import below
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.language.wording import explained
from idcsched.scheduling import services
from idcsched.scheduling.models import Profile
from idcsched.scheduling.revisions import shown_revisions

from .previewing import previewed

__all__ = ["ProfileAdmin"]


DOCUMENT = UnfoldAdminTextareaWidget(attrs={"rows": 30, "class": "document", "spellcheck": "false"})


class ProfileForm(forms.ModelForm):
    """The form of the active revision's document; saving a changed document makes the next revision."""

    body = forms.JSONField(
        label=_("Document"),
        widget=DOCUMENT,
        help_text=_("A changed document becomes a new revision, in force at once. Decisions name the one they used."),
    )
    message = forms.CharField(label=_("Why"), required=False, max_length=500, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = Profile
        fields = ("code", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        active = self.instance.active if self.instance.pk else None
        if active is not None and "body" in self.fields:
            self.initial["body"] = active.body
        if "body" in self.fields:
            self.fields["body"].encoder = IndentedEncoder  # type: ignore[attr-defined]


class DraftForm(forms.Form):
    """The draft on the page of its preview, as it was posted: it need not be sound."""

    name = forms.CharField(required=False, widget=forms.HiddenInput)
    body = forms.CharField(widget=DOCUMENT)
    message = forms.CharField(label=_("Why"), required=False, max_length=500, widget=UnfoldAdminTextInputWidget)


class IndentedEncoder(json.JSONEncoder):
    """A JSON encoder with indentation, for a text area."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "indent": 2, "ensure_ascii": False})


def _created(*, code: str, name: str, body: Any, message: str) -> Profile:
    with _on_the_form():
        return services.profile_create(code=code, name=name, body=body, message=message)


def _revised(profile: Profile, changes: Any) -> Profile:
    """Save the form's document as the next revision."""
    with _on_the_form():
        services.profile_revise(profile=profile, body=changes["body"], name=changes["name"], message=changes["message"])
    return Profile.objects.select_related("active").get(pk=profile.pk)


@contextmanager
def _on_the_form() -> Iterator[None]:
    """Point the refusals of a document to the form's field that holds the document."""
    try:
        yield
    except Invalid as refusal:
        if refusal.errors[0].pointer in ("/code", "/name"):
            raise
        with below("/body"):
            raise


@admin.register(Profile)
class ProfileAdmin(ServiceAdmin):
    writes = "write_profiles"
    services = RowServices(
        create=_created,
        update=_revised,
        delete=lambda row: services.profile_delete(profile=row),
    )
    form = ProfileForm
    change_form_after_template = "administration/profile_preview_button.html"
    change_form_outer_after_template = "administration/profile_revisions.html"
    list_display = ("code", "name", "revision", "changed_at", "changed_by", "why")
    list_select_related = ("active",)
    search_fields = ("code", "name")
    fields = ("code", "name", "body", "message")

    def get_readonly_fields(self, request: HttpRequest, obj: Profile | None = None) -> tuple[str, ...]:
        """Make the code of an existing profile read-only, since decisions name it."""
        return ("code",) if obj else ()

    def history(self, row: Profile) -> QuerySet[Change]:
        return changes_of("profile", row.code)

    def get_urls(self) -> list[URLPattern]:
        """Add the preview of a draft and the activation of a revision."""
        prefix = "scheduling_profile"
        view = self.admin_site.admin_view
        own = [
            path("<int:pk>/preview/", view(self.preview_view), name=f"{prefix}_preview"),
            path("<int:pk>/activate/<int:number>/", view(self.activate_view), name=f"{prefix}_activate"),
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        profile = self.get_object(request, object_id)
        context = {} if profile is None else {"revisions": shown_revisions(profile)}
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def preview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show which recent decisions would have gone elsewhere under a revision or under the draft in the form."""
        profile = get_object_or_404(Profile.objects.select_related("active"), pk=pk)
        if not self.has_view_permission(request, profile):
            raise PermissionDenied
        shown = previewed(profile, request)
        draft = {"name": profile.name, **request.POST.dict(), "body": shown["draft"]}
        context = {
            **self.admin_site.each_context(request),
            **shown,
            "form": DraftForm(initial=draft),
            "may_save": self.has_change_permission(request, profile),
            "opts": self.opts,
            "object": profile,
            "title": _("What would have changed"),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "administration/profile_preview.html", context)

    def activate_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Put a revision in force, an earlier one too."""
        profile = get_object_or_404(Profile, pk=pk)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_change_permission(request, profile):
            raise PermissionDenied
        try:
            with admin_origin(request):
                services.profile_activate(profile=profile, number=number)
        except IdcschedError as error:
            self.message_user(request, explained(error), messages.ERROR)
        else:
            text = gettext("Revision %(number)d is in force.") % {"number": number}
            self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:scheduling_profile_change", args=[pk]))

    def changes(self, form: ModelForm) -> dict[str, Any]:
        return {name: form.cleaned_data[name] for name in ("name", "body", "message")}

    @admin.display(description=_("revision"), ordering="active__number")
    def revision(self, profile: Profile) -> int | None:
        return profile.active.number if profile.active else None

    @admin.display(description=_("changed"), ordering="active__created_at")
    def changed_at(self, profile: Profile) -> Any:
        return profile.active.created_at if profile.active else None

    @admin.display(description=_("by"))
    def changed_by(self, profile: Profile) -> str:
        return profile.active.created_by if profile.active else ""

    @admin.display(description=_("why"))
    def why(self, profile: Profile) -> str:
        return profile.active.message if profile.active else ""
