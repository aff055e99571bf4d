"""The forms by which operators taint one IDC or many, for a chosen time."""

from collections.abc import Container, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from idcsched.inventory.models import Idc, Taint

__all__ = ["FIELDS", "LASTS", "SelectionTaintForm", "TaintForm", "next_night"]

FIELDS = ["key", "value", "effect", "lasts", "starts_at", "ends_at", "reason"]
"""The fields of a taint, in the order of the page."""
LASTS = [
    ("", _("until the end below, or until it is lifted")),
    ("1", _("1 hour")),
    ("2", _("2 hours")),
    ("4", _("4 hours")),
    ("8", _("8 hours")),
    ("24", _("1 day")),
    ("168", _("1 week")),
    ("night", _("tonight, 01:00 to 05:00")),
    ("sunday", _("in the night to Sunday, 01:00 to 05:00")),
    ("monday", _("in the night to Monday, 01:00 to 05:00")),
    ("until_sunday", _("from now until Sunday, 05:00")),
]
NIGHTS = {"night": range(7), "sunday": [6], "monday": [0], "until_sunday": [6]}
"""The weekdays, 0 for a Monday, at whose nights a choice begins or, with `until`, ends."""


def next_night(now: datetime, weekdays: Container[int]) -> tuple[datetime, datetime]:
    """Return the next 01:00 to 05:00 of these weekdays, or what is left of it, by the clock of the user's zone."""
    today = timezone.localtime(now).date()
    nights = (
        [timezone.make_aware(datetime.combine(today + timedelta(days=days), time(hour))) for hour in (1, 5)]
        for days in range(8)
        if (today + timedelta(days=days)).weekday() in weekdays
    )
    return next((max(start, now), end) for start, end in nights if end > now)


class SelectionTaintForm(forms.ModelForm):
    """The form of a taint on IDCs that are chosen already."""

    field_order = FIELDS

    lasts = forms.ChoiceField(
        label=_("Lasts"),
        choices=LASTS,
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=_("From its start on; without a start, from now on."),
    )

    class Meta:
        model = Taint
        fields = [name for name in FIELDS if name != "lasts"]
        help_texts: Mapping[str, Any] = {
            "starts_at": _("Empty: from now on."),
            "ends_at": _("Empty: as chosen above, or else until it is lifted."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nights = {name: next_night(timezone.now(), weekdays)[1] for name, weekdays in NIGHTS.items()}
        dated = [(name, f"{label} ({nights[name]:%m-%d})" if name in nights else label) for name, label in LASTS]
        lasts = self.fields["lasts"]
        assert isinstance(lasts, forms.ChoiceField)  # noqa: S101  # as declared above
        lasts.choices = dated

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        hours = cleaned.get("lasts")
        if hours in NIGHTS:
            if cleaned.get("starts_at") or cleaned.get("ends_at"):
                self.add_error("lasts", _("Choose a night, or give start and end, not both."))
            else:
                starts, cleaned["ends_at"] = next_night(timezone.now(), NIGHTS[hours])
                cleaned["starts_at"] = None if hours.startswith("until_") else starts
        elif hours and cleaned.get("ends_at"):
            self.add_error("ends_at", _("Say how long it lasts or when it ends, not both."))
        elif hours and "starts_at" in cleaned:
            cleaned["starts_at"] = cleaned["starts_at"] or timezone.now()
            cleaned["ends_at"] = cleaned["starts_at"] + timedelta(hours=int(hours))
        return cleaned

    def taint_fields(self) -> dict[str, Any]:
        """Return the arguments of `taint_create`."""
        return {name: self.cleaned_data[name] for name in FIELDS if name != "lasts"}


class TaintForm(SelectionTaintForm):
    """The form of a taint on IDCs that are chosen in the form."""

    idcs = forms.ModelMultipleChoiceField(
        label=_("IDCs"),
        queryset=Idc.objects.select_related("region"),
        widget=AutocompleteSelectMultiple(Taint._meta.get_field("idc"), admin.site),
    )

    def taint_fields(self) -> dict[str, Any]:
        chosen: QuerySet[Idc] = self.cleaned_data["idcs"]
        return {"idcs": list(chosen), **super().taint_fields()}
