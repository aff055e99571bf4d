"""Releasing a placement's capacity, which is kept for waiting orders first."""

from datetime import datetime, timedelta

from django.utils import timezone

from idcsched.ledger.keeping import Keep
from idcsched.ledger.taking import claims_release

from .lifecycle import State
from .models import Placement

__all__ = ["capacity_given_back"]

UNTIL_TRIED = timedelta(minutes=1)
"""How long released capacity is kept at most; a worker tries the waiting orders within seconds."""


def capacity_given_back(placement: Placement, *, idc: str | None = None) -> None:
    """Release the placement's claims in the given IDC, else in its own. The placement must be held."""
    code = idc or (placement.idc.code if placement.idc else None)
    if code is None:
        return
    now = timezone.now()
    claims_release(
        placement=placement.pk,
        idc=code,
        tenant=placement.tenant.code,
        business=placement.business,
        machines=placement.machine_count,
        at=now,
        keep=_keep_for_waiting(code, now),
    )


def _keep_for_waiting(idc: str, now: datetime) -> Keep | None:
    """Return the keep for the most urgent order that waits for capacity in the IDC, if any."""
    waiting = Placement.objects.filter(state=State.WAITING, expires_at__gt=now, awaits__code=idc)
    priority = waiting.order_by("-priority").values_list("priority", flat=True).first()
    return None if priority is None else Keep(priority=priority, until=now + UNTIL_TRIED)
