"""`schedule/batch/`: many requests in one, over HTTP."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from idcsched.scheduling.models import Picture
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api
from tests.api.test_placements import MACHINES

ORDER = {"region": "A", "profile": "seed-example", "action": "reserve", "machines": MACHINES}
PATH = "/schedule/batch/"


pytestmark = pytest.mark.usefixtures("lines")  # one order takes all of a room


def batch(*requests: Any, **more: Any) -> dict[str, Any]:
    return {"requests": list(requests), **more}


def test_it_works(portal: Api) -> None:
    told = portal.post(PATH, batch(ORDER, {**ORDER, "action": "recommend"}, ORDER, ORDER), status=200)
    assert told["result"] == "some"
    reserved, recommended, last, refused = told["results"]
    assert (reserved["idc"], reserved["state"], reserved["group_id"]) == ("d", "reserved", None)
    assert (recommended["idc"]["code"], recommended["result"]) == ("b", "scheduled")
    assert last["idc"] == "a"
    assert (refused["status"], refused["code"]) == (409, "no_feasible_idc")
    assert refused["decision"]["result"] == "unschedulable"
    assert [each["status"] for each in told["results"]] == [201, 200, 201, 409]
    assert {"status": 201, **portal.get(f"/placements/{reserved['id']}/")} == reserved


def test_recommendations_share_the_picture_that_they_were_made_on(seed: Api, portal: Api) -> None:
    asked = [{**ORDER, "action": "recommend", "explain": explain} for explain in ("none", "none", "summary", "none")]
    told = portal.post(PATH, batch(*asked, asked[0]), status=200)
    assert [each["idc"] and each["idc"]["code"] for each in told["results"]] == ["d", "b", "a", None, None]
    recorder.settle()
    assert Picture.objects.exclude(decisions=None).distinct().count() == 1
    for each in told["results"]:
        again = seed.post(f"/decisions/{each['decision_id']}/replay/", {}, status=200)
        assert (again["identical"], again["again"]["summary"]) == (True, each["summary"])


def test_a_question_asked_again_is_told_in_the_language_of_the_reader(portal: Api) -> None:
    small = {**ORDER, "action": "recommend", "explain": "none", "machines": [{"bandwidth_mbps": 1}]}
    chinese: dict[str, Any] = {"status": 200, "accept_language": "zh-hans"}
    told = portal.call("POST", PATH, batch(*[small] * 4), **chinese)["results"]
    alone = portal.call("POST", "/schedule/", small, **chinese)
    assert {each["summary"] for each in told} == {alone["summary"]}
    assert "机房" in alone["summary"]


def test_a_gang(portal: Api) -> None:
    told = portal.post(PATH, batch(ORDER, ORDER, mode="gang"), status=200)
    groups = {each["group_id"] for each in told["results"]}
    assert (told["result"], len(groups)) == ("all", 1)
    found = portal.get(f"/placements/?group_id={groups.pop()}")["results"]
    assert {each["id"] for each in found} == {each["id"] for each in told["results"]}


def test_a_gang_that_does_not_fit(portal: Api) -> None:
    response = portal.raw("POST", PATH, json.dumps(batch(*[ORDER] * 4, mode="gang")))
    problem = response.json()
    assert (response.status_code, response["Content-Type"]) == (409, "application/problem+json")
    assert (problem["code"], problem["result"]) == ("gang_not_placed", "none")
    assert [each.get("code", each.get("result")) for each in problem["results"]] == [
        "scheduled", "scheduled", "scheduled", "no_feasible_idc",
    ]  # fmt: skip
    assert portal.get("/placements/")["count"] == 0


def test_the_smallest_bill(portal: Api) -> None:
    """The answer has a plan with its bill.

    As no line has a price, all IDCs cost the same, and greedy choice costs no more.
    """
    told = portal.post(PATH, batch(ORDER, {**ORDER, "action": "recommend"}, objective="bill"), status=200)
    plan = told["plan"]
    assert (told["result"], told["results"][0]["state"], told["results"][1]["picked"]) == ("all", "reserved", "planned")
    assert plan.pop("seconds") > 0
    assert plan.pop("gap") < 0.001
    assert plan.pop("bill") == plan.pop("greedy_bill") >= plan.pop("bound") > 0
    assert plan == {
        "objective": "bill",
        "status": "optimal",
        "placed": 2,
        "greedy_placed": 2,
        "currency": "CNY",
        "not_as_planned": [],
    }
    assert "plan" not in portal.post(PATH, batch(ORDER, objective="score"), status=200)


def test_a_gang_that_does_not_fit_has_a_plan(portal: Api) -> None:
    told = portal.post(PATH, batch(*[ORDER] * 4, mode="gang", objective="bill"), status=409)
    assert (told["code"], told["plan"]["placed"], told["plan"]["not_as_planned"]) == ("gang_not_placed", 3, [])


@pytest.mark.parametrize(
    ("wrong", "code", "pointer"),
    [
        pytest.param({"region": "A", "colour": "red"}, "unknown_field", "/colour", id="an unknown field"),
        pytest.param({"region": "nowhere"}, "unknown_region", "/region", id="an unknown name"),
        pytest.param([], "wrong_type", "", id="no object"),
        pytest.param({"region": "A", "machines": [{"count": 0}]}, "out_of_range", "/machines/0/count", id="range"),
    ],
)
def test_one_that_is_wrong_does_not_spoil_the_others(portal: Api, wrong: Any, code: str, pointer: str) -> None:
    told = portal.post(PATH, batch(wrong, ORDER), status=200)["results"]
    assert (told[0]["status"], told[0]["code"], told[0]["errors"][0]["pointer"]) == (400, code, pointer)
    assert told[1]["idc"] == "d"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param({}, "/requests", id="no requests"),
        pytest.param(batch(), "/requests", id="an empty list"),
        pytest.param(batch(*[ORDER] * 1001), "/requests", id="too many"),
        pytest.param(batch(ORDER, mode="chain"), "/mode", id="an unknown mode"),
        pytest.param(batch(ORDER, objective="luck"), "/objective", id="an unknown objective"),
        pytest.param(batch(ORDER, priority=1), "/priority", id="an unknown field"),
        pytest.param([ORDER], "", id="a bare list"),
    ],
)
def test_refusals(portal: Api, body: Any, pointer: str) -> None:
    code, pointers = portal.refused("POST", PATH, body, status=400)
    assert code in {"required", "out_of_range", "invalid_choice", "unknown_field", "wrong_type"}
    assert pointers == [pointer]


def test_once_only(portal: Api) -> None:
    """The same body under the same key gets the first answer again, and no more placements; another body is refused."""
    first = portal.call("POST", PATH, batch(ORDER, ORDER), status=200, idempotency_key="k-1")
    again = portal.call("POST", PATH, batch(ORDER, ORDER), status=200, idempotency_key="k-1")
    assert again == first
    assert portal.get("/placements/")["count"] == 2
    portal.call("POST", PATH, batch(ORDER), status=422, idempotency_key="k-1")


def test_in_chinese(portal: Api) -> None:
    told = portal.call("POST", PATH, batch(*[ORDER] * 4, mode="gang"), status=409, accept_language="zh-hans")
    assert told["detail"] == "无法全部放置，因此一个也不放置"
    assert "台" not in told["results"][0]["summary"]
    assert "机房" in told["results"][3]["detail"]


def test_the_answer_takes_a_fixed_number_of_queries(portal: Api) -> None:
    """A batch takes at most 12 queries beyond those of its orders, and each order takes at most 12."""

    def queries(count: int) -> int:
        order = {**ORDER, "machines": [{"bandwidth_mbps": 1}]}
        with CaptureQueriesContext(connection) as found:
            portal.post(PATH, batch(*[order] * count), status=200)
        return len(found)

    queries(1)
    each = (queries(12) - queries(2)) / 10
    assert queries(2) - 2 * each <= 12
    assert each <= 12
