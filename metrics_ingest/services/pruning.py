from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from idcsched.audit.writing import write
from metrics_ingest.models import BandwidthDay, SampleDay
from metrics_ingest.samples.checking import KEPT

__all__ = ["history_prune"]

STEP: Final = 2000
STEPS: Final = 500
DAYS_KEPT: Final = timedelta(days=400)
"""Figures of days: thirteen months, so that a month can be held against the same one of the year before."""


def history_prune(*, now: datetime) -> int:
    """Remove days of samples that are over forty days old, and figures of days over four hundred; says how many.

    In small steps, each a transaction: whoever writes or reads meanwhile waits for a few rows at most. What a call
    leaves, for it takes a million rows and no more, the next one removes.
    """
    samples = SampleDay.objects.filter(day__lt=(now - KEPT).date()).order_by("day")
    days = BandwidthDay.objects.filter(day__lt=(now - DAYS_KEPT).date()).order_by("day")
    return _prune(lambda: _step(samples)) + _prune(lambda: _step(days))


def _prune(step: Callable[[], int]) -> int:
    total = 0
    for _ in range(STEPS):
        removed = step()
        total += removed
        if removed < STEP:
            break
    return total


@write()
def _step(rows: QuerySet[SampleDay] | QuerySet[BandwidthDay]) -> int:
    ids = list(rows.values_list("pk", flat=True)[:STEP])
    return rows.model._default_manager.filter(pk__in=ids).delete()[0]
