"""The writes of this room. Nobody edits signs of life or leases, so they have no history."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from idcsched.audit.writing import write
from idcsched.jobs.models import Heartbeat, Lease, Trade

__all__ = ["FORGOTTEN", "heartbeat_forget", "heartbeat_note", "lease_give_up", "lease_take"]

FORGOTTEN: Final = timedelta(hours=1)
"""So long a process that was killed is still reported as missing."""


@write()
def heartbeat_note(*, trade: Trade, name: str, now: datetime) -> None:
    """The process lives; those that have been missing for long are forgotten."""
    Heartbeat.objects.update_or_create(trade=trade, name=name, defaults={"at": now})
    Heartbeat.objects.filter(at__lt=now - FORGOTTEN).delete()


@write()
def heartbeat_forget(*, trade: Trade, name: str) -> None:
    """The process ends in order."""
    Heartbeat.objects.filter(trade=trade, name=name).delete()


@write()
def lease_take(*, name: str, holder: UUID, now: datetime, lasting: timedelta) -> bool:
    """Whether the holder alone does it from now on; one that has it already has it for longer.

    Who dies with it loses it when its time is up.
    """
    free = Q(until__lte=now) | Q(holder=holder)
    if Lease.objects.filter(free, name=name).update(holder=holder, until=now + lasting):
        return True
    Lease.objects.bulk_create([Lease(name=name, holder=holder, until=now + lasting)], ignore_conflicts=True)
    return Lease.objects.filter(name=name, holder=holder).exists()


@write()
def lease_give_up(*, name: str, holder: UUID) -> None:
    """Somebody else may."""
    Lease.objects.filter(name=name, holder=holder).delete()
