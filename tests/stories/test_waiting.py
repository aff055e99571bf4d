"""An order that fits nowhere waits, and is served once somebody gives capacity back, or expires."""

from typing import Any

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product, in_state, seconds_left, states


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def waits(fleet: Fleet, seconds: int, **fields: Any) -> Any:
    """The placement of an order that nothing fits, and that waits for so long."""
    placed = fleet.other.post("/schedule/", fleet.order(1000, wait_seconds=seconds, **fields), status=202)
    assert (placed["state"], placed["idc"]) == ("waiting", None)
    return placed


def test_it_works(fleet: Fleet) -> None:
    """What is released goes to the order that waits; its time to live starts then."""
    _, second = fleet.fill()
    waiting = waits(fleet, 600, ttl_seconds=300)
    fleet.sees_everywhere(1000, 1000)
    fleet.first.post(f"/placements/{second['id']}/release/", status=200)
    in_state(fleet.other, waiting, "reserved")
    for caller in fleet.callers:
        served = caller.get(f"/placements/{waiting['id']}/")
        assert (served["idc"], served["lines"][0]["bandwidth_mbps"]) == (fleet.idcs[1], 1000)
        assert 100 < seconds_left(served) <= 300
        assert states(caller, waiting) == ["waiting", "reserved"]
    fleet.sees_everywhere(1000, 1000)


def test_an_order_that_fits_does_not_wait(fleet: Fleet) -> None:
    placed = fleet.first.post("/schedule/", fleet.order(1000, wait_seconds=600), status=201)
    assert (placed["state"], placed["idc"]) == ("reserved", fleet.idcs[0])


@pytest.mark.usefixtures("beat")
def test_an_order_expires_when_its_time_runs_out(fleet: Fleet) -> None:
    """Nothing is released, so the waiting order expires without having taken anything."""
    fleet.fill()
    waiting = waits(fleet, 1)
    in_state(fleet.other, waiting, "expired")
    assert states(fleet.first, waiting) == ["waiting", "expired"]
    fleet.sees_everywhere(1000, 1000)


def test_a_portal_gives_up_waiting(fleet: Fleet) -> None:
    fleet.fill()
    waiting = waits(fleet, 600)
    released = fleet.first.post(f"/placements/{waiting['id']}/release/", status=200)
    assert released["state"] == "released"
    in_state(fleet.other, waiting, "released", seconds=0)
    fleet.sees_everywhere(1000, 1000)
