"""One IDC at `/console/idcs/…/`: its lines, bills, taints and orders, and why it was chosen and passed over lately."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Forbidden, IdcschedError
from idcsched.framework.profile import Profile
from idcsched.inventory import services
from idcsched.inventory.choices import Tier
from idcsched.inventory.models import Idc, Line, Taint
from idcsched.inventory.scope import scope_check
from idcsched.inventory.taint_state import TaintState, in_state
from idcsched.language.wording import explained
from idcsched.ledger.models import Resource
from idcsched.placement.lifecycle import HOLDING, State
from idcsched.placement.selectors import placements_visible
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.money_lens import money_lens
from idcsched.scheduling.outcomes import outcomes_of_idc
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.sentences import read
from idcsched.scheduling.state import IdcState, LineState, TaintWindow, idc_state, taint_windows
from idcsched.scheduling.verdict import Paragraph
from idcsched.scheduling.why import why, why_not
from metrics_ingest.billing.report import BandwidthReport, rollups_reported

from .fleet import NEARLY_FULL, colour
from .idc_chart import SPANS, Chart, chart
from .pages import console_origin, named, page, principal_of_page, shown
from .rejections import reason_labels

__all__ = ["idc"]


PLACEMENTS: Final = 10
DECISIONS: Final = 200
"""The latest decisions among which those about the IDC are looked for."""
ABOUT_IT: Final = 12
"""The most of them that are shown."""
OVER: Final = 3
"""The taints shown that are over."""
BEFORE, AFTER = timedelta(days=2), timedelta(days=7)
"""What the time line of the taints shows at least, before and after now."""
FARTHEST: Final = timedelta(days=60)


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def idc(request: HttpRequest, code: str) -> HttpResponse:
    """Show the IDC; a POST lifts one of its taints."""
    principal = principal_of_page(request)
    row = named(
        Idc.objects.select_related("region"), code, sentence=_("There is no IDC %(name)s."), route="console:idc"
    )
    status = HTTPStatus.OK
    if request.method == "POST":
        if (done := _lifted(request, row)) is not None:
            messages.success(request, done)
            return HttpResponseRedirect(request.path)
        status = HTTPStatus.CONFLICT
    return _page(request, principal, row, status)


def _page(request: HttpRequest, principal: Principal, row: Idc, status: HTTPStatus) -> HttpResponse:
    now = timezone.now()
    state = idc_state(row, now=now)
    reports = {report.code: report for report in _reports(row, now)}
    context = {
        "section": "idcs",
        "idc": row,
        "now": now,
        "state": state,
        "tier": Tier(row.tier).label,
        "lines": [_line(line, reports.get(line.line)) for line in state.lines],
        "stock": _stock(state),
        "values": [value for value in state.values if not (value.line and value.metric == "bandwidth_mbps")],
        "timeline": _timeline(row, state, now),
        "window_days": settings.BANDWIDTH_WINDOW.days,
        "labels": dict(TaintState.choices),
        "may_taint": _may_taint(principal, row),
        **_orders(principal, row),
    }
    if "HX-Request" not in request.headers:  # what stands outside of the live part
        context |= _chart(request, row, state, reports, now)
        context |= {"about": _about(principal, row.code), **_outcomes(principal, row.code)}
    return shown(request, "idc.html", context, status=status)


def _lifted(request: HttpRequest, row: Idc) -> str | None:
    """Lift the taint that the form names; returns what to say, or None where a message says why not."""
    given = request.POST.get("lift", "")
    taint = Taint.objects.filter(idc=row, pk=given).select_related("idc__region").first() if given.isdecimal() else None
    try:
        with console_origin(request):
            services.taints_delete(taints=[] if taint is None else [taint], principal=_writer(request))
    except IdcschedError as error:
        messages.error(request, explained(error))
        return None
    if taint is None:
        return _("It was lifted already.")
    done = _("Lifted: %(taint)s.") % {"taint": taint}
    return format_html('{} <a class="link" href="{}">{}</a>', done, _again(taint), _("Taint again…"))


def _again(taint: Taint) -> str:
    """Return the address of the form that is filled in with a taint that was lifted."""
    window = (("starts", taint.starts_at), ("ends", taint.ends_at))
    filled = {name: at.isoformat() for name, at in window if at is not None}
    filled |= {name: text for name in ("key", "value", "effect", "reason") if (text := getattr(taint, name))}
    return reverse("console:taint_idc", args=[taint.idc.code], query=filled)


def _writer(request: HttpRequest) -> Principal:
    """Return the user's principal; raises Forbidden where the role may not taint."""
    principal = principal_of_page(request)
    principal.require("write_taints")
    return principal


def _may_taint(principal: Principal, row: Idc) -> bool:
    try:
        scope_check(principal, row)
    except Forbidden:
        return False
    return principal.can("write_taints")


def _reports(row: Idc, now: datetime) -> list[BandwidthReport]:
    rollups = rollups_reported(now).filter(line__idc=row).order_by("line__code")
    return [BandwidthReport.of(rollup, now) for rollup in rollups]


def _line(line: LineState, report: BandwidthReport | None) -> dict[str, Any]:
    """Return a line with the positions of its bar's parts, in percent of the larger of use and purchase."""
    scale = max(line.purchased_mbps, line.used_mbps or 0.0, line.commit_mbps or 0.0)

    over_commit = _over_commit(line, report)

    def place(mbps: float | None) -> str | None:
        return None if mbps is None or not scale else f"{100 * mbps / scale:.2f}%"

    return {
        "line": line,
        "report": report,
        "percent": None if line.water_level is None else round(line.water_level * 100),
        "level": "" if line.water_level is None else colour(line.water_level / line.max_level),
        "tight": line.room_mbps is not None
        and line.room_mbps < (1 - NEARLY_FULL) * line.purchased_mbps * line.max_level,
        "over_commit": over_commit,
        "unused": None if over_commit is None else -over_commit,
        "limit_mbps": line.purchased_mbps * line.max_level,
        "over": line.water_level is not None and line.water_level > line.max_level,
        "used_at": place(line.used_mbps),
        "pending_at": place(line.pending_mbps) if line.pending_mbps else None,
        "limit_at": place(line.purchased_mbps * line.max_level),
        "commit_at": place(line.commit_mbps),
        "purchased_at": place(line.purchased_mbps),
    }


def _over_commit(line: LineState, report: BandwidthReport | None) -> float | None:
    """Return the Mbps that the month bills on top of the commit, below 0 what of the commit is not used."""
    if report is None or report.month is None or line.commit_mbps is None:
        return None
    billed = report.month.bill.billable_mbps
    return (billed if billed > line.commit_mbps else report.month.p95_mbps) - line.commit_mbps


def _stock(state: IdcState) -> list[dict[str, Any]]:
    names = dict(Resource.choices)
    return [
        {"name": names[stock.resource], "stock": stock}
        for stock in state.stock
        if stock.for_sale is not None or stock.taken
    ]


def _timeline(row: Idc, state: IdcState, now: datetime) -> dict[str, Any]:
    """Return the taints with their places on a time line around now, in percent; the last few that are over, too.

    A taint without a start is drawn from the moment on at which it was set.
    """
    over = taint_windows(row, now, in_state(TaintState.OVER, now))[-OVER:]
    taints = [*state.taints, *reversed(over)]
    moments = [at for taint in taints for at in (taint.starts_at, taint.ends_at) if at is not None]
    start = max(min([now - BEFORE, *moments]), now - FARTHEST)
    end = min(max([now + AFTER, *moments]), now + FARTHEST)

    def place(at: datetime) -> float:
        return min(max(100 * ((at - start) / (end - start)), 0.0), 100.0)

    def bar(taint: TaintWindow) -> dict[str, Any]:
        left = place(taint.starts_at or taint.created_at)
        right = 100.0 if taint.ends_at is None else place(taint.ends_at)
        return {"taint": taint, "left": f"{left:.2f}%", "width": f"{max(right - left, 0.5):.2f}%"}

    return {"start": start, "end": end, "now": f"{place(now):.2f}%", "taints": [bar(taint) for taint in taints]}


def _orders(principal: Principal, row: Idc) -> dict[str, Any]:
    """Return the latest placements that hold capacity here and those that wait for it, as far as the user may see."""
    visible = placements_visible(principal).select_related("tenant").defer("request", "lines", "cures")
    return {
        "placements": visible.filter(idc=row, state__in=sorted(HOLDING)).order_by("-pk")[:PLACEMENTS],
        "waiting": visible.filter(awaits=row, state=State.WAITING).order_by("-priority", "created_at")[:PLACEMENTS],
    }


def _chart(
    request: HttpRequest, row: Idc, state: IdcState, reports: Mapping[str, BandwidthReport], now: datetime
) -> dict[str, Any]:
    """Return the chart of the line and the span that the address names, else of the fullest line over a day."""
    levels = {line.line: (line.water_level or 0.0) / line.max_level for line in state.lines}
    named, span = request.GET.get("line", ""), request.GET.get("span", "")
    code = named if named in levels else max(levels, key=levels.__getitem__, default="")
    span = span if span in SPANS else "24h"
    drawn: Chart | None = None
    if code:
        line = Line.objects.get(idc=row, code=code)
        limit = next(state.max_level for state in state.lines if state.line == code)
        drawn = chart(row, line, span, now=now, max_level=limit, report=reports.get(code))
    return {"chart": drawn, "chart_line": code, "span": span, "spans": SPANS.items()}


def _outcomes(principal: Principal, code: str) -> dict[str, Any]:
    """Return what became of the IDC in the latest decisions that considered it, counted, with the lengths of its bars.

    The first reasons stand by their labels, the most frequent first.
    """
    outcomes = outcomes_of_idc(code, principal, last=DECISIONS)
    went_elsewhere = sum(rank.count for rank in outcomes.passed_over)
    labels = reason_labels()
    counts = [
        ("o-won", _("came here"), outcomes.chosen),
        ("o-rank", _("fitted, went elsewhere"), went_elsewhere),
        *(("o-out", labels.get(first.code, first.code), first.count) for first in outcomes.rejected),
    ]
    most = max((count for _kind, _label, count in counts), default=0) or 1
    return {
        "outcomes": outcomes,
        "went_elsewhere": went_elsewhere,
        "outcome_bars": [(kind, label, count, f"{100 * count / most:.1f}%") for kind, label, count in counts if count],
    }


def _about(principal: Principal, code: str) -> Sequence[dict[str, Any]]:
    """Return the latest decisions that chose the IDC or passed it over, with the reason; one query, bounded in rows."""
    columns = ("id", "created_at", "request_id", "idc", "answer", "sentences", "request", "profile", "profile_revision")
    latest = decisions_visible(principal).order_by("-created_at").only(*columns)[:DECISIONS]
    about: list[dict[str, Any]] = []
    profiles = live.current().profiles
    for decision in latest:
        if len(about) == ABOUT_IT:
            break
        chosen = decision.idc == code
        if chosen or _names(decision.answer, code):
            answer = read(decision.answer, decision.sentences)
            reasons = _reasons(decision, answer, code, profiles.get(decision.profile))
            about.append({"decision": decision, "chosen": chosen, "reasons": reasons, "summary": answer["summary"]})
    return about


def _reasons(decision: Decision, answer: Mapping[str, Any], code: str, profile: Profile | None) -> Sequence[Paragraph]:
    """Return why the IDC was chosen or not: in money as long as the profile's revision of then is in force."""
    lens = money_lens(
        answer.get("candidates") or (),
        profile=profile if profile and profile.revision == decision.profile_revision else None,
        weights=decision.request.get("weights"),
        best=(answer.get("worth") or {}).get("best"),
    )
    return why(answer, lens)[:1] if decision.idc == code else why_not(answer, code, lens)[:1]


def _names(answer: Mapping[str, Any], code: str) -> bool:
    """Whether the answer has the IDC among its candidates, rejections or near misses."""
    lists = (answer.get(name) or () for name in ("candidates", "rejected", "near_misses"))
    return any(entry["idc"] == code for entries in lists for entry in entries)
