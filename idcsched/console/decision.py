"""One decision: why there, why not elsewhere, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse

from idcsched.framework.errors import IdcschedError
from idcsched.framework.explain import MOST_SHOWN
from idcsched.framework.snapshot import Snapshot
from idcsched.placement.lifecycle import State
from idcsched.placement.models import Placement
from idcsched.scheduling.decision_page import DecisionShown, decision_shown
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import replay
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.verdict import Paragraph
from idcsched.scheduling.why import why, why_not

from .bars import Versus, versus
from .order_words import order_words, try_address
from .pages import page, principal_of_page, shown
from .placements import moves_allowed
from .ranked import Ranked, name_of, ranked
from .rejections import nearest_first, reason_labels

__all__ = ["decision", "decision_visible", "lens_of", "numbers_of", "order_decisions"]

SAME_ORDER: Final = 10
"""The most other decisions about the same order, and the most placements, that the page lists."""
CHIPS: Final = 60
"""The most IDCs, ranked and rejected, that are offered to be asked about; others are asked about by their codes."""
SHOWN: Final = 50
SETTLED: Final = frozenset({State.ACTIVE, State.RELEASED, State.EXPIRED, State.FAILED})
"""The states in which a placement stays as it is."""

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Why one IDC was not chosen; `versus` sets it beside the one that was, if both fit."""

    idc: str
    name: str
    paragraphs: Sequence[Paragraph]
    versus: Versus | None


@page()
def decision(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a decision: the answer in sentences, what each IDC would cost, why not another one, what became of it."""
    visible = decisions_visible(principal_of_page(request))
    row = decision_visible(visible, id)
    found = decision_shown(row, most=MOST_SHOWN)
    answer, outcome, state = found.answer, found.outcome, live.current()
    snapshot = outcome.cycle.snapshot if outcome else state.snapshot
    result = ranked(
        answer,
        found.candidates,
        snapshot,
        profile=outcome.profile if outcome else None,
        weights=row.request.get("weights"),
    )
    missed = nearest_first(found.rejected, outcome)
    whole = {**answer, "candidates": found.candidates, "rejected": found.rejected}
    asked = request.GET.get("not", "").strip()[:63]
    context = {
        "section": "decisions",
        "decision": row,
        "answer": answer,
        "order": order_words(row.request, state.snapshot),
        "try_address": try_address(
            row.request,
            row.profile,
            tenant=row.tenant.code if row.tenant and principal_of_page(request).all_tenants else "",
            decision=row.pk,
        ),
        "paragraphs": why(whole, result.lens),
        "not_kept": found.not_kept,
        "ranked": result,
        "lens": lens_of(request, result),
        "currency": settings.CURRENCY,
        "asked": asked,
        "why_not": _why_not(whole, found, result, snapshot, asked),
        "others": [each["idc"] for each in found.candidates if not _chosen(answer, each)][:CHIPS],
        "missed": missed[:SHOWN],
        "missed_chips": missed[:CHIPS],
        "missed_count": len(missed) + found.rejected_more,
        "missed_more": len(missed[SHOWN:]) + found.rejected_more,
        "counted": [] if missed else _counted(answer),
        "numbers": numbers_of(result),
        **_became(request, row),
        "same_order": _same_order(visible, row),
        "now": _now(row, found),
        "profile_exists": row.profile in state.profiles,
    }
    return shown(request, "decision.html", context)


@page()
def order_decisions(request: HttpRequest, request_id: str) -> HttpResponse:
    """Lead from an order's number to its decision, or to the list of them if there are several or none."""
    recorder.settle()
    visible = decisions_visible(principal_of_page(request))
    keys = list(visible.filter(request_id=request_id).values_list("pk", flat=True)[:2])
    if len(keys) == 1:
        return HttpResponseRedirect(reverse("console:decision", args=keys))
    return HttpResponseRedirect(reverse("console:decisions", query={"q": request_id}))


def decision_visible(visible: QuerySet[Decision], id: UUID) -> Decision:
    """Return the decision, also one that was made a moment ago; raises Http404."""
    recorder.settle(str(id))
    return get_object_or_404(visible.select_related("tenant"), pk=id)


def lens_of(request: HttpRequest, result: Ranked) -> str:
    """Return the lens that the address names, as far as there is money."""
    return "points" if result.money is None or request.GET.get("lens") == "points" else "money"


def _chosen(answer: Document, candidate: Document) -> bool:
    return bool(answer.get("idc")) and candidate["idc"] == answer["idc"]["code"]


def _why_not(answer: Document, found: DecisionShown, result: Ranked, snapshot: Snapshot, asked: str) -> WhyNot | None:
    """Return why the IDC was not chosen that was asked about, else the best of those that were not."""
    winner = next((each for each in found.candidates if _chosen(answer, each)), None)
    others = [each for each in found.candidates if each is not winner]
    if not asked and (winner is None or not others):
        return None
    idc = asked or others[0]["idc"]
    other = next((each for each in others if each["idc"] == idc), None)
    return WhyNot(
        idc=idc,
        name=name_of(idc, snapshot),
        paragraphs=why_not(answer, idc, result.lens, found.outcome),
        versus=versus(winner, other, result.lens, result.scorers) if winner and other else None,
    )


def numbers_of(result: Ranked) -> dict[str, Any]:
    """Return the table of all numbers: the scorers, and what each gives the first candidates."""
    names = list(result.candidates[0]["scores"]) if result.candidates else []
    rows = []
    for candidate in result.candidates[:SHOWN]:
        mbps = candidate["lines"][0]["bandwidth_mbps"] if candidate["lines"] else 0.0
        cells = [(result.scorers.value(name, score["raw"], mbps), score) for name, score in candidate["scores"].items()]
        rows.append((candidate, cells))
    return {"scorers": [(name, result.scorers.words(name)) for name in names], "rows": rows}


def _counted(answer: Document) -> list[tuple[int, str]]:
    """Return how many IDCs were rejected for which reason, in words; for answers that do not name them one by one."""
    labels = reason_labels()
    return [(each["count"], labels.get(each["code"], each["code"])) for each in answer.get("rejected_counts") or ()]


def _became(request: HttpRequest, row: Decision) -> dict[str, Any]:
    """Return what the order became: its placements, each with the moves that the caller may make."""
    found = Placement.objects.filter(Q(decision_id=row.pk) | Q(based_on=row.pk) | Q(pk=row.placement))
    placements = list(found.select_related("idc").order_by("id")[:SAME_ORDER])
    principal = principal_of_page(request)
    return {
        "placements": [(each, {move.value for move in moves_allowed(principal, each)}) for each in placements],
        "moving": any(each.state not in SETTLED for each in placements),
    }


def _same_order(visible: QuerySet[Decision], row: Decision) -> Sequence[Decision]:
    """Return the other decisions about the order, the newest first."""
    if not row.request_id:
        return ()
    others = visible.filter(request_id=row.request_id).exclude(pk=row.pk)
    return list(others.only("id", "created_at", "result", "idc", "profile", "request_id")[:SAME_ORDER])


def _now(row: Decision, found: DecisionShown) -> dict[str, Any] | None:
    """Return what would be answered now, unless services outside would have to be asked."""
    if found.outcome is None or found.outcome.profile.gatherers:
        return None
    try:
        again = msgspec.to_builtins(replay(decision=row, data="now").again)
    except IdcschedError:
        return None
    idc = again["idc"]["code"] if again["idc"] else ""
    billed, then = _billed(again, idc), _billed({"candidates": found.candidates}, row.idc)
    differs = billed is not None and then is not None and round(billed) != round(then)
    return {"idc": idc, "same": idc == row.idc, "billed": billed, "then": then, "differs": differs}


def _billed(answer: Document, idc: str) -> float | None:
    """Return what the order adds to the bill of the chosen IDC, if the answer says so."""
    chosen: Document = next((each for each in answer.get("candidates") or () if each["idc"] == idc), {})
    bill: Document = chosen.get("bill") or {}
    return bill.get("per_month")
