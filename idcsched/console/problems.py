"""What is wrong now: the rows of the overview, and the number beside its name on every page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import BooleanField, Case, Count, Value, When
from django.db.models import Q as Where
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from idcsched.accounts.roles import Principal
from idcsched.jobs.nightly import nightly_health
from idcsched.jobs.selectors import processes
from idcsched.placement.lifecycle import State
from idcsched.placement.rollup import stuck
from idcsched.placement.selectors import placements_visible
from idcsched.scheduling.live import LiveState, live
from idcsched.scheduling.models import Decision, IdcOutcome
from idcsched.scheduling.selectors import decisions_visible
from idcsched.scheduling.sentences import read
from metrics_ingest.selectors import FAILING_FROM, sources_in_trouble
from metrics_ingest.sources.run_notes import note_said

from .fleet import Fleet, TaintToMind

__all__ = ["Orders", "Problem", "orders_of", "problems"]

HOUR: Final = timedelta(hours=1)
DECISIONS: Final = 10_000
"""The most decisions of the last hour that are counted, the latest first."""
PLACEMENTS: Final = 200
"""The most placements that are looked at, those that need somebody first."""
LATEST: Final = 50
"""The latest decisions of the hour whose rejections are looked at."""
OVERLOADED: Final = "overloaded"
"""The reason of the plugin `resource` for rejecting an IDC for its load."""
REFUSED_FROM: Final = 0.05
"""The share of orders that find nothing from which on it is worth a row."""
EACH: Final = 4
"""From so many causes of one kind on they are one row."""
NAMED: Final = 3
"""How many names such a row says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A row: what is wrong in a sentence, a line of detail, and one button.

    `severity` is `crit`, `warn`, or `info`: something to know, which is not wrong.
    """

    severity: str
    icon: str
    title: str
    detail: str = ""
    label: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The decisions of the last hour, and the placements that wait or need somebody, as far as one may see them."""

    decided: int
    refused: int
    refusal: Decision | None
    overloaded: Sequence[str]
    """The IDCs that the latest of them rejected for their load, the most often rejected first."""
    waiting: Sequence[Any]
    troubled: Sequence[Any]

    @property
    def placed_percent(self) -> int:
        return round(100 * (self.decided - self.refused) / self.decided) if self.decided else 0


def problems(state: LiveState, fleet: Fleet, orders: Orders, now: datetime) -> list[Problem]:
    """Return what is wrong in the whole fleet, the most urgent first, then what is to be known today; three queries."""
    rows = [
        *_processes(state, now),
        *_sources(now),
        *_placements(orders),
        *_nightly(now),
        *_lines(fleet),
        *_orders(orders),
        *_measurements(fleet),
        *_taints(fleet, now),
    ]
    return sorted(rows, key=lambda problem: ("crit", "warn", "info").index(problem.severity))


def orders_of(principal: Principal, now: datetime) -> Orders:
    """Read what became of the last hour's orders: three queries bounded in rows, a fourth where many found nothing."""
    visible = decisions_visible(principal).filter(created_at__gte=now - HOUR)
    counts = dict(
        Decision.objects.filter(pk__in=visible.order_by("-created_at").values("pk")[:DECISIONS])
        .order_by()
        .values_list("result")
        .annotate(count=Count("pk"))
    )
    decided, refused = sum(counts.values()), counts.get(Decision.Result.UNSCHEDULABLE, 0)
    refusal = None
    if refused > REFUSED_FROM * decided:
        refusals = visible.filter(result=Decision.Result.UNSCHEDULABLE).order_by("-created_at")
        refusal = refusals.only("id", "request_id", "answer", "sentences").first()
    latest = visible.order_by("-created_at").values("pk")[:LATEST]
    overloaded = IdcOutcome.objects.filter(decision__in=latest, code=OVERLOADED).values("idc")
    overloaded = overloaded.annotate(times=Count("decision")).order_by("-times", "idc")
    wanted = Where(state=State.WAITING) | Where(needs_attention=True)
    rows = placements_visible(principal).filter(wanted).select_related("idc").defer("request", "lines", "cures")
    is_stuck = Case(When(stuck(now), then=Value(True)), default=Value(False), output_field=BooleanField())
    placements = list(rows.annotate(stuck=is_stuck).order_by("-needs_attention", "created_at")[:PLACEMENTS])
    return Orders(
        decided=decided,
        refused=refused,
        refusal=refusal,
        overloaded=list(overloaded.values_list("idc", flat=True)),
        waiting=[row for row in placements if row.state == State.WAITING and not row.needs_attention],
        troubled=[row for row in placements if row.needs_attention],
    )


def _processes(state: LiveState, now: datetime) -> Iterator[Problem]:
    docs = reverse("docs")
    for process in processes(now=now):
        if not process.alive:
            yield Problem(
                severity="crit",
                icon="octagon-alert",
                title=_say(
                    _("Process {name} has not been heard of since {at}"),
                    name=process.name,
                    at=_clock(now - timedelta(seconds=process.age_seconds)),
                ),
                detail=_("Its work waits for another of its kind. If it was ended on purpose, this goes by itself."),
                label=_("Status"),
                address=docs,
            )
    if live.lagging:
        yield Problem(
            severity="crit",
            icon="octagon-alert",
            title=_("What decisions are made on is not up to date"),
            detail=_("The database does not answer, or is slow. Orders are decided on what was known before."),
            label=_("Status"),
            address=docs,
        )
    for code, error in state.broken_profiles.items():
        yield Problem(
            severity="crit",
            icon="sliders-horizontal",
            title=_say(_("Profile {code} can't decide"), code=_code(code)),
            detail=str(error),
            label=_("Open"),
            address=reverse("console:profile", args=[code]),
        )


def _sources(now: datetime) -> Iterator[Problem]:
    for source in sources_in_trouble(now=now):
        failing = source.failures >= FAILING_FROM
        error = source.last_error  # type: ignore[attr-defined]  # annotated by sources_in_trouble
        title = (
            _say(_("Source {code} has failed {count} times in a row"), code=_code(source.code), count=source.failures)
            if failing
            else _say(
                _("Nobody asks source {code}, which has been due since {at}"),
                code=_code(source.code),
                at=_clock(source.due_at),
            )
        )
        detail = note_said(error) if error else ""
        since = (
            _("last good at {at}").format(at=_clock(source.succeeded_at))
            if source.succeeded_at
            else _("it has never answered")
        )
        yield Problem(
            severity="crit",
            icon="unplug",
            title=title,
            detail=" · ".join(filter(None, (detail, since))),
            label=_("Test now"),
            address=reverse("console:source", args=[source.code]),
        )


def _nightly(now: datetime) -> Iterator[Problem]:
    for job in nightly_health(now=now):
        if not (job.failing or job.late):
            continue
        since = (
            _("last done at {at}").format(at=_clock(job.succeeded_at))
            if job.succeeded_at
            else _("it was never done yet")
        )
        shapes = job.name == "shapes_learn"
        yield Problem(
            severity="warn",
            icon="triangle-alert",
            title=_("The shapes of traffic are not learnt anew") if shapes else _("The advice is not computed anew"),
            detail=" · ".join(filter(None, (job.error, since))),
            label=_("Status"),
            address=reverse("docs"),
        )


def _placements(orders: Orders) -> Iterator[Problem]:
    rows = orders.troubled
    if len(rows) >= EACH:
        yield Problem(
            severity="crit",
            icon="package",
            title=_say(
                ngettext("{count} placement needs somebody", "{count} placements need somebody", len(rows)),
                count=len(rows),
            ),
            detail=_names([_order(row) for row in rows]),
            label=_("Show them"),
            address=reverse("console:placements"),
        )
        return
    for row in rows:
        yield Problem(
            severity="crit",
            icon="package",
            title=_say(
                _("Placement {order} is stuck") if row.stuck else _("Placement {order} needs somebody"),
                order=_code(_order(row)),
            ),
            detail=_("Machines that can't be removed, or that are missing") + (f" · {row.idc.code}" if row.idc else ""),
            label=_("Open"),
            address=reverse("console:placement", args=[row.pk]),
        )


def _lines(fleet: Fleet) -> Iterator[Problem]:
    tight = fleet.tight_lines()
    for over in (True, False):
        lines = [line for line in tight if (line.room < 0) == over]
        if len(lines) >= EACH:
            yield Problem(
                severity="crit" if over else "warn",
                icon="droplets",
                title=_say(
                    _("{count} lines are over their limit") if over else _("{count} lines have hardly any room left"),
                    count=len(lines),
                ),
                detail=_names([f"{line.idc} {line.line}" for line in lines]),
                label=_("Show them"),
                address=f"{reverse('console:overview')}?mark=tight#fleet",
            )
            continue
        for line in lines:
            yield Problem(
                severity="crit" if over else "warn",
                icon="droplets",
                title=_say(
                    _("{idc} {line} is {mbps} Mbps over its limit")
                    if over
                    else _("{idc} {line} has {mbps} Mbps left for orders"),
                    idc=_bold(line.idc),
                    line=line.line,
                    mbps=_mbps(abs(line.room)),
                ),
                detail=_("{used} in use and {reserved} reserved of {limit} (its limit: {share} of {bought})").format(
                    used=_mbps(line.used),
                    reserved=_mbps(line.reserved),
                    limit=_mbps(line.limit),
                    share=f"{line.share} %",
                    bought=_mbps(line.purchased),
                ),
                label=_("Open"),
                address=reverse("console:idc", args=[line.idc]) + f"?line={urlencode({'': line.line})[1:]}",
            )


def _orders(orders: Orders) -> Iterator[Problem]:
    if count := len(orders.waiting):
        oldest = orders.waiting[0]
        yield Problem(
            severity="warn",
            icon="hourglass",
            title=_say(ngettext("{count} order waits for room", "{count} orders wait for room", count), count=count),
            detail=" · ".join(
                (
                    _names([_order(row) for row in orders.waiting]),
                    _("the oldest since {at}").format(at=_clock(oldest.created_at)),
                )
            ),
            label=_("Queue"),
            address=f"{reverse('console:placements')}?state=waiting",
        )
    if count := len(orders.overloaded):
        yield Problem(
            severity="warn",
            icon="triangle-alert",
            title=_say(
                ngettext(
                    "{count} IDC rejected orders of the last hour for its load",
                    "{count} IDCs rejected orders of the last hour for their load",
                    count,
                ),
                count=count,
            ),
            detail=_names(orders.overloaded),
            label=_("Open"),
            address=reverse("console:idc", args=[orders.overloaded[0]]),
        )
    if orders.refusal is not None:
        answer = read({"summary": orders.refusal.answer.get("summary", "")}, orders.refusal.sentences)
        yield Problem(
            severity="warn",
            icon="triangle-alert",
            title=_say(
                _("{refused} of {decided} orders in the last hour found nothing ({share} %)"),
                refused=orders.refused,
                decided=orders.decided,
                share=100 - orders.placed_percent,
            ),
            detail=f"{orders.refusal.request_id or orders.refusal.pk}: {answer['summary']}",
            label=_("Show them"),
            address=f"{reverse('console:decisions')}?result=unschedulable",
        )


def _measurements(fleet: Fleet) -> Iterator[Problem]:
    for metric in fleet.stale_metrics():
        yield Problem(
            severity="warn",
            icon="clock",
            title=_say(
                _("{count} of {known} values of {metric} are stale"),
                count=metric.count,
                known=metric.known,
                metric=_code(metric.metric),
            ),
            detail=_names(metric.idcs),
            label=_("Sources"),
            address=reverse("console:sources"),
        )
    count, names = fleet.never_measured()
    if count:
        yield Problem(
            severity="info",
            icon="info",
            title=_say(
                ngettext(
                    "{count} line was never measured, so orders pass it by",
                    "{count} lines were never measured, so orders pass them by",
                    count,
                ),
                count=count,
            ),
            detail=_names(names),
            label=_("Map it"),
            address=reverse("console:sources"),
        )


def _taints(fleet: Fleet, now: datetime) -> Iterator[Problem]:
    day = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    for taint in fleet.taints_turning(now.timestamp(), day.timestamp()):
        yield Problem(
            severity="info",
            icon="ban",
            title=_turn(taint),
            detail=taint.reason,
            label=_("Open"),
            address=reverse("console:idc", args=[taint.idc]),
        )


def _turn(taint: TaintToMind) -> str:
    sentence = (
        _("Today: {taint} on {idc} begins at {at}") if taint.begins else _("Today: {taint} on {idc} ends at {at}")
    )
    at = datetime.fromtimestamp(taint.at, timezone.get_current_timezone())
    return _say(sentence, taint=_code(taint.taint), idc=_bold(taint.idc), at=date_format(at, "H:i"))


def _say(sentence: str, **values: Any) -> SafeString:
    return format_html(sentence, **values)


def _code(text: str) -> SafeString:
    return format_html("<code>{}</code>", text)


def _bold(text: str) -> SafeString:
    return format_html("<b>{}</b>", text)


def _order(row: Any) -> str:
    return row.request_id or str(row.pk)


def _clock(at: datetime) -> str:
    """Format a moment as its time of day, with its date where it is not today."""
    here = timezone.localtime(at)
    return date_format(here, "H:i" if here.date() == timezone.localdate() else "m-d H:i")


def _mbps(value: float) -> str:
    return f"{round(value):,}"


def _names(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - NAMED
    first = ", ".join(names[:NAMED])
    return _("{names} and {count} more").format(names=first, count=more) if more > 0 else first
