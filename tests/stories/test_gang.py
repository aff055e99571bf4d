"""A portal orders several things that are of use only together, and gets all of them or none."""

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def test_it_works(fleet: Fleet) -> None:
    """All are placed, of one group, which both web processes list."""
    orders = [fleet.order(mbps) for mbps in (700, 600, 300)]
    told = fleet.first.post("/schedule/batch/", {"requests": orders, "mode": "gang"}, status=200)
    best, second = fleet.idcs
    assert told["result"] == "all"
    assert [(each["state"], each["idc"]) for each in told["results"]] == [
        ("reserved", best), ("reserved", second), ("reserved", best),
    ]  # fmt: skip
    (group,) = {each["group_id"] for each in told["results"]}
    assert group is not None
    for caller in fleet.callers:
        listed = fleet.placements(caller, group_id=group)
        assert {each["id"] for each in listed} == {each["id"] for each in told["results"]}
    fleet.sees_everywhere(1000, 600)


def test_a_gang_that_cannot_be_whole_takes_nothing(fleet: Fleet) -> None:
    """Each order would fit alone, and the answer says where those that fit would have gone."""
    orders = [fleet.order(700) for _ in range(3)]
    told = fleet.first.post("/schedule/batch/", {"requests": orders, "mode": "gang"}, status=409)
    assert (told["code"], told["result"]) == ("gang_not_placed", "none")
    first, second, third = told["results"]
    assert (first["idc"]["code"], second["idc"]["code"]) == fleet.idcs
    assert (third["status"], third["code"]) == (409, "no_feasible_idc")
    fleet.sees_everywhere(0, 0)
    for caller in fleet.callers:
        assert fleet.placements(caller) == []


def test_what_a_refused_gang_left_is_had_by_the_next(fleet: Fleet) -> None:
    fleet.first.post("/schedule/batch/", {"requests": [fleet.order(700)] * 3, "mode": "gang"}, status=409)
    whole = {"requests": [fleet.order(1000)] * 2, "mode": "gang"}
    told = fleet.other.post("/schedule/batch/", whole, status=200)
    assert [each["idc"] for each in told["results"]] == list(fleet.idcs)
    assert fleet.pending(fleet.other) == [1000, 1000]
