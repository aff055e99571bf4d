"""A portal spreads the machines of one order over several IDCs."""

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product

SIX = [{"count": 6, "bandwidth_mbps": 100}]
TWO_EACH = {"max_per_idc": 2, "min_idcs": 3}


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product, idcs=3)


def test_it_works(fleet: Fleet) -> None:
    """One placement in each IDC, all of one group."""
    placed = fleet.reserve(machines=SIX, spread=TWO_EACH)
    group = placed["group_id"]
    assert (placed["idc"], placed["state"]) == (fleet.idcs[0], "reserved")
    assert group is not None
    for caller in fleet.callers:
        listed = fleet.placements(caller, group_id=group)
        assert {each["idc"] for each in listed} == set(fleet.idcs)
        assert [(each["lines"][0]["bandwidth_mbps"], each["state"]) for each in listed] == [(200, "reserved")] * 3
    fleet.sees_everywhere(200, 200, 200)


def test_it_is_recommended_in_the_order_of_the_ranking(fleet: Fleet) -> None:
    """Five machines with two in an IDC at most: the last IDC gets what is left."""
    machines = [{"count": 5, "bandwidth_mbps": 100}]
    told = fleet.other.schedule(**fleet.order(action="recommend", machines=machines, spread={"max_per_idc": 2}))
    assert told["idc"]["code"] == fleet.idcs[0]
    assert [(each["idc"], each["machine_count"]) for each in told["idcs"]] == list(
        zip(fleet.idcs, (2, 2, 1), strict=True)
    )
    assert [each["lines"][0]["bandwidth_mbps"] for each in told["idcs"]] == [200, 200, 100]
    fleet.sees_everywhere(0, 0, 0)


def test_each_placement_goes_its_own_way(fleet: Fleet) -> None:
    placed = fleet.reserve(machines=SIX, spread=TWO_EACH)
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    listed = fleet.placements(fleet.other, group_id=placed["group_id"])
    assert {each["idc"]: each["state"] for each in listed} == dict(
        zip(fleet.idcs, ("released", "reserved", "reserved"), strict=True)
    )
    fleet.sees_everywhere(0, 200, 200)


def test_an_order_that_cannot_be_spread_takes_nothing(fleet: Fleet) -> None:
    machines = [{"count": 7, "bandwidth_mbps": 100}]
    refused = fleet.first.post("/schedule/", fleet.order(machines=machines, spread=TWO_EACH), status=409)
    assert (refused["code"], refused["decision"]["result"]) == ("no_feasible_idc", "unschedulable")
    fleet.sees_everywhere(0, 0, 0)
    assert fleet.placements(fleet.other) == []
