"""The profiles, and one of them: its form, a preview against past decisions, and its revisions."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Max
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from idcsched.accounts.models import Tenant
from idcsched.accounts.roles import Principal
from idcsched.framework.errors import FieldError, IdcschedError, Invalid
from idcsched.language.wording import explained
from idcsched.planning.services import backtest_create
from idcsched.scheduling.models import Profile, ProfileRevision
from idcsched.scheduling.preview import Preview, preview
from idcsched.scheduling.profile_checks import profile_errors
from idcsched.scheduling.revisions import differing, draft_of, in_force, shown_revisions, side_by_side
from idcsched.scheduling.selectors import revision_named
from idcsched.scheduling.services import profile_activate, profile_revise

from .backtests import DAYS
from .pages import MAX_MESSAGE, console_origin, named, page, principal_of_page, shown, whole_number
from .profile_form import added, form_of, posted_body, weights_of

__all__ = ["LAST", "profile", "profiles"]

WRITES: Final = "write_profiles"
LAST: Final = 500
"""The number of the profile's last decisions that a preview decides again."""
FEW: Final = 20
"""Fewer decisions say little of what a draft would do."""
BESIDE: Final = ("one", "other")
"""What the address calls the revisions that it asks for side by side."""
MEANS: Final = {
    "room": gettext_lazy("left of the line's bandwidth, under its limit"),
    "load": gettext_lazy("load of the IDC, the highest of CPU, memory and disk"),
    "distance_km": gettext_lazy("from the client"),
}
MOVES: Final = 20
MOVED: Final = 50
"""The most ways from one IDC to another, and the most single decisions, that a preview lists."""


@dataclass(kw_only=True)
class Draft:
    """The draft that is being edited: its document, or a text that is no JSON, and everything that is wrong with it."""

    body: dict[str, Any]
    text: str
    errors: list[FieldError] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


@page()
def profiles(request: HttpRequest) -> HttpResponse:
    """Show all profiles with what is in force and since when."""
    rows = list(Profile.objects.select_related("active").annotate(latest=Max("revisions__number")))
    since = in_force(rows)
    defaults: dict[str, list[str]] = {}
    if principal_of_page(request).all_tenants:
        named = Tenant.objects.filter(default_profile__in=[row.code for row in rows]).order_by("code")
        for code, tenant in named.values_list("default_profile", "code"):
            defaults.setdefault(code, []).append(tenant)
    listed = [
        {
            "profile": row,
            "since": since.get(row.code),
            "weights": weights_of(row.active.body if row.active else {}),
            "tenants": defaults.get(row.code, []),
        }
        for row in rows
    ]
    return shown(
        request,
        "profiles.html",
        {"section": "profiles", "profiles": listed, "may_write": principal_of_page(request).can(WRITES)},
    )


@page()
def profile(request: HttpRequest, code: str) -> HttpResponse:
    """Show a profile's form, and on request what the draft would change; save it, or put a revision in force."""
    principal = principal_of_page(request)
    rows = Profile.objects.select_related("active")
    row = named(rows, code, sentence=gettext("There is no profile %(name)s."), route="console:profile")
    action = request.POST.get("action", "") if request.method == "POST" else ""
    if action in ("save", "activate", "backtest") and not principal.can(WRITES):
        raise PermissionDenied(WRITES)
    refusals: list[str] = []
    if action == "activate":
        try:
            return _activated(request, row)
        except IdcschedError as error:
            refusals.append(explained(error))
    draft = _posted(request, row) if action and action != "activate" else _stored(request, row)
    if action in ("save", "backtest") and not draft.errors:
        try:
            return _saved(request, row, draft) if action == "save" else _asked(row, draft, principal)
        except Invalid as error:
            draft.errors = list(error.errors)
        except IdcschedError as error:
            refusals.append(explained(error))
    as_json = _as_json(request, action)
    result = None
    if (action == "preview" or "preview" in request.GET) and not draft.errors:
        result = _previewed(row, draft, principal, refusals)
    active, revisions = row.active.body if row.active else {}, shown_revisions(row)
    context = {
        "section": "profiles",
        "profile": row,
        "since": in_force([row]).get(code),
        "may_write": principal.can(WRITES),
        "as_json": as_json,
        "form": form_of(draft.body, draft.errors, draft.texts),
        "errors": [(error.pointer, explained(error)) for error in draft.errors],
        "document": draft.text,
        "message": request.POST.get("message", "") if action != "activate" else "",
        "refusals": refusals,
        "result": result,
        "last": LAST,
        "days": DAYS,
        "differences": differing(active, draft.body),
        "beside": _side_by_side(request, row, [each["revision"].number for each in revisions]),
        "revisions": revisions,
    }
    return shown(request, "profile.html", context)


def _stored(request: HttpRequest, row: Profile) -> Draft:
    """Return the revision that the address names, or that in force."""
    body = dict(row.active.body) if row.active else {}
    if number := whole_number(request.GET.get("revision", "")):
        try:
            body = dict(revision_named(row, number).body)
        except IdcschedError as error:
            messages.warning(request, explained(error))
    return Draft(body=body, text=_pretty(body))


def _side_by_side(request: HttpRequest, row: Profile, numbers: Sequence[int]) -> Mapping[str, Any]:
    """Return the two revisions that the address asks for, or that are to be offered, and the rows that set them out."""
    asked = [whole_number(request.GET.get(name, "")) for name in BESIDE]
    active = row.active.number if row.active else 0
    others = [number for number in numbers if number != active]
    found = list[ProfileRevision]()
    try:
        found = [revision_named(row, number) for number in asked if all(asked)]
    except IdcschedError as error:
        messages.warning(request, explained(error))
    return {
        "chosen": list(zip(BESIDE, asked if found else [active, *others[:1]], strict=False)),
        "revisions": found,
        "rows": side_by_side(*[revision.body for revision in found]) if found else [],
    }


def _posted(request: HttpRequest, row: Profile) -> Draft:
    """Return the draft that was posted, as fields or as JSON, checked."""
    text = request.POST.get("document", "")
    try:
        base = draft_of(text)
    except Invalid as error:
        return Draft(body=dict(row.active.body) if row.active else {}, text=text, errors=list(error.errors))
    body, errors, texts = base, list[FieldError](), dict[str, str]()
    if request.POST.get("edit") != "json":
        body, errors, texts = posted_body(base, request.POST.dict())
        text = _pretty(body)
    if request.POST.get("action") == "add":
        body = added(body, request.POST.get("plugin", ""))
        text = _pretty(body)
    unread = {error.pointer for error in errors}
    errors += [error for error in profile_errors(row.code, body) if error.pointer not in unread]
    return Draft(body=body, text=text, errors=errors, texts=texts)


def _as_json(request: HttpRequest, action: str) -> bool:
    """Whether the document is edited as JSON."""
    if action in ("json", "form"):
        return action == "json"
    return (request.POST if action else request.GET).get("edit") == "json"


def _previewed(row: Profile, draft: Draft, principal: Principal, refusals: list[str]) -> Mapping[str, Any] | None:
    """Return what the draft would have changed: how many orders, from where to where, and the bill."""
    try:
        result: Preview = preview(profile=row, body=draft.body, last=LAST, principal=principal)
    except Invalid as error:
        draft.errors = list(error.errors)
        return None
    except IdcschedError as error:
        refusals.append(explained(error))
        return None
    moves, means = Counter((moved.idc, moved.would_be_idc) for moved in result.changed), result.means
    return {
        "result": result,
        "moved": len(result.changed),
        "few": result.examined < FEW,
        "difference": result.would_be_billed - result.billed,
        "means": [
            (MEANS[mean.figure], _said(mean.figure, mean.then), _said(mean.figure, mean.would_be)) for mean in means
        ],
        "moves": [(here, there, count) for (here, there), count in moves.most_common(MOVES)],
        "decisions": result.changed[:MOVED],
    }


def _said(figure: str, value: float) -> str:
    return f"{value:,.0f} km" if figure == "distance_km" else f"{100 * value:.1f} %"


def _saved(request: HttpRequest, row: Profile, draft: Draft) -> HttpResponse:
    """Save the draft as a revision that is not in force yet, and lead to it."""
    with console_origin(request):
        message = request.POST.get("message", "").strip()[:MAX_MESSAGE]
        revision = profile_revise(profile=row, body=draft.body, message=message, activate=False)
    text = gettext("Saved as revision %(number)d, which is not in force yet.") % {"number": revision.number}
    messages.success(request, text)
    return HttpResponseRedirect(f"{_address(row)}?revision={revision.number}#revisions")


def _asked(row: Profile, draft: Draft, principal: Principal) -> HttpResponse:
    """Ask what the orders of the last days would have cost under the draft, and lead to the answer."""
    active = row.active.body if row.active else {}
    body = draft.body if differing(active, draft.body) else None
    asked = backtest_create(profile=row, days=DAYS, principal=principal, body=body)
    return HttpResponseRedirect(reverse("console:backtest", args=[asked.pk]))


def _activated(request: HttpRequest, row: Profile) -> HttpResponse:
    with console_origin(request):
        revision = profile_activate(profile=row, number=whole_number(request.POST.get("number", "")))
    messages.success(request, gettext("Revision %(number)d is in force.") % {"number": revision.number})
    return HttpResponseRedirect(_address(row))


def _address(row: Profile) -> str:
    return reverse("console:profile", args=[row.code])


def _pretty(body: Mapping[str, Any]) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)
