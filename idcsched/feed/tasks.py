"""Background work of this package. Each task calls a service and returns its counts."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["feed_prune"]

KEPT = timedelta(days=1)
"""Far longer than any process goes without reading the feed; a process that starts reads all data anyway."""


@shared_task(ignore_result=True)
def feed_prune() -> dict[str, int]:
    """Delete the feed entries that every process has long since read."""
    return {"pruned": services.feed_prune(before=timezone.now() - KEPT)}
