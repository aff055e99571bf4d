"""A PATCH or a POST of a list to a collection changes or creates many objects, all of them or none."""

from typing import Any

import pytest

from idcsched.inventory.models import Idc
from tests.api.conftest import Api
from tests.api.test_resources import KEYS, WRITES, world  # noqa: F401 - the fixture, used by name


@pytest.mark.parametrize("resource", list(WRITES))
def test_it_works(world: Api, resource: str) -> None:  # noqa: F811
    key = KEYS.get(resource, "code")
    made = world.post(f"/{resource}/", [WRITES[resource][1]], status=201)[0]

    changed = world.call("PATCH", f"/{resource}/", [{key: made[key]}], status=200)

    assert [row[key] for row in changed] == [made[key]]
    assert changed[0].items() >= WRITES[resource][1].items()


def test_many_are_changed(world: Api) -> None:  # noqa: F811
    documents = [{"code": "b", "partition": "p"}, {"code": "a", "partition": "q"}]

    changed = world.call("PATCH", "/idcs/", documents, status=200)

    assert [(idc["code"], idc["partition"]) for idc in changed] == [("b", "p"), ("a", "q")]


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        pytest.param({"code": "a"}, "wrong_type", "", id="one object"),
        pytest.param(["a"], "wrong_type", "/0", id="what is no object"),
        pytest.param([{"partition": "p"}], "required", "/0/code", id="no name"),
        pytest.param([{"code": 1}], "wrong_type", "/0/code", id="a number for a name"),
        pytest.param([{"code": "a"}, {"code": "zz"}], "unknown", "/1/code", id="what is not there"),
        pytest.param([{"code": "a"}, {"code": "a"}], "given_twice", "/1/code", id="one twice"),
        pytest.param([{"code": "a"}, {"code": "b", "tier": "x"}], "invalid_choice", "/1/tier", id="a bad value"),
        pytest.param([{"code": "a", "id": 1}], "unknown_field", "/0/id", id="an unknown field"),
        pytest.param([{"code": "a"}] * 1001, "too_many", "", id="too many"),
    ],
)
def test_all_or_none(world: Api, data: Any, code: str, pointer: str) -> None:  # noqa: F811
    first = [{"code": "c", "partition": "p"}, *data] if isinstance(data, list) and len(data) == 2 else data
    expected = pointer.replace("/1/", "/2/") if first is not data else pointer

    assert world.refused("PATCH", "/idcs/", first, status=400) == (code, [expected])
    assert not Idc.objects.filter(partition="p").exists()


@pytest.mark.parametrize(
    ("resource", "key", "detail"),
    [
        pytest.param("idcs", {"code": 1}, "this must be a text", id="a number for a code"),
        pytest.param("taints", {"id": "1"}, "this must be a whole number", id="a text for an id"),
        pytest.param("taints", {"id": True}, "this must be a whole number", id="true for an id"),
    ],
)
def test_a_key_of_the_wrong_type(world: Api, resource: str, key: Any, detail: str) -> None:  # noqa: F811
    problem = world.call("PATCH", f"/{resource}/", [key], status=400)

    assert [(error["code"], error["detail"]) for error in problem["errors"]] == [("wrong_type", detail)]


def test_too_many_to_make(world: Api) -> None:  # noqa: F811
    assert world.refused("POST", "/regions/", [{"code": "R"}] * 1001, status=400) == ("too_many", [""])


@pytest.mark.parametrize(("resource", "document"), [("regions", {"code": "A"}), ("isps", {"code": "ct"})])
def test_a_conflict_names_the_item(world: Api, resource: str, document: Any) -> None:  # noqa: F811
    new = {**document, "code": "new"}

    code, pointers = world.refused("POST", f"/{resource}/", [new, document], status=409)

    assert code in {"already_exists", "name_taken"}
    assert pointers == ["/1"]


def test_a_stale_one_stops_all(world: Api) -> None:  # noqa: F811
    tags = [world.raw("GET", f"/idcs/{code}/").headers["ETag"] for code in "ab"]
    documents = [{"code": code, "partition": "p"} for code in "ab"]

    assert world.call("PATCH", "/idcs/", documents, status=412, If_Match=tags[0])["code"] == "stale_etag"
    assert not Idc.objects.filter(partition="p").exists()
    world.call("PATCH", "/idcs/", documents, status=200, If_Match=", ".join(tags))


def test_a_role_that_may_not(world: Api, portal: Api) -> None:  # noqa: F811
    assert portal.refused("PATCH", "/idcs/", [{"code": "a"}], status=403)[0]


def test_taints_by_selector_stand_beside_others(world: Api) -> None:  # noqa: F811
    many = [
        {"key": "one", "idc": "a"},
        {"key": "many", "selector": {"match_labels": {"idc/region": "B"}}},
        {"key": "one", "idc": "b"},
    ]
    made = world.post("/taints/", many, status=201)

    assert [(taint["key"], taint["idc"]) for taint in made] == [
        ("one", "a"),
        ("many", "e"),
        ("many", "f"),
        ("one", "b"),
    ]


@pytest.mark.parametrize(
    ("document", "code", "pointer"),
    [
        ({"key": "k", "idc": "zz"}, "unknown_idc", "/1/idc"),
        ({"key": "k"}, "idc_or_selector", "/1/idc"),
        ({"key": "k", "idc": "a", "selector": {"match_labels": {"x": "y"}}}, "idc_or_selector", "/1/idc"),
        ({"key": "k", "selector": {}}, "empty_selector", "/1/selector"),
        ({"key": "k", "selector": {"match_labels": {"x": "y"}}}, "selector_matches_nothing", "/1/selector"),
        ({"key": " ", "idc": "a"}, "required", "/1/key"),
    ],
)
def test_one_taint_of_many_that_can_not_be(world: Api, document: Any, code: str, pointer: str) -> None:  # noqa: F811
    before = world.get("/taints/")["count"]
    refused = world.refused("POST", "/taints/", [{"key": "k", "idc": "b"}, document], status=400)

    assert refused == (code, [pointer])
    assert world.get("/taints/")["count"] == before


@pytest.mark.parametrize("resource", ["taints", "affinities"])
def test_a_hundred_marks_take_few_queries(
    world: Api,  # noqa: F811
    resource: str,
    django_assert_max_num_queries: Any,
) -> None:
    one = {"taints": {"effect": "NoSchedule"}, "affinities": {"kind": "prefer", "weight": 1}}[resource]
    many = [{**one, **({"key": f"k{number}"} if resource == "taints" else {}), "idc": "a"} for number in range(100)]
    with django_assert_max_num_queries(20):
        assert len(world.post(f"/{resource}/", many, status=201)) == 100
