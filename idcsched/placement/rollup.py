"""What the machines of a placement mean to it: once all are up it is active, once all are gone it is released.

Everything here is done while the placement is held, in the transaction that changes a machine.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from idcsched.ledger.taking import claims_fade_begin

from .events import advance
from .lifecycle import Move, State
from .models import Attempt, AttemptState, Event, Machine, MachineState, Placement
from .release import capacity_given_back
from .start import tend_soon

__all__ = ["ATTENTION_AFTER", "STUCK_AFTER", "attempt_gone", "machines_give_up", "machines_remove", "settle", "stuck"]

ATTENTION_AFTER = 5
"""So often removing a machine fails before somebody should look."""
STUCK_AFTER = timedelta(hours=1)
"""After that long nobody need hope that it comes right by itself."""
GONE = (MachineState.DELETED, MachineState.GIVEN_UP)


def settle(placement: Placement) -> None:
    """Move the placement on as far as its machines are. The placement must be held."""
    now = timezone.now()
    if placement.state == State.PROVISIONING:
        _provisioned(placement, now)
    elif placement.state == State.RELEASING and not _standing(placement):
        advance(placement, Move.GONE)
        capacity_given_back(placement)
    _attend(placement)


def machines_remove(placement: Placement, now: datetime) -> None:
    """Have all its machines removed, wherever they stand. The placement must be held.

    For one that no worker has begun yet no provider was asked: it is gone as it is.
    """
    unbegun = _standing(placement).filter(state=MachineState.PENDING)
    unbegun.update(state=MachineState.DELETED, since=now, next_try_at=None)
    tend_soon(_standing(placement).exclude(state=MachineState.DELETING), MachineState.DELETING, now)


def attempt_gone(placement: Placement) -> Attempt | None:
    """The last attempt, if it has failed and nothing is left of it."""
    attempt = placement.attempts.order_by("-number").first()
    if attempt is None or attempt.state != AttemptState.FAILED or _standing(placement).exists():
        return None
    return attempt


def _standing(placement: Placement) -> QuerySet[Machine]:
    return Machine.objects.filter(attempt__placement=placement).exclude(state__in=GONE)


def machines_give_up(placement: Placement) -> list[dict[str, Any]]:
    """Let all that stands stand where it is; says what that was. The placement must be held."""
    left = list(_standing(placement).order_by("attempt__number", "number"))
    _standing(placement).update(state=MachineState.GIVEN_UP, since=timezone.now(), next_try_at=None)
    return [_named(machine) for machine in left]


def stuck(now: datetime) -> Q:
    """Placements that hold capacity for machines which their provider does not remove, and have done so for long."""
    states = [State.PROVISIONING, State.RELEASING]
    return Q(needs_attention=True, state__in=states, changed_at__lte=now - STUCK_AFTER)


def _provisioned(placement: Placement, now: datetime) -> None:
    attempt = placement.attempts.order_by("-number").first()
    if attempt is None or attempt.state != AttemptState.TRYING:
        return
    machines = list(attempt.machines.all())
    if failed := [machine for machine in machines if machine.state == MachineState.FAILED]:
        _ended(attempt, AttemptState.FAILED, now, error=f"{failed[0].name}: {failed[0].error}")
        machines_remove(placement, now)
    elif _all_up(machines):
        _ended(attempt, AttemptState.ACTIVE, now)
        advance(placement, Move.UP)
        claims_fade_begin(placement=placement.pk, since=now)


def _all_up(machines: Sequence[Machine]) -> bool:
    return all(machine.state == MachineState.ACTIVE for machine in machines)


def _ended(attempt: Attempt, state: AttemptState, now: datetime, *, error: str = "") -> None:
    attempt.state, attempt.ended_at, attempt.error = state, now, error
    attempt.save(update_fields=["state", "ended_at", "error"])


def _attend(placement: Placement) -> None:
    """Whether a machine is left that can't be removed, or one is missing that should be there."""
    machines = Machine.objects.filter(attempt__placement=placement)
    stays = machines.filter(state=MachineState.DELETING, tries__gte=ATTENTION_AFTER)
    missing = list(machines.filter(state=MachineState.ACTIVE).exclude(error=""))
    needed, before = stays.exists() or bool(missing), placement.needs_attention
    if needed != before:
        placement.needs_attention = needed
        placement.save(update_fields=["needs_attention"])
    if placement.state == State.ACTIVE and (missing or before):
        _tell_missing(placement, missing)


def _tell_missing(placement: Placement, missing: Sequence[Machine]) -> None:
    """An event when one more is missing, and one when none is any more."""
    told = Event.objects.filter(placement=placement, move__in=[Move.LOST, Move.FOUND]).order_by("-version").first()
    known = {each["id"] for each in told.detail["machines"]} if told and told.move == Move.LOST else set()
    if {str(machine.pk) for machine in missing} - known:
        advance(placement, Move.LOST, detail={"machines": [_named(machine) for machine in missing]})
    elif known and not missing:
        advance(placement, Move.FOUND)


def _named(machine: Machine) -> dict[str, Any]:
    return {"id": str(machine.pk), "name": machine.name, "provider_id": machine.provider_id, "error": machine.error}
