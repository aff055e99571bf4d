"""The worker of one machine: starts it, follows it until it is up, removes it, and checks on it afterwards.

A worker claims the machine's row for a limited time, calls the provider outside of any transaction, and writes the
outcome to the row, unless its claim has run out meanwhile. The next worker finds out what a dead one has done by asking
the provider for the machine's token before it creates anything.
"""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Q, Value, When
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from idcsched.audit.writing import write
from idcsched.framework.errors import IdcschedError
from idcsched.jobs.claims import claim, claim_end, unclaimed
from idcsched.placement.events import placement_locked
from idcsched.placement.fallback import placement_try_next_idc
from idcsched.placement.models import Machine, MachineState
from idcsched.placement.rollup import settle
from idcsched.placement.start import announce_machines

from .driver import Call, Driver
from .providers import driver_and_call
from .step import Turn, changes_after_failure, take_turn

__all__ = ["machine_tend", "machines_announce"]

logger = logging.getLogger(__name__)

MARGIN = timedelta(seconds=10)
"""The time that a claim lasts beyond the timeout of its calls."""


def machine_tend(*, machine_id: UUID) -> bool:
    """Do what is due for one machine; return whether anything was. Workers may run this concurrently."""
    due = Machine.objects.filter(_due(timezone.now()), pk=machine_id).first()
    if due is None:
        return False
    resolved = _driver_and_call(due)
    timeout = timedelta(seconds=resolved[1].timeout) if isinstance(resolved, tuple) else timedelta()
    machine = _claimed(machine_id, timeout + MARGIN)
    if machine is None:
        return False
    with bound_contextvars(placement_id=str(machine.attempt.placement_id)):
        changes = (
            _take_turn(Turn(machine, *resolved))
            if isinstance(resolved, tuple)
            else changes_after_failure(machine, resolved)
        )
        if _write_changes(machine, changes):
            placement_try_next_idc(placement_id=machine.attempt.placement_id)
    return True


def machines_announce(*, now: datetime, at_most: int = 500) -> int:
    """Send a message to the workers for each machine that is due; return for how many."""
    unannounced = Q(announced_until__isnull=True) | Q(announced_until__lte=now)
    due = Machine.objects.filter(_due(now), unannounced).order_by("next_try_at")
    ids = list(due.values_list("pk", flat=True)[:at_most])
    announce_machines(ids, now)
    return len(ids)


def _due(now: datetime) -> Q:
    return unclaimed(now) & Q(next_try_at__lte=now)


def _driver_and_call(machine: Machine) -> tuple[Driver, Call] | IdcschedError:
    try:
        return driver_and_call(machine.provider, now=timezone.now())
    except IdcschedError as error:
        return error


def _claimed(machine_id: UUID, duration: timedelta) -> Machine | None:
    """Claim the machine, if it is due."""
    now = timezone.now()
    next_state = Case(
        When(state=MachineState.PENDING, then=Value(MachineState.CREATING)),
        default=F("state"),
    )
    had = claim(Machine.objects.filter(_due(now), pk=machine_id), until=now + duration, state=next_state)
    return had.select_related("attempt__placement__tenant", "attempt__idc__region").first()


def _take_turn(turn: Turn) -> dict[str, Any]:
    """Take the turn and return the changes to be written, whether it succeeded or failed."""
    try:
        return take_turn(turn)
    except IdcschedError as error:
        return changes_after_failure(turn.machine, error, turn)
    except Exception as error:
        logger.exception("provider %s failed at machine %s", turn.machine.provider, turn.machine.pk)
        return changes_after_failure(turn.machine, error, turn)


@write()
def _write_changes(machine: Machine, changes: dict[str, Any]) -> bool:
    """Write the turn's changes and settle the placement; False where another worker has claimed the machine since."""
    placement = placement_locked(machine.attempt.placement_id)
    rows = Machine.objects.filter(pk=machine.pk, claim=machine.claim)
    current_state = rows.values_list("state", flat=True).first()
    if current_state is None:
        logger.warning("machine %s was taken over from a worker that was thought dead", machine.pk)
        return False
    if current_state != machine.state:  # the machine is to be removed by now, say: keep only what the turn has seen
        changes = {name: changes[name] for name in ("provider_id", "addresses") if name in changes}
        announce_machines([machine.pk], timezone.now())
    else:
        changes["announced_until"] = None
    claim_end(machine, **changes)
    settle(placement)
    return True
