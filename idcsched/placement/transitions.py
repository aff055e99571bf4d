"""Moves of an existing placement: confirm, provision, release, give up, expire.

Concurrent calls are safe: the row is locked, and the second call finds the placement moved already.
"""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.audit.services import change_record
from idcsched.audit.writing import write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, NotFound
from idcsched.framework.messages import _
from idcsched.framework.request import Request
from idcsched.ledger.taking import claims_fade_begin

from .events import advance, placement_locked
from .lifecycle import HOLDING, Move, State, next_state
from .models import Placement
from .release import capacity_given_back
from .rollup import machines_give_up, machines_remove, settle
from .start import machines_check, provision_begin

__all__ = [
    "placement_confirm",
    "placement_give_up",
    "placement_provision",
    "placement_release",
    "placements_expire",
]


@write()
def placement_confirm(*, placement: Placement) -> Placement:
    """Note that the client has started the machines itself; the placement that this one replaces is released.

    Raises Conflict `invalid_transition`, also once expired.
    """
    locked, now = placement_locked(placement.pk), timezone.now()
    next_state(State.EXPIRED if _overdue(locked, now) else locked.state, Move.CONFIRM)
    advance(locked, Move.CONFIRM, expires_at=None, held_back="")
    claims_fade_begin(placement=locked.pk, since=now)
    if locked.replaces_id is not None:
        old = placement_locked(locked.replaces_id)
        if old.state == State.ACTIVE:  # else it was released already
            _released(old, replaced_by=str(locked.pk))
    return locked


@write()
def placement_provision(*, placement: Placement) -> Placement:
    """Have the machines of a reservation started.

    Raises Conflict `invalid_transition`, also once expired, `no_provider`, Invalid `machines_required`,
    `too_many_machines`.
    """
    locked = placement_locked(placement.pk)
    next_state(State.EXPIRED if _overdue(locked, timezone.now()) else locked.state, Move.PROVISION)
    machines_check(convert(locked.request, Request))
    provision_begin(locked)
    return locked


@write()
def placement_release(*, placement: Placement) -> Placement:
    """Release the placement's capacity: at once if it has no machines, else once they are gone.

    Raises Conflict `invalid_transition`.
    """
    locked = placement_locked(placement.pk)
    _released(locked)
    return locked


@write()
def placement_give_up(*, placement: Placement, reason: str) -> Placement:
    """End the release of a placement whose machines can't be removed, and release its capacity.

    The machines are tracked no more; the user who gives the reason takes care of them. Raises Conflict
    `invalid_transition`, `not_stuck` while nothing has gone wrong.
    """
    locked = placement_locked(placement.pk)
    next_state(locked.state, Move.GIVE_UP)
    if not locked.needs_attention:
        raise Conflict("not_stuck", _("its machines are still being removed: nothing has gone wrong so far"))
    left = machines_give_up(locked)
    advance(locked, Move.GIVE_UP, detail={"reason": reason, "machines": left}, needs_attention=False)
    capacity_given_back(locked)
    given_up = {"state": locked.state, "reason": reason, "machines": [machine["name"] for machine in left]}
    change_record(kind="placement", key=str(locked.pk), before={"state": State.RELEASING}, after=given_up)
    return locked


def placements_expire(*, now: datetime, at_most: int = 1000) -> int:
    """Expire overdue reservations and waiting orders; return how many. Workers may run this concurrently."""
    due = Placement.objects.filter(state__in=[State.RESERVED, State.WAITING], expires_at__lte=now)
    ids = list(due.order_by("expires_at").values_list("pk", flat=True)[:at_most])
    return sum(_expire(placement_id, now) for placement_id in ids)


@transaction.atomic
def _expire(placement_id: UUID, now: datetime) -> bool:
    try:
        locked = placement_locked(placement_id, skip_locked=True)
    except NotFound:  # another worker has locked it
        return False
    if not _overdue(locked, now):
        return False
    holding = locked.state == State.RESERVED
    advance(locked, Move.EXPIRE, expires_at=None)
    if holding:
        capacity_given_back(locked)
    return True


def _released(locked: Placement, **detail: str) -> None:
    holding = locked.state in HOLDING
    advance(locked, Move.RELEASE, detail=detail, expires_at=None, held_back="")
    if locked.state == State.RELEASING:
        machines_remove(locked, timezone.now())
        settle(locked)
    elif holding:
        capacity_given_back(locked)


def _overdue(placement: Placement, now: datetime) -> bool:
    """Return whether the placement's time is up, even if it has not been made to expire yet."""
    ends = placement.state in (State.RESERVED, State.WAITING)
    return ends and placement.expires_at is not None and placement.expires_at <= now
