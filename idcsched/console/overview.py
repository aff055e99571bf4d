"""The overview at `/console/`: what is wrong now, the fleet by its water levels, what changed in the last hour."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from idcsched.accounts.roles import Principal
from idcsched.accounts.selectors import changes_visible
from idcsched.audit.change_display import kinds
from idcsched.framework.labels import Mask
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.choices import Status, Tier
from idcsched.jobs.selectors import processes
from idcsched.placement.lifecycle import State
from idcsched.placement.rollup import stuck
from idcsched.placement.selectors import placements_visible
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.sentences import read
from metrics_ingest.selectors import FAILING_FROM, sources_in_trouble
from metrics_ingest.sources.run_notes import note_said

from .fleet import Fleet, TaintToMind
from .pages import page, principal_of_page, shown

__all__ = ["overview"]

SHOWN: Final = 6
"""The most entries of a list about what is wrong."""
CHANGES: Final = 12
DECISIONS: Final = 10_000
"""The most decisions of the last day that are counted, the latest first."""
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
MARKS: Final = {
    "over": gettext_lazy("above its level"),
    "commit": gettext_lazy("above its commit"),
    "tainted": gettext_lazy("tainted"),
    "draining": Status.DRAINING.label,
    "offline": Status.OFFLINE.label,
    "stale": gettext_lazy("stale"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters of the address; `problems` says by field what was ignored because nothing has that name."""

    region: str = ""
    isp: str = ""
    tier: str = ""
    label: str = ""
    mark: str = ""
    problems: Mapping[str, str]

    @property
    def any(self) -> bool:
        return any((self.region, self.isp, self.tier, self.label, self.mark))


@page()
def overview(request: HttpRequest) -> HttpResponse:
    principal, now, state = principal_of_page(request), timezone.now(), live.catch_up()
    snapshot = state.snapshot
    filters = _filters(request, snapshot)
    whole = Fleet(snapshot, now=now.timestamp())
    chosen = _rows(filters, snapshot)
    fleet = Fleet(snapshot, now=now.timestamp(), idcs=chosen, isp=filters.isp or None) if filters.any else whole
    isps, headroom, total = fleet.headroom()
    context = {
        "section": "overview",
        "now": now,
        "filters": filters,
        "options": _options(snapshot),
        "figures": fleet.figures,
        "regions": list(fleet.regions(fleet.with_mark(filters.mark) if filters.mark else fleet.shown)),
        "isps": isps,
        "headroom": headroom,
        "headroom_total": total,
        "status_names": dict(Status.choices),
        **_wrong(state, whole, principal, now),
        **_changes(principal, now),
    }
    return shown(request, "overview.html", context)


def _filters(request: HttpRequest, snapshot: Snapshot) -> Filters:
    """Return the filters that the address names; those that name nothing known are left out and reported."""
    given = {name: request.GET.get(name, "").strip() for name in ("region", "isp", "tier", "label", "mark")}
    given["isp"] = snapshot.isps.get(given["isp"], given["isp"])
    known = {
        "region": snapshot.spans,
        "isp": set(snapshot.isps.values()),
        "tier": Tier.values,
        "mark": MARKS,
    }
    sentences = {
        "region": _("There is no region %(name)s."),
        "isp": _("There is no ISP %(name)s."),
        "tier": _("There is no tier %(name)s."),
        "mark": _("There is no mark %(name)s."),
    }
    problems = {
        name: sentences[name] % {"name": given[name][:60]}
        for name, values in known.items()
        if given[name] and given[name] not in values
    }
    if given["label"] and not snapshot.idcs.label(given["label"].partition("=")[0].strip()).postings:
        problems["label"] = _("No IDC has the label %(name)s.") % {"name": given["label"].partition("=")[0][:60]}
    return Filters(**{name: value for name, value in given.items() if name not in problems}, problems=problems)


def _rows(filters: Filters, snapshot: Snapshot) -> Mask:
    """Return the rows of the filters' region, tier and label."""
    rows: Mask = np.ones(snapshot.size, dtype=np.bool_)
    if filters.region:
        start, stop = snapshot.spans[filters.region]
        rows[:start], rows[stop:] = False, False
    if filters.tier:
        rows &= snapshot.idcs.label("idc/tier").mask([filters.tier])
    if filters.label:
        key, equals, value = filters.label.partition("=")
        column = snapshot.idcs.label(key.strip())
        rows &= column.mask([value.strip()]) if equals else column.present
    return rows


def _options(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the filters offer: the regions with IDCs, the ISPs of lines, the tiers, the labels, the marks."""
    regions = [
        (code, f"{code} {snapshot.regions[code].name}".rstrip())
        for code, (start, stop) in sorted(snapshot.spans.items())
        if stop > start
    ]
    labels = {f"{key}={value}" for own in snapshot.idcs.labels for key, value in own.items()}
    return {
        "regions": regions,
        "isps": sorted(set(snapshot.lines.isps)),
        "tiers": Tier.choices,
        "labels": sorted(labels)[:200],
        "marks": MARKS.items(),
    }


def _wrong(state: LiveState, fleet: Fleet, principal: Principal, now: datetime) -> dict[str, Any]:
    """Gather what is wrong now, each kind with a count and its worst cases."""
    over, over_lines = fleet.lines_over(SHOWN)
    commit, commit_lines = fleet.lines_over_commit(SHOWN)
    never, never_names = fleet.never_measured()
    sources = list(sources_in_trouble(now=now))
    taints = fleet.taints_turning(*_week(now))
    wrong = {
        "sources": [
            {
                "source": source,
                "failing": source.failures >= FAILING_FROM,
                "error": note_said(source.last_error) if source.last_error else "",  # type: ignore[attr-defined]
            }
            for source in sources[:SHOWN]
        ],
        "more_sources": len(sources) - SHOWN,
        "missing": [process for process in processes(now=now) if not process.alive],
        "broken_profiles": state.broken_profiles,
        "lagging": live.lagging,
        "stale": fleet.stale_metrics(),
        "never": never,
        "never_names": never_names,
        "over": over,
        "over_lines": over_lines,
        "commit": commit,
        "commit_lines": commit_lines,
        **_orders(principal, now),
        **_placements(principal, now),
    }
    nothing = not any(
        wrong[name]
        for name in (
            "sources",
            "missing",
            "broken_profiles",
            "lagging",
            "stale",
            "never",
            "over",
            "commit",
            "found_nothing",
        )
    )
    return wrong | {
        "all_well": nothing and not wrong["placements"],
        "turning": [_turn(taint, now) for taint in taints[: SHOWN * 2]],
        "more_turning": len(taints) - SHOWN * 2,
    }


def _orders(principal: Principal, now: datetime) -> dict[str, Any]:
    """Count the decisions of the last hour and day and those that found nothing; two queries, bounded in rows."""
    visible = decisions_visible(principal)
    latest = visible.filter(created_at__gte=now - DAY).order_by("-created_at")[:DECISIONS]
    counts = (
        Decision.objects.filter(pk__in=latest.values("pk"))
        .order_by()
        .values("result", "reason_code")
        .annotate(day=Count("pk"), hour=Count("pk", filter=Q(created_at__gte=now - HOUR)))
    )
    decided, refused = Counter[str](), Counter[str]()
    for row in counts:
        found = {"day": row["day"], "hour": row["hour"]}
        decided.update(found)
        if row["result"] == Decision.Result.UNSCHEDULABLE:
            refused.update(found)
    refusals = visible.filter(created_at__gte=now - DAY, result=Decision.Result.UNSCHEDULABLE)
    columns = ("id", "created_at", "request_id", "reason_code", "answer", "sentences")
    latest_refusals = list(refusals.order_by("-created_at").only(*columns)[:SHOWN]) if refused["day"] else []
    return {
        "decided": decided,
        "refused": refused,
        "refused_share": {name: 100 * refused[name] / decided[name] for name in ("hour", "day") if decided[name]},
        "decisions_counted": DECISIONS if decided["day"] == DECISIONS else None,
        "found_nothing": [{"decision": decision, "summary": _summary(decision)} for decision in latest_refusals],
    }


def _summary(decision: Decision) -> str:
    summary = {"summary": decision.answer.get("summary", "")}
    return str(read(summary, decision.sentences)["summary"])


def _placements(principal: Principal, now: datetime) -> dict[str, Any]:
    """Return the placements that wait or need attention; two queries, which their partial indexes answer."""
    rows = placements_visible(principal).filter(Q(state=State.WAITING) | Q(needs_attention=True))
    counts = rows.aggregate(
        waiting=Count("pk", filter=Q(state=State.WAITING)),
        attention=Count("pk", filter=Q(needs_attention=True)),
        stuck=Count("pk", filter=stuck(now)),
    )
    columns = rows.select_related("tenant", "idc").defer("request", "lines", "cures")
    return {
        "placements": list(columns.order_by("-needs_attention", "created_at")[:SHOWN]) if any(counts.values()) else [],
        "placement_counts": counts,
    }


def _week(now: datetime) -> tuple[float, float]:
    """Return when today began in the reader's zone, and the moment a week from now."""
    start = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    return start.timestamp(), (now + WEEK).timestamp()


def _turn(taint: TaintToMind, now: datetime) -> dict[str, Any]:
    at = datetime.fromtimestamp(taint.at, UTC)
    return {"taint": taint, "at": at, "past": at <= now, "seconds": abs((at - now).total_seconds())}


def _changes(principal: Principal, now: datetime) -> dict[str, Any]:
    """Return the changes of the last hour that the user may see, the newest first."""
    names = kinds()
    rows = list(changes_visible(principal).filter(at__gte=now - HOUR).order_by("-id")[: CHANGES + 1])
    return {
        "changes": [{"change": change, "kind": names.get(change.kind, change.kind)} for change in rows[:CHANGES]],
        "more_changes": len(rows) > CHANGES,
    }
