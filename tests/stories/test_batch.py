"""A portal sends many requests in one, and each sees what the ones before it took."""

from typing import Any

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def batch(fleet: Fleet, *requests: dict[str, Any]) -> Any:
    return fleet.first.post("/schedule/batch/", {"requests": requests, "mode": "independent"}, status=200)


def test_reservations(fleet: Fleet) -> None:
    """The second order finds the best IDC too full for it, and the third fits in beside the first."""
    sizes = [700, 600, 300, 400]
    told = batch(fleet, *[fleet.order(mbps, request_id=f"order-{mbps}") for mbps in sizes])
    best, second = fleet.idcs
    assert told["result"] == "all"
    assert [(each["request_id"], each["state"], each["idc"]) for each in told["results"]] == [
        ("order-700", "reserved", best),
        ("order-600", "reserved", second),
        ("order-300", "reserved", best),
        ("order-400", "reserved", second),
    ]
    assert {each["group_id"] for each in told["results"]} == {None}
    fleet.sees_everywhere(1000, 1000)
    for each in told["results"]:
        assert {"status": 201, **fleet.other.get(f"/placements/{each['id']}/")} == each


def test_recommendations(fleet: Fleet) -> None:
    """Recommendations of a batch hold nothing, yet each counts the room of those before it as taken."""
    asked = [fleet.order(mbps, action="recommend", request_id=f"order-{mbps}") for mbps in (700, 600, 300, 400)]
    told = batch(fleet, *asked)
    best, second = fleet.idcs
    assert told["result"] == "all"
    assert [each["request_id"] for each in told["results"]] == [each["request_id"] for each in asked]
    assert [each["idc"]["code"] for each in told["results"]] == [best, second, best, second]
    fleet.sees_everywhere(0, 0)
    assert fleet.placements(fleet.other) == []


def test_recommendations_see_what_reservations_took(fleet: Fleet) -> None:
    told = batch(fleet, fleet.order(1000), fleet.order(100, action="recommend"), fleet.order(900))
    reserved, recommended, last = told["results"]
    best, second = fleet.idcs
    assert told["result"] == "all"
    assert (reserved["idc"], recommended["idc"]["code"], last["idc"]) == (best, second, second)
    fleet.sees_everywhere(1000, 900)


def test_one_that_does_not_fit_leaves_the_others_alone(fleet: Fleet) -> None:
    told = batch(fleet, fleet.order(800), fleet.order(1001), fleet.order(900))
    placed, refused, last = told["results"]
    assert told["result"] == "some"
    assert (placed["idc"], last["idc"]) == fleet.idcs
    assert (refused["status"], refused["code"]) == (409, "no_feasible_idc")
    fleet.sees_everywhere(800, 900)
