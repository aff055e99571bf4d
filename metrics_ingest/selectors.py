"""Finding rows by the names that clients know."""

from datetime import datetime, timedelta
from typing import Final

from idcsched.framework.errors import Invalid

from .models import Metric, Source

__all__ = ["metric_named", "sources_overdue"]

UNANNOUNCED: Final = timedelta(seconds=10)
"""So long a source may be due before the sweep takes it that no message has said so."""


def metric_named(code: str, pointer: str = "") -> Metric:
    """The metric of that code; raises Invalid `unknown_metric`."""
    found = Metric.objects.filter(code=code).first()
    if found is None:
        raise Invalid("unknown_metric", "there is no metric {name}", pointer, name=code)
    return found


def sources_overdue(*, now: datetime) -> list[int]:
    """The sources that should be asked and are not being asked."""
    waiting = Source.objects.filter(enabled=True, claim__isnull=True)
    overdue = waiting.filter(due_at__lte=now - UNANNOUNCED) | waiting.filter(started_at__isnull=True, due_at__lte=now)
    return list(overdue.order_by("due_at").values_list("pk", flat=True))
