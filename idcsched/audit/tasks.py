"""Background work of this room. Each task calls a service and returns its counts."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["feed_prune"]

KEPT = timedelta(days=1)
"""Far longer than any process goes without reading the feed; one that starts reads everything anyway."""


@shared_task(ignore_result=True)
def feed_prune() -> dict[str, int]:
    """Forget what every process has long since read."""
    return {"pruned": services.feed_prune(before=timezone.now() - KEPT)}
