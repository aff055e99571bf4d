"""Background work of this package. Each task calls a service and returns its counts."""

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from . import services

__all__ = ["decisions_expire"]


@shared_task(ignore_result=True)
def decisions_expire() -> dict[str, int]:
    """Delete recommendations that are older than the retention."""
    return {"expired": services.decisions_expire(before=timezone.now() - settings.DECISION_RETENTION)}
