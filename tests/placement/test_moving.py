"""A placement moves: the new place is held beside the old one until the portal confirms it, and never both are lost."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.framework.errors import Conflict, IdcschedError, Invalid
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.ledger.models import Holding
from idcsched.placement import moving, transitions
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Placement
from idcsched.placement.moving import Destination, placement_move
from idcsched.placement.transitions import placement_confirm, placement_release, placements_expire
from tests.placement.conftest import PORTAL
from tests.provisioning.starting import at_once, equip

Order = Callable[..., Placement]


@pytest.fixture
def standing(order: Order) -> Placement:
    """An order of 3 machines with 100 Mbps each that runs in `a`."""
    return placement_confirm(placement=order(request_id="order-1", callback_url=None))


def moved(placement: Placement, idc: str = "b", **fields: Any) -> Placement:
    destination = Destination(idc=idc, **fields)
    return placement_move(placement=placement, destination=destination, principal=PORTAL, http_request_id="http-2")


def refusal(placement: Placement, idc: str = "b", **fields: Any) -> IdcschedError:
    with pytest.raises(IdcschedError) as caught:
        moved(placement, idc, **fields)
    return caught.value


def held() -> dict[str, float]:
    """The Mbps that orders hold, by IDC."""
    lines = Holding.objects.filter(resource="bandwidth_mbps", taken__gt=0)
    return dict(lines.values_list("idc__code", "taken"))


def states(*placements: Placement) -> list[str]:
    return [Placement.objects.get(pk=placement.pk).state for placement in placements]


@pytest.mark.both
def test_it_works(standing: Placement) -> None:
    new = moved(standing, lines=("ct",), ttl_seconds=60)
    assert (new.state, new.idc and new.idc.code, new.replaces_id) == ("reserved", "b", standing.pk)
    assert (new.request_id, new.ttl_seconds, new.machine_count) == ("order-1", 60, 3)
    assert held() == {"a": 300.0, "b": 300.0}, "both, so that machines can run in both"

    placement_confirm(placement=new)
    assert states(standing, new) == ["released", "active"]
    assert held() == {"b": 300.0}
    released = Event.objects.filter(placement=standing, move="release").get()
    assert released.detail["replaced_by"] == str(new.pk)
    assert ledger_differences() == []


def test_who_gives_up_stays(standing: Placement) -> None:
    """A move that is released, or whose time runs out, leaves the order where it was, and it can be moved again."""
    placement_release(placement=moved(standing))
    assert held() == {"a": 300.0}
    moved(standing, "c")
    assert placements_expire(now=timezone.now() + timedelta(hours=1)) == 1
    assert (states(standing), held()) == (["active"], {"a": 300.0})
    placement_confirm(placement=moved(standing))
    assert held() == {"b": 300.0}


def test_what_was_released_meanwhile_is_not_released_again(standing: Placement) -> None:
    new = moved(standing)
    placement_release(placement=standing)
    placement_confirm(placement=new)
    assert (states(standing, new), held()) == (["released", "active"], {"b": 300.0})


def test_it_moves_on_from_there(standing: Placement) -> None:
    there = placement_confirm(placement=moved(standing))
    placement_confirm(placement=moved(there, "c"))
    assert (states(standing, there), held()) == (["released", "released"], {"c": 300.0})


@pytest.mark.both
def test_it_moves_to_one_place_at_a_time(standing: Placement) -> None:
    new = moved(standing)
    found = refusal(standing, "c")
    assert (found.code, str(new.pk) in str(found)) == ("move_underway", True)
    assert held() == {"a": 300.0, "b": 300.0}


@pytest.mark.both
def test_of_two_calls_at_once_one_moves_it(standing: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls choose a new place at once. The one that writes first moves the order, the other one is refused."""
    chosen = moving._chosen

    def overtaken(*args: Any) -> Any:
        monkeypatch.setattr(moving, "_chosen", chosen)
        moved(standing, "c")
        return chosen(*args)

    monkeypatch.setattr(moving, "_chosen", overtaken)
    assert refusal(standing).code == "move_underway"
    assert held() == {"a": 300.0, "c": 300.0}


def test_half_a_confirmation_is_none(standing: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is killed between taking the new place and giving back the old one: both stay as they were."""

    def killed(_placement: Placement, **_detail: str) -> None:
        raise KeyboardInterrupt

    new = moved(standing)
    with monkeypatch.context() as patch:
        patch.setattr(transitions, "_released", killed)
        with pytest.raises(KeyboardInterrupt):
            placement_confirm(placement=new)
    assert states(standing, new) == ["active", "reserved"]
    placement_confirm(placement=new)
    assert (states(standing, new), ledger_differences()) == (["released", "active"], [])


def test_what_is_not_running_is_not_moved(order: Order) -> None:
    assert refusal(order()).code == "not_movable"
    waiting = order(machines=[{"count": 1, "bandwidth_mbps": 5000}], wait_seconds=60)
    assert "this is waiting" in str(refusal(waiting))


def test_what_a_provider_has_started_is_not_moved(order: Order) -> None:
    equip(a=at_once(), b=at_once())
    placement = order(action="provision", machines=[{"cpu": 1}])
    Placement.objects.filter(pk=placement.pk).update(state="active")
    placement.refresh_from_db()
    found = refusal(placement)
    assert (found.code, "started by a provider" in str(found)) == ("not_movable", True)


def test_a_share_of_a_spread_order_is_not_moved(order: Order) -> None:
    share = placement_confirm(placement=order(spread={"max_per_idc": 2}))
    assert refusal(share, "c").code == "not_movable"


@pytest.mark.parametrize(
    ("destination", "code", "pointer"),
    [
        ({"idc": "nope"}, "unknown_idc", "/idc"),
        ({"idc": "b", "lines": ("ct", "cu")}, "unknown_line", "/lines/1"),
    ],
    ids=["IDC", "line"],
)
def test_a_place_that_is_not_there_is_refused(
    standing: Placement, destination: dict[str, Any], code: str, pointer: str
) -> None:
    with pytest.raises(Invalid) as caught:
        moved(standing, **destination)
    (error,) = caught.value.errors
    assert (error.code, error.pointer) == (code, pointer)


@pytest.mark.parametrize("lines", [None, ("ct",)])
def test_where_it_stands_it_does_not_go(standing: Placement, lines: tuple[str, ...] | None) -> None:
    assert refusal(standing, "a", lines=lines).code == "stands_there"


def test_it_goes_only_where_it_would_be_placed_today(standing: Placement) -> None:
    idc_update(idc=Idc.objects.get(code="b"), changes={"status": "draining"})
    found = refusal(standing)
    assert (found.code, str(found)) == ("move_does_not_fit", "b does not fit: its status is draining")
    assert held() == {"a": 300.0}


def test_it_needs_the_room_that_a_new_order_needs(order: Order) -> None:
    standing = placement_confirm(placement=order(machines=[{"count": 1, "bandwidth_mbps": 750}]))
    assert str(refusal(standing, "c")) == "c does not fit: needs 750 Mbps on ct, 700 left"
    assert moved(standing).state == "reserved"


def test_the_places_that_an_order_names_bind_its_move(order: Order) -> None:
    standing = placement_confirm(placement=order(only=["a", "c"]))
    assert refusal(standing).code == "move_does_not_fit"
    assert moved(standing, "c").state == "reserved"


def test_an_order_that_names_what_is_gone_stays(standing: Placement) -> None:
    Placement.objects.filter(pk=standing.pk).update(request={**standing.request, "profile": "gone"})
    standing.refresh_from_db()
    found = refusal(standing)
    assert (found.code, "there is no profile gone" in str(found)) == ("order_outdated", True)


def test_a_move_counts_once_against_the_quota(order: Order, standing: Placement) -> None:
    """The two places of a moving order count once: the move fits in the quota, and so does another order."""
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 6})
    new = moved(standing)
    order()
    with pytest.raises(Conflict, match="6 are held"):
        order()
    placement_release(placement=standing)
    with pytest.raises(Conflict, match="6 are held"):
        order()  # where what it replaces is gone, the new place counts
    assert states(new) == ["reserved"]
