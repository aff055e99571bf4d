"""One turn with a machine's provider: find what exists, then create what is missing and remove what is too much.

Each step calls the provider, writes nothing, and returns the changes of the machine's row.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.utils import timezone

from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.errors import CircuitOpen
from idcsched.placement.models import Machine, MachineState

from .driver import Call, Condition, Config, Driver, Existing, NotHere, Wanted

__all__ = ["Turn", "changes_after_failure", "take_turn"]

Changes = dict[str, Any]

POLL = timedelta(seconds=2)
SOONEST, LATEST = timedelta(seconds=2), timedelta(minutes=5)
FIRST_LOOK, LAST_LOOK = timedelta(minutes=1), timedelta(hours=1)
"""Machines that are up or gone are checked ever more rarely, as a provider may carry out a request late. After an hour
a machine that is gone is checked no more, one that is up as often as its provider's configuration says.
"""
MANY_TRIES = 5
LONGEST_ERROR = 1000
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Turn:
    """A claimed machine with its provider's driver and the bounds of the turn."""

    machine: Machine
    driver: Driver
    call: Call

    def existing_machines(self) -> list[Existing]:
        """Return all machines at the provider with this machine's token or noted id."""
        by_id = {existing.id: existing for existing in self.driver.find(self.call, str(self.machine.pk))}
        noted_id = self.machine.provider_id
        if noted_id and noted_id not in by_id and (noted_machine := self.driver.get(self.call, noted_id)) is not None:
            by_id[noted_machine.id] = noted_machine
        return list(by_id.values())

    def remove(self, machines: Iterable[Existing]) -> None:
        for existing in machines:
            if existing.condition != Condition.GOING:
                self.driver.delete(self.call, existing.id)

    def machine_to_keep(self, machines: Iterable[Existing]) -> Existing | None:
        """Return the living machine to keep: the one noted before, else one that is up, else one that starts."""
        living = [existing for existing in machines if existing.condition in (Condition.UP, Condition.STARTING)]
        noted_id = self.machine.provider_id
        return min(
            living, key=lambda each: (each.id != noted_id, each.condition != Condition.UP, each.id), default=None
        )

    @property
    def overdue(self) -> bool:
        return timezone.now() - self.machine.since > timedelta(seconds=self.driver.config.boot_seconds)


class StartFailed(Unavailable):
    """The created machine will not come up and is being removed."""


def take_turn(turn: Turn) -> Changes:
    """Do the step of the machine's state and return its changes; raises whatever the driver raises."""
    return _STEPS[MachineState(turn.machine.state)](turn)


def changes_after_failure(machine: Machine, error: Exception, turn: Turn | None = None) -> Changes:
    """Return the changes after a failed turn: what is noted, and when the next turn is."""
    now, config = timezone.now(), turn.driver.config if turn else Config()
    text, tries = _error_text(error, turn), machine.tries + 1
    later = {"next_try_at": now + _pause(tries)}
    if machine.state == MachineState.ACTIVE:  # a failed check does not mean that the machine is missing
        next_try_at = later["next_try_at"] if tries < MANY_TRIES else _routine_check(now, config)
        return {"next_try_at": next_try_at, "tries": tries}
    if machine.state == MachineState.DELETED:
        return {**later, "tries": tries} if now - machine.since < 24 * LAST_LOOK else {"next_try_at": None}
    if machine.state == MachineState.DELETING:
        return {**later, "tries": tries, "error": text}
    start_failed = isinstance(error, StartFailed)
    coming_up = machine.provider_id and not start_failed and not (turn and turn.overdue)
    if coming_up or isinstance(error, CircuitOpen):  # with an open circuit nothing was tried
        return {**later, "error": text}
    restart = {"lives": machine.lives + 1, "provider_id": "", "addresses": [], "since": now} if start_failed else {}
    if tries >= config.tries or isinstance(error, NotHere):
        return {**restart, "tries": tries, "error": text, "state": MachineState.FAILED, "next_try_at": None}
    return {**later, **restart, "tries": tries, "error": text}


def _bring_up(turn: Turn) -> Changes:
    machines = turn.existing_machines()
    kept = turn.machine_to_keep(machines)
    turn.remove(existing for existing in machines if existing is not kept)
    broken = next((existing for existing in machines if existing.condition == Condition.BROKEN), None)
    if kept is None and broken is not None:
        raise StartFailed("machine_broken", _("it broke while starting: {reason}"), reason=broken.error or broken.id)
    if kept is None and turn.machine.provider_id:
        raise StartFailed("machine_gone", _("it went away while starting"))
    if kept is None:
        kept = turn.driver.create(turn.call, _wanted(turn.machine))
        return {**_changes_of(turn, kept), "since": timezone.now()}
    if kept.condition == Condition.STARTING and turn.overdue:
        turn.remove([kept])
        seconds = turn.driver.config.boot_seconds
        raise StartFailed("machine_too_slow", _("it was not up within {seconds:g} s"), seconds=seconds)
    return _changes_of(turn, kept)


def _changes_of(turn: Turn, kept: Existing) -> Changes:
    now = timezone.now()
    changes: Changes = {"provider_id": kept.id, "addresses": list(kept.addresses), "next_try_at": now + POLL}
    if kept.condition == Condition.UP:
        up = {"state": MachineState.ACTIVE, "since": now, "next_try_at": now + FIRST_LOOK, "tries": 0, "error": ""}
        return {**changes, **up}
    return changes


def _take_down(turn: Turn) -> Changes:
    machines = turn.existing_machines()
    turn.remove(machines)
    if machines:
        machines = turn.existing_machines()
    now = timezone.now()
    if not machines:
        return {"state": MachineState.DELETED, "since": now, "next_try_at": now + FIRST_LOOK, "tries": 0}
    if turn.overdue:
        seconds = turn.driver.config.boot_seconds
        raise Unavailable("machine_stays", _("it is still there after {seconds:g} s"), seconds=seconds)
    return {"next_try_at": now + POLL, "provider_id": machines[0].id}


def _check_up(turn: Turn) -> Changes:
    """Remove duplicates of a machine that is up; note an error where the machine itself is missing."""
    machines = turn.existing_machines()
    kept = turn.machine_to_keep(machines)
    turn.remove(existing for existing in machines if existing is not kept and existing.id != turn.machine.provider_id)
    now = timezone.now()
    next_look = _next_look(turn.machine.since, now) or _routine_check(now, turn.driver.config)
    if kept is None:
        return {"error": _fault(machines, turn.machine), "next_try_at": min(next_look, now + LATEST), "tries": 0}
    return {
        "provider_id": kept.id, "addresses": list(kept.addresses), "error": "", "tries": 0, "next_try_at": next_look,
    }  # fmt: skip


def _fault(machines: Iterable[Existing], machine: Machine) -> str:
    """Return what is wrong with a machine that should be up."""
    noted_machine = next((existing for existing in machines if existing.id == machine.provider_id), None)
    if noted_machine is None:
        return "the provider does not have it any more"
    going = "it is being removed" if noted_machine.condition == Condition.GOING else "it is not running any more"
    return f"{going}: {noted_machine.error[:LONGEST_ERROR]}" if noted_machine.error else going


def _check_gone(turn: Turn) -> Changes:
    """Remove what the provider has created late for a machine that is gone."""
    machines = turn.existing_machines()
    turn.remove(machines)
    now = timezone.now()
    return {"tries": 0, "next_try_at": now + POLL if machines else _next_look(turn.machine.since, now)}


_STEPS: Mapping[MachineState, Callable[[Turn], Changes]] = MappingProxyType(
    {
        MachineState.CREATING: _bring_up,
        MachineState.ACTIVE: _check_up,
        MachineState.DELETING: _take_down,
        MachineState.DELETED: _check_gone,
    }
)


def _next_look(since: datetime, now: datetime) -> datetime | None:
    """Return the next check, after as long again as the state has lasted; None after an hour."""
    return now + max(now - since, FIRST_LOOK) if now - since < LAST_LOOK else None


def _routine_check(now: datetime, config: Config) -> datetime:
    """Return the next check of a machine that has been up for long, with jitter."""
    return now + timedelta(seconds=config.look_every_seconds) * _spread()


def _spread() -> float:
    return random.uniform(0.75, 1.25)  # noqa: S311 - jitter needs no secure randomness


def _wanted(machine: Machine) -> Wanted:
    placement = machine.attempt.placement
    return Wanted(
        token=str(machine.pk),
        idempotency_key=f"{machine.pk}-{machine.lives}",
        name=machine.name,
        idc=machine.attempt.idc.code,
        region=machine.attempt.idc.region.code,
        tenant=placement.tenant.code,
        placement=str(placement.pk),
        shape=machine.shape,
    )


def _error_text(error: Exception, turn: Turn | None) -> str:
    """Return the error's text without the secret, as servers may repeat what they were sent."""
    text = (str(error) or type(error).__name__)[:LONGEST_ERROR]
    return text.replace(turn.call.secret, HIDDEN) if turn and turn.call.secret else text


def _pause(tries: int) -> timedelta:
    """Return the pause after a failure: exponential backoff with jitter."""
    return min(SOONEST * 2 ** min(tries - 1, 10), LATEST) * _spread()
