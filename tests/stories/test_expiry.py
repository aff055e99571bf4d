"""A reservation that nobody confirms in time expires, and its capacity is free again."""

from time import sleep

import pytest

from tests.stories.fleet import new_fleet
from tests.stories.product import Product, in_state, seconds_left, states


@pytest.mark.usefixtures("beat")
def test_it_works(product: Product) -> None:
    """Of two reservations the one that was confirmed in time stays; what the other held can be had again."""
    fleet = new_fleet(product)
    kept, lost = fleet.reserve(400, ttl_seconds=3), fleet.reserve(600, ttl_seconds=3)
    fleet.other.post(f"/placements/{kept['id']}/confirm/", status=200)
    sleep(max(0, seconds_left(lost)))
    for late in ("confirm", "provision"):
        refused = fleet.other.post(f"/placements/{lost['id']}/{late}/", status=409)
        assert refused["code"] == "invalid_transition"
    in_state(fleet.other, lost, "expired")
    fleet.sees_everywhere(400, 0)
    for caller in fleet.callers:
        assert states(caller, lost) == ["reserved", "expired"]
        assert states(caller, kept) == ["reserved", "active"]
    assert fleet.reserve(600)["idc"] == fleet.idcs[0]
