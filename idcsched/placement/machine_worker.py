"""One machine on its way: started, looked after until it is up, removed, and looked for again once it is thought to be.

The row is the truth. A worker claims it, asks the provider outside of any transaction, and writes down what came of it,
unless its claim has run out meanwhile. Whatever was done before it died, it or the next one finds out by asking for
the machine's token: nothing is created before that.
"""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from idcsched.audit.writing import write
from idcsched.framework.errors import IdcschedError

from .driver import Call, Driver
from .events import held
from .fallback import placement_fall
from .models import Machine, MachineState
from .provider_rows import driver_and_call
from .provider_step import Turn, turn_taken, went_wrong
from .rollup import settle
from .start import announce_machines

__all__ = ["machine_tend", "machines_announce"]

logger = logging.getLogger(__name__)

MARGIN = timedelta(seconds=10)
"""What a claim lasts beyond the time that its calls may take."""


def machine_tend(*, machine_id: UUID) -> bool:
    """Do what is due for one machine; whether anything was. Many workers may do so at once."""
    found = Machine.objects.filter(_due(timezone.now()), pk=machine_id).first()
    if found is None:
        return False
    driven = _driven(found)
    lasting = timedelta(seconds=driven[1].timeout) if isinstance(driven, tuple) else timedelta()
    machine = _claimed(machine_id, lasting + MARGIN)
    if machine is None:
        return False
    changes = _done(Turn(machine, *driven)) if isinstance(driven, tuple) else went_wrong(machine, driven)
    if _written(machine, changes):
        placement_fall(placement_id=machine.attempt.placement_id)
    return True


def machines_announce(*, now: datetime, at_most: int = 500) -> int:
    """Send for workers for whatever is due; says for how many machines."""
    unannounced = Q(announced_until__isnull=True) | Q(announced_until__lte=now)
    due = Machine.objects.filter(_due(now), unannounced).order_by("next_try_at")
    ids = list(due.values_list("pk", flat=True)[:at_most])
    announce_machines(ids, now)
    return len(ids)


def _due(now: datetime) -> Q:
    return Q(next_try_at__lte=now) & (Q(claimed_until__isnull=True) | Q(claimed_until__lte=now))


def _driven(machine: Machine) -> tuple[Driver, Call] | IdcschedError:
    try:
        return driver_and_call(machine.provider, now=timezone.now())
    except IdcschedError as error:
        return error


def _claimed(machine_id: UUID, lasting: timedelta) -> Machine | None:
    """The machine, if it is due and now the caller's; one statement that can succeed for one caller only."""
    claim, now = uuid4(), timezone.now()
    begun = Case(
        When(state=MachineState.PENDING, then=Value(MachineState.CREATING)),
        default=F("state"),
    )
    Machine.objects.filter(_due(now), pk=machine_id).update(claim=claim, claimed_until=now + lasting, state=begun)
    rows = Machine.objects.select_related("attempt__placement__tenant", "attempt__idc__region")
    return rows.filter(claim=claim).first()


def _done(turn: Turn) -> dict[str, Any]:
    """What is to be written after the turn, however it went."""
    try:
        return turn_taken(turn)
    except IdcschedError as error:
        return went_wrong(turn.machine, error, turn)
    except Exception as error:
        logger.exception("provider %s failed at machine %s", turn.machine.provider, turn.machine.pk)
        return went_wrong(turn.machine, error, turn)


@write()
def _written(machine: Machine, changes: dict[str, Any]) -> bool:
    """What came of the turn, with all that it means to the placement; False where somebody else is at it by now."""
    placement = held(machine.attempt.placement_id)
    rows = Machine.objects.filter(pk=machine.pk, claim=machine.claim)
    now_wanted = rows.values_list("state", flat=True).first()
    if now_wanted is None:
        logger.warning("machine %s was taken over from a worker that was thought dead", machine.pk)
        return False
    if now_wanted != machine.state:  # meanwhile it is to come to another end: what was found out is all that counts
        changes = {name: changes[name] for name in ("provider_id", "addresses") if name in changes}
        announce_machines([machine.pk], timezone.now())
    else:
        changes["announced_until"] = None
    rows.update(claim=None, claimed_until=None, **changes)
    settle(placement)
    return True
