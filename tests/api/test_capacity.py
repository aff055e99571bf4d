"""`capacity/`: how many more of a machine fit, and what gives out first, over HTTP."""

from typing import Any

import pytest

from tests.api.conftest import Api
from tests.api.test_batch import ORDER

pytestmark = pytest.mark.usefixtures("lines")

QUESTION = {"machine": {"bandwidth_mbps": 50, "cpu": 2}, "region": "A", "profile": "seed-example"}
PATH = "/capacity/"


def test_it_works(portal: Api) -> None:
    """Every IDC of region A has room for 900 Mbps and eight cores; `c` is tainted."""
    told = portal.post(PATH, QUESTION, status=200)
    assert (told["count"], told["at_most"], told["profile"]["code"]) == (12, 1000, "seed-example")
    assert [(each["idc"], each["count"]) for each in told["idcs"]] == [("a", 4), ("b", 4), ("d", 4), ("c", 0)]
    assert told["idcs"][0]["gives_out"]["reason"] == "needs 10 cpu, 8 left"
    assert told["idcs"][3]["gives_out"]["code"] == "untolerated_taint"
    (region,) = told["regions"]
    assert (region["region"], region["count"], region["idcs"]) == ("A", 12, 3)
    assert [(each["code"], each["idcs"]) for each in region["gives_out"]] == [
        ("not_enough_stock", 3), ("untolerated_taint", 1),
    ]  # fmt: skip


def test_it_sees_what_is_taken_and_what_fits_can_be_had(portal: Api) -> None:
    machines = [{**QUESTION["machine"], "count": 4}]  # type: ignore[dict-item]
    for left in (8, 4, 0):
        portal.post("/schedule/", {**ORDER, "machines": machines}, status=201)
        assert portal.post(PATH, QUESTION, status=200)["count"] == left
    portal.post("/schedule/", {**ORDER, "machines": [QUESTION["machine"]]}, status=409)


def test_what_if(portal: Api) -> None:
    what_if = {"ignore_taints": [{"idc": "c", "key": "disabled"}]}
    assert portal.post(PATH, {**QUESTION, "hypothetical": what_if}, status=200)["count"] == 16


def test_nothing_is_recorded(portal: Api) -> None:
    before = portal.get("/decisions/")["results"]
    portal.post(PATH, QUESTION, status=200)
    assert portal.get("/decisions/")["results"] == before


def test_in_chinese(portal: Api) -> None:
    told = portal.call("POST", PATH, QUESTION, status=200, accept_language="zh-hans")
    assert told["idcs"][0]["gives_out"]["reason"] != "needs 10 cpu, 8 left"


def test_a_viewer_may_ask(api: Any) -> None:
    assert api("viewer").post(PATH, QUESTION, status=200)["count"] == 12


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        pytest.param({"machine": None}, "wrong_type", "/machine", id="no machine"),
        pytest.param({"machine": {"count": 2}}, "counted_not_given", "/machine/count", id="a number of them"),
        pytest.param({"region": None}, "region_required", "/region", id="nowhere"),
        pytest.param({"region": "Z"}, "unknown_region", "/region", id="an unknown region"),
        pytest.param({"profile": "none"}, "unknown_profile", "/profile", id="an unknown profile"),
        pytest.param({"at_most": 10_001}, "out_of_range", "/at_most", id="more than anybody counts"),
        pytest.param({"at_most": 0}, "out_of_range", "/at_most", id="not even one"),
        pytest.param({"weights": {"x": 1}}, "unknown_field", "/weights", id="what has no say in it"),
    ],
)
def test_refusals(portal: Api, change: dict[str, Any], code: str, pointer: str) -> None:
    assert portal.refused("POST", PATH, {**QUESTION, **change}, status=400) == (code, [pointer])
