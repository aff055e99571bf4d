"""The placements at `/console/placements/`: what was ordered, what waits, what is stuck; and one, with its actions."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.audit.edits import change_locked
from idcsched.framework.errors import Conflict, Forbidden, IdcschedError, Invalid
from idcsched.framework.messages import _
from idcsched.inventory.scope import scope_check
from idcsched.language.wording import explained
from idcsched.ledger.models import Claim
from idcsched.placement import services
from idcsched.placement.lifecycle import MOVES, Move, State
from idcsched.placement.models import DeliveryState, MachineState, Placement
from idcsched.placement.rollup import stuck
from idcsched.placement.selectors import placements_visible
from idcsched.placement.waiting import in_turn
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.sentences import read

from .pages import MAX_MESSAGE, console_origin, page, principal_of_page, shown
from .rejections import lacks_shown

__all__ = ["moves_allowed", "placement", "placements"]

SHOWN: Final = 50
"""The placements of one page of the list."""
FIRST: Final = 20
"""The most placements that need somebody, and the most waiting ones, before the list."""
MOST_CALLBACKS: Final = 50
MOST_EVENTS: Final = 200
MARKS: Final[Mapping[str, str]] = {
    State.ACTIVE: "good",
    State.WAITING: "warn",
    State.RELEASING: "warn",
    State.FAILED: "bad",
}
MACHINE_MARKS: Final[Mapping[str, str]] = {MachineState.ACTIVE: "good", MachineState.FAILED: "bad"}
DELIVERY_MARKS: Final[Mapping[str, str]] = {DeliveryState.DELIVERED: "good", DeliveryState.GIVEN_UP: "bad"}
MOVED: Final = _("the placement has changed since you loaded the page; look at it again, then decide")
DONE: Final = {
    Move.CONFIRM: gettext_lazy("Confirmed: the placement is active."),
    Move.PROVISION: gettext_lazy("Its machines are being started."),
    Move.RETRY: gettext_lazy("Decided anew; its machines are being started there."),
    Move.RELEASE: gettext_lazy("It is released, or will be once its machines are gone."),
    Move.GIVE_UP: gettext_lazy("It is given up, and its capacity is free."),
}

CURES: Final[Mapping[str, Any]] = {
    "lines": gettext_lazy("more bandwidth"),
    "stock": gettext_lazy("more machines in stock"),
    "status": gettext_lazy("an IDC that comes online"),
    "labels": gettext_lazy("other labels"),
    "metrics": gettext_lazy("new measurements"),
    "ledger": gettext_lazy("placements that end"),
    "taints": gettext_lazy("a taint that is lifted"),
    "affinities": gettext_lazy("another affinity"),
    "profile": gettext_lazy("another profile"),
    "provider": gettext_lazy("another provider"),
}
"""What a change of each kind that may help a waiting order is, in words."""


@page()
@require_GET
def placements(request: HttpRequest) -> HttpResponse:
    """Show the placements that need somebody, the waiting queue, and the page of all others that is asked for."""
    principal = principal_of_page(request)
    filters = {name: request.GET.get(name, "").strip() for name in ("state", "idc", "tenant", "order", "group")}
    before, group = _uuid(request.GET.get("before", "")), _uuid(filters["group"])
    filters["state"] = filters["state"] if filters["state"] in State.values else ""
    filters["group"] = str(group or "")
    chosen = _chosen(placements_visible(principal), filters).select_related("tenant", "idc")
    first, apart = before is None, before is None and not filters["state"]
    rows = (chosen if first else chosen.filter(pk__lt=before)).order_by("-pk")
    if not filters["state"]:
        rows = rows.exclude(state=State.WAITING)
    latest = list(rows[: SHOWN + 1])
    waiting = chosen.filter(state=State.WAITING)
    troubled = chosen.filter(needs_attention=True)
    context = {
        "section": "placements",
        "filters": filters,
        "filtered": any(filters.values()),
        "states": State.choices,
        "tenants": Tenant.objects.order_by("code").values_list("code", flat=True) if principal.all_tenants else (),
        "marks": MARKS,
        "stuck": set(troubled.filter(stuck(timezone.now())).values_list("pk", flat=True)),
        "troubled": troubled.order_by("changed_at")[:FIRST] if first else (),
        "waiting": _first_in_turn(waiting) if apart else (),
        "waiting_count": waiting.count() if apart else 0,
        "placements": latest[:SHOWN],
        "older": _address(request, before=str(latest[SHOWN - 1].pk)) if len(latest) > SHOWN else "",
        "newest": "" if first else _address(request, before=""),
    }
    return shown(request, "placements.html", context)


def _first_in_turn(waiting: QuerySet[Placement]) -> list[dict[str, Any]]:
    """Return the first of these orders in the order in which they are tried, each with what it lacks and may help."""
    visible = set(waiting.values_list("pk", flat=True))
    if not visible:
        return []
    first = [pk for (pk,) in in_turn(now=timezone.now()) if pk in visible][:FIRST]
    rows = waiting.in_bulk(first)
    return [{"placement": rows[pk], **_lacks(rows[pk])} for pk in first if pk in rows]


def _lacks(found: Placement) -> dict[str, Any]:
    """Return what a waiting order lacks the least, in words, and what else may help."""
    nearest = found.lacks or {}
    return {
        "lacks": lacks_shown(nearest["code"], nearest["detail"]) if nearest else "",
        "nearest": nearest,
        "cures": [CURES.get(cure, cure) for cure in found.cures],
    }


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def placement(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one placement; a POST makes a move of it, or sends a callback again."""
    principal = principal_of_page(request)
    found = get_object_or_404(_with_places(placements_visible(principal)), pk=pk)
    error = ""
    if request.method == "POST":
        try:
            with console_origin(request):
                said = _resend(request, found) if "delivery" in request.POST else _move(request, found)
        except IdcschedError as refusal:
            error = explained(refusal)
            found = get_object_or_404(_with_places(placements_visible(principal)), pk=pk)
        else:
            messages.success(request, said)
            return HttpResponseRedirect(request.path)
    status = HTTPStatus.CONFLICT if error else HTTPStatus.OK
    return shown(request, "placement.html", _context(request, found, error), status=status)


def _with_places(rows: QuerySet[Placement]) -> QuerySet[Placement]:
    return rows.select_related("tenant", "idc__region")


def _chosen(rows: QuerySet[Placement], filters: Mapping[str, str]) -> QuerySet[Placement]:
    columns = {"state": "state", "idc": "idc__code__icontains", "tenant": "tenant__code", "order": "request_id"}
    columns["group"] = "group_id"
    return rows.filter(**{column: filters[name] for name, column in columns.items() if filters[name]})


def _address(request: HttpRequest, **changes: str) -> str:
    """Return the address of this page with other parameters; empty ones are left out."""
    parameters = {name: value for name, value in {**request.GET.dict(), **changes}.items() if value}
    return f"{request.path}?{urlencode(parameters)}"


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _context(request: HttpRequest, found: Placement, error: str) -> dict[str, Any]:
    principal, now = principal_of_page(request), timezone.now()
    decision = decisions_visible(principal).filter(pk=found.decision_id).only("answer", "sentences").first()
    deliveries = found.deliveries.order_by("-version")[: MOST_CALLBACKS + 1]
    return {
        "section": "placements",
        "placement": found,
        "error": error,
        "reason": request.POST.get("message", "")[:MAX_MESSAGE],
        "marks": MARKS,
        "machine_marks": MACHINE_MARKS,
        "delivery_marks": DELIVERY_MARKS,
        "stuck": Placement.objects.filter(stuck(now), pk=found.pk).exists(),
        "moves": {move.value for move in moves_allowed(principal, found)},
        "may_resend": principal.can("schedule"),
        "events": found.events.order_by("-version")[:MOST_EVENTS],
        "attempts": found.attempts.select_related("idc").prefetch_related("machines").order_by("-number"),
        "deliveries": deliveries[:MOST_CALLBACKS],
        "more_deliveries": len(deliveries) > MOST_CALLBACKS,
        "claims": _claims(found),
        "decision": decision,
        "summary": read(decision.answer, decision.sentences).get("summary", "") if decision else "",
        "awaits": found.awaits.order_by("code") if found.state == State.WAITING else (),
        **_lacks(found),
        "replacement": found.replacements.select_related("idc").order_by("-id").first(),
        "group_size": found.group_id and placements_visible(principal).filter(group_id=found.group_id).count(),
    }


def _claims(found: Placement) -> QuerySet[Claim]:
    claims = Claim.objects.filter(placement=found.pk, released_at__isnull=True)
    return claims.select_related("holding__idc", "holding__line").order_by("holding__resource", "pk")


def moves_allowed(principal: Principal, found: Placement) -> list[Move]:
    """Return the moves that the state allows, and that the caller may make."""
    possible = [move for move in DONE if move in MOVES[State(found.state)]]
    allowed = []
    for move in possible:
        try:
            _check_may(principal, found, move)
        except Forbidden:
            continue
        if move != Move.GIVE_UP or found.needs_attention:
            allowed.append(move)
    return allowed


def _check_may(principal: Principal, found: Placement, move: Move) -> None:
    """Raise Forbidden where the API would refuse the caller this action, too."""
    if move == Move.GIVE_UP:
        principal.require("give_up_placements")
        scope_check(principal, found.idc)
    else:
        principal.require("schedule")


def _move(request: HttpRequest, found: Placement) -> Any:
    """Make the move of the form, unless the placement has moved since the form was shown; return what is said then."""
    move = next((move for move in DONE if move == request.POST.get("move")), None)
    if move is None:
        raise BadRequest("no such move")
    _check_may(principal_of_page(request), found, move)
    reason = request.POST.get("message", "").replace("\x00", "").strip()[:MAX_MESSAGE]
    if move == Move.GIVE_UP and not reason:
        raise Invalid("required", _("say why, and what is to become of the machines"), "/message")
    request_id = str(getattr(request, "request_id", ""))
    make: Mapping[Move, Callable[[Placement], object]] = {
        Move.CONFIRM: lambda row: services.placement_confirm(placement=row),
        Move.PROVISION: lambda row: services.placement_provision(placement=row),
        Move.RETRY: lambda row: services.placement_retry(placement=row, http_request_id=request_id),
        Move.RELEASE: lambda row: services.placement_release(placement=row),
        Move.GIVE_UP: lambda row: services.placement_give_up(placement=row, reason=reason),
    }
    change_locked(Placement.objects.filter(pk=found.pk), read=lambda: _unmoved(request, found), change=make[move])
    return DONE[move]


def _unmoved(request: HttpRequest, found: Placement) -> Placement:
    """Return the locked placement; raises Conflict where it is not in the version that the form shows."""
    fresh = Placement.objects.filter(pk=found.pk).first()
    if fresh is None or str(fresh.version) != request.POST.get("version"):
        raise Conflict("stale", MOVED)
    return fresh


def _resend(request: HttpRequest, found: Placement) -> str:
    principal_of_page(request).require("schedule")
    delivery = get_object_or_404(found.deliveries.all(), pk=_uuid(request.POST["delivery"]))
    services.delivery_resend(delivery=delivery)
    return gettext("The callback is on its way.")
