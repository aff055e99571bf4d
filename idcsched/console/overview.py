"""The overview at `/console/`: what is wrong now, the fleet by its water levels, who changed what, what it costs."""

from functools import cache, partial
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from idcsched.inventory.choices import Status
from idcsched.planning.selectors import advice_shown
from idcsched.scheduling.live import live

from .bills import month_billed
from .fleet import Fleet
from .fleet_filters import filters_of, options_of, rows_of
from .idc_table import idc_table
from .moves import moves_sentence
from .pages import page, principal_of_page, shown
from .problems import orders_of, problems
from .recent_changes import changes_folded

__all__ = ["overview", "overview_bills", "overview_changes", "wrong_count"]

SMALL, TINY = 150, 400
"""From so many IDCs on a tank is smaller, and shows no text."""


@page()
def overview(request: HttpRequest) -> HttpResponse:
    """Show the overview. What htmx asks for again is answered 204 where it would show what `seen` shows already."""
    principal, now, state = principal_of_page(request), timezone.now(), live.catch_up()
    snapshot = state.snapshot
    filters = filters_of(request, snapshot)
    whole = Fleet(snapshot, now=now.timestamp())
    chosen = rows_of(filters, snapshot)
    fleet = Fleet(snapshot, now=now.timestamp(), idcs=chosen, isp=filters.isp or None) if filters.any else whole
    orders = orders_of(principal, now)
    rows = problems(state, whole, orders, now)
    picture = fleet.digest()
    seen = _seen(picture, orders, rows)
    if "HX-Request" in request.headers and request.GET.get("seen") == seen:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    marked = fleet.with_mark(filters.mark) if filters.mark else fleet.shown
    count = int(fleet.tanks(marked).sum())
    regions = cache(partial(fleet.regions, marked))
    isps, headroom = fleet.headroom()
    wrong = [row for row in rows if row.severity != "info"]
    context: dict[str, Any] = {
        "section": "overview",
        "now": now,
        "seen": seen,
        "filters": filters,
        "view": "table" if request.GET.get("view") == "table" else "map",
        "query": _query(request, "seen", "view"),
        "figures": fleet.figures,
        "capacity": fleet.capacity(),
        "orders": orders,
        "problems": rows,
        "wrong": len(wrong),
        "urgent": sum(row.severity == "crit" for row in wrong),
        "to_know": len(rows) - len(wrong),
        "fleet": picture,
        "regions": regions,  # called by the template only where it has not kept the picture
        "table": lambda: idc_table(regions(), filters.ordering),
        "size": "tiny" if count > TINY else "small" if count > SMALL else "",
        "without_lines": fleet.without_lines() if not filters.any else [],
        "isps": isps,
        "headroom": headroom,
        "status_names": dict(Status.choices),
    }
    if "HX-Request" in request.headers:
        return shown(request, "overview_live.html", context)
    context |= {"options": options_of(snapshot), **_changes(request), **_bills(request)}
    return shown(request, "overview.html", context)


def _seen(*values: Any) -> str:
    """Return a key of what the reader would notice, without the moment at which it was read."""
    return blake2b(repr(values).encode(), digest_size=8).hexdigest()


@page()
def overview_changes(request: HttpRequest) -> HttpResponse:
    """Show the part of the overview with the changes."""
    return shown(request, "overview_changes.html", _changes(request))


@page()
def overview_bills(request: HttpRequest) -> HttpResponse:
    """Show the part of the overview with the bills."""
    return shown(request, "overview_bills.html", {**_bills(request), "alone": True})


@page()
def wrong_count(request: HttpRequest) -> HttpResponse:
    """Show the number of what is wrong, for the head of every page."""
    now, state = timezone.now(), live.catch_up()
    fleet = Fleet(state.snapshot, now=now.timestamp())
    rows = problems(state, fleet, orders_of(principal_of_page(request), now), now)
    return shown(request, "wrong_count.html", {"wrong": sum(row.severity != "info" for row in rows), "alone": True})


def _changes(request: HttpRequest) -> dict[str, Any]:
    changes, latest = changes_folded(principal_of_page(request), timezone.now())
    return {"changes": changes, "latest_change": latest}


def _bills(request: HttpRequest) -> dict[str, Any]:
    """Return what the month costs, and in a sentence what moves would save of it."""
    moves = moves_sentence(advice_shown(principal_of_page(request)))
    return {"month": month_billed(), "moves": moves}


def _query(request: HttpRequest, *without: str) -> str:
    """Return the query of the address without some of its parameters, ready for one more."""
    query: QueryDict = request.GET.copy()
    for name in without:
        query.pop(name, None)
    return f"{query.urlencode()}&" if query else ""
