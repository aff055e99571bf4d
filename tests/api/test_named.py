"""An object that another one names by its code can be neither renamed nor deleted."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from idcsched.accounts.services import user_create
from idcsched.inventory.models import Region
from tests.api.conftest import Api

EVERYWHERE = {"match_expressions": [{"key": "idc/code", "operator": "Exists"}]}
NAMING: dict[str, Any] = {
    "an argument": {"plugins": [{"name": "m", "plugin": "metric", "args": {"metric": "q", "at_least": 50}}]},
    "the argument of another plugin": {
        "plugins": [{"name": "l", "plugin": "locality", "args": {"by": "rtt", "metric": "q"}}]
    },
    "a dynamic weight": {
        "plugins": [{"name": "s", "plugin": "spread", "dynamic_weight": {"metric": "q", "reference": 1, "factor": 1}}]
    },
    "an attribute for an extender": {
        "plugins": [
            {"name": "e", "plugin": "extender", "args": {"url": "http://judge.test", "attributes": ["metric/q"]}}
        ]
    },
}


@pytest.fixture
def world(api: Callable[..., Api]) -> Api:
    """An IDC of its own region, ISP and provider, and a metric without values."""
    admin = api("admin")
    admin.post("/regions/", {"code": "south"}, status=201)
    admin.post("/isps/", {"code": "ct"}, status=201)
    admin.post("/providers/", {"code": "vm", "kind": "simulated"}, status=201)
    admin.post("/idcs/", {"code": "gz", "region": "south", "provider": "vm"}, status=201)
    admin.post("/metrics/", {"code": "q", "direction": "higher", "scope": "idc"}, status=201)
    return admin


def check_kept(api: Api, path: str, by: str) -> None:
    """Assert that the object can be neither renamed nor deleted, and that the refusal names `by`, which uses it."""
    for method, body in (("PATCH", {"code": "other"}), ("DELETE", None)):
        problem = api.call(method, path, body, status=409)
        assert (problem["code"], by in problem["detail"]) == ("in_use", True), problem["detail"]
    api.get(path)


def check_free(api: Api, path: str) -> None:
    collection = path.strip("/").split("/")[0]
    api.call("PATCH", path, {"code": "other"}, status=200)
    api.call("DELETE", f"/{collection}/other/", status=204)


FIXED: dict[str, Any] = {
    "plugins": [
        {"name": "m", "plugin": "metric", "weight": 1, "args": {"metric": "q"}, "normalizer": {"kind": "fixed"}}
    ]
}


@pytest.mark.parametrize(
    "changes",
    [{"low": None, "high": None}, {"low": None}, {"high": None}],
    ids=["both ends", "the low end", "the high end"],
)
def test_a_range_that_a_profile_needs_is_kept(world: Api, changes: dict[str, None]) -> None:
    world.call("PATCH", "/metrics/q/", {"low": 0, "high": 10}, status=200)
    world.post("/profiles/", {"code": "ranged", **FIXED}, status=201)
    problem = world.call("PATCH", "/metrics/q/", changes, status=409)
    assert (problem["code"], problem["detail"]) == ("in_use", "in use by profile ranged")
    assert world.get("/metrics/q/")["high"] == 10
    world.call("PATCH", "/metrics/q/", {"low": 1, "high": 5}, status=200)


def test_a_range_that_no_profile_needs_may_go(world: Api) -> None:
    world.call("PATCH", "/metrics/q/", {"low": 0, "high": 10}, status=200)
    world.post("/profiles/", {"code": "picky", **NAMING["an argument"]}, status=201)
    assert world.call("PATCH", "/metrics/q/", {"low": None, "high": None}, status=200)["low"] is None


@pytest.mark.parametrize("case", NAMING)
def test_a_metric_that_a_profile_names_is_kept(world: Api, case: str) -> None:
    world.post("/profiles/", {"code": "picky", **NAMING[case]}, status=201)
    check_kept(world, "/metrics/q/", "profile picky")

    world.call("PATCH", "/profiles/picky/", {"plugins": []}, status=200)
    check_free(world, "/metrics/q/")


def test_a_draft_binds_nothing(world: Api) -> None:
    world.post("/profiles/default/revisions/", NAMING["an argument"], status=201)
    check_free(world, "/metrics/q/")


def test_a_profile_that_is_gone_binds_nothing(world: Api) -> None:
    world.post("/profiles/", {"code": "picky", **NAMING["an argument"]}, status=201)
    world.call("DELETE", "/profiles/picky/", status=204)
    check_free(world, "/metrics/q/")


def test_what_is_said_about_a_named_metric_can_be_changed(world: Api) -> None:
    world.post("/profiles/", {"code": "picky", **NAMING["an argument"]}, status=201)
    assert world.call("PATCH", "/metrics/q/", {"code": "q", "name": "Quality"}, status=200)["name"] == "Quality"


FACTS = {"/regions/south/": ("idc/region", "south"), "/isps/ct/": ("idc/isp", "ct"), "/idcs/gz/": ("idc/code", "gz"),
         "/providers/vm/": ("idc/provider", "vm")}  # fmt: skip


@pytest.mark.parametrize("path", FACTS)
def test_what_an_affinity_names_by_a_fact_is_kept(world: Api, path: str) -> None:
    fact, code = FACTS[path]
    selectors = (
        {"match_labels": {fact: code}},
        [EVERYWHERE, {"match_expressions": [{"key": fact, "operator": "NotIn", "values": [code]}]}],
    )
    for selector in selectors:
        affinity = world.post("/affinities/", {"kind": "forbid", "selector": selector}, status=201)
        if path == "/providers/vm/":
            world.call("PATCH", "/idcs/gz/", {"provider": ""}, status=200)
        check_kept(world, path, f"affinity {affinity['id']}")
        world.call("DELETE", f"/affinities/{affinity['id']}/", status=204)
    if path in ("/isps/ct/", "/providers/vm/"):
        check_free(world, path)


@pytest.mark.parametrize("path", FACTS)
def test_what_a_profile_names_by_a_fact_is_kept(world: Api, path: str) -> None:
    fact, code = FACTS[path]
    fallback = [{"match_labels": {fact: code}}, EVERYWHERE]
    world.post("/profiles/", {"code": "picky", "plugins": [], "fallback": fallback}, status=201)
    check_kept(world, path, "profile picky" if path != "/providers/vm/" else "IDC gz, profile picky")


def test_an_affinity_that_has_ended_binds_nothing(world: Api) -> None:
    over = {"starts_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-02T00:00:00Z"}
    selector = {"match_labels": {"idc/code": "gz"}}
    world.post("/affinities/", {"kind": "forbid", "selector": selector, **over}, status=201)
    check_free(world, "/idcs/gz/")


def test_a_text_that_is_no_fact_binds_nothing(world: Api) -> None:
    """A selector on the label `owner` has the IDC's code as its value by chance: that does not protect the IDC."""
    selector = {"match_labels": {"owner": "gz"}}
    world.post("/affinities/", {"kind": "forbid", "selector": selector, "request_selector": selector}, status=201)
    check_free(world, "/idcs/gz/")


def test_a_provider_that_an_idc_names_keeps_its_code(world: Api) -> None:
    check_kept(world, "/providers/vm/", "IDC gz")


def test_what_a_source_names_is_kept(world: Api) -> None:
    source = {
        "code": "loads",
        "kind": "http_json",
        "schedule": 60,
        "config": {"url": "http://a.test"},
        "regions": ["south"],
        "mapping": {"idc": "idc", "values": {"q": "q"}},
    }
    world.post("/regions/", {"code": "north"}, status=201)
    world.post("/sources/", source, status=201)
    world.call("DELETE", "/idcs/gz/", status=204)
    check_kept(world, "/regions/south/", "source loads")
    check_kept(world, "/metrics/q/", "source loads")

    world.call("PATCH", "/sources/loads/", {"regions": ["north"]}, status=200)
    check_free(world, "/regions/south/")


@pytest.mark.parametrize("page", ["change", "delete"])
def test_the_admin_says_who_names_it(world: Api, client: Client, page: str) -> None:
    world.call("DELETE", "/idcs/gz/", status=204)
    selector = {"match_labels": {"idc/region": "south"}}
    affinity = world.post("/affinities/", {"kind": "forbid", "selector": selector}, status=201)
    client.force_login(user_create(username="olga", role="admin"))
    region = Region.objects.get(code="south")

    answer = client.post(
        f"/admin/inventory/region/{region.pk}/{page}/", {"code": "other", "labels": "{}", "post": "yes"}
    )

    said = answer.content.decode() + " ".join(str(message) for message in get_messages(answer.wsgi_request))
    assert f"in use by affinity {affinity['id']}" in said
    region.refresh_from_db()
    assert region.code == "south"


def test_an_alias_that_a_profile_names_is_kept(world: Api) -> None:
    world.call("PATCH", "/isps/ct/", {"aliases": ["telecom", "chinanet"]}, status=200)
    fallback = [{"match_labels": {"idc/isp": "telecom"}}]
    world.post("/profiles/", {"code": "p", "plugins": [], "fallback": fallback}, status=201)
    for method, body in (("PATCH", {"aliases": ["chinanet"]}), ("DELETE", None)):
        problem = world.call(method, "/isps/ct/", body, status=409)
        assert (problem["code"], "profile p" in problem["detail"]) == ("in_use", True), problem["detail"]
    world.call("PATCH", "/isps/ct/", {"aliases": ["telecom"]}, status=200)


def test_a_tenant_whose_orders_an_affinity_is_about_is_kept(world: Api) -> None:
    world.post("/tenants/", {"code": "live"}, status=201)
    affinity = {"selector": EVERYWHERE, "kind": "forbid", "request_selector": {"match_labels": {"tenant": "live"}}}
    made = world.post("/affinities/", affinity, status=201)
    check_kept(world, "/tenants/live/", f"affinity {made['id']}")
    world.call("DELETE", f"/affinities/{made['id']}/", status=204)
    check_free(world, "/tenants/live/")
