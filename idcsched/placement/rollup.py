"""The state of a placement by its machines: active once all are up, released once all are gone.

All functions run while the placement is held, in the transaction that changes a machine.
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
"""The number of failed removals of a machine after which the placement needs attention."""
STUCK_AFTER = timedelta(hours=1)
"""The time after which a placement that needs attention counts as stuck."""
GONE = (MachineState.DELETED, MachineState.GIVEN_UP)


def settle(placement: Placement) -> None:
    """Move the placement to the state that its machines allow. The placement must be held."""
    now = timezone.now()
    if placement.state == State.PROVISIONING:
        _settle_attempt(placement, now)
    elif placement.state == State.RELEASING and not _remaining(placement):
        advance(placement, Move.GONE)
        capacity_given_back(placement)
    _note_attention(placement)


def machines_remove(placement: Placement, now: datetime) -> None:
    """Have all machines of the placement removed, in whatever IDC. The placement must be held.

    A machine that no worker has begun yet was never ordered from a provider and is deleted at once.
    """
    not_begun = _remaining(placement).filter(state=MachineState.PENDING)
    not_begun.update(state=MachineState.DELETED, since=now, next_try_at=None)
    tend_soon(_remaining(placement).exclude(state=MachineState.DELETING), MachineState.DELETING, now)


def attempt_gone(placement: Placement) -> Attempt | None:
    """Return the last attempt, if it has failed and none of its machines remains."""
    attempt = placement.attempts.order_by("-number").first()
    if attempt is None or attempt.state != AttemptState.FAILED or _remaining(placement).exists():
        return None
    return attempt


def _remaining(placement: Placement) -> QuerySet[Machine]:
    return Machine.objects.filter(attempt__placement=placement).exclude(state__in=GONE)


def machines_give_up(placement: Placement) -> list[dict[str, Any]]:
    """Give up the remaining machines, which stay at their providers, and list them. The placement must be held."""
    remaining = list(_remaining(placement).order_by("attempt__number", "number"))
    _remaining(placement).update(state=MachineState.GIVEN_UP, since=timezone.now(), next_try_at=None)
    return [_machine_detail(machine) for machine in remaining]


def stuck(now: datetime) -> Q:
    """Return the condition for placements that have long held capacity for machines that can't be removed."""
    states = [State.PROVISIONING, State.RELEASING]
    return Q(needs_attention=True, state__in=states, changed_at__lte=now - STUCK_AFTER)


def _settle_attempt(placement: Placement, now: datetime) -> None:
    attempt = placement.attempts.order_by("-number").first()
    if attempt is None or attempt.state != AttemptState.TRYING:
        return
    machines = list(attempt.machines.all())
    if failed := [machine for machine in machines if machine.state == MachineState.FAILED]:
        _end_attempt(attempt, AttemptState.FAILED, now, error=f"{failed[0].name}: {failed[0].error}")
        machines_remove(placement, now)
    elif _all_up(machines):
        _end_attempt(attempt, AttemptState.ACTIVE, now)
        advance(placement, Move.UP)
        claims_fade_begin(placement=placement.pk, since=now)


def _all_up(machines: Sequence[Machine]) -> bool:
    return all(machine.state == MachineState.ACTIVE for machine in machines)


def _end_attempt(attempt: Attempt, state: AttemptState, now: datetime, *, error: str = "") -> None:
    attempt.state, attempt.ended_at, attempt.error = state, now, error
    attempt.save(update_fields=["state", "ended_at", "error"])


def _note_attention(placement: Placement) -> None:
    """Note whether the placement needs attention: a machine can't be removed, or is missing."""
    machines = Machine.objects.filter(attempt__placement=placement)
    stays = machines.filter(state=MachineState.DELETING, tries__gte=ATTENTION_AFTER)
    missing = list(machines.filter(state=MachineState.ACTIVE).exclude(error=""))
    needed, before = stays.exists() or bool(missing), placement.needs_attention
    if needed != before:
        placement.needs_attention = needed
        placement.save(update_fields=["needs_attention"])
    if placement.state == State.ACTIVE and (missing or before):
        _advance_by_missing(placement, missing)


def _advance_by_missing(placement: Placement, missing: Sequence[Machine]) -> None:
    """Write an event when another machine is missing, and one when none is any more."""
    reports = Event.objects.filter(placement=placement, move__in=[Move.LOST, Move.FOUND])
    last = reports.order_by("-version").first()
    reported = {machine["id"] for machine in last.detail["machines"]} if last and last.move == Move.LOST else set()
    if {str(machine.pk) for machine in missing} - reported:
        advance(placement, Move.LOST, detail={"machines": [_machine_detail(machine) for machine in missing]})
    elif reported and not missing:
        advance(placement, Move.FOUND)


def _machine_detail(machine: Machine) -> dict[str, Any]:
    return {"id": str(machine.pk), "name": machine.name, "provider_id": machine.provider_id, "error": machine.error}
