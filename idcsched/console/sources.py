"""The sources at `/console/sources/`: do they answer, how fresh are the metrics; and one, with a test and a run."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from django.contrib import messages
from django.db.models import Count, Max, Min, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from idcsched.accounts.roles import Principal
from idcsched.framework.errors import Forbidden, IdcschedError
from idcsched.inventory.scope import idcs_within, regions_check
from idcsched.language.wording import explained
from metrics_ingest import services
from metrics_ingest.models import Latest, Metric, Run, RunState, Source
from metrics_ingest.selectors import sources_health, with_last_error
from metrics_ingest.sources.condition import source_condition
from metrics_ingest.sources.periodic import source_announce
from metrics_ingest.sources.run_notes import note_said
from metrics_ingest.sources.trial_view import trial_context, unmatched_row
from metrics_ingest.sources.trying import source_try
from metrics_ingest.sources.unmatched import latest_run

from .pages import console_origin, named, page, principal_of_page, shown

__all__ = ["check_may", "source", "sources"]

RUNS: Final = 20
MARKS: Final[Mapping[str, str]] = {"answering": "good", "failed": "warn", "failing": "bad"}
RUN_MARKS: Final[Mapping[str, str]] = {
    RunState.SUCCEEDED: "good",
    RunState.FAILED: "bad",
    RunState.LOST: "bad",
}


@page()
@require_GET
def sources(request: HttpRequest) -> HttpResponse:
    """Show all sources, those in trouble first, and how fresh the values of each metric are."""
    now = timezone.now()
    late = {health.code for health in sources_health(now=now) if health.late}
    rows = [_health(row, late=row.code in late) for row in with_last_error(Source.objects.order_by("code"))]
    order = ("failing", "failed", "new", "answering", "off")
    rows.sort(key=lambda row: (not row["late"] and row["kind"] != "failing", order.index(row["kind"])))
    context = {
        "section": "sources",
        "now": now,
        "sources": rows,
        "metrics": _freshness(Metric.objects.all(), now),
        "may_write": principal_of_page(request).can("write_sources"),
    }
    return shown(request, "sources.html", context)


@page()
@require_http_methods(["GET", "HEAD", "POST"])
def source(request: HttpRequest, code: str) -> HttpResponse:
    """Show one source; a POST asks it at once, either to show what it says, or to store it."""
    rows = with_last_error(Source.objects.all())
    found = named(rows, code, sentence=_("There is no source %(name)s."), route="console:source")
    principal, now = principal_of_page(request), timezone.now()
    asked: dict[str, Any] = {}
    refusal = ""
    if request.method == "POST":
        try:
            check_may(principal, found)
            if request.POST.get("do") == "run":
                with console_origin(request):
                    services.source_ask(source=found, now=now)
                source_announce(found.pk, by_hand=True)
                messages.success(request, _("It is being asked; its run appears below."))
                return HttpResponseRedirect(request.path)
            asked = trial_context(source_try(source=found, now=now))
        except IdcschedError as error:
            refusal = explained(error)
    late = any(health.late for health in sources_health(now=now) if health.code == code)
    runs = list(found.runs.all()[:RUNS])
    context = {
        "section": "sources",
        "now": now,
        "health": _health(found, late=late),
        "source": found,
        "refusal": refusal,
        "asked": asked,
        "may_write": _may(principal, found),
        "runs": [{"run": run, "mark": RUN_MARKS.get(run.state, ""), "said": _note(run)} for run in runs],
        "metrics": _freshness(_metrics_of(found), now, regions=found.regions),
        **_last_names(latest_run(found)),
    }
    return shown(request, "source.html", context, status=HTTPStatus.CONFLICT if refusal else HTTPStatus.OK)


def _health(row: Any, *, late: bool) -> dict[str, Any]:
    """Return the source with its condition in a word and a sentence, and the error of its latest run if that failed."""
    kind, sentence = source_condition(row)
    error = note_said(row.last_error) if row.failures and row.last_error else ""
    return {
        "source": row,
        "kind": kind,
        "mark": MARKS.get(kind, ""),
        "sentence": sentence,
        "error": error,
        "late": late,
    }


def _note(run: Run) -> str:
    return note_said(run.error) if run.error else ""


def _last_names(run: Run | None) -> dict[str, Any]:
    """Return the names that matched nothing in the latest run that is over, and its refusals."""
    if run is None:
        return {"unmatched": [], "refusals": []}
    refusals = [
        {"count": refusal["count"], "examples": [_example(example) for example in refusal["examples"]]}
        for refusal in run.refusals
    ]
    return {"unmatched": [unmatched_row(**name) for name in run.unmatched_names], "refusals": refusals}


def _example(example: Mapping[str, Any]) -> dict[str, str]:
    names = " ".join(filter(None, (example["idc"], example["line"], example["metric"])))
    return {"names": names, "value": example["value"] or "", "reason": note_said(example["reason"])}


def _metrics_of(row: Source) -> Iterable[Metric]:
    """Return the metrics that the source's mapping names."""
    named = {*row.mapping.get("values", {}), *row.mapping.get("metrics", {}).values()}
    return Metric.objects.filter(code__in=[name for name in named if isinstance(name, str)])


def _freshness(
    metrics: Iterable[Metric], now: datetime, *, regions: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return, for each metric, the number of its values, how many of them are stale, the newest and the oldest."""
    by_key = {metric.pk: metric for metric in metrics}
    stale = Q(pk__in=())
    for metric in by_key.values():
        if metric.max_age_seconds is not None:
            stale |= Q(metric=metric.pk, at__lt=now - timedelta(seconds=metric.max_age_seconds))
    values = Latest.objects.filter(metric__in=by_key)
    if regions is not None:
        values = values.filter(idc__in=idcs_within(regions))
    figures = (
        values.order_by()
        .values("metric")
        .annotate(count=Count("pk"), stale=Count("pk", filter=stale), newest=Max("at"), oldest=Min("at"))
    )
    rows = {row["metric"]: row for row in figures}
    listed = sorted(by_key.values(), key=lambda metric: metric.code)
    return [{"count": 0, "stale": 0, **rows.get(metric.pk, {}), "metric": metric} for metric in listed]


def check_may(principal: Principal, row: Source) -> None:
    """Raise Forbidden where the API would refuse the caller to run or test the source, too."""
    principal.require("write_sources")
    regions_check(principal, row.regions)


def _may(principal: Principal, row: Source) -> bool:
    try:
        check_may(principal, row)
    except Forbidden:
        return False
    return True
