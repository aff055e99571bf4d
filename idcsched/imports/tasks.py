"""Celery tasks of imports. Each task calls a service and returns its counts."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["import_run", "imports_sweep"]

KEPT = timedelta(days=30)


@shared_task(ignore_result=True, soft_time_limit=1500, time_limit=1560)
def import_run(import_id: int) -> dict[str, int]:
    """Check an import, or apply it."""
    return services.import_run(import_id=import_id)


@shared_task(ignore_result=True)
def imports_sweep() -> dict[str, int]:
    """Announce imports that no worker has, and delete old ones."""
    now = timezone.now()
    return services.imports_resume(now=now) | services.imports_prune(before=now - KEPT)
