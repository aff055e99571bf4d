"""Celery tasks of this package: the sweep for nightly jobs, and a nightly job."""

from celery import shared_task
from django.utils import timezone

from . import nightly

__all__ = ["nightly_run", "nightly_sweep"]


@shared_task(ignore_result=True)
def nightly_sweep() -> dict[str, int]:
    """Announce the nightly jobs that are due."""
    return {"announced": len(nightly.nightly_announce(now=timezone.now()))}


@shared_task(ignore_result=True)
def nightly_run(task: str) -> None:
    """Do one nightly job, if it is due."""
    nightly.nightly_run(task)
