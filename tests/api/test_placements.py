"""`placements/` and ordering by `schedule/`: the whole story of a reservation, over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.services import tenant_create
from idcsched.placement.models import Placement
from tests.api.conftest import Api

ORDER = {"request_id": "order-1", "region": "A", "profile": "seed-example", "action": "reserve"}
MACHINES = [{"count": 2, "bandwidth_mbps": 100, "cpu": 4}]


def reserve(portal: Api, status: int = 201, **extra: Any) -> Any:
    return portal.post("/schedule/", {**ORDER, "machines": MACHINES, **extra}, status=status)


def test_it_works(lines: None, portal: Api) -> None:
    placement = reserve(portal)

    assert placement.keys() >= {
        "id", "request_id", "tenant", "state", "needs_attention", "idc", "lines", "group_id", "due_to_leave",
        "expires_at", "machines", "attempts", "decision_id", "created_at", "version",
    }  # fmt: skip
    assert (placement["state"], placement["idc"], placement["version"]) == ("reserved", "d", 1)
    assert placement["lines"] == [{"line": "ct", "isp": "ct", "bandwidth_mbps": 200.0}]
    assert portal.get(f"/placements/{placement['id']}/") == placement
    assert portal.get("/placements/")["results"] == [placement]
    decision = portal.get(f"/decisions/{placement['decision_id']}/")
    taken = {"idc": "d", "rank": 1, "because": None, "passed_over": [], "placement": placement["id"]}
    assert (decision["idc"]["code"], decision["taken"]) == ("d", taken)


def test_the_answer_says_where_it_is(lines: None, portal: Api) -> None:
    response = portal.raw("POST", "/schedule/", b'{"region": "A", "profile": "seed-example", "action": "reserve"}')
    assert response.status_code == 201
    assert response["Location"] == f"/api/v1/placements/{response.json()['id']}/"


def test_stock_gives_out(lines: None, portal: Api) -> None:
    assert [reserve(portal)["idc"] for _ in range(3)] == ["d", "b", "a"]
    problem = reserve(portal, status=409)
    assert problem["code"] == "no_feasible_idc"
    assert problem["decision"]["result"] == "unschedulable"
    assert problem["detail"] == problem["decision"]["summary"]


def test_a_recommendation_takes_the_body_of_an_order(lines: None, portal: Api) -> None:
    """A recommendation never waits; the placement made with its token has the order's time to live and its priority."""
    body = {**ORDER, "action": "recommend", "ttl_seconds": 60, "wait_seconds": 3600, "priority": 7}
    far_too_much = [{"cpu": 1000}]
    assert portal.post("/schedule/", {**body, "machines": far_too_much}, status=200)["result"] == "unschedulable"
    recommended = portal.post("/schedule/", {**body, "machines": MACHINES}, status=200)
    assert portal.get("/placements/")["results"] == []
    placement = portal.post("/placements/", {"commit_token": recommended["commit_token"]}, status=201)
    kept = Placement.objects.get(pk=placement["id"])
    assert (kept.ttl_seconds, kept.priority) == (60, 7)


@pytest.mark.parametrize(("move", "state"), [("confirm", "active"), ("release", "released")])
def test_moves(lines: None, portal: Api, move: str, state: str) -> None:
    placement = reserve(portal)
    moved = portal.post(f"/placements/{placement['id']}/{move}/", None, status=200)
    assert (moved["state"], moved["version"], moved["expires_at"]) == (state, 2, None)
    events = portal.get(f"/placements/{placement['id']}/events/")["results"]
    assert [(event["move"], event["state"]) for event in events] == [("reserve", "reserved"), (move, state)]
    assert {event["actor"] for event in events} == {"portal"}
    refused = portal.refused("POST", f"/placements/{placement['id']}/confirm/", status=409)
    assert refused == ("invalid_transition", [])


def test_what_is_released_can_be_had_again(lines: None, portal: Api) -> None:
    first = reserve(portal, only=["d"], region=None)
    reserve(portal, status=409, only=["d"], region=None)
    portal.post(f"/placements/{first['id']}/release/", None, status=200)
    assert reserve(portal, only=["d"], region=None)["idc"] == "d"


def test_a_recommendation_is_committed(lines: None, portal: Api) -> None:
    recommended = portal.schedule(**{**ORDER, "action": "recommend", "machines": MACHINES})
    body = {"commit_token": recommended["commit_token"]}

    placement = portal.post("/placements/", body, status=201)
    assert (placement["idc"], placement["based_on"]) == ("d", recommended["decision_id"])
    assert portal.post("/placements/", body, status=200)["id"] == placement["id"]
    assert portal.refused("POST", "/placements/", {"commit_token": "x"}, status=400) == (
        "invalid_token",
        ["/commit_token"],
    )


def test_a_recommendation_is_outdated_once_its_idc_is_renamed(lines: None, seed: Api, portal: Api) -> None:
    recommended = portal.schedule(**{**ORDER, "action": "recommend", "machines": MACHINES})
    seed.call("PATCH", f"/idcs/{recommended['idc']['code']}/", {"code": "renamed"}, status=200)

    problem = portal.post("/placements/", {"commit_token": recommended["commit_token"]}, status=409)

    assert (problem["code"], problem["errors"]) == ("decision_outdated", [])
    assert problem["detail"] == "what was recommended does not fit any more: there is no IDC d"


def test_a_recommendation_of_many_machines_is_committed(seed: Api, portal: Api) -> None:
    """Each machine has a name and an image of its own, so that the token is long."""
    machines = [{"count": 1, "name": f"edge-{n * 7919}", "image": f"image-{n * 104729}"} for n in range(100)]
    recommended = portal.schedule(region="A", profile="seed-example", machines=machines)
    assert len(recommended["commit_token"]) > 1000
    placed = portal.post("/placements/", {"commit_token": recommended["commit_token"]}, status=201)
    assert placed["state"] == "reserved"


def test_nothing_was_taken_of_a_recommendation(seed: Api, portal: Api) -> None:
    decision_id = portal.schedule(region="A", profile="seed-example")["decision_id"]
    assert portal.get(f"/decisions/{decision_id}/")["taken"] is None


@pytest.mark.parametrize("move", ["confirm", "provision"])
def test_what_has_expired_is_over_before_anybody_notes_it(lines: None, portal: Api, move: str) -> None:
    placement = reserve(portal)
    Placement.objects.update(expires_at=timezone.now())
    refused = portal.post(f"/placements/{placement['id']}/{move}/", None, status=409)
    assert (refused["code"], refused["detail"]) == (
        "invalid_transition",
        f"a placement that is expired cannot {move}",
    )
    assert portal.get(f"/placements/{placement['id']}/")["version"] == 1


def test_due_to_leave(lines: None, seed: Api, portal: Api) -> None:
    placement = reserve(portal)
    assert portal.get("/placements/?due_to_leave=true")["count"] == 0
    seed.post("/taints/", {"idc": "d", "key": "closing", "effect": "NoExecute"}, status=201)
    (found,) = portal.get("/placements/?due_to_leave=true")["results"]
    assert (found["id"], found["due_to_leave"]) == (placement["id"], "closing")
    assert portal.get("/placements/?due_to_leave=false")["count"] == 0


def test_others_placements_are_not_there(lines: None, portal: Api, admin: Api) -> None:
    tenant_create(code="other")
    other = reserve(admin, tenant="other")
    own = reserve(admin, tenant="live-cn")
    assert [placement["id"] for placement in portal.get("/placements/")["results"]] == [own["id"]]
    assert admin.get("/placements/")["count"] == 2
    for path in ("", "events/", "confirm/", "release/"):
        method = "POST" if path in ("confirm/", "release/") else "GET"
        assert portal.refused(method, f"/placements/{other['id']}/{path}", status=404)[0] == "not_found"


@pytest.mark.parametrize(
    ("extra", "code", "pointer"),
    [
        ({"action": "provision"}, "machines_required", "/machines"),
        (
            {"hypothetical": {"ignore_taints": [{"idc": "c", "key": "disabled"}]}},
            "hypothetical_is_not_real",
            "/hypothetical",
        ),
    ],
)
def test_refusals(lines: None, portal: Api, extra: dict[str, Any], code: str, pointer: str) -> None:
    assert portal.refused("POST", "/schedule/", {**ORDER, **extra}, status=400) == (code, [pointer])


def test_a_list_takes_a_fixed_number_of_queries(
    lines: None, portal: Api, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    for _ in range(3):
        reserve(portal)
    with django_assert_max_num_queries(9):
        portal.get("/placements/")


def test_a_tenants_use_of_its_quotas(lines: None, admin: Api, portal: Api) -> None:
    admin.call("PATCH", "/tenants/live-cn/", {"quota_machines": 5}, status=200)
    first = reserve(portal)
    reserve(portal)
    use = {"tenant": "live-cn", "bandwidth_mbps": 400, "quota_bandwidth_mbps": None, "machines": 4, "quota_machines": 5}
    assert portal.get("/tenants/live-cn/use/") == use
    assert reserve(portal, status=409)["code"] == "quota_exceeded"
    portal.post(f"/placements/{first['id']}/release/", None, status=200)
    assert portal.get("/tenants/live-cn/use/")["machines"] == 2
