"""The search at `/console/search/`: IDCs, lines, orders, placements, decisions, taints and sources by name or id."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from idcsched.accounts.roles import Principal
from idcsched.inventory.models import Idc, Line, Taint
from idcsched.inventory.taint_state import state_of
from idcsched.placement.selectors import placements_visible
from idcsched.scheduling.selectors import decisions_visible
from metrics_ingest.models import Source

from .effects import effect_words
from .pages import NEAR, page, principal_of_page, shown

__all__ = ["search", "suggestions"]

MOST: Final = 10
"""The most hits of one kind."""
MOST_SUGGESTED: Final = 8
"""The most hits that are suggested while the words are typed, and of them the most of one kind."""
SUGGESTED_OF_A_KIND: Final = 5
LONGEST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page that the words may mean, of a `kind` of things; `exact` where they are its whole name or id."""

    kind: str
    name: str
    detail: str
    address: str
    exact: bool


@page()
@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Show what the words may mean; where they name one thing, lead there at once."""
    words = _words(request)
    groups = _groups(words, principal_of_page(request)) if words else []
    exact = [hit for _title, hits in groups for hit in hits if hit.exact]
    if len(exact) == 1:
        return HttpResponseRedirect(exact[0].address)
    found = [group for group in groups if group[1]]
    near = "" if found or not words else _near(words)
    context = {"section": "search", "query": words, "groups": found, "near": near, "most": MOST}
    return shown(request, "search.html", context)


@page()
@require_GET
def suggestions(request: HttpRequest) -> HttpResponse:
    """Show the part of a page that suggests what the words may mean, those that are called exactly so first."""
    words = _words(request)
    groups = _groups(words, principal_of_page(request)) if words else []
    hits = [hit for _title, found in groups for hit in found[:SUGGESTED_OF_A_KIND]]
    hits.sort(key=lambda hit: not hit.exact)
    return shown(request, "suggestions.html", {"hits": hits[:MOST_SUGGESTED]})


def _words(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "").split())[:LONGEST]


def _groups(words: str, principal: Principal) -> list[tuple[str, list[Hit]]]:
    """Return the hits by kind. Orders are looked for by their whole number or id, which indexes find."""
    orders = _placements(words, principal)
    return [
        (_("IDCs"), _idcs(words)),
        (_("Lines"), _lines(words)),
        (_("Placements"), orders),
        (_("Decisions"), _decisions(words, principal, ordered=any(hit.exact for hit in orders))),
        (_("Taints"), _taints(words)),
        (_("Sources"), _sources(words)),
    ]


def _near(words: str) -> str:
    """Return links to the IDCs that are called nearly so."""
    codes = get_close_matches(words.lower(), Idc.objects.values_list("code", flat=True), n=NEAR)
    return format_html_join(", ", '<a href="{}">{}</a>', [(_of_idc(code), code) for code in codes])


def _idcs(words: str) -> list[Hit]:
    named = Idc.objects.filter(Q(code__icontains=words) | Q(name__icontains=words)).select_related("region")
    return [
        Hit(
            kind=_("IDC"),
            name=idc.code,
            detail=_detail(idc.name, idc.region.name or idc.region.code, idc.get_status_display()),
            address=_of_idc(idc.code),
            exact=words.lower() in (idc.code.lower(), idc.name.lower()),
        )
        for idc in _exact_first(named.order_by("code"), "code", words)
    ]


def _lines(words: str) -> list[Hit]:
    idc, slash, line = words.partition("/")
    if not slash:
        return []
    named = Line.objects.filter(idc__code__icontains=idc.strip(), code__icontains=line.strip())
    return [
        Hit(
            kind=_("line"),
            name=f"{row.idc.code}/{row.code}",
            detail=row.isp.name or row.isp.code,
            address=_of_idc(row.idc.code),
            exact=words.lower() == f"{row.idc.code}/{row.code}".lower(),
        )
        for row in named.select_related("idc", "isp").order_by("idc__code", "code")[:MOST]
    ]


def _placements(words: str, principal: Principal) -> list[Hit]:
    named = placements_visible(principal).select_related("idc").filter(_called(words, "request_id", "pk", "group_id"))
    return [
        Hit(
            kind=_("placement"),
            name=row.request_id or str(row.pk),
            detail=_detail(row.get_state_display(), row.idc.code if row.idc else "", _moment(row.created_at)),
            address=reverse("console:placement", args=[row.pk]),
            exact=True,
        )
        for row in named.order_by("-pk")[:MOST]
    ]


def _decisions(words: str, principal: Principal, *, ordered: bool) -> list[Hit]:
    """Return the decisions; with `ordered`, an order's placement is what its number means first."""
    named = decisions_visible(principal).filter(_called(words, "request_id", "pk"))
    return [
        Hit(
            kind=_("decision"),
            name=row.request_id or str(row.pk),
            detail=_detail(row.get_result_display(), row.idc or "", _moment(row.created_at)),
            address=reverse("console:decision", args=[row.pk]),
            exact=not ordered,
        )
        for row in named.only("request_id", "result", "idc", "created_at").order_by("-pk")[:MOST]
    ]


def _taints(words: str) -> list[Hit]:
    now, key = timezone.now(), words.partition("=")[0].strip()
    if not key:
        return []
    named = Taint.objects.filter(key__icontains=key).exclude(ends_at__lte=now).select_related("idc")
    return [
        Hit(
            kind=_("taint"),
            name=str(row),
            detail=_detail(row.idc.code, effect_words(row.effect), state_of(row, now).label),
            address=_of_idc(row.idc.code),
            exact=False,
        )
        for row in named.order_by("idc__code", "key")[:MOST]
    ]


def _sources(words: str) -> list[Hit]:
    named = _exact_first(Source.objects.filter(code__icontains=words).order_by("code"), "code", words)
    return [
        Hit(
            kind=_("source"),
            name=row.code,
            detail=row.kind,
            address=reverse("console:source", args=[row.code]),
            exact=row.code.lower() == words.lower(),
        )
        for row in named
    ]


def _detail(*parts: Any) -> str:
    return " · ".join(str(part) for part in parts if part)


def _moment(at: datetime) -> str:
    return f"{timezone.localtime(at):%m-%d %H:%M}"


def _called(words: str, name: str, *ids: str) -> Q:
    """Return the condition for rows of that name, or with that UUID in one of the columns `ids`."""
    called = Q(**{name: words})
    try:
        key = UUID(words)
    except ValueError:
        return called
    for column in ids:
        called |= Q(**{column: key})
    return called


def _exact_first(rows: Any, column: str, words: str) -> Iterable[Any]:
    """Return the first rows, and before them the one that is called exactly so, which may come later."""
    exact = list(rows.filter(**{f"{column}__iexact": words})[:MOST])
    return [*exact, *(row for row in rows[:MOST] if row not in exact)][:MOST]


def _of_idc(code: str) -> str:
    return reverse("console:idc", args=[code])
