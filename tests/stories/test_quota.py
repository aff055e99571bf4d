"""A tenant gets what its quota allows; an order for more is refused as a whole, whether it would fit or not."""

from typing import Any

import pytest

from tests.stories.fleet import LINE_MBPS, Fleet, new_fleet
from tests.stories.product import SOON, Caller, Product, until

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
    """The other web process refuses an order while the quota is full, and accepts it after a release."""
    placed = fleet.reserve(MBPS)
    refused = fleet.other.post("/schedule/", fleet.order(100), status=409)
    assert refused["code"] == "quota_exceeded"
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    again = fleet.other.post("/schedule/", fleet.order(MBPS), status=201)
    assert again["state"] == "reserved"
    use = fleet.first.get(f"/tenants/{fleet.tenant}/use/")
    assert (use["machines"], use["bandwidth_mbps"]) == (1, MBPS)


@pytest.mark.parametrize("wait_seconds", [0, 600])
def test_an_order_over_the_quota_that_fits_nowhere_is_refused(fleet: Fleet, wait_seconds: int) -> None:
    body = fleet.order(LINE_MBPS + 1, wait_seconds=wait_seconds)
    refused = fleet.first.post("/schedule/", body, status=409)
    assert refused["code"] == "quota_exceeded"
    assert refused["detail"] == "1001 Mbps more would exceed the quota of 800; 0 are held"
    told = gang(fleet, LINE_MBPS + 1, status=409)
    assert [each["code"] for each in told["results"]] == ["quota_exceeded"]
    assert fleet.placements(fleet.other) == []


def test_an_order_within_the_quota_that_fits_nowhere_waits(product: Product) -> None:
    fleet = new_fleet(product, tenant={"quota_bandwidth_mbps": LINE_MBPS * 3})
    placed = fleet.first.post("/schedule/", fleet.order(LINE_MBPS + 1, wait_seconds=600), status=202)
    assert placed["state"] == "waiting"
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)


def undegraded(caller: Caller, order: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a process that is not behind: while it is, on a busy machine, it looks at no quota."""
    answers: list[dict[str, Any]] = []

    def is_up_to_date() -> bool:
        answers.append(caller.schedule(**order))
        return not answers[-1]["degraded"]

    until(is_up_to_date, "an answer that is not degraded", seconds=SOON)
    return answers[-1]


def test_nothing_is_recommended_over_the_quota(fleet: Fleet) -> None:
    """A recommendation over the quota names no IDC.

    Its ranking says where it would fit, and its replay is identical.
    """
    placed = fleet.reserve(600)
    for caller in fleet.callers:
        assert caller.schedule(**fleet.order(200, action="recommend"))["idc"]["code"] == fleet.idcs[0]
        answer = undegraded(caller, fleet.order(300, action="recommend"))
        assert (answer["result"], answer["reason_code"]) == ("unschedulable", "over_quota")
        assert (answer["idc"], answer["lines"], answer["score"], answer["commit_token"]) == (None, [], None, None)
        assert answer["summary"].endswith("; 300 Mbps more would exceed the quota of 800; 600 are held")
        assert [each["idc"] for each in answer["candidates"]] == list(fleet.idcs)
        replayed = caller.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)
        assert (replayed["identical"], replayed["same_idc"]) == (True, True)
        found = caller.get(f"/decisions/?reason_code=over_quota&profile={fleet.profile}")["results"]
        assert answer["decision_id"] in [each["decision_id"] for each in found]
    nowhere = undegraded(fleet.first, fleet.order(LINE_MBPS * 2, action="recommend"))
    assert nowhere["reason_code"] == "over_quota"
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)
    assert fleet.first.schedule(**fleet.order(300, action="recommend"))["result"] == "scheduled"


def test_it_is_said_in_chinese(fleet: Fleet) -> None:
    undegraded(fleet.first, fleet.order(900, action="recommend"))
    answer = fleet.first.call(
        "POST", "/schedule/", fleet.order(900, action="recommend"), status=200, Accept_Language="zh-hans"
    )
    assert "将超出配额 800" in answer["summary"]


def test_recommendations_in_a_batch_count_together(fleet: Fleet) -> None:
    body = {"requests": [fleet.order(mbps, action="recommend") for mbps in (500, 400, 300)]}
    undegraded(fleet.first, body["requests"][0])
    told = fleet.first.post("/schedule/batch/", body, status=200)
    assert [each["reason_code"] for each in told["results"]] == [None, "over_quota", None]


def test_what_is_supposed_does_not_lift_the_quota(fleet: Fleet) -> None:
    supposed = {"idcs": [{"code": fleet.idcs[0], "lines": [{"line": "ct", "purchased_mbps": 5000}]}]}
    answer = undegraded(fleet.first, fleet.order(900, action="recommend", hypothetical=supposed))
    assert answer["reason_code"] == "over_quota"


def test_capacity_ends_at_the_quota(fleet: Fleet) -> None:
    """The tenant's quota is four machines and 800 Mbps; without a tenant the answer counts all that fits."""
    fleet.reserve(200)
    question = {**fleet.question, "machine": {"bandwidth_mbps": 250}}
    told = fleet.other.post("/capacity/", question, status=200)
    assert (told["count"], told["regions"][0]["count"]) == (2, 2)
    reason = "750 Mbps more would exceed the quota of 800; 200 are held"
    assert told["quota"] == {"count": 2, "reason": reason}
    assert [each["count"] for each in told["idcs"]] == [2, 2]
    assert {each["gives_out"]["code"] for each in told["idcs"]} == {"over_quota"}
    assert told["idcs"][0]["gives_out"] == {"plugin": "quota", "code": "over_quota", "reason": reason, "detail": {}}
    assert fleet.other.post("/capacity/", {**question, "at_most": 1}, status=200)["quota"]["count"] == 1
    free = fleet.admin.post("/capacity/", question, status=200)
    assert (free["count"], free["quota"]) == (7, None)
    fleet.first.post("/schedule/", fleet.order(machines=[{"count": 2, "bandwidth_mbps": 250}]), status=201)
    fleet.first.post("/schedule/", fleet.order(250), status=409)
