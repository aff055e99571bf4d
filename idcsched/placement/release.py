"""What a placement took of its IDC goes back: first of all to those that wait for it."""

from datetime import datetime, timedelta

from django.utils import timezone

from idcsched.ledger.keeping import Keep
from idcsched.ledger.taking import claims_release

from .lifecycle import State
from .models import Placement

__all__ = ["capacity_given_back"]

UNTIL_TRIED = timedelta(minutes=1)
"""For so long at most: those that wait are tried within seconds, if anybody is there to do it."""


def capacity_given_back(placement: Placement, *, idc: str | None = None) -> None:
    """The ledger forgets the placement's claims in that IDC, else in its own. The placement must be held."""
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
        keep=_kept_for_others(code, now),
    )


def _kept_for_others(idc: str, now: datetime) -> Keep | None:
    """The most urgent of those that wait for room there."""
    waiting = Placement.objects.filter(state=State.WAITING, expires_at__gt=now, awaits__code=idc)
    priority = waiting.order_by("-priority").values_list("priority", flat=True).first()
    return None if priority is None else Keep(priority=priority, until=now + UNTIL_TRIED)
