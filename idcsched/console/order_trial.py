"""The page `/console/try/`: an order that nobody has placed, the answer to it, and what would change that."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import msgspec
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from idcsched.framework.errors import Conflict, IdcschedError
from idcsched.framework.explain import page_of_list
from idcsched.framework.request import Request
from idcsched.language.wording import explained, say
from idcsched.placement.recommending import recommendation_try
from idcsched.scheduling.deciding import MadeDecision, Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Profile, ProfileRevision
from idcsched.scheduling.money_lens import MoneyLens
from idcsched.scheduling.services import profile_revise
from idcsched.scheduling.verdict import Paragraph
from idcsched.scheduling.why import why

from .backtests import DAYS
from .bars import BARS
from .decision import lens_of, numbers_of
from .order_words import NO_SUCH, WINS_BELOW, WINS_FROM, order_words
from .pages import console_origin, page, principal_of_page, shown
from .profiles import LAST
from .ranked import Ranked, ranked
from .rejections import Miss, nearest_first
from .tried_order import TriedOrder

__all__ = ["order_try"]

MOST_REJECTED: Final = 50
MOST_COMPARED: Final = 1000
"""The last rank of an IDC that is compared with its rank without what the page changes."""
REFERENCE: Final = "console"
"""Decides ties of orders without a number: the same ones at every change of the form."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a page shows of an answer.

    `usual` is the IDC as things are, where the page changes any of them, and `more` what the order adds to the bill
    more than there, per month. `weighed`: from what the page ranks anew at once while a weight is moved.
    """

    answer: Scheduled
    document: Mapping[str, Any]
    ranked: Ranked
    paragraphs: Sequence[Paragraph]
    billed: float | None
    missed: Sequence[Miss]
    rejected_count: int
    changed: bool
    usual: str | None
    more: float | None
    weighed: Mapping[str, Any] | None


@page("schedule")
@require_http_methods(["GET", "HEAD", "POST"])
def order_try(request: HttpRequest) -> HttpResponse:
    """Show the form beside the answer; a POST saves the changed weights as a draft of the profile."""
    principal = principal_of_page(request)
    try:
        order = TriedOrder(request.GET, principal, live.current())
    except IdcschedError as refusal:
        return shown(request, "try.html", {"section": "try", "unavailable": explained(refusal)}, status=503)
    if request.method == "POST":
        if not principal.can("write_profiles"):
            raise PermissionDenied("write_profiles")
        if (response := _saved(request, order)) is not None:
            return response
    trial = _trial(order) if order.asked else None
    context = {
        "section": "try",
        "order": order,
        "trial": trial,
        "order_words": order_words(order.document, order.picture.snapshot) if trial else [],
        "lens": lens_of(request, trial.ranked) if trial else "money",
        "numbers": numbers_of(trial.ranked) if trial else None,
        "currency": settings.CURRENCY,
        "may_draft": principal.can("write_profiles"),
        "draft": _draft_text(order) if trial and order.changed_weights and order.profile else None,
        "last": LAST,
        "days": DAYS,
        "curl": None if trial is None else _curl(request, order.document),
    }
    return shown(request, "try.html", context)


def _trial(order: TriedOrder) -> Trial | None:
    """Return the answer to the order; None if it is refused, which the order's fields then say."""
    asked = order.request
    if asked is None:
        return None
    try:
        made = _decided(order, asked)
    except IdcschedError as refusal:
        order.refuse(refusal)
        return None
    answer, decision = made.answer, made.decision
    document = msgspec.to_builtins(answer)
    usual = _usual(order, asked, made)
    count, rejected = page_of_list(decision, "rejected", start=0, stop=MOST_REJECTED, say=say)
    result = ranked(
        document,
        document["candidates"] or [],
        decision.cycle.snapshot,
        profile=decision.profile,
        weights=asked.weights,
        before=None if usual is None else _ranks(usual),
    )
    billed, usually = _billed(answer), _billed(usual.answer) if usual else None
    return Trial(
        answer=answer,
        document=document,
        ranked=result,
        paragraphs=why(document, result.lens),
        billed=billed,
        missed=nearest_first(msgspec.to_builtins(rejected), decision),
        rejected_count=count,
        changed=usual is not None,
        usual=usual.answer.idc.code if usual and usual.answer.idc else None,
        more=None if billed is None or usually is None else billed - usually,
        weighed=_weighed(result),
    )


def _billed(answer: Scheduled) -> float | None:
    """Return what the order adds to the bill of the chosen IDC; None: that is not known."""
    idc = answer.idc.code if answer.idc else None
    chosen = next((each for each in answer.candidates or () if each.idc == idc), None)
    return chosen.bill.per_month if chosen is not None and chosen.bill else None


def _weighed(result: Ranked) -> Mapping[str, Any] | None:
    """Return what costs are made of, for the page to add them up with other weights; None: points alone are known.

    `unit` is what a point is worth at a weight of the bill of 1.
    """
    if not isinstance(result.lens, MoneyLens):
        return None
    bill, scores = result.lens.bill, result.candidates[0]["scores"]
    return {
        "bill": bill,
        "unit": result.lens.per_point * scores[bill]["weight"],
        "scorers": {
            name: {
                "css": result.scorers.css(name),
                "words": result.scorers.worse(name),
                "worth": result.scorers.step_words(name, settings.CURRENCY),
                "points": result.scorers.step_points(name, score.get("range")),
            }
            for name, score in scores.items()
        },
        "wins_from": say(WINS_FROM, {"idc": "{idc}", "weight": "{weight}"}),
        "wins_below": say(WINS_BELOW, {"idc": "{idc}", "weight": "{weight}"}),
        "best": {name: max(each["scores"][name]["normalized"] or 0.0 for each in result.candidates) for name in scores},
        "candidates": [
            {
                "idc": candidate["idc"],
                "paid": cost.paid,
                "counted": cost.counted,
                "scores": {name: score["normalized"] or 0.0 for name, score in candidate["scores"].items()},
            }
            for candidate, cost in zip(result.candidates, result.lens.costs, strict=True)
        ],
    }


def _decided(order: TriedOrder, asked: Request) -> MadeDecision:
    """Decide the order; weights that no request may change are tried all the same, for a draft of the profile."""
    policy = None
    if order.refused_weights and order.profile is not None:
        policy = replace(order.profile, overridable=frozenset({"*"}))
    question = msgspec.structs.replace(asked, explain="summary", top=BARS)
    return recommendation_try(request=question, principal=order.principal, reference=REFERENCE, policy=policy)


def _usual(order: TriedOrder, asked: Request, made: MadeDecision) -> MadeDecision | None:
    """Return the decision without what the page changes; None where it changes nothing, or names the usual profile.

    Services outside are not asked a second time.
    """
    if asked.weights is None and asked.hypothetical is None and asked.profile is None:
        return None
    if made.decision.profile.gatherers:
        return None
    plain = msgspec.structs.replace(asked, weights=None, hypothetical=None, profile=None, explain="summary", top=1)
    try:
        usual = recommendation_try(request=plain, principal=order.principal, reference=REFERENCE)
    except IdcschedError:  # the tenant's own profile cannot be used
        return None
    unchanged = asked.weights is None and asked.hypothetical is None
    return None if unchanged and usual.scheduled.profile == made.scheduled.profile else usual


def _ranks(made: MadeDecision) -> Mapping[str, int]:
    positions = islice(made.decision.ranking.head(MOST_COMPARED).tolist(), MOST_COMPARED)
    return {made.decision.code(position): rank for rank, position in enumerate(positions, start=1)}


def _curl(request: HttpRequest, document: Mapping[str, Any]) -> str:
    """Return the command that asks the API the same."""
    body = json.dumps(document, ensure_ascii=False).replace("'", "'\\''")
    return (
        f"curl -s {request.build_absolute_uri(reverse('schedule'))} \\\n"
        '  -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\\n'
        f"  -d '{body}'"
    )


def _saved(request: HttpRequest, order: TriedOrder) -> HttpResponse | None:
    """Save the changed weights as a draft and lead back to the order; None if that is refused."""
    if order.request is None or not order.changed_weights or order.profile is None:
        return None
    try:
        with console_origin(request):
            profile, revision = _draft(order.profile.code, order.changed_weights, request.POST.get("message", ""))
    except IdcschedError as refusal:
        order.errors.append(explained(refusal))
        return None
    sentence = _("Draft {number} of profile {profile} is saved. It is not in force.")
    link = format_html('<a href="{}">{}</a>', _profile_page(profile), profile.code)
    messages.success(request, format_html(sentence, number=revision.number, profile=link))
    return HttpResponseRedirect(request.get_full_path())


def _draft(code: str, weights: Mapping[str, float], message: str) -> tuple[Profile, ProfileRevision]:
    """Add a revision with these weights to the profile, which stays as it is in force."""
    profile = Profile.objects.select_related("active").filter(code=code).first()
    if profile is None or profile.active is None:
        raise Conflict("not_found", NO_SUCH, kind="profile")
    body = _weighed_otherwise(profile.active.body, weights)
    return profile, profile_revise(profile=profile, body=body, message=message.strip()[:500], activate=False)


def _draft_text(order: TriedOrder) -> str | None:
    """Return the profile with the changed weights as JSON, as its page takes a draft; None: the profile is gone."""
    active = ProfileRevision.objects.filter(active_of__code=order.profile.code if order.profile else "").first()
    return json.dumps(_weighed_otherwise(active.body, order.changed_weights), ensure_ascii=False) if active else None


def _weighed_otherwise(body: Mapping[str, Any], weights: Mapping[str, float]) -> dict[str, Any]:
    entries = [
        {**entry, "weight": weights[entry["name"]]} if entry["name"] in weights else entry for entry in body["plugins"]
    ]
    return {**body, "plugins": entries}


def _profile_page(profile: Profile) -> str:
    try:
        return reverse("console:profile", args=[profile.code])
    except NoReverseMatch:
        return reverse("admin:scheduling_profile_change", args=[profile.pk])
