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
"""How long daily figures are kept: thirteen months, so that a month can be compared with that of the year before."""


def history_prune(*, now: datetime) -> int:
    """Delete days of samples over 40 days old and daily figures over 400 days old; return how many.

    Each chunk is a transaction, so that other readers and writers wait for a few rows at most. A call deletes at most
    a million rows of each kind; the next call deletes the others.
    """
    samples = SampleDay.objects.filter(day__lt=(now - KEPT).date()).order_by("day")
    days = BandwidthDay.objects.filter(day__lt=(now - DAYS_KEPT).date()).order_by("day")
    return _delete_in_chunks(lambda: _delete_chunk(samples)) + _delete_in_chunks(lambda: _delete_chunk(days))


def _delete_in_chunks(delete_chunk: Callable[[], int]) -> int:
    total = 0
    for _ in range(STEPS):
        removed = delete_chunk()
        total += removed
        if removed < STEP:
            break
    return total


@write()
def _delete_chunk(rows: QuerySet[SampleDay] | QuerySet[BandwidthDay]) -> int:
    ids = list(rows.values_list("pk", flat=True)[:STEP])
    return rows.model._default_manager.filter(pk__in=ids).delete()[0]
