"""A portal has the orders of a batch assigned together, for the smallest bill of all of them."""

from typing import Any

import pytest

from tests.stories.fleet import KNOWN, Fleet, new_fleet
from tests.stories.product import Product, name, until

BY_BILL = [
    *({"name": plugin, "plugin": plugin} for plugin in ("available", "network_flow", "taint")),
    {"name": "bill", "plugin": "billing_cost", "weight": 1, "args": {"free": 0, "scarcity": 0}},
]


@pytest.fixture
def fleet(product: Product) -> Fleet:
    """The line of the first IDC costs 20 per Mbps, is used with 800 of its 1,000 Mbps, and 900 are committed.

    The line of the second IDC costs 10.50 and has no commit. Alone an order of 200 Mbps is cheaper in the first, and
    then an order of 100 has to go to the second; the other way round the two cost less.
    """
    fleet = new_fleet(product)
    first, second = fleet.idcs
    fleet.admin.post("/samples/", [{"idc": first, "line": "ct", "metric": "bandwidth_mbps", "value": 800}], status=200)
    fleet.admin.call(
        "PATCH", f"/lines/{line_of(fleet, first)}/", {"price_per_mbps": 20, "commit_mbps": 900}, status=200
    )
    fleet.admin.call("PATCH", f"/lines/{line_of(fleet, second)}/", {"price_per_mbps": 10.5}, status=200)
    profile = name("profile")
    fleet.admin.post("/profiles/", {"code": profile, "plugins": BY_BILL}, status=201)
    fleet = Fleet(fleet.region, fleet.metric, profile, fleet.tenant, fleet.idcs, fleet.admin, fleet.callers)
    for caller in fleet.callers:
        until(lambda caller=caller: priced(fleet, caller), "the prices", seconds=KNOWN)  # type: ignore[misc]
    return fleet


def line_of(fleet: Fleet, idc: str) -> Any:
    (line,) = fleet.admin.get(f"/lines/?idc={idc}")["results"]
    return line["id"]


def priced(fleet: Fleet, caller: Any) -> bool:
    """Whether a web process knows profile, prices and the measured traffic: the first IDC bills 2,024 for 200 Mbps."""
    asked = {**fleet.order(200, action="recommend", only=[fleet.idcs[0]])}
    answer = caller.ask("POST", "/schedule/", asked)
    if answer.status != 200 or not answer.body["candidates"]:
        return False
    raw = answer.body["candidates"][0]["scores"].get("bill", {}).get("raw")
    return raw is not None and 10 < raw < 10.2


def batch(fleet: Fleet, objective: str, *, mode: str = "independent", status: int = 200, **fields: Any) -> Any:
    requests = [fleet.order(mbps, **fields) for mbps in (200, 100)]
    body = {"requests": requests, "mode": mode, "objective": objective}
    return fleet.first.post("/schedule/batch/", body, status=status)


def test_together_they_cost_less(fleet: Fleet) -> None:
    first, second = fleet.idcs
    one_by_one = batch(fleet, "score", action="recommend")
    together = batch(fleet, "bill", action="recommend")
    assert [each["idc"]["code"] for each in one_by_one["results"]] == [first, second]
    assert [each["idc"]["code"] for each in together["results"]] == [second, first]
    assert [each["picked"] for each in together["results"]] == ["planned", "planned"]
    plan = together["plan"]
    assert (plan["status"], plan["placed"], plan["greedy_placed"], plan["not_as_planned"]) == ("optimal", 2, 2, [])
    assert plan["bill"] == pytest.approx(2100 + 572, abs=1)
    assert plan["greedy_bill"] == pytest.approx(2024 + 1050, abs=1)
    assert "plan" not in one_by_one


@pytest.mark.parametrize("mode", ["independent", "gang"])
def test_they_are_reserved_as_planned(fleet: Fleet, mode: str) -> None:
    told = batch(fleet, "bill", mode=mode)
    first, second = fleet.idcs
    assert told["result"] == "all"
    assert [(each["state"], each["idc"]) for each in told["results"]] == [("reserved", second), ("reserved", first)]
    assert told["plan"]["not_as_planned"] == []
    for caller in fleet.callers:
        assert fleet.pending(caller) == [100, 200]


def test_a_planned_decision_replays(fleet: Fleet) -> None:
    told = batch(fleet, "bill", action="recommend")["results"][0]
    again = fleet.admin.post(f"/decisions/{told['decision_id']}/replay/", {}, status=200)
    assert (again["identical"], again["again"]["idc"]["code"]) == (True, fleet.idcs[1])
    assert again["again"]["picked"] == "planned"
