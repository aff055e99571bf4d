"""The writes of this package. Heartbeats and leases have no history, since nobody edits them."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from idcsched.audit.writing import write
from idcsched.jobs.models import Heartbeat, Lease, ProcessKind

__all__ = ["FORGOTTEN", "heartbeat_forget", "heartbeat_note", "lease_give_up", "lease_take"]

FORGOTTEN: Final = timedelta(hours=1)
"""How long a killed process is reported as missing."""


@write()
def heartbeat_note(*, trade: ProcessKind, name: str, now: datetime) -> None:
    """Record that the process is alive, and delete the heartbeats of processes that have been missing for long."""
    Heartbeat.objects.update_or_create(trade=trade, name=name, defaults={"at": now})
    Heartbeat.objects.filter(at__lt=now - FORGOTTEN).delete()


@write()
def heartbeat_forget(*, trade: ProcessKind, name: str) -> None:
    """Delete the heartbeat of a process that ends in order."""
    Heartbeat.objects.filter(trade=trade, name=name).delete()


@write()
def lease_take(*, name: str, holder: UUID, now: datetime, lasting: timedelta) -> bool:
    """Take the lease, or extend the holder's own; return whether `holder` has the lease now.

    The lease of a process that died ends when its time is up.
    """
    free = Q(until__lte=now) | Q(holder=holder)
    if Lease.objects.filter(free, name=name).update(holder=holder, until=now + lasting):
        return True
    Lease.objects.bulk_create([Lease(name=name, holder=holder, until=now + lasting)], ignore_conflicts=True)
    return Lease.objects.filter(name=name, holder=holder).exists()


@write()
def lease_give_up(*, name: str, holder: UUID) -> None:
    """Give up the lease, so that another process can take it."""
    Lease.objects.filter(name=name, holder=holder).delete()
