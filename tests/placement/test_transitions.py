"""The life of a placement: every state and every move, and capacity that is given back exactly once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.framework.errors import Conflict
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.placement.lifecycle import HOLDING, MOVES, Move, State, next_state
from idcsched.placement.models import Event, Placement
from idcsched.placement.transitions import placement_confirm, placement_provision, placement_release, placements_expire

Order = Callable[..., Placement]
LEGAL = {
    ("new", "wait"): "waiting",
    ("new", "reserve"): "reserved",
    ("waiting", "reserve"): "reserved",
    ("waiting", "expire"): "expired",
    ("waiting", "release"): "released",
    ("reserved", "provision"): "provisioning",
    ("reserved", "confirm"): "active",
    ("reserved", "release"): "released",
    ("reserved", "expire"): "expired",
    ("provisioning", "up"): "active",
    ("provisioning", "fall"): "provisioning",
    ("provisioning", "fail"): "failed",
    ("provisioning", "release"): "releasing",
    ("active", "release"): "releasing",
    ("active", "lost"): "active",
    ("active", "found"): "active",
    ("releasing", "gone"): "released",
    ("releasing", "give_up"): "released",
    ("failed", "retry"): "provisioning",
    ("failed", "release"): "released",
}


@pytest.mark.parametrize("state", ["new", *State.values])
@pytest.mark.parametrize("move", Move)
def test_it_works(state: str, move: Move) -> None:
    known = None if state == "new" else state
    if (state, move) in LEGAL:
        assert next_state(known, move) == LEGAL[state, move]
    else:
        with pytest.raises(Conflict) as refusal:
            next_state(known, move)
        assert refusal.value.code == "invalid_transition"


def test_every_state_is_spoken_of() -> None:
    assert set(MOVES) == {None, *State}


def taken() -> float:
    return sum(Holding.objects.values_list("taken", flat=True))


def states(placement: Placement) -> list[str]:
    return list(Event.objects.filter(placement=placement).order_by("version").values_list("state", flat=True))


def test_a_released_reservation_gives_back_at_once(order: Order) -> None:
    placement = order()
    released = placement_release(placement=placement)
    assert (released.state, released.version, released.expires_at) == ("released", 2, None)
    assert (taken(), Headcount.objects.get().machines) == (0, 0)
    assert states(placement) == ["reserved", "released"]


@pytest.mark.parametrize("move", [placement_release, placement_confirm])
def test_what_is_over_is_over(order: Order, move: Callable[..., Placement]) -> None:
    placement = order()
    placement_release(placement=placement)
    with pytest.raises(Conflict) as refusal:
        move(placement=placement)
    assert refusal.value.code == "invalid_transition"
    assert Claim.objects.filter(released_at__isnull=False).count() == 2


def test_a_confirmed_one_holds_on_and_begins_to_fade(order: Order) -> None:
    placement = placement_confirm(placement=order())
    assert (placement.state, placement.expires_at) == ("active", None)
    assert taken() == 312
    assert Claim.objects.get(holding__resource="bandwidth_mbps").fading_since is not None
    assert placements_expire(now=timezone.now() + timedelta(days=9)) == 0


def test_a_confirmed_one_is_released_through_releasing(order: Order) -> None:
    placement = placement_confirm(placement=order())
    assert placement_release(placement=placement).state == "released"
    assert states(placement) == ["reserved", "active", "releasing", "released"]
    assert taken() == 0


def test_reservations_end(order: Order) -> None:
    placement, other = order(ttl_seconds=60), order(ttl_seconds=3600)
    soon = timezone.now() + timedelta(seconds=61)

    assert [placements_expire(now=soon), placements_expire(now=soon)] == [1, 0]

    placement.refresh_from_db()
    other.refresh_from_db()
    assert (placement.state, other.state) == ("expired", "reserved")
    assert taken() == 312


@pytest.mark.parametrize("move", [placement_confirm, placement_provision])
def test_a_reservation_whose_time_is_up_goes_nowhere_but_back(order: Order, move: Callable[..., Placement]) -> None:
    placement = order()
    Placement.objects.update(expires_at=timezone.now())
    with pytest.raises(Conflict) as refusal:
        move(placement=placement)
    assert refusal.value.code == "invalid_transition"
    assert states(placement) == ["reserved"]
    assert placements_expire(now=timezone.now()) == 1
    assert taken() == 0


def test_holding_states() -> None:
    assert {"reserved", "provisioning", "active", "releasing"} == HOLDING
