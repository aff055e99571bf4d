"""The admin's front page, with what an operator looks at first."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from idcsched.audit.change_display import kind_name
from idcsched.audit.models import Change
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.taint_state import TaintState, in_state, state_of
from idcsched.scheduling.models import Decision
from idcsched.scheduling.sentences import read
from metrics_ingest.models import Source
from metrics_ingest.selectors import FAILING_FROM, with_last_error
from metrics_ingest.sources.run_notes import note_said

__all__ = ["front_page"]

SHOWN = 8


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Gather what the user may see: failing sources, IDCs by status, taints, the latest decisions and changes."""
    return context | {
        "failing": _failing(),
        "taints": _taints(),
        "labels": dict(TaintState.choices),
        "statuses": _statuses(),
        "decisions": _decisions(request),
        "changes": [{"change": change, "kind": kind_name(change.kind)} for change in _visible(request, Change)[:SHOWN]],
    }


def _failing() -> list[dict[str, Any]]:
    """Return the sources that fail, with the error of their latest run."""
    sources: QuerySet[Any] = with_last_error(Source.objects.filter(enabled=True, failures__gte=FAILING_FROM))
    return [
        {"source": source, "error": note_said(source.last_error) if source.last_error else ""}
        for source in sources.order_by("code")[: SHOWN * 2]
    ]


def _taints() -> list[dict[str, Any]]:
    now = timezone.now()
    in_force_or_coming = in_state(TaintState.IN_FORCE, now) | in_state(TaintState.COMING, now)
    taints = Taint.objects.filter(in_force_or_coming).select_related("idc").order_by("-created_at", "-id")
    return [{"taint": taint, "state": state_of(taint, now)} for taint in taints[: SHOWN * 2]]


def _statuses() -> list[Mapping[str, Any]]:
    names = dict(Idc._meta.get_field("status").flatchoices)
    counts = Idc.objects.order_by("status").values_list("status").annotate(count=Count("id"))
    return [{"status": status, "name": names.get(status, status), "count": count} for status, count in counts]


def _decisions(request: HttpRequest) -> list[dict[str, Any]]:
    return [
        {"decision": decision, "summary": read(decision.answer, decision.sentences).get("summary", "")}
        for decision in _visible(request, Decision)[:SHOWN]
    ]


def _visible(request: HttpRequest, model: Any) -> Any:
    """Return the rows that the model's own list shows to this user, the newest first."""
    return admin.site.get_model_admin(model).get_queryset(request).order_by("-pk")
