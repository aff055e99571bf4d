"""Celery tasks of machines. Each calls a service and returns its counts."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from idcsched.audit.context import origin_set
from idcsched.placement.services import placements_reconcile

from . import services

__all__ = ["machine_tend", "machines_sweep"]


@shared_task(ignore_result=True)
def machine_tend(machine_id: str) -> dict[str, int]:
    """Do what is due for one machine: start it, look after it, remove it."""
    with origin_set(actor="system", via="task"):
        return {"tended": services.machine_tend(machine_id=UUID(machine_id))}


@shared_task(ignore_result=True)
def machines_sweep() -> dict[str, int]:
    """Find machines that no message announced, and move on placements that stand still."""
    with origin_set(actor="system", via="task"):
        now = timezone.now()
        moved = placements_reconcile(now=now)
        return {"announced": services.machines_announce(now=now), "moved": moved}
