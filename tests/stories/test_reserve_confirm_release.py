"""A portal reserves room for a machine, confirms it once the machine runs, and releases it in the end."""

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product, states


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def test_it_works(fleet: Fleet) -> None:
    """Each step is taken through one of the web processes in turn, and both see what it did."""
    placed = fleet.reserve(300, request_id="order-1")
    assert (placed["state"], placed["idc"], placed["tenant"]) == ("reserved", fleet.idcs[0], fleet.tenant)
    assert [(line["isp"], line["bandwidth_mbps"]) for line in placed["lines"]] == [("ct", 300)]
    fleet.sees_everywhere(300, 0)

    address = f"/placements/{placed['id']}/"
    confirmed = fleet.other.post(f"{address}confirm/", status=200)
    assert (confirmed["state"], confirmed["expires_at"]) == ("active", None)
    assert fleet.first.get(address) == confirmed
    fleet.sees_everywhere(300, 0)

    released = fleet.first.post(f"{address}release/", status=200)
    assert released["state"] == "released"
    assert fleet.other.get(address) == released
    fleet.sees_everywhere(0, 0)
    for caller in fleet.callers:
        assert states(caller, placed) == ["reserved", "active", "releasing", "released"]


def test_a_reservation_is_released_without_being_confirmed(fleet: Fleet) -> None:
    placed = fleet.reserve(300)
    released = fleet.other.post(f"/placements/{placed['id']}/release/", status=200)
    assert released["state"] == "released"
    assert states(fleet.first, placed) == ["reserved", "released"]
    assert fleet.pending(fleet.other) == [0, 0]


def test_what_is_released_can_be_reserved_again(fleet: Fleet) -> None:
    """The first IDC is full, so an order goes to the second; after a release the next order goes to the first."""
    whole = fleet.reserve(1000)
    assert fleet.reserve(1000)["idc"] == fleet.idcs[1]
    fleet.first.post(f"/placements/{whole['id']}/release/", status=200)
    assert fleet.reserve(1000)["idc"] == fleet.idcs[0]
    fleet.sees_everywhere(1000, 1000)
