import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.administration import RowServices, ServiceAdmin, ServiceInline
from idcsched.audit.admin import ReadOnlyAdmin
from idcsched.audit.writing import below
from idcsched.framework.errors import Invalid

from . import services
from .models import Decision, Profile, ProfileRevision
from .sentences import read

__all__ = ["DecisionAdmin", "ProfileAdmin", "ProfileRevisionInline"]


class ProfileForm(forms.ModelForm):
    """The document of the active revision; saving makes the next one."""

    body = forms.JSONField(
        label=_("document"),
        widget=forms.Textarea(attrs={"rows": 30, "cols": 110, "spellcheck": "false"}),
        help_text=_("Saving makes a new revision, in force at once. Decisions name the one they used."),
    )
    message = forms.CharField(
        label=_("why"), required=False, max_length=500, widget=forms.TextInput(attrs={"size": 100})
    )

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


class IndentedEncoder(json.JSONEncoder):
    """Readable in a text area."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "indent": 2, "ensure_ascii": False})


def _created(*, code: str, name: str, body: Any, message: str) -> Profile:
    with _on_the_form():
        return services.profile_create(code=code, name=name, body=body, message=message)


def _revised(profile: Profile, changes: Any) -> Profile:
    """Save what the form holds as the next revision."""
    with _on_the_form():
        services.profile_revise(profile=profile, body=changes["body"], name=changes["name"], message=changes["message"])
    return Profile.objects.select_related("active").get(pk=profile.pk)


@contextmanager
def _on_the_form() -> Iterator[None]:
    """Refusals of what stands in the document point to the form's field that holds it."""
    try:
        yield
    except Invalid as refusal:
        if refusal.errors[0].pointer in ("/code", "/name"):
            raise
        with below("/body"):
            raise


class ProfileRevisionInline(ServiceInline):
    """The profile's history, which nobody edits."""

    model = ProfileRevision
    writes = "write_profiles"
    services = RowServices()
    fields = readonly_fields = ("number", "created_at", "created_by", "message", "document")
    can_delete = False

    @admin.display(description=_("document"))
    def document(self, revision: ProfileRevision) -> str:
        text = json.dumps(revision.body, indent=2, ensure_ascii=False)
        return format_html("<details><summary>{}</summary><pre>{}</pre></details>", _("show"), text)


@admin.register(Profile)
class ProfileAdmin(ServiceAdmin):
    writes = "write_profiles"
    services = RowServices(
        create=_created,
        update=_revised,
        delete=lambda row: services.profile_delete(profile=row),
    )
    form = ProfileForm
    inlines = (ProfileRevisionInline,)
    list_display = ("code", "name", "revision", "changed_at", "changed_by", "why")
    list_select_related = ("active",)
    search_fields = ("code", "name")
    fields = ("code", "name", "body", "message")

    def get_readonly_fields(self, request: HttpRequest, obj: Profile | None = None) -> tuple[str, ...]:
        """A profile keeps its code: decisions name it."""
        return ("code",) if obj else ()

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


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    """What was answered, as it was answered."""

    list_display = ("created_at", "request_id", "idc", "summary", "tenant", "actor", "profile", "profile_revision")
    list_filter = ("result", "profile", "created_at")
    list_select_related = ("tenant",)
    search_fields = ("request_id", "http_request_id", "idc")
    show_full_result_count = False
    exclude = ("inputs", "request", "answer", "sentences")
    readonly_fields = ("asked", "answered")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Decision]:
        found: QuerySet[Decision] = super().get_queryset(request).defer("inputs")
        return found

    @admin.display(description=_("summary"))
    def summary(self, decision: Decision) -> str:
        return str(read(decision.answer, decision.sentences).get("summary", ""))

    @admin.display(description=_("request"))
    def asked(self, decision: Decision) -> str:
        return _pretty(decision.request)

    @admin.display(description=_("answer"))
    def answered(self, decision: Decision) -> str:
        return _pretty(read(decision.answer, decision.sentences))


def _pretty(document: Any) -> str:
    return format_html("<pre>{}</pre>", json.dumps(document, indent=2, ensure_ascii=False))
