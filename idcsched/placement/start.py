"""Starting machines: a new attempt in the placement's IDC with a row for each machine, before any provider call."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, Invalid
from idcsched.framework.messages import _
from idcsched.framework.request import Machine as Shape
from idcsched.framework.request import Request
from idcsched.jobs.announcing import announce

from .events import advance
from .lifecycle import Move
from .models import Attempt, Machine, MachineState, Placement
from .usable_providers import providers_usable

__all__ = ["MOST_MACHINES", "announce_machines", "attempt_begin", "machines_check", "provision_begin", "tend_soon"]

MOST_MACHINES = 1000
"""The most machines that are started for one placement."""
ANNOUNCED = timedelta(seconds=20)
"""A message that no worker has taken by then is dropped, and the sweep sends another."""
LONGEST_NAME = 200


def machines_check(request: Request) -> None:
    """Raise Invalid unless the request lists the machines to be started, and not too many."""
    if not request.machine_count:
        raise Invalid("machines_required", _("say which machines are to be started"), "/machines")
    if request.machine_count > MOST_MACHINES:
        detail = _("at most {most} machines are started for one placement")
        raise Invalid("too_many_machines", detail, "/machines", most=MOST_MACHINES)


def provision_begin(placement: Placement) -> None:
    """Have the placement's machines started; it must be held. Raises Conflict `invalid_transition`, `no_provider`."""
    advance(placement, Move.PROVISION, expires_at=None, held_back="")
    attempt_begin(placement)


def attempt_begin(placement: Placement) -> Attempt:
    """Create an attempt in the placement's present IDC, and its machines; raises Conflict `no_provider`."""
    if placement.idc is None or not providers_usable([placement.idc.provider]):
        code = placement.idc.code if placement.idc else ""
        raise Conflict("no_provider", _("the IDC {idc} has no provider that starts machines"), idc=code)
    attempt = Attempt.objects.create(
        placement=placement,
        number=placement.attempts.count() + 1,
        idc=placement.idc,
        decision_id=placement.decision_id,
    )
    machines = list(_machines(attempt, convert(placement.request, Request)))
    Machine.objects.bulk_create(machines)
    announce_machines([machine.pk for machine in machines], timezone.now())
    return attempt


def tend_soon(machines: Iterable[Machine], state: MachineState, now: datetime, **changes: Any) -> None:
    """Set the machines' state and make their next turn due now. Their placement must be held.

    A machine that a worker has claimed stays claimed until that worker is done, or its claim runs out.
    """
    ids = [machine.pk for machine in machines]
    Machine.objects.filter(pk__in=ids).update(state=state, since=now, next_try_at=now, tries=0, **changes)
    announce_machines(ids, now)


def announce_machines(ids: Iterable[UUID], now: datetime) -> None:
    """Announce each machine to the workers on commit.

    The sweep sends no other message for a machine within `ANNOUNCED`, so that messages don't pile up.
    """
    machine_ids = list(ids)
    Machine.objects.filter(pk__in=machine_ids).update(announced_until=now + ANNOUNCED)
    transaction.on_commit(lambda: _announce(machine_ids))


def _announce(machine_ids: Iterable[UUID]) -> None:
    for machine_id in machine_ids:
        announce("idcsched.provisioning.tasks.machine_tend", str(machine_id), expires=ANNOUNCED.total_seconds())


def _machines(attempt: Attempt, request: Request) -> Iterator[Machine]:
    now, number = timezone.now(), 0
    for entry in request.machines or ():
        for _machine in range(1 if entry.count is None else entry.count):
            number += 1
            yield Machine(
                attempt=attempt,
                number=number,
                name=_name(attempt.placement, entry, number, request.machine_count),
                shape=_shape(entry),
                provider=attempt.idc.provider,
                since=now,
                next_try_at=now,
            )


def _name(placement: Placement, entry: Shape, number: int, count: int) -> str:
    """Return the name in the order, with a number where there are several machines."""
    base = entry.name or placement.request_id or f"placement-{placement.pk}"
    return base[:LONGEST_NAME] if entry.name and count == 1 else f"{base[:LONGEST_NAME]}-{number}"


def _shape(entry: Shape) -> Mapping[str, Any]:
    """Return the fields of one machine that the provider gets: all that are set but its count and its name."""
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("count", "name")}
    return {name: value for name, value in fields.items() if value is not None}
