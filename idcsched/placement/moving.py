"""What can be done to a placement that is there: confirm, release, let expire.

Each is safe to do twice at once: the row is held, and whoever comes second finds it moved already.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.audit.writing import write
from idcsched.framework.errors import NotFound
from idcsched.ledger.taking import claims_fade_begin, claims_release

from .events import advance, held
from .lifecycle import HOLDING, Move, State
from .models import Placement

__all__ = ["capacity_given_back", "finish_release", "placement_confirm", "placement_release", "placements_expire"]


@write()
def placement_confirm(*, placement: Placement) -> Placement:
    """The portal has booted the machines itself; raises Conflict `invalid_transition`."""
    found = held(placement.pk)
    now = timezone.now()
    advance(found, Move.CONFIRM, expires_at=None, held_back="")
    claims_fade_begin(placement=found.pk, since=now)
    return found


@write()
def placement_release(*, placement: Placement) -> Placement:
    """Give back what it holds: at once where nothing stands yet; raises Conflict `invalid_transition`."""
    found = held(placement.pk)
    holding = found.state in HOLDING
    advance(found, Move.RELEASE, expires_at=None, held_back="")
    if found.state == State.RELEASING:
        finish_release(found)
    elif holding:
        capacity_given_back(found)
    return found


def finish_release(placement: Placement) -> None:
    """Where no machine of the placement stands any more, it is gone. The placement must be held."""
    advance(placement, Move.GONE)
    capacity_given_back(placement)


def placements_expire(*, now: datetime, at_most: int = 1000) -> int:
    """End what was reserved or has waited for too long; says how many. Many workers may do so at once."""
    due = Placement.objects.filter(state__in=[State.RESERVED, State.WAITING], expires_at__lte=now)
    ids = list(due.order_by("expires_at").values_list("pk", flat=True)[:at_most])
    return sum(_expire(placement_id, now) for placement_id in ids)


@transaction.atomic
def _expire(placement_id: UUID, now: datetime) -> bool:
    try:
        found = held(placement_id, skip_locked=True)
    except NotFound:  # somebody else is at it
        return False
    if found.state not in (State.RESERVED, State.WAITING) or found.expires_at is None or found.expires_at > now:
        return False
    holding = found.state == State.RESERVED
    advance(found, Move.EXPIRE, expires_at=None)
    if holding:
        capacity_given_back(found)
    return True


def capacity_given_back(placement: Placement) -> None:
    """The ledger forgets the placement's claims. The placement must be held."""
    if placement.idc is None:
        return
    claims_release(
        placement=placement.pk,
        idc=placement.idc.code,
        tenant=placement.tenant.code,
        business=placement.business,
        machines=placement.machine_count,
        at=timezone.now(),
    )
