"""Drafts, activation, roll-back, what differs, and what a change would do."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import SEED, Api, speaking

(BODY,) = ({"plugins": profile["plugins"]} for profile in SEED["profiles"])
PATH = "/profiles/seed-example"


def with_weight(name: str, weight: float) -> dict[str, Any]:
    """The seed profile with one scorer weighing something else."""
    plugins = [{**entry, "weight": weight} if entry["name"] == name else entry for entry in BODY["plugins"]]
    return {"plugins": plugins}


PREFER_A = {
    "plugins": [
        *BODY["plugins"],
        {"name": "back", "plugin": "metric", "weight": 5000, "args": {"metric": "x", "better": "less"}},
    ]
}


def total(portal: Api) -> tuple[int, float]:
    answer = portal.schedule(region="A", profile="seed-example")
    recorder.settle()
    return answer["profile"]["revision"], answer["score"]


def test_it_works(seed: Api, portal: Api) -> None:
    """A draft is not in force until it is activated, and an earlier revision can be put in force again."""
    draft = seed.post(f"{PATH}/revisions/", {**with_weight("x", 20), "message": "more x"}, status=201)
    assert (draft["revision"], draft["active"], draft["message"]) == (2, False, "more x")
    assert total(portal) == (1, 220.0)

    seed.post(f"{PATH}/revisions/2/activate/", None, status=200)
    assert total(portal) == (2, 240.0)

    seed.post(f"{PATH}/revisions/1/activate/", None, status=200)
    assert total(portal) == (1, 220.0)
    assert [(each["revision"], each["active"]) for each in seed.get(f"{PATH}/revisions/")["results"]] == [
        (2, False),
        (1, True),
    ]


def test_what_differs(seed: Api) -> None:
    seed.post(f"{PATH}/revisions/", {**with_weight("x", 20), "line_choice": "cheapest"}, status=201)

    assert seed.get(f"{PATH}/revisions/1/diff/?to=2")["results"] == [
        {"pointer": "/plugins/x/weight", "before": 10, "after": 20.0},
        {"pointer": "/line_choice", "before": None, "after": "cheapest"},
    ]
    assert seed.get(f"{PATH}/revisions/1/diff/")["results"] == []
    drafted, named = (seed.get(f"{PATH}/revisions/{query}")["results"] for query in ("2/diff/", "1/diff/?to=2"))
    assert drafted == named, "active, then the draft"


def test_a_new_order_is_a_difference(seed: Api) -> None:
    seed.post(f"{PATH}/revisions/", {"plugins": BODY["plugins"][::-1]}, status=201)

    (difference,) = seed.get(f"{PATH}/revisions/1/diff/?to=2")["results"]

    assert difference["pointer"] == "/plugins#order"


def test_a_preview_names_the_decisions_that_would_change(seed: Api, portal: Api) -> None:
    made = portal.schedule(region="A", profile="seed-example", request_id="order-1")
    portal.schedule(region="B", profile="seed-example", request_id="order-2")
    portal.schedule(region="A", profile="cost-first")
    portal.schedule(
        region="A", profile="seed-example", hypothetical={"ignore_taints": [{"idc": "c", "key": "disabled"}]}
    )
    recorder.settle()

    shown = seed.post(f"{PATH}/preview/", {"body": PREFER_A}, status=200)

    assert (shown["examined"], shown["without_inputs"], shown["failed"]) == (2, 0, 0)
    assert datetime.fromisoformat(shown["since"]) == Decision.objects.get(pk=made["decision_id"]).created_at
    (change,) = shown["changed"]
    assert (change["decision_id"], change["request_id"]) == (made["decision_id"], "order-1")
    assert (change["idc"], change["score"], change["would_be_idc"]) == ("d", 220.0, "a")
    assert total(portal)[0] == 1, "a preview changes nothing"


@pytest.mark.parametrize(("code", "seen"), [("live-cn", 1), ("other", 0)], ids=["of its own tenant", "of another"])
def test_a_preview_looks_only_at_what_its_reader_may_see(seed: Api, portal: Api, code: str, seen: int) -> None:
    total(portal)
    home = Tenant.objects.filter(code=code).first() or tenant_create(code=code)
    operator = speaking(token_issue(user=user_create(username="olga", role="operator", tenant=home), name="t").text)
    seed.post(f"{PATH}/revisions/", PREFER_A, status=201)

    assert len(operator.get("/decisions/")["results"]) == seen
    for question in ({"revision": 2}, {"body": PREFER_A}):
        shown = operator.post(f"{PATH}/preview/", question, status=200)
        assert (shown["examined"], len(shown["changed"])) == (seen, seen)


def test_a_preview_refuses_what_saving_refuses(seed: Api) -> None:
    fixed = {"name": "x", "plugin": "metric", "args": {"metric": "x"}, "normalizer": {"kind": "fixed"}}
    unknown = {"name": "m", "plugin": "metric", "args": {"metric": "nobody"}}
    draft = {"plugins": [unknown, fixed]}
    saved = seed.refused("POST", f"{PATH}/revisions/", draft, status=400)
    assert saved == ("unknown_metric", ["/plugins/0/args/metric", "/plugins/1/normalizer"])

    previewed = seed.refused("POST", f"{PATH}/preview/", {"body": draft}, status=400)

    assert previewed == (saved[0], [f"/body{pointer}" for pointer in saved[1]])


def test_a_preview_of_a_revision(seed: Api, portal: Api) -> None:
    total(portal)
    seed.post(f"{PATH}/revisions/", {"plugins": []}, status=201)

    assert seed.post(f"{PATH}/preview/", {"revision": 2}, status=200)["examined"] == 1


def test_refusals(seed: Api, portal: Api, api: Callable[..., Api]) -> None:
    wrong = {"plugins": [{"name": "a", "plugin": "nope"}]}
    for path, body, status, code, pointer in (
        ("revisions/", wrong, 400, "unknown_plugin", "/plugins/0/plugin"),
        ("revisions/9/activate/", None, 404, "not_found", None),
        ("preview/", {}, 400, "body_or_revision", "/body"),
        ("preview/", {"body": {"plugins": 5}}, 400, "wrong_type", "/body/plugins"),
        ("preview/", {"revision": 9}, 400, "unknown_revision", "/revision"),
        ("preview/", {"body": BODY, "last": 5000}, 400, "out_of_range", "/last"),
    ):
        found, pointers = seed.refused("POST", f"{PATH}/{path}", body, status=status)
        assert (found, pointers) == (code, [] if pointer is None else [pointer])
    assert seed.refused("GET", f"{PATH}/revisions/9/diff/", status=404)[0] == "not_found"
    assert seed.refused("GET", f"{PATH}/revisions/1/diff/?to=x", status=400) == ("wrong_type", ["?to"])
    assert portal.refused("POST", f"{PATH}/revisions/", BODY, status=403)[0] == "role_not_allowed"
    assert portal.get(f"{PATH}/revisions/")["results"][0]["revision"] == 1
    assert api("operator").post(f"{PATH}/revisions/", BODY, status=201)["created_by"] == "operator"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"name": "Seeds"}, id="another name"),
        pytest.param({"message": "once more"}, id="nothing but a message"),
        pytest.param(BODY, id="the same again"),
        pytest.param({"line_choice": None}, id="a default said aloud"),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_what_changes_nothing_makes_no_revision(seed: Api, method: str, document: dict[str, Any]) -> None:
    whole = {"code": "seed-example", **BODY, **document}
    for _ in range(2):
        shown = seed.call(method, f"{PATH}/", whole if method == "PUT" else document, status=200)
        assert (shown["revision"], shown["name"]) == (1, document.get("name", shown["name"]))
    assert seed.get(f"{PATH}/revisions/")["count"] == 1
    changes = seed.get("/changes/?kind=profile&key=seed-example")["results"]
    assert len(changes) == (2 if "name" in document else 1), "its creation, and the new name once"


def test_another_order_is_a_change(seed: Api) -> None:
    assert seed.call("PATCH", f"{PATH}/", {"plugins": BODY["plugins"][::-1]}, status=200)["revision"] == 2


def test_what_is_in_force_no_more_comes_back_as_a_new_revision(seed: Api) -> None:
    seed.call("PATCH", f"{PATH}/", with_weight("x", 20), status=200)
    assert seed.call("PATCH", f"{PATH}/", BODY, status=200)["revision"] == 3


@pytest.mark.parametrize("recorded", [pytest.param(True, id="on record"), pytest.param(False, id="on its way there")])
def test_a_profile_that_recommended_is_deleted_and_the_record_is_explained(
    seed: Api, portal: Api, recorded: bool
) -> None:
    with recorder._writing:
        made = portal.schedule(region="A", profile="seed-example")
        if not recorded:
            seed.call("DELETE", f"{PATH}/", status=204)
    recorder.flush()
    if recorded:
        seed.call("DELETE", f"{PATH}/", status=204)

    def explained() -> bool:
        again = seed.post(f"/decisions/{made['decision_id']}/replay/", {}, status=200)
        return (again["revision"], again["identical"]) == (1, True)

    assert explained()
    assert "seed-example" not in [profile["code"] for profile in seed.get("/profiles/")["results"]]
    assert "seed-example" not in seed.get("/status/")["profiles"]
    assert seed.refused("GET", f"{PATH}/", status=404)[0] == "not_found"
    assert portal.refused("POST", "/schedule/", {"region": "A", "profile": "seed-example"}, status=400)[0]
    anew = seed.post("/profiles/", {"code": "seed-example", **with_weight("x", 20)}, status=201)
    assert anew["revision"] == 2, "no two documents share a number"
    assert total(portal) == (2, 240.0)
    assert explained()


def test_a_profile_that_placed_something_stays(seed: Api, portal: Api) -> None:
    portal.post("/schedule/", {"action": "reserve", "region": "A", "profile": "seed-example"}, status=201)
    assert seed.refused("DELETE", f"{PATH}/", status=409) == ("in_use", [])
