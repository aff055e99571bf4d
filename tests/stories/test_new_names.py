"""A name that was created through one web process a moment ago may be used at the other one."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.stories.fleet import Fleet, best_by, new_fleet
from tests.stories.product import Caller, Product, name

ROUNDS = 5
"""The test is repeated, because a process that does not look for new names might know them once by chance."""

Created = Callable[[Fleet], dict[str, Any]]
"""Creates something, and returns the fields of a request that name it."""


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def a_profile(fleet: Fleet) -> dict[str, Any]:
    fleet.admin.post("/profiles/", {"code": (code := name("profile")), "plugins": best_by(fleet.metric)}, status=201)
    return {"profile": code}


def an_idc(fleet: Fleet) -> dict[str, Any]:
    fleet.admin.post("/idcs/", {"code": (code := name("idc")), "region": fleet.region}, status=201)
    return {"exclude": [code]}


def a_region(fleet: Fleet) -> dict[str, Any]:
    fleet.admin.post("/regions/", {"code": (code := name("region"))}, status=201)
    return {"region": code}


def an_isp(fleet: Fleet) -> dict[str, Any]:
    fleet.admin.post("/isps/", {"code": (code := name("isp"))}, status=201)
    return {"isp": code}


def an_isp_in_a_selector(fleet: Fleet) -> dict[str, Any]:
    avoided = {"key": "idc/isp", "operator": "NotIn", "values": [an_isp(fleet)["isp"]]}
    return {"selector": {"match_expressions": [avoided]}}


def a_tenant(fleet: Fleet) -> dict[str, Any]:
    fleet.admin.post("/tenants/", {"code": (code := name("tenant"))}, status=201)
    return {"tenant": code}


def a_metric(fleet: Fleet) -> dict[str, Any]:
    body = {"code": (code := name("metric")), "direction": "lower", "scope": "idc"}
    fleet.admin.post("/metrics/", body, status=201)
    return {"hypothetical": {"idcs": [{"code": fleet.idcs[0], "metrics": {code: 1}}]}}


def a_line(fleet: Fleet) -> dict[str, Any]:
    body = {"idc": fleet.idcs[0], "code": (code := name("line")), "isp": "ct", "purchased_mbps": 10}
    fleet.admin.post("/lines/", body, status=201)
    return {"hypothetical": {"idcs": [{"code": fleet.idcs[0], "lines": [{"line": code, "purchased_mbps": 20}]}]}}


KINDS: list[Created] = [a_profile, an_idc, a_region, an_isp, an_isp_in_a_selector, a_tenant, a_metric, a_line]


def as_admin(fleet: Fleet, caller: Caller) -> Caller:
    """The same connection, with a token that may name any tenant."""
    return caller.as_(fleet.admin.token or "")


def test_it_works(fleet: Fleet) -> None:
    for created in KINDS * ROUNDS:
        as_admin(fleet, fleet.other).schedule(**{**fleet.question, **created(fleet)})


def test_how_many_fit_is_known_too(fleet: Fleet) -> None:
    for created in KINDS * ROUNDS:
        body = {**fleet.question, "machine": {"bandwidth_mbps": 1}, **created(fleet)}
        if "hypothetical" not in body:
            as_admin(fleet, fleet.other).post("/capacity/", body, status=200)


def test_a_decision_is_replayed_by_a_new_profile(fleet: Fleet) -> None:
    decision = fleet.first.schedule(**fleet.question)["decision_id"]
    for _ in range(ROUNDS):
        as_admin(fleet, fleet.other).post(f"/decisions/{decision}/replay/", a_profile(fleet), status=200)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"profile": "nobodys"}, "unknown_profile"),
        ({"only": ["nobodys"]}, "unknown_idc"),
        ({"region": "nobodys"}, "unknown_region"),
        ({"isp": "nobodys"}, "unknown_isp"),
        ({"selector": {"match_labels": {"idc/isp": "nobodys"}}}, "unknown_isp"),
        ({"tenant": "nobodys"}, "unknown_tenant"),
        ({"hypothetical": {"idcs": [{"code": "nobodys", "status": "online"}]}}, "unknown_idc"),
    ],
)
def test_a_name_that_nobody_created_is_refused(product: Product, asked: dict[str, Any], code: str) -> None:
    body = {"region": "A", "profile": "seed-example", **asked}
    assert product.caller("admin").post("/schedule/", body, status=400)["code"] == code


@pytest.mark.parametrize("action", ["recommend", "reserve"])
def test_a_refusal_does_not_stay_under_its_key(fleet: Fleet, action: str) -> None:
    """The same request under the same key is answered anew once the profile is there."""
    code, key = name("profile"), name("key")
    body = {**fleet.order(1, action=action), "profile": code}
    refused = fleet.first.call("POST", "/schedule/", body, status=400, Idempotency_Key=key)
    assert refused["code"] == "unknown_profile"
    fleet.admin.post("/profiles/", {"code": code, "plugins": best_by(fleet.metric)}, status=201)
    answer = fleet.other.ask("POST", "/schedule/", body, Idempotency_Key=key)
    assert (answer.status, answer.headers["Idempotent-Replayed"]) == (200 if action == "recommend" else 201, None)
    again = fleet.first.ask("POST", "/schedule/", body, Idempotency_Key=key)
    assert (again.body, again.headers["Idempotent-Replayed"]) == (answer.body, "true")
