"""Machines that a provider creates late or unasked are found when its machines are looked for again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.placement.models import Machine, MachineState, Placement, Provider, SimulatedMachine
from idcsched.placement.services import placement_release
from idcsched.provisioning.services import machine_tend
from tests.provisioning.starting import at_once, equip, reconfigure, standing, work, work_once

Order = Callable[..., Placement]


@pytest.fixture
def placement(order: Order) -> Placement:
    equip(a=at_once(), b=at_once(), c=at_once())
    made = order(action="provision")
    work()
    return made


def late(machine: Machine) -> SimulatedMachine:
    """Let the provider create this machine a second time, long after it was asked to."""
    now = timezone.now()
    return SimulatedMachine.objects.create(token=str(machine.pk), provider=machine.provider, up_at=now)


def look(state: str) -> None:
    work_once([state])


def test_it_works(placement: Placement) -> None:
    """Of two machines with one token, the one that the placement lists stays, and its double is removed."""
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


def test_it_is_looked_for_ever_more_rarely_and_in_the_end_once_an_hour(placement: Placement) -> None:
    pauses, now = [], timezone.now()
    machine = Machine.objects.earliest("number")
    for minutes in (0, 1, 2, 4, 8, 16, 32, 64):
        Machine.objects.filter(pk=machine.pk).update(since=now - timedelta(minutes=minutes), next_try_at=now)
        machine_tend(machine_id=machine.pk)
        machine.refresh_from_db()
        pauses.append(machine.next_try_at and round((machine.next_try_at - now).total_seconds() / 60))
    assert pauses[:-1] == [1, 1, 2, 4, 8, 16, 32]
    assert 45 <= pauses[-1] <= 75, "an hour, but not for all machines at once"


def test_a_provider_that_cannot_be_asked_changes_nothing(placement: Placement) -> None:
    Provider.objects.update(kind="gone")
    look(MachineState.ACTIVE)
    placement.refresh_from_db()
    assert (placement.state, placement.needs_attention) == ("active", False)
    assert {machine.state for machine in Machine.objects.all()} == {"active"}


def test_what_is_gone_is_looked_for_for_an_hour(placement: Placement) -> None:
    placement_release(placement=placement)
    work()
    machine, now = Machine.objects.earliest("number"), timezone.now()
    Machine.objects.filter(pk=machine.pk).update(since=now - timedelta(minutes=61), next_try_at=now)
    machine_tend(machine_id=machine.pk)
    machine.refresh_from_db()
    assert machine.next_try_at is None


def test_a_provider_says_how_often_to_look(placement: Placement) -> None:
    reconfigure("a", look_every_seconds=86_400)
    machine, now = Machine.objects.earliest("number"), timezone.now()
    Machine.objects.filter(pk=machine.pk).update(since=now - timedelta(days=3), next_try_at=now)
    machine_tend(machine_id=machine.pk)
    machine.refresh_from_db()
    assert 18 <= (machine.next_try_at - now).total_seconds() / 3600 <= 30


def test_however_often_a_provider_cannot_be_asked_it_is_asked_again(placement: Placement) -> None:
    Provider.objects.update(kind="gone")
    Machine.objects.update(since=timezone.now() - timedelta(days=30))
    for _ in range(7):
        look(MachineState.ACTIVE)
    for machine in Machine.objects.all():
        assert machine.next_try_at > timezone.now() + timedelta(minutes=30)
        assert (machine.tries, machine.error) == (7, "")
