"""Who changed what, when and why: the history, searched, filtered, and paged by key, the newest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.selectors import changes_visible
from idcsched.audit.change_display import ChangedField, changed_fields, kinds
from idcsched.audit.models import Change

from .change_links import change_address
from .pages import page, principal_of_page, shown
from .recent_changes import change_sentence, changes_grouped, group_sentence

__all__ = ["history"]

ROWS: Final = 100
"""The changes of a page; those of one request are one row."""
OPENED: Final = 20
"""The most changes of a row that are shown one by one."""
MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class OneChange:
    """A change in a sentence, with the fields that it set, and the page of what was changed, if there is one."""

    sentence: str
    fields: Sequence[ChangedField]
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one request or command changed; `latest` tells who, when, by what way, and why."""

    latest: Change
    sentence: str
    count: int
    changes: Sequence[OneChange]

    @property
    def more(self) -> int:
        return self.count - len(self.changes)


class Filters(forms.Form):
    """What the history is narrowed to; a value that makes no sense is refused at its field, and the others count."""

    q = forms.CharField(label=_("Name of a thing, or reason"), required=False, max_length=255)
    actor = forms.CharField(label=_("Who"), required=False, max_length=150)
    kind = forms.ChoiceField(label=_("What"), required=False)
    since = forms.DateTimeField(
        label=_("From"), required=False, widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M")
    )
    until = forms.DateTimeField(
        label=_("Until"), required=False, widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M")
    )

    def __init__(self, *args: Any, names: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = sorted(names.items(), key=lambda pair: pair[1])
        self.fields["kind"].choices = [("", _("all")), *choices]  # type: ignore[attr-defined]  # a ChoiceField

    def narrowed(self, changes: QuerySet[Change]) -> QuerySet[Change]:
        """Return the changes to which the sound filters apply."""
        self.full_clean()
        given = {name: value for name, value in self.cleaned_data.items() if value}
        columns = {"actor": "actor", "kind": "kind", "since": "at__gte", "until": "at__lt"}
        changes = changes.filter(**{column: given[name] for name, column in columns.items() if name in given})
        if words := given.get("q"):
            changes = changes.filter(Q(key__icontains=words) | Q(message__icontains=words) | Q(request_id=words))
        return changes


@page()
def history(request: HttpRequest) -> HttpResponse:
    """Show the changes that the user may see."""
    names = kinds()
    filters = Filters(request.GET, names=names)
    changes = filters.narrowed(changes_visible(principal_of_page(request)))
    before = request.GET.get("before", "")
    if before.isdecimal() and len(before) <= MOST_DIGITS:
        changes = changes.filter(pk__lt=int(before))
    found = list(changes.order_by("-id")[: ROWS + 1])
    kept = request.GET.copy()
    kept.pop("before", None)
    older = kept.copy()
    older["before"] = str(found[ROWS - 1].pk) if len(found) > ROWS else ""
    context = {
        "section": "history",
        "filters": filters,
        "filtered": any(kept.values()),
        "rows": list(_rows(found[:ROWS], names)),
        "first": f"?{kept.urlencode()}",
        "older": f"?{older.urlencode()}" if older["before"] else "",
    }
    return shown(request, "history.html", context)


def _rows(changes: Sequence[Change], names: Mapping[str, str]) -> Iterator[Row]:
    for group in changes_grouped(changes):
        yield Row(
            latest=group[0],
            sentence=group_sentence(group, names),
            count=len(group),
            changes=[
                OneChange(
                    sentence=change_sentence(change, names),
                    fields=list(changed_fields(change)),
                    address=change_address(change),
                )
                for change in group[:OPENED]
            ],
        )
