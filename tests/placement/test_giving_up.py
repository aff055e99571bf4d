"""A release that its provider never finishes can be seen, and ended by an operator who says why."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import user_create
from idcsched.audit.context import origin_set
from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict
from idcsched.inventory.models import Idc
from idcsched.ledger.models import Holding
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Machine, MachineState, Placement, Provider
from idcsched.placement.rollup import ATTENTION_AFTER, STUCK_AFTER, stuck
from idcsched.placement.services import placement_give_up, placement_release
from idcsched.provisioning.services import provider_delete
from tests.provisioning.starting import at_once, equip, work, work_once

Order = Callable[..., Placement]
WHY = "the cloud has closed down; its bill is disputed"


@pytest.fixture
def releasing(order: Order) -> Placement:
    """A placement that is being released when its provider is gone for good."""
    equip(a=at_once())
    placement = order(action="provision")
    work()
    placement_release(placement=placement)
    Provider.objects.update(kind="gone")
    return placement


def tried(times: int = ATTENTION_AFTER) -> None:
    for _ in range(times):
        work_once()


def is_stuck(placement: Placement) -> bool:
    return Placement.objects.filter(stuck(timezone.now()), pk=placement.pk).exists()


def test_it_works(releasing: Placement) -> None:
    tried()
    with origin_set(actor="olga", via="api"):
        done = placement_give_up(placement=releasing, reason=WHY)
    assert (done.state, done.needs_attention) == ("released", False)
    event = Event.objects.get(placement=releasing, move="give_up")
    assert (event.actor, event.detail["reason"]) == ("olga", WHY)
    assert [each["provider_id"] for each in event.detail["machines"]] == [
        machine.provider_id for machine in Machine.objects.order_by("number")
    ]
    change = Change.objects.get(kind="placement", key=str(releasing.pk))
    assert (change.actor, change.after["reason"]) == ("olga", WHY)
    assert set(Machine.objects.values_list("state", "next_try_at")) == {("given_up", None)}
    assert not Holding.objects.exclude(taken=0).exists()
    assert ledger_differences() == []
    work_once([MachineState.GIVEN_UP])
    assert set(Machine.objects.values_list("state", flat=True)) == {"given_up"}, "nobody touches them any more"


def test_as_long_as_nothing_has_gone_wrong_it_is_refused(releasing: Placement) -> None:
    tried(1)
    with pytest.raises(Conflict) as refused:
        placement_give_up(placement=releasing, reason=WHY)
    assert refused.value.code == "not_stuck"


def test_it_is_called_stuck_after_an_hour(releasing: Placement) -> None:
    tried()
    assert not is_stuck(releasing)
    Placement.objects.update(changed_at=timezone.now() - STUCK_AFTER - timedelta(seconds=1))
    assert is_stuck(releasing)
    Placement.objects.update(needs_attention=False)
    assert not is_stuck(releasing), "a slow provider is no stuck one"


def test_its_provider_can_be_deleted_then(releasing: Placement) -> None:
    tried()
    placement_give_up(placement=releasing, reason=WHY)
    Idc.objects.update(provider="")
    provider_delete(provider=Provider.objects.get())
    assert not Provider.objects.exists()


@pytest.mark.parametrize(("role", "let_in"), [("viewer", False), ("operator", True)])
def test_in_the_admin(releasing: Placement, role: str, *, let_in: bool) -> None:
    tried()
    client = Client(SERVER_NAME="localhost")
    Placement.objects.update(changed_at=timezone.now() - 2 * STUCK_AFTER)
    user = user_create(username="somebody", role=role, tenant=None if let_in else releasing.tenant)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    page = f"/admin/placement/placement/{releasing.pk}/"
    shown = client.get(f"{page}change/").content.decode()
    assert ">stuck<" in shown
    assert ("give-up/" in shown) is let_in
    assert client.get(f"{page[:-1]}/give-up/").status_code == 405
    unsaid = client.post(f"{page}give-up/", {"message": " "})
    assert unsaid.status_code == (302 if let_in else 403)
    releasing.refresh_from_db()
    assert releasing.state == "releasing", "nobody has said why"
    client.post(f"{page}give-up/", {"message": WHY})
    releasing.refresh_from_db()
    assert releasing.state == ("released" if let_in else "releasing")
