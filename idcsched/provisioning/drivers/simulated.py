"""`simulated`: machines that exist only as rows of the database, with configured delays and failures."""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import msgspec
from django.db.models import Q, QuerySet

from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.errors import TooSlow
from idcsched.placement.provider_models import SimulatedMachine
from idcsched.provisioning.driver import Call, Condition, Config, Driver, Existing, NotHere, Wanted

__all__ = ["Simulated"]

Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class SimulatedConfig(Config, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long starting and removing take, and which share of them fails."""

    up_after_seconds: Seconds = 2.0
    gone_after_seconds: Seconds = 0.5
    refused: Share = 0.0
    """The share of creations that are refused."""
    unanswered: Share = 0.0
    """The share of creations that succeed without a reply."""
    broken: Share = 0.0
    """The share of machines that never come up."""
    stuck: Share = 0.0
    """The share of removals that are refused."""
    at_most: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The number of machines for which there is room."""


class Simulated(Driver):
    """Starts no real machines: for demonstrations, and for trying out what happens when a provider fails."""

    kind = "simulated"
    Config = SimulatedConfig
    config: SimulatedConfig

    def create(self, call: Call, wanted: Wanted) -> Existing:
        if self.config.at_most is not None and self._existing_machines(call).count() >= self.config.at_most:
            raise NotHere("no_room", _("there is room for {most} machines"), most=self.config.at_most)
        if _happens(self.config.refused):
            raise Unavailable("provider_refused", _("the provider refuses, as it is configured to"))
        machine = SimulatedMachine.objects.create(
            token=wanted.token,
            provider=call.provider,
            broken=_happens(self.config.broken),
            created_at=call.now,
            up_at=call.now + timedelta(seconds=self.config.up_after_seconds),
        )
        if _happens(self.config.unanswered):
            raise TooSlow("too_slow", _("{origin} gave no whole reply in {seconds:g} s"), origin="simulated", seconds=0)
        return _existing(machine, call)

    def find(self, call: Call, token: str) -> Sequence[Existing]:
        return [_existing(machine, call) for machine in self._existing_machines(call).filter(token=token)]

    def get(self, call: Call, machine_id: str) -> Existing | None:
        key = machine_id.removeprefix("sim-")
        machine = self._existing_machines(call).filter(pk=key).first() if key.isdecimal() else None
        return None if machine is None else _existing(machine, call)

    def delete(self, call: Call, machine_id: str) -> None:
        if _happens(self.config.stuck):
            raise Unavailable("provider_refused", _("the provider refuses, as it is configured to"))
        gone_at = call.now + timedelta(seconds=self.config.gone_after_seconds)
        key = machine_id.removeprefix("sim-")
        SimulatedMachine.objects.filter(pk=key, gone_at__isnull=True).update(gone_at=gone_at)

    def _existing_machines(self, call: Call) -> QuerySet[SimulatedMachine]:
        gone = Q(gone_at__isnull=False, gone_at__lte=call.now)
        return SimulatedMachine.objects.filter(~gone, provider=call.provider)


def _happens(share: float) -> bool:
    return random.random() < share  # noqa: S311 - a simulation needs no secure randomness


def _existing(machine: SimulatedMachine, call: Call) -> Existing:
    address = f"198.18.{machine.pk // 250 % 256}.{machine.pk % 250 + 1}"  # a network reserved for benchmarks (RFC 2544)
    return Existing(id=str(machine), condition=_condition(machine, call), addresses=(address,))


def _condition(machine: SimulatedMachine, call: Call) -> Condition:
    if machine.gone_at is not None:
        return Condition.GOING
    if machine.broken:
        return Condition.BROKEN
    return Condition.UP if machine.up_at <= call.now else Condition.STARTING
