"""A machine that vanishes makes an event and a callback, and its placement needs attention until it is there again."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.placement.models import Delivery, Event, Machine, MachineState, Placement, SimulatedMachine
from tests.provisioning.starting import at_once, equip, work, work_once

Order = Callable[..., Placement]


@pytest.fixture
def placement(order: Order) -> Placement:
    equip(a=at_once())
    tenant_update(tenant=Tenant.objects.get(), changes={"callback_hosts": ["portal.example"]})
    made = order(action="provision", callback_url="https://portal.example/")
    work()
    return made


def look() -> None:
    work_once([MachineState.ACTIVE])


def vanish(*, back: bool = False, of: slice = slice(1)) -> None:
    found = list(SimulatedMachine.objects.order_by("pk").values_list("pk", flat=True)[of])
    SimulatedMachine.objects.filter(pk__in=found).update(gone_at=None if back else timezone.now())


def moves(placement: Placement) -> list[tuple[str, str]]:
    return list(Event.objects.filter(placement=placement, version__gt=3).values_list("move", "state"))


def test_it_works(placement: Placement) -> None:
    look()
    assert moves(placement) == []
    vanish()
    look()
    look()
    placement.refresh_from_db()
    assert (placement.state, placement.needs_attention, placement.version) == ("active", True, 4)
    event = Event.objects.get(placement=placement, version=4)
    machine = Machine.objects.get(number=1)
    assert event.detail["machines"] == [
        {
            "id": str(machine.pk),
            "name": machine.name,
            "provider_id": machine.provider_id,
            "error": "the provider does not have it any more",
        }
    ]
    told = Delivery.objects.get(placement=placement, version=4)
    assert told.kind == "placement.machines_lost"
    assert '"needs_attention":true' in told.payload


def test_it_is_there_again(placement: Placement) -> None:
    vanish()
    look()
    vanish(back=True)
    look()
    look()
    placement.refresh_from_db()
    assert moves(placement) == [("lost", "active"), ("found", "active")]
    assert placement.needs_attention is False
    assert Delivery.objects.get(placement=placement, version=5).kind == "placement.machines_found"


def test_one_more_is_another_event(placement: Placement) -> None:
    """A second machine that vanishes makes another event. One of two that comes back makes none; the last one does."""
    vanish()
    look()
    vanish(of=slice(1, 2))
    look()
    assert len(Event.objects.get(placement=placement, version=5).detail["machines"]) == 2
    vanish(back=True)
    look()
    assert moves(placement) == [("lost", "active"), ("lost", "active")]
    vanish(back=True, of=slice(2))
    look()
    assert moves(placement)[-1] == ("found", "active")


def test_one_that_is_broken_is_missing_as_well(placement: Placement) -> None:
    SimulatedMachine.objects.filter(pk=SimulatedMachine.objects.earliest("pk").pk).update(broken=True)
    look()
    assert [each["error"] for each in Event.objects.get(placement=placement, version=4).detail["machines"]] == [
        "it is not running any more"
    ]
