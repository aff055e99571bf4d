"""Every state × whatever clients can ask for: what is allowed is done, all else is refused and changes nothing."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from idcsched.framework.errors import Conflict
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.ledger.models import Claim, Headcount
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Machine, Placement
from idcsched.placement.services import (
    placement_confirm,
    placement_give_up,
    placement_provision,
    placement_release,
    placement_retry,
    placements_expire,
)
from tests.provisioning.starting import at_once, equip, reconfigure, work, work_once

Order = Callable[..., Placement]
ASKED: dict[str, Callable[..., Placement]] = {
    "confirm": placement_confirm,
    "provision": placement_provision,
    "release": placement_release,
    "retry": partial(placement_retry, http_request_id="2"),
    "give up": partial(placement_give_up, reason="the cloud is gone"),
}
ALLOWED = {
    ("waiting", "release"): "released",
    ("reserved", "confirm"): "active",
    ("reserved", "provision"): "provisioning",
    ("reserved", "release"): "released",
    ("provisioning", "release"): "releasing",
    ("active", "release"): "releasing",
    ("failed", "retry"): "provisioning",
    ("failed", "release"): "released",
    ("releasing", "give up"): "released",
}
STATES = ("waiting", "reserved", "provisioning", "active", "releasing", "released", "expired", "failed")


def stuck() -> None:
    """Let the machines of `a` take an hour to come and an hour to go."""
    reconfigure("a", up_after_seconds=3600, gone_after_seconds=3600)


def brought(order: Order, state: str) -> Placement:
    """A placement that was brought into this state."""
    only_a: dict[str, Any] = {"only": ["a"], "region": None}
    equip(a=at_once(refused=1.0 if state == "failed" else 0.0))
    if state == "waiting":
        idc_update(idc=Idc.objects.get(code="a"), changes={"status": "offline"})
        return order(action="provision", wait_seconds=600, **only_a)
    placement = order(action="reserve" if state in ("reserved", "released", "expired") else "provision", **only_a)
    if state == "provisioning":
        stuck()
        work_once()
    if state in ("active", "releasing", "failed"):
        work()
    if state in ("releasing", "released"):
        stuck()
        placement_release(placement=placement)
    if state == "releasing":
        Placement.objects.update(needs_attention=True)
    if state == "expired":
        placements_expire(now=timezone.now() + timedelta(hours=1))
    return Placement.objects.get(pk=placement.pk)


def everything(placement: Placement) -> Any:
    return (
        list(Placement.objects.values()),
        list(Event.objects.values()),
        list(Machine.objects.values("state", "provider_id")),
        list(Claim.objects.values()),
        list(Headcount.objects.values()),
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("what", ASKED)
def test_it_works(order: Order, state: str, what: str) -> None:
    placement = brought(order, state)
    assert placement.state == state
    before = everything(placement)
    if (state, what) in ALLOWED:
        assert ASKED[what](placement=placement).state == ALLOWED[state, what]
    else:
        with pytest.raises(Conflict) as refusal:
            ASKED[what](placement=placement)
        assert refusal.value.code == "invalid_transition"
        assert everything(placement) == before
    assert ledger_differences() == []
