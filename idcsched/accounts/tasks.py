"""Background work of this package. Each task calls a service and returns its counts."""

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from . import services

__all__ = ["idempotency_prune", "sessions_prune"]


@shared_task(ignore_result=True)
def idempotency_prune() -> dict[str, int]:
    """Delete the answers that idempotency keys no longer keep."""
    return {"pruned": services.idempotency_prune(now=timezone.now())}


@shared_task(ignore_result=True)
def sessions_prune() -> None:
    """Delete the sessions that have expired."""
    call_command("clearsessions")
