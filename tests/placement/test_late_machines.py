"""What a provider does late, or behind our back, is found when its machines are looked for again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.placement.models import Machine, MachineState, Placement, Provider, SimulatedMachine
from idcsched.placement.services import machine_tend, machines_announce, placement_release
from tests.placement.starting import at_once, equip, standing, work, work_once

Order = Callable[..., Placement]


@pytest.fixture
def placement(order: Order) -> Placement:
    equip(a=at_once(), b=at_once(), c=at_once())
    made = order(action="provision")
    work()
    return made


def late(machine: Machine) -> SimulatedMachine:
    """The provider creates it once more, long after it was asked."""
    now = timezone.now()
    return SimulatedMachine.objects.create(token=str(machine.pk), provider=machine.provider, up_at=now)


def look(state: str) -> None:
    work_once([state])


def test_it_works(placement: Placement) -> None:
    """A double of a machine that is up goes, and the one that is listed stays."""
    machine = Machine.objects.earliest("number")
    double = late(machine)
    look(MachineState.ACTIVE)
    double.refresh_from_db()
    assert double.gone_at is not None
    assert standing() == standing(placement)
    machine.refresh_from_db()
    assert machine.provider_id != str(double)


def test_what_comes_after_the_release_goes(placement: Placement) -> None:
    placement_release(placement=placement)
    work()
    late(Machine.objects.earliest("number"))
    look(MachineState.DELETED)
    assert standing() == set()


def test_a_machine_that_vanishes_makes_somebody_look(placement: Placement) -> None:
    victim = SimulatedMachine.objects.earliest("pk")
    SimulatedMachine.objects.filter(pk=victim.pk).update(gone_at=timezone.now())
    look(MachineState.ACTIVE)
    placement.refresh_from_db()
    assert (placement.state, placement.needs_attention) == ("active", True)
    SimulatedMachine.objects.filter(pk=victim.pk).update(gone_at=None)
    look(MachineState.ACTIVE)
    placement.refresh_from_db()
    assert placement.needs_attention is False


def test_it_is_looked_for_ever_more_rarely_and_after_an_hour_no_more(placement: Placement) -> None:
    pauses, now = [], timezone.now()
    machine = Machine.objects.earliest("number")
    for minutes in (0, 1, 2, 4, 8, 16, 32, 64):
        Machine.objects.filter(pk=machine.pk).update(since=now - timedelta(minutes=minutes), next_try_at=now)
        machine_tend(machine_id=machine.pk)
        machine.refresh_from_db()
        pauses.append(machine.next_try_at and round((machine.next_try_at - now).total_seconds() / 60))
    assert pauses == [1, 1, 2, 4, 8, 16, 32, None]
    assert machines_announce(now=now + timedelta(days=1)) == 2, "the other two are still to be looked for"


def test_a_provider_that_cannot_be_asked_changes_nothing(placement: Placement) -> None:
    Provider.objects.update(kind="gone")
    look(MachineState.ACTIVE)
    placement.refresh_from_db()
    assert (placement.state, placement.needs_attention) == ("active", False)
    assert {machine.state for machine in Machine.objects.all()} == {"active"}
