"""Celery tasks of metrics and sources. Each task calls a service and returns its counts."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from metrics_ingest.sources.collecting import source_collect
from metrics_ingest.sources.periodic import source_announce

from . import services
from .selectors import sources_overdue

__all__ = ["history_prune", "rollups_refresh", "runs_prune", "source_run", "sources_sweep"]

RUNS_KEPT = timedelta(days=14)


@shared_task(ignore_result=True)
def rollups_refresh() -> dict[str, int]:
    """Recompute the bandwidth roll-ups of all lines."""
    return {"lines": services.rollups_refresh(now=timezone.now())}


@shared_task(ignore_result=True)
def history_prune() -> dict[str, int]:
    """Delete samples and daily figures that are too old."""
    return {"pruned": services.history_prune(now=timezone.now())}


@shared_task(ignore_result=True, soft_time_limit=180, time_limit=200)
def source_run(source_id: int, *, by_hand: bool = False) -> dict[str, int]:
    """Ask a source if it is due; `by_hand` even where a circuit breaker is open."""
    run = source_collect(source_id=source_id, clock=timezone.now, by_hand=by_hand)
    return {} if run is None else {"stored": run.stored, "refused": run.refused, "unmatched": run.unmatched}


@shared_task(ignore_result=True)
def sources_sweep() -> dict[str, int]:
    """Mark the runs of dead workers as lost, and announce due sources that no message has announced."""
    now = timezone.now()
    lost, overdue = services.runs_lose(now=now), sources_overdue(now=now)
    for source_id in overdue:
        source_announce(source_id)
    return {"lost": lost, "announced": len(overdue)}


@shared_task(ignore_result=True)
def runs_prune() -> dict[str, int]:
    """Delete runs that are over two weeks old."""
    return {"pruned": services.runs_prune(before=timezone.now() - RUNS_KEPT)}
