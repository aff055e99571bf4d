"""One turn with a machine's provider: what is there is looked for first, then what is missing or too much is mended.

Each function gives the changes of the machine's row. They ask the provider and write nothing.
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

from .driver import Call, Condition, Config, Driver, Existing, NotHere, Wanted
from .models import Machine, MachineState

__all__ = ["Turn", "turn_taken", "went_wrong"]

Changes = dict[str, Any]

POLL = timedelta(seconds=2)
SOONEST, LATEST = timedelta(seconds=2), timedelta(minutes=5)
FIRST_LOOK, LAST_LOOK = timedelta(minutes=1), timedelta(hours=1)
"""What is up or gone is looked for again, ever more rarely: a provider may do late what it was asked long ago. After
an hour what is gone is looked for no more, what is up as often as its provider's configuration says.
"""
MANY_TRIES = 5
LONGEST_ERROR = 1000
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Turn:
    """A machine that is claimed, and what drives its provider."""

    machine: Machine
    driver: Driver
    call: Call

    def there(self) -> list[Existing]:
        """Everything that bears its token, or the id that was noted."""
        found = {existing.id: existing for existing in self.driver.find(self.call, str(self.machine.pk))}
        noted = self.machine.provider_id
        if noted and noted not in found and (same := self.driver.get(self.call, noted)) is not None:
            found[same.id] = same
        return list(found.values())

    def remove(self, doomed: Iterable[Existing]) -> None:
        for each in doomed:
            if each.condition != Condition.GOING:
                self.driver.delete(self.call, each.id)

    def the_one(self, there: Iterable[Existing]) -> Existing | None:
        """Of those that are alive the one to keep: it was kept before, or is the furthest."""
        alive = [each for each in there if each.condition in (Condition.UP, Condition.STARTING)]
        noted = self.machine.provider_id
        return min(alive, key=lambda each: (each.id != noted, each.condition != Condition.UP, each.id), default=None)

    @property
    def overdue(self) -> bool:
        return timezone.now() - self.machine.since > timedelta(seconds=self.driver.config.boot_seconds)


class CameToNothing(Unavailable):
    """What was created will not come up; it is on its way out."""


def turn_taken(turn: Turn) -> Changes:
    """Do what is due; raises whatever the driver raises."""
    return _STEPS[MachineState(turn.machine.state)](turn)


def went_wrong(machine: Machine, error: Exception, turn: Turn | None = None) -> Changes:
    """What to note of a turn that failed, and when to try again."""
    now, config = timezone.now(), turn.driver.config if turn else Config()
    said, tries = _said(error, turn), machine.tries + 1
    later = {"next_try_at": now + _pause(tries)}
    if machine.state == MachineState.ACTIVE:  # nothing is known of it, least of all that it is missing
        return {**later, "tries": tries} if tries < MANY_TRIES else {"next_try_at": _later(now, config), "tries": tries}
    if machine.state == MachineState.DELETED:
        return {**later, "tries": tries} if now - machine.since < 24 * LAST_LOOK else {"next_try_at": None}
    if machine.state == MachineState.DELETING:
        return {**later, "tries": tries, "error": said}
    lost = isinstance(error, CameToNothing)
    coming_up = machine.provider_id and not lost and not (turn and turn.overdue)
    if coming_up or isinstance(error, CircuitOpen):  # or nothing was tried at all
        return {**later, "error": said}
    again = {"lives": machine.lives + 1, "provider_id": "", "addresses": [], "since": now} if lost else {}
    if tries >= config.tries or isinstance(error, NotHere):
        return {**again, "tries": tries, "error": said, "state": MachineState.FAILED, "next_try_at": None}
    return {**later, **again, "tries": tries, "error": said}


def _brought_up(turn: Turn) -> Changes:
    there = turn.there()
    kept = turn.the_one(there)
    turn.remove(each for each in there if each is not kept)
    if kept is None and (broken := next((each for each in there if each.condition == Condition.BROKEN), None)):
        raise CameToNothing("machine_broken", _("it broke while starting: {reason}"), reason=broken.error or broken.id)
    if kept is None and turn.machine.provider_id:
        raise CameToNothing("machine_gone", _("it went away while starting"))
    if kept is None:
        kept = turn.driver.create(turn.call, _wanted(turn.machine))
        return {**_seen(turn, kept), "since": timezone.now()}
    if kept.condition == Condition.STARTING and turn.overdue:
        turn.remove([kept])
        seconds = turn.driver.config.boot_seconds
        raise CameToNothing("machine_too_slow", _("it was not up within {seconds:g} s"), seconds=seconds)
    return _seen(turn, kept)


def _seen(turn: Turn, kept: Existing) -> Changes:
    now = timezone.now()
    changes: Changes = {"provider_id": kept.id, "addresses": list(kept.addresses), "next_try_at": now + POLL}
    if kept.condition == Condition.UP:
        up = {"state": MachineState.ACTIVE, "since": now, "next_try_at": now + FIRST_LOOK, "tries": 0, "error": ""}
        return {**changes, **up}
    return changes


def _taken_down(turn: Turn) -> Changes:
    there = turn.there()
    turn.remove(there)
    if there:
        there = turn.there()
    now = timezone.now()
    if not there:
        return {"state": MachineState.DELETED, "since": now, "next_try_at": now + FIRST_LOOK, "tries": 0}
    if turn.overdue:
        seconds = turn.driver.config.boot_seconds
        raise Unavailable("machine_stays", _("it is still there after {seconds:g} s"), seconds=seconds)
    return {"next_try_at": now + POLL, "provider_id": there[0].id}


def _still_up(turn: Turn) -> Changes:
    """Nothing is to be beside it; where it is missing itself, somebody should know."""
    there = turn.there()
    kept = turn.the_one(there)
    turn.remove(each for each in there if each is not kept and each.id != turn.machine.provider_id)
    now = timezone.now()
    next_look = _next_look(turn.machine.since, now) or _later(now, turn.driver.config)
    if kept is None:
        return {"error": _missing(there, turn.machine), "next_try_at": min(next_look, now + LATEST), "tries": 0}
    return {
        "provider_id": kept.id, "addresses": list(kept.addresses), "error": "", "tries": 0, "next_try_at": next_look,
    }  # fmt: skip


def _missing(there: Iterable[Existing], machine: Machine) -> str:
    """What is wrong with one that should be up."""
    same = next((each for each in there if each.id == machine.provider_id), None)
    if same is None:
        return "the provider does not have it any more"
    going = "it is being removed" if same.condition == Condition.GOING else "it is not running any more"
    return f"{going}: {same.error[:LONGEST_ERROR]}" if same.error else going


def _still_gone(turn: Turn) -> Changes:
    """Nothing is to have come back; what was created late goes."""
    there = turn.there()
    turn.remove(there)
    now = timezone.now()
    return {"tries": 0, "next_try_at": now + POLL if there else _next_look(turn.machine.since, now)}


_STEPS: Mapping[MachineState, Callable[[Turn], Changes]] = MappingProxyType(
    {
        MachineState.CREATING: _brought_up,
        MachineState.ACTIVE: _still_up,
        MachineState.DELETING: _taken_down,
        MachineState.DELETED: _still_gone,
    }
)


def _next_look(since: datetime, now: datetime) -> datetime | None:
    """As long again as it is in its state already; after an hour never."""
    return now + max(now - since, FIRST_LOOK) if now - since < LAST_LOOK else None


def _later(now: datetime, config: Config) -> datetime:
    """When to look for what has been up for long; not for all at once that came up at once."""
    return now + timedelta(seconds=config.look_every_seconds) * _spread()


def _spread() -> float:
    return random.uniform(0.75, 1.25)  # noqa: S311 - it spreads load and guards nothing


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


def _said(error: Exception, turn: Turn | None) -> str:
    """The error without the secret: servers like to repeat what they were sent."""
    text = (str(error) or type(error).__name__)[:LONGEST_ERROR]
    return text.replace(turn.call.secret, HIDDEN) if turn and turn.call.secret else text


def _pause(tries: int) -> timedelta:
    """Twice as long each time, and never quite the same."""
    return min(SOONEST * 2 ** min(tries - 1, 10), LATEST) * _spread()
