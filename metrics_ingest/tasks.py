"""Background work of this room. Each task calls a service and returns its counts."""

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["history_prune", "rollups_refresh"]


@shared_task(ignore_result=True)
def rollups_refresh() -> dict[str, int]:
    """Compute anew what the history of bandwidth comes to."""
    return {"lines": services.rollups_refresh(now=timezone.now())}


@shared_task(ignore_result=True)
def history_prune() -> dict[str, int]:
    """Forget what is too old."""
    return {"pruned": services.history_prune(now=timezone.now())}
