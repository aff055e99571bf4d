"""What can be done to a placement that is there: confirm, provision, release, give up, let expire.

Each is safe to do twice at once: the row is held, and whoever comes second finds it moved already.
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

from .events import advance, held
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
    """The portal has booted the machines itself; raises Conflict `invalid_transition`, also where its time is up."""
    found, now = held(placement.pk), timezone.now()
    next_state(State.EXPIRED if _overdue(found, now) else found.state, Move.CONFIRM)
    advance(found, Move.CONFIRM, expires_at=None, held_back="")
    claims_fade_begin(placement=found.pk, since=now)
    return found


@write()
def placement_provision(*, placement: Placement) -> Placement:
    """Have the machines of a reservation started.

    Raises Conflict `invalid_transition`, also where its time is up, `no_provider`, Invalid `machines_required`,
    `too_many_machines`.
    """
    found = held(placement.pk)
    next_state(State.EXPIRED if _overdue(found, timezone.now()) else found.state, Move.PROVISION)
    machines_check(convert(found.request, Request))
    provision_begin(found)
    return found


@write()
def placement_release(*, placement: Placement) -> Placement:
    """Give back what it holds: at once where nothing stands, else once its machines are gone.

    Raises Conflict `invalid_transition`.
    """
    found = held(placement.pk)
    holding = found.state in HOLDING
    advance(found, Move.RELEASE, expires_at=None, held_back="")
    if found.state == State.RELEASING:
        machines_remove(found, timezone.now())
        settle(found)
    elif holding:
        capacity_given_back(found)
    return found


@write()
def placement_give_up(*, placement: Placement, reason: str) -> Placement:
    """End the release of one whose machines its provider does not remove, and give back what it holds.

    They are looked for no more; whoever gives the reason sees to them. Raises Conflict `invalid_transition`,
    `not_stuck` while nothing has gone wrong.
    """
    found = held(placement.pk)
    next_state(found.state, Move.GIVE_UP)
    if not found.needs_attention:
        raise Conflict("not_stuck", _("its machines are still being removed: nothing has gone wrong so far"))
    left = machines_give_up(found)
    advance(found, Move.GIVE_UP, detail={"reason": reason, "machines": left}, needs_attention=False)
    capacity_given_back(found)
    given_up = {"state": found.state, "reason": reason, "machines": [each["name"] for each in left]}
    change_record(kind="placement", key=str(found.pk), before={"state": State.RELEASING}, after=given_up)
    return found


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
    if not _overdue(found, now):
        return False
    holding = found.state == State.RESERVED
    advance(found, Move.EXPIRE, expires_at=None)
    if holding:
        capacity_given_back(found)
    return True


def _overdue(placement: Placement, now: datetime) -> bool:
    """Whether its time is up, though nobody has let it expire yet."""
    ends = placement.state in (State.RESERVED, State.WAITING)
    return ends and placement.expires_at is not None and placement.expires_at <= now
