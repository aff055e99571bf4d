"""What portals and operators read and write, beside scheduling."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.audit.models import Change
from idcsched.inventory.models import Idc, Region, Taint
from idcsched.inventory.services import region_scope_create
from metrics_ingest.models import Latest
from tests.api.conftest import MEASURED, Api
from tests.keeping import Kept

LINE = {"isp": "ct", "purchased_mbps": 1000}
WRITES = {
    "regions": ("write_inventory", {"code": "R"}),
    "isps": ("write_inventory", {"code": "cu", "aliases": ["unicom"]}),
    "idcs": ("write_inventory", {"code": "n", "region": "A"}),
    "lines": ("write_inventory", {"idc": "a", **LINE}),
    "taints": ("write_taints", {"idc": "a", "key": "k", "effect": "NoSchedule"}),
    "affinities": ("write_affinities", {"idc": "a", "kind": "prefer", "weight": 5}),
    "metrics": ("write_metrics", {"code": "z", "direction": "lower", "scope": "idc"}),
    "shapes": ("write_shapes", {"business": "live", "entered": [1] * 23 + [2.5]}),
    "profiles": ("write_profiles", {"code": "p", "plugins": []}),
    "providers": ("write_inventory", {"code": "edge", "kind": "simulated"}),
}
ADMIN_ONLY = {"regions", "isps", "idcs", "lines", "providers"}
KEYS = {"lines": "id", "taints": "id", "affinities": "id", "shapes": "id"}


WORLD: Kept[Any] = Kept(upon=MEASURED)


@pytest.fixture
def world(seed: Api) -> Api:
    WORLD.write(partial(seed.post, "/isps/", {"code": "ct", "aliases": ["telecom", "chinanet"]}, status=201))
    return seed


@pytest.mark.parametrize("resource", list(WRITES))
def test_it_works(world: Api, resource: str) -> None:
    """An object is created, listed and read; an empty PATCH changes nothing; then it is deleted."""
    _, document = WRITES[resource]

    made = world.post(f"/{resource}/", document, status=201)
    address = f"/{resource}/{made[KEYS.get(resource, 'code')]}/"

    assert made.items() >= document.items()
    assert made in world.get(f"/{resource}/?limit=1000")["results"]
    assert world.get(address) == made
    changed = world.call("PATCH", address, {}, status=200)
    assert {**changed, "revision": None, "created_at": None} == {**made, "revision": None, "created_at": None}
    world.call("DELETE", address, status=204)
    assert world.refused("GET", address, status=404) == ("not_found", [])


@pytest.mark.parametrize("role", ["viewer", "portal", "operator"])
def test_who_may_write(world: Api, api: Callable[..., Api], subtests: pytest.Subtests, role: str) -> None:
    caller = api(role)
    for resource, (_, document) in WRITES.items():
        allowed = role == "operator" and resource not in ADMIN_ONLY
        with subtests.test(resource):
            status = caller.raw("POST", f"/{resource}/", json.dumps(document)).status_code

            assert status == (201 if allowed else 403)
            assert caller.raw("GET", f"/{resource}/").status_code == 200


def test_an_unknown_field_is_an_error(world: Api, subtests: pytest.Subtests) -> None:
    for resource, (_, document) in WRITES.items():
        body = {**document, "colour": 1}
        with subtests.test(resource):
            assert world.refused("POST", f"/{resource}/", body, status=400) == ("unknown_field", ["/colour"])


def test_a_list_is_written_whole_or_not_at_all(world: Api, subtests: pytest.Subtests) -> None:
    for resource, (_, document) in WRITES.items():
        with subtests.test(resource):
            before = world.get(f"/{resource}/")["count"]
            many = [document, {**document, "colour": 1}]

            code, (pointer, *_) = world.refused("POST", f"/{resource}/", many, status=400)

            assert (code, pointer) == ("unknown_field", "/1/colour")
            assert world.get(f"/{resource}/")["count"] == before


def test_a_misspelt_filter_is_an_error(world: Api, subtests: pytest.Subtests) -> None:
    for resource in WRITES:
        with subtests.test(resource):
            assert world.refused("GET", f"/{resource}/?colour=red", status=400) == ("unknown_parameter", ["?colour"])


REFUSED = (
    ("regions", {"code": "no blanks"}, "invalid_code", "/code", "a code with blanks"),
    ("regions", {"code": "R", "parent": "Z"}, "unknown_region", "/parent", "an unknown parent"),
    (
        "regions",
        {"code": "R", "latitude": 10},
        "coordinates_incomplete",
        "/latitude",
        "a latitude without a longitude",
    ),
    ("isps", {"code": "cu", "aliases": ["telecom"]}, "name_taken", "/aliases/0", "a taken alias"),
    ("idcs", {"code": "n"}, "required", "/region", "an IDC without region"),
    ("idcs", {"code": "n", "region": "Z"}, "unknown_region", "/region", "an unknown region"),
    ("idcs", {"code": "n", "region": "A", "tier": "x"}, "invalid_choice", "/tier", "another tier"),
    (
        "idcs",
        {"code": "n", "region": "A", "labels": {"idc/code": "x"}},
        "label_reserved",
        "/labels",
        "a label that stands for a fact",
    ),
    ("idcs", {"code": "n", "region": "A", "labels": False}, "wrong_type", "/labels", "labels that are no object"),
    (
        "idcs",
        {"code": "n", "region": "A", "lines": [LINE, LINE]},
        "line_twice",
        "/lines/1/code",
        "two lines of one name",
    ),
    (
        "idcs",
        {"code": "n", "region": "A", "lines": [{"isp": "zz", "purchased_mbps": 1}]},
        "unknown_isp",
        "/lines/0/isp",
        "a line of an unknown ISP",
    ),
    (
        "idcs",
        {"code": "n", "region": "A", "stock": {"cpu": -1}},
        "out_of_range",
        "/stock/cpu",
        "negative stock",
    ),
    ("taints", {"idc": "a", "selector": {}, "key": "k"}, "idc_or_selector", "/idc", "an IDC and a selector"),
    ("taints", {"selector": {}, "key": "k"}, "empty_selector", "/selector", "an empty selector"),
    ("taints", {"idc": "a", "key": "k", "effect": "No"}, "invalid_choice", "/effect", "an effect"),
    (
        "taints",
        {"idc": "a", "key": "k", "starts_at": "2027-01-02T00:00:00Z", "ends_at": "2027-01-01T00:00:00Z"},
        "window_order",
        "/ends_at",
        "a window that ends before it starts",
    ),
    ("shapes", {"business": "live", "entered": [1] * 23}, "invalid_shape", "/entered", "a shape of 23 hours"),
    (
        "shapes",
        {"business": "live", "entered": [0] * 24},
        "invalid_shape",
        "/entered",
        "a shape without traffic",
    ),
    ("shapes", {"business": "live", "entered": ["1"] * 24}, "wrong_type", "/entered", "a shape of texts"),
    ("shapes", {"business": "", "entered": [1] * 24}, "required", "/business", "a shape of no business"),
    ("shapes", {"business": "live", "tenant": "Z", "entered": [1] * 24}, "unknown", "/tenant", "no tenant"),
    ("affinities", {"idc": "a", "kind": "prefer"}, "weight_by_kind", "/weight", "a preference of no weight"),
    (
        "affinities",
        {"idc": "a", "kind": "prefer", "weight": 0},
        "out_of_range",
        "/weight",
        "a preference of weight 0",
    ),
    (
        "metrics",
        {"code": "z", "direction": "up", "scope": "idc"},
        "invalid_choice",
        "/direction",
        "another direction",
    ),
    (
        "profiles",
        {"code": "p", "plugins": [{"name": "a", "plugin": "nope"}]},
        "unknown_plugin",
        "/plugins/0/plugin",
        "an unknown plugin",
    ),
    (
        "profiles",
        {"code": "p", "plugins": [{"name": "a", "plugin": "metric", "args": {"metrik": "x"}}]},
        "unknown_field",
        "/plugins/0/args/metrik",
        "an argument that the plugin does not have",
    ),
    (
        "profiles",
        {"code": "p", "plugins": [{"name": "a", "plugin": "isp", "weight": 5}]},
        "not_a_scorer",
        "/plugins/0/weight",
        "a weight for a plugin that does not score",
    ),
    (
        "profiles",
        {"code": "p", "plugins": [{"name": "a", "plugin": "metric", "args": {"metric": "nope"}}]},
        "unknown_metric",
        "/plugins/0/args/metric",
        "a metric that nobody defined",
    ),
    ("profiles", {"code": "a b", "plugins": []}, "invalid_code", "/code", "a profile's code"),
)


def test_refusals_name_the_field(world: Api, subtests: pytest.Subtests) -> None:
    for resource, document, code, pointer, name in REFUSED:
        with subtests.test(name):
            found, pointers = world.refused("POST", f"/{resource}/", document, status=400)

            assert (found, pointers[:1]) == (code, [pointer])


@pytest.mark.parametrize(
    ("resource", "document"),
    [
        ("regions", {"code": "A"}),
        ("idcs", {"code": "a", "region": "A"}),
        ("profiles", {"code": "seed-example", "plugins": []}),
    ],
)
def test_a_name_that_is_taken(world: Api, resource: str, document: Any) -> None:
    assert world.refused("POST", f"/{resource}/", document, status=409)[0] == "already_exists"


def test_what_is_in_use_stays(world: Api) -> None:
    assert world.refused("DELETE", "/regions/A/", status=409) == ("in_use", [])
    assert world.refused("DELETE", "/metrics/bandwidth_mbps/", status=409) == ("builtin_metric", [])


def test_what_has_history_is_retired_instead_of_deleted(world: Api) -> None:
    assert world.refused("DELETE", "/idcs/a/", status=409)[0] == "in_use"

    assert world.call("PATCH", "/idcs/a/", {"status": "retired"}, status=200)["status"] == "retired"


@pytest.mark.parametrize(
    ("resource", "fields", "pointer"),
    [
        pytest.param("regions", {"name": 5}, "/name", id="a number for a text"),
        pytest.param("lines", {"purchased_mbps": True}, "/purchased_mbps", id="true for a number"),
        pytest.param("lines", {"purchased_mbps": "10"}, "/purchased_mbps", id="a text for a number"),
        pytest.param("affinities", {"weight": 1.5}, "/weight", id="a fraction for a whole number"),
        pytest.param("idcs", {"stock": {"cpu": False}}, "/stock/cpu", id="in a nested object"),
        pytest.param("idcs", {"lines": [{**LINE, "code": 1}]}, "/lines/0/code", id="in a nested list"),
    ],
)
def test_types_are_those_of_json(world: Api, resource: str, fields: dict[str, Any], pointer: str) -> None:
    _, document = WRITES[resource]

    assert world.refused("POST", f"/{resource}/", {**document, **fields}, status=400) == ("wrong_type", [pointer])


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=abc", "limit=-1", "offset=-1", "offset=x", "limit=٣"]
)
def test_a_page_that_cannot_be_meant(world: Api, query: str) -> None:
    assert world.refused("GET", f"/regions/?{query}", status=400) == (
        "out_of_range",
        [f"?{query.split('=', maxsplit=1)[0]}"],
    )


@pytest.mark.parametrize(
    "path", ["/decisions/?ordering=created_at", "/profiles/?ordering=body", "/idcs/?ordering=labels"]
)
def test_an_order_that_there_is_not(world: Api, path: str) -> None:
    assert world.refused("GET", path, status=400) == ("unknown_parameter", ["?ordering"])


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_time_beyond_the_calendar(world: Api, time: str) -> None:
    assert world.refused("GET", f"/samples/?idc=a&metric=x&to={time}", status=400) == ("out_of_range", ["?to"])


@pytest.mark.parametrize("path", ["/lines/١/", "/taints/99999999999999999999/", "/idcs/%00/", "/decisions/1/"])
def test_an_address_that_nothing_has(world: Api, path: str) -> None:
    assert world.raw("GET", path).status_code == 404


def test_an_isp_is_stored_by_its_code(world: Api) -> None:
    made = world.post("/idcs/", {"code": "n", "region": "A", "lines": [{**LINE, "isp": "chinanet"}]}, status=201)

    assert [(line["code"], line["isp"]) for line in made["lines"]] == [("ct", "ct")]


def test_put_lets_what_is_left_out_fall_back(world: Api) -> None:
    world.call("PATCH", "/idcs/a/", {"partition": "p", "stock": {"cpu": 8}, "lines": [LINE]}, status=200)

    patched = world.call("PATCH", "/idcs/a/", {"name": "A name"}, status=200)
    put = world.call("PUT", "/idcs/a/", {"code": "a", "region": "A"}, status=200)

    assert (patched["partition"], patched["stock"]["cpu"], len(patched["lines"])) == ("p", 8.0, 1)
    assert (put["partition"], put["stock"]["cpu"], put["name"], len(put["lines"])) == ("", None, "", 1)


def test_lines_are_replaced_by_code(world: Api) -> None:
    world.post("/isps/", {"code": "cu"}, status=201)
    world.call("PATCH", "/idcs/a/", {"lines": [LINE, {"isp": "cu", "purchased_mbps": 5}]}, status=200)

    changed = world.call("PATCH", "/idcs/a/", {"lines": [{**LINE, "purchased_mbps": 2000}]}, status=200)

    assert [(line["code"], line["purchased_mbps"]) for line in changed["lines"]] == [("ct", 2000.0)]


def test_a_taint_by_selector_becomes_one_on_each_idc(world: Api) -> None:
    everywhere = {"match_expressions": [{"key": "idc/region", "operator": "In", "values": ["B"]}]}

    made = world.post("/taints/", {"selector": everywhere, "key": "maintenance"}, status=201)

    assert [taint["idc"] for taint in made] == ["e", "f"]
    assert Taint.objects.filter(key="maintenance").count() == 2


def test_filters_are_ored_and_q_searches(world: Api) -> None:
    assert [idc["code"] for idc in world.get("/idcs/?region=B&code=e&code=a")["results"]] == ["e"]
    assert world.get("/idcs/?code=e&code=a&ordering=-code")["results"][0]["code"] == "e"
    assert world.get("/metrics/?q=bandwidth")["count"] == 1
    assert world.refused("GET", "/idcs/?ordering=labels", status=400) == ("unknown_parameter", ["?ordering"])


def test_every_write_is_in_the_history(world: Api) -> None:
    world.raw("PATCH", "/idcs/a/", b'{"partition": "gold"}', X_Request_ID="ticket-7")

    change = Change.objects.first()

    assert change is not None
    assert (change.actor, change.via, change.request_id) == ("admin", "api", "ticket-7")
    assert (change.kind, change.key, change.after) == ("idc", "a", {"partition": "gold"})


def test_an_operator_of_a_region_stays_in_it(world: Api, api: Callable[..., Api], user: Callable[[str], User]) -> None:
    region_scope_create(user=user("operator"), region=Region.objects.get(code="B"))
    operator = api("operator")
    inside, outside = ({"idc": code, "key": "k", "effect": "NoSchedule"} for code in ("e", "a"))

    operator.post("/taints/", inside, status=201)

    assert operator.refused("POST", "/taints/", outside, status=403) == ("region_not_allowed", [])
    assert not Taint.objects.filter(idc__code="a").exists()
    (taint,) = operator.get("/taints/?idc=c")["results"]
    assert operator.refused("DELETE", f"/taints/{taint['id']}/", status=403) == ("region_not_allowed", [])
    everyone = {"selector": {"match_expressions": [{"key": "idc/code", "operator": "Exists"}]}, "kind": "forbid"}
    assert operator.refused("POST", "/affinities/", everyone, status=403) == ("region_not_allowed", [])


def test_samples_are_stored_and_read_back(world: Api) -> None:
    now = timezone.now().isoformat()

    assert world.post("/samples/", [{"idc": "a", "metric": "x", "value": 7.5, "at": now}], status=200) == {
        "accepted": 1
    }

    assert Latest.objects.get(idc__code="a", metric__code="x").value == 7.5
    points = world.get("/samples/?idc=a&metric=x")["results"]  # the seed example's own may be of the slot before
    assert [point["value"] for point in points if point["value"] is not None][-1] == 7.5


def test_a_sample_of_a_clock_that_is_ahead_stands_in_nobodys_way(world: Api) -> None:
    """A sample from 45 s ahead counts as of now, so that the next one replaces it; one from 4 min ahead is refused."""
    soon, far = (timezone.now() + timedelta(seconds=seconds) for seconds in (45, 240))
    early = {"idc": "a", "metric": "x", "value": 5, "at": soon.isoformat()}
    world.call("POST", "/samples/", [early], status=200)
    (value,) = [each for each in world.get("/idcs/a/state/")["values"] if each["metric"] == "x"]
    assert (value["value"], value["stale"]) == (5, False)
    assert value["age_seconds"] >= 0
    world.call("POST", "/samples/", [{"idc": "a", "metric": "x", "value": 6}], status=200)
    (value,) = [each for each in world.get("/idcs/a/state/")["values"] if each["metric"] == "x"]
    assert value["value"] == 6
    refused = world.refused("POST", "/samples/", [{**early, "at": far.isoformat()}], status=400)
    assert refused == ("in_the_future", ["/0/at"])


BAD_SAMPLES = (
    ({"idc": "zz", "metric": "x", "value": 1}, "unknown_idc", "/1/idc", "an unknown IDC"),
    ({"idc": "a", "metric": "zz", "value": 1}, "unknown_metric", "/1/metric", "an unknown metric"),
    ({"idc": "a", "metric": "x", "value": "1"}, "wrong_type", "/1/value", "a text"),
    ({"idc": "a", "metric": "x"}, "required", "/1/value", "no value"),
    (
        {"idc": "a", "metric": "x", "value": 1, "line": "ct"},
        "line_not_allowed",
        "/1/line",
        "a line for an IDC metric",
    ),
    (
        {"idc": "a", "metric": "x", "value": 1, "at": "2999-01-01T00:00:00Z"},
        "in_the_future",
        "/1/at",
        "the future",
    ),
    ({"idc": "a", "metric": "cpu_load", "value": 7}, "out_of_range", "/1/value", "out of its range"),
)


def test_one_bad_sample_stores_none(world: Api, subtests: pytest.Subtests) -> None:
    good = {"idc": "a", "metric": "x", "value": 99}
    for sample, code, pointer, name in BAD_SAMPLES:
        with subtests.test(name):
            assert world.refused("POST", "/samples/", [good, sample], status=400) == (code, [pointer])
            assert not Latest.objects.filter(value=99).exists()


def test_a_series_that_cannot_be_meant(world: Api) -> None:
    for query, code, pointer in (
        ("", "required", "?idc"),
        ("?idc=a", "required", "?metric"),
        ("?idc=a&metric=x&step=7", "out_of_range", "?step"),
        ("?idc=a&metric=x&step=301", "invalid_step", "?step"),
        ("?idc=a&metric=x&step=x", "out_of_range", "?step"),
        ("?idc=a&metric=x&from=yesterday", "wrong_type", "?from"),
        ("?idc=a&metric=x&from=2026-01-01T00:00:00", "zone_required", "?from"),
        ("?idc=a&metric=x&to=2026-01-01", "zone_required", "?to"),
        ("?idc=a&metric=x&agg=sum", "invalid_choice", "?agg"),
        ("?idc=a&metric=x&foo=1", "unknown_parameter", "?foo"),
        ("?idc=a&metric=x&line=ct", "unknown_line", "?line"),
        ("?idc=a&metric=x&cursor=x", "invalid_cursor", "?cursor"),
        ("?idc=a&idc=b&metric=x", "given_twice", "?idc"),
    ):
        assert world.refused("GET", f"/samples/{query}", status=400) == (code, [pointer])


@pytest.mark.parametrize("path", ["/regions/", "/idcs/", "/taints/", "/affinities/", "/profiles/", "/lines/"])
def test_lists_take_a_bounded_number_of_queries(
    world: Api, path: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    with django_assert_max_num_queries(8):
        world.get(f"{path}?limit=1000")
    assert Idc.objects.count() == 6


def test_a_long_list_takes_as_many_statements_as_a_short_one(
    world: Api, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    idcs = [{"code": f"n-{index}", "region": "A", "lines": [LINE]} for index in range(200)]
    with django_assert_max_num_queries(45):
        made = world.post("/idcs/", idcs, status=201)
    assert [(idc["code"], idc["lines"][0]["isp"]) for idc in made[:2]] == [("n-0", "ct"), ("n-1", "ct")]
    assert Change.objects.filter(kind="line", via="api").count() == 200


def test_a_list_says_all_that_is_wrong_with_it(world: Api) -> None:
    idcs = [{"code": "n", "region": "A"}, {"code": "m", "region": "Z"}, {"code": "o", "tier": 5}]
    problem = world.post("/idcs/", idcs, status=400)
    assert [error["pointer"] for error in problem["errors"]] == ["/2/tier"]
    problem = world.post("/idcs/", [*idcs[:2], {"code": "o", "region": "A", "lines": [{"isp": "x"}]}], status=400)
    assert {error["pointer"] for error in problem["errors"]} >= {"/2/lines/0/purchased_mbps"}
    assert not Idc.objects.filter(code="n").exists()
