"""The list of decisions: searched, filtered, and paged by key, the newest first."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.models import Tenant
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.selectors import decisions_visible, profile_codes
from idcsched.scheduling.sentences import read

from .pages import REFRESH, page, principal_of_page, shown

__all__ = ["decisions"]

ROWS: Final = 50
SLOW_REFRESH: Final = "every 30s"
"""How often a list that is searched by text, which no index helps, is asked for again."""
MOST_CHOICES: Final = 200


class Filters(forms.Form):
    """What the list is narrowed to; a value that makes no sense is refused at its field, and the others count."""

    q = forms.CharField(label=_("Order, request id or IDC"), required=False, max_length=255)
    idc = forms.CharField(label=_("IDC"), required=False, max_length=63)
    result = forms.ChoiceField(label=_("Result"), required=False, choices=[("", _("all")), *Decision.Result.choices])
    profile = forms.ChoiceField(label=_("Profile"), required=False)
    tenant = forms.ChoiceField(label=_("Tenant"), required=False)
    since = forms.DateTimeField(
        label=_("From"), required=False, widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M")
    )
    until = forms.DateTimeField(
        label=_("Until"), required=False, widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M")
    )

    def __init__(self, *args: Any, all_tenants: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("profile", profile_codes())
        if all_tenants:
            self._offer("tenant", Tenant.objects.order_by("code").values_list("code", flat=True)[:MOST_CHOICES])
        else:
            del self.fields["tenant"]

    def _offer(self, name: str, codes: Any) -> None:
        field: Any = self.fields[name]
        field.choices = [("", _("all")), *((code, code) for code in codes)]

    def narrowed(self, decisions: QuerySet[Decision]) -> QuerySet[Decision]:
        """Return the decisions to which the sound filters apply."""
        self.full_clean()
        given = {name: value for name, value in self.cleaned_data.items() if value}
        columns = {
            "idc": "idc",
            "result": "result",
            "profile": "profile",
            "tenant": "tenant__code",
            "since": "created_at__gte",
            "until": "created_at__lt",
        }
        return decisions.filter(**{column: given[name] for name, column in columns.items() if name in given})


@page()
def decisions(request: HttpRequest) -> HttpResponse:
    """Show what was asked and where it went; the first page updates itself."""
    recorder.settle()
    principal = principal_of_page(request)
    filters = Filters(request.GET, all_tenants=principal.all_tenants)
    visible = filters.narrowed(decisions_visible(principal).select_related("tenant").defer("inputs", "request"))
    words = filters.cleaned_data.get("q", "").strip()
    found, exact = _searched(visible, words) if words else (visible, True)
    rows, newer, older = _page(found, _key(request, "before"), _key(request, "after"))
    kept = request.GET.copy()
    for name in ("before", "after"):
        kept.pop(name, None)
    context = {
        "section": "decisions",
        "filters": filters,
        "filtered": any(kept.values()),
        "rows": list(_with_placements(rows)),
        "chips": list(_chips(filters, kept)),
        "offered": [
            (str(words), _with(kept, result=value))
            for value, words in Decision.Result.choices
            if not filters.cleaned_data.get("result")
        ],
        "newer": newer and f"?{_with(kept, after=str(newer))}",
        "older": older and f"?{_with(kept, before=str(older))}",
        "first": f"?{kept.urlencode()}",
        "pace": None if "before" in request.GET or "after" in request.GET else REFRESH if exact else SLOW_REFRESH,
    }
    return shown(request, "decisions.html", context)


def _with_placements(rows: Sequence[Decision]) -> Iterator[tuple[Decision, str, Placement | None]]:
    """Yield each decision with its summary, and what it became."""
    keys = [row.placement for row in rows if row.placement]
    placements = {placement.pk: placement for placement in Placement.objects.filter(pk__in=keys).only("state")}
    for row in rows:
        summary = read(row.answer, row.sentences).get("summary", "")
        yield row, summary, placements.get(row.placement) if row.placement else None


def _chips(filters: Filters, kept: QueryDict) -> Iterator[tuple[str, str]]:
    """Yield each filter in force in words, with the parameters of the page without it."""
    for field in filters:
        if field.name != "q" and filters.cleaned_data.get(field.name):
            without = kept.copy()
            without.pop(field.name, None)
            choices = dict(getattr(field.field, "choices", ()))
            value = field.value()
            yield f"{field.label}: {choices.get(value, value)}", without.urlencode()


def _searched(visible: QuerySet[Decision], words: str) -> tuple[QuerySet[Decision], bool]:
    """Return the decisions that the words name, by an index where they are an order number or a decision's id.

    Other words are the beginning of order numbers, or else looked for in all texts; the second value tells whether an
    index was used.
    """
    if (key := _uuid(words)) and (found := visible.filter(pk=key)).exists():
        return found, True
    if (found := visible.filter(request_id=words)).exists():
        return found, True
    if (found := visible.filter(request_id__startswith=words)).exists():
        return found, False
    texts = Q(request_id__icontains=words) | Q(http_request_id__icontains=words) | Q(idc__icontains=words)
    return visible.filter(texts), False


def _page(
    found: QuerySet[Decision], before: UUID | None, after: UUID | None
) -> tuple[list[Decision], UUID | None, UUID | None]:
    """Return a page of decisions, the newest first, and the keys from which the pages beside it go on."""
    if after is not None:
        rows = list(found.filter(pk__gt=after).order_by("id")[: ROWS + 1])
        more, rows = len(rows) > ROWS, rows[ROWS - 1 :: -1] if len(rows) > ROWS else rows[::-1]
        return rows, rows[0].pk if more and rows else None, rows[-1].pk if rows else None
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(found.order_by("-id")[: ROWS + 1])
    more, rows = len(rows) > ROWS, rows[:ROWS]
    return rows, rows[0].pk if before is not None and rows else None, rows[-1].pk if more else None


def _key(request: HttpRequest, name: str) -> UUID | None:
    return _uuid(request.GET.get(name, ""))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _with(parameters: Any, **values: str) -> str:
    changed = parameters.copy()
    changed.update(values)
    return str(changed.urlencode())
