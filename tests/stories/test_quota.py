"""A tenant gets what its quota allows, and an order for more is refused as a whole."""

from typing import Any

import pytest

from tests.stories.fleet import Fleet, new_fleet
from tests.stories.product import Product

MACHINES, MBPS = 4, 800


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product, tenant={"quota_machines": MACHINES, "quota_bandwidth_mbps": MBPS})


def gang(fleet: Fleet, *sizes: float, status: int) -> Any:
    body = {"requests": [fleet.order(mbps) for mbps in sizes], "mode": "gang"}
    return fleet.first.post("/schedule/batch/", body, status=status)


def spread(fleet: Fleet, count: int, mbps: float, *, status: int) -> Any:
    machines = [{"count": count, "bandwidth_mbps": mbps}]
    body = fleet.order(machines=machines, spread={"max_per_idc": (count + 1) // 2})
    return fleet.first.post("/schedule/", body, status=status)


def holds(fleet: Fleet, machines: int, mbps: float, *pending: float) -> None:
    """Assert what the tenant holds, through both web processes, and what is pending in each IDC."""
    for caller in fleet.callers:
        use = caller.get(f"/tenants/{fleet.tenant}/use/")
        assert (use["machines"], use["bandwidth_mbps"]) == (machines, mbps)
    fleet.sees_everywhere(*pending)


def test_a_gang_within_the_quota(fleet: Fleet) -> None:
    told = gang(fleet, 200, 200, 200, 200, status=200)
    assert {each["state"] for each in told["results"]} == {"reserved"}
    holds(fleet, 4, 800, 800, 0)


@pytest.mark.parametrize("sizes", [(100,) * 5, (300,) * 3], ids=["machines", "bandwidth"])
def test_a_gang_over_the_quota_takes_nothing(fleet: Fleet, sizes: tuple[float, ...]) -> None:
    refused = gang(fleet, *sizes, status=409)
    assert (refused["code"], refused["result"]) == ("gang_not_placed", "none")
    assert [each["code"] for each in refused["results"]] == ["quota_exceeded"] * len(sizes)
    holds(fleet, 0, 0, 0, 0)
    assert fleet.placements(fleet.other) == []


def test_an_order_spread_within_the_quota(fleet: Fleet) -> None:
    placed = spread(fleet, 4, 200, status=201)
    assert len(fleet.placements(fleet.other, group_id=placed["group_id"])) == 2
    holds(fleet, 4, 800, 400, 400)


@pytest.mark.parametrize(("count", "mbps"), [(5, 100), (3, 300)], ids=["machines", "bandwidth"])
def test_an_order_spread_over_the_quota_takes_nothing(fleet: Fleet, count: int, mbps: float) -> None:
    assert spread(fleet, count, mbps, status=409)["code"] == "quota_exceeded"
    holds(fleet, 0, 0, 0, 0)
    assert fleet.placements(fleet.other) == []


def test_what_is_released_counts_no_more(fleet: Fleet) -> None:
    """Through the other web process: the quota is full, then free again."""
    placed = fleet.reserve(MBPS)
    refused = fleet.other.post("/schedule/", fleet.order(100), status=409)
    assert refused["code"] == "quota_exceeded"
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    again = fleet.other.post("/schedule/", fleet.order(MBPS), status=201)
    assert again["state"] == "reserved"
    use = fleet.first.get(f"/tenants/{fleet.tenant}/use/")
    assert (use["machines"], use["bandwidth_mbps"]) == (1, MBPS)
