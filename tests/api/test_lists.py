"""Lists: filters, pages and order.

A parameter that means nothing is refused; a long list takes no more queries than a short one.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection

from idcsched.inventory.models import Idc, Isp, Line, Region, Taint
from tests.api.conftest import Api
from tests.api.test_resources import WORLD, world  # noqa: F401 - the fixture, used by name
from tests.keeping import Kept


def codes(api: Api, query: str) -> list[str]:
    return [idc["code"] for idc in api.get(f"/idcs/?{query}")["results"]]


GOLD: Kept[None] = Kept(upon=WORLD)


@pytest.fixture
def idcs(world: Api) -> Api:  # noqa: F811
    """`a` to `d` lie in A, `e` and `f` in B, `g` in a sub-region of A."""
    GOLD.write(partial(_gold, world))
    return world


def _gold(world: Api) -> None:  # noqa: F811
    world.post("/regions/", {"code": "A1", "parent": "A"}, status=201)
    line = {"isp": "ct", "purchased_mbps": 100}
    world.post("/idcs/", {"code": "g", "name": "Gold", "region": "A1", "latitude": 1, "longitude": 2, "lines": [line]})


FOUND = (
    ("code=a&code=g", "ag", "either"),
    ("code__n=a&code__n=b", "cdefg", "neither"),
    ("name__ic=OL", "g", "contains"),
    ("q=gol", "g", "search"),
    ("region=A", "abcdg", "a region with its sub-regions"),
    ("region__n=A", "ef", "outside of a region"),
    ("isp=telecom", "g", "an ISP by its alias"),
    ("isp__n=ct", "abcdef", "without a line of an ISP"),
    ("latitude__gte=0.5", "g", "at least"),
    ("latitude__lte=0.5", "", "at most"),
    ("latitude=1.0", "g", "a number"),
    ("status=online&status=retired&code=a", "a", "either, and the other"),
    ("partition=", "abcdefg", "empty"),
    ("ordering=-code&limit=2&offset=1", "fe", "a page of an order"),
)


@pytest.mark.both
def test_it_works(idcs: Api, subtests: pytest.Subtests) -> None:
    for query, expected, name in FOUND:
        with subtests.test(name):
            assert codes(idcs, query) == list(expected)


REFUSED = (
    ("/idcs/?colour=red", "unknown_parameter", "?colour"),
    ("/idcs/?region=nowhere", "unknown_region", "?region"),
    ("/idcs/?region__n=nowhere", "unknown_region", "?region__n"),
    ("/idcs/?isp=nobody", "unknown_isp", "?isp"),
    ("/taints/?idc=zz", "unknown_idc", "?idc"),
    ("/idcs/?status=asleep", "invalid_choice", "?status"),
    ("/idcs/?latitude=north", "wrong_type", "?latitude"),
    ("/idcs/?latitude__gte=north", "wrong_type", "?latitude__gte"),
    ("/idcs/?latitude=nan", "wrong_type", "?latitude"),
    ("/taints/?ends_at__gte=soon", "wrong_type", "?ends_at__gte"),
    ("/taints/?ends_at__gte=2026-01-01T00:00:00", "zone_required", "?ends_at__gte"),
    ("/changes/?at__lte=2026-01-01", "zone_required", "?at__lte"),
    ("/taints/?ends_at__gte=0001-01-01T00:00:00%2B14:00", "out_of_range", "?ends_at__gte"),
    ("/metrics/?builtin=perhaps", "invalid_choice", "?builtin"),
    ("/idcs/?q=%ff", "not_utf8", "?q"),
    ("/idcs/?code=a&code=%E4%B8", "not_utf8", "?code"),
    ("/idcs/?name__ic=%ED%A0%80", "not_utf8", "?name__ic"),
    ("/idcs/?%ff=1", "not_utf8", "?\ufffd"),
    ("/idcs/a/?%e4%b8%ad=%ff", "not_utf8", "?中"),
    ("/decisions/?cursor=%ff", "not_utf8", "?cursor"),
    ("/samples/?idc=%ff&metric=x", "not_utf8", "?idc"),
    ("/profiles/default/revisions/1/diff/?to=%ff", "not_utf8", "?to"),
    ("/idcs/?limit=1&limit=2", "given_twice", "?limit"),
    ("/idcs/?q=a&q=b", "given_twice", "?q"),
    ("/idcs/?cursor=x", "unknown_parameter", "?cursor"),
    ("/decisions/?limit=0", "out_of_range", "?limit"),
    ("/decisions/?limit=x&cursor=x", "out_of_range", "?limit"),
    ("/decisions/?cursor=nonsense", "invalid_cursor", "?cursor"),
    ("/decisions/?cursor=cD1ub25zZW5zZQ==", "invalid_cursor", "?cursor"),
    ("/decisions/?offset=1", "unknown_parameter", "?offset"),
    ("/idcs/?ordering=", "unknown_parameter", "?ordering"),
    ("/taints/?id=1.5", "wrong_type", "?id"),
    ("/taints/?id__gte=", "wrong_type", "?id__gte"),
    ("/taints/?ends_at__lte=", "wrong_type", "?ends_at__lte"),
    ("/placements/?state=asleep", "invalid_choice", "?state"),
    ("/placements/?group_id=7", "wrong_type", "?group_id"),
    ("/placements/?due_to_leave=1", "invalid_choice", "?due_to_leave"),
    ("/placements/?idc=zz", "unknown_idc", "?idc"),
    ("/deliveries/?tries=some", "wrong_type", "?tries"),
    ("/changes/?action=eat", "invalid_choice", "?action"),
    ("/changes/?at=2026-01-01T00:00:00Z", "unknown_parameter", "?at"),
    ("/changes/?ordering=id", "unknown_parameter", "?ordering"),
    ("/sources/?enabled=yes", "invalid_choice", "?enabled"),
    ("/providers/?enabled=null", "invalid_choice", "?enabled"),
    ("/users/?role=king", "invalid_choice", "?role"),
    ("/users/?password=x", "unknown_parameter", "?password"),
    ("/tokens/?digest=x", "unknown_parameter", "?digest"),
    ("/tokens/?ordering=digest", "unknown_parameter", "?ordering"),
    ("/bandwidth/?region=nowhere", "unknown_region", "?region"),
    ("/bandwidth/?days_until_high_water__lte=soon", "wrong_type", "?days_until_high_water__lte"),
    ("/idcs/?" + "&".join(f"code={number}" for number in range(101)), "too_many", "?code"),
)


def test_what_means_nothing_is_refused(idcs: Api, subtests: pytest.Subtests) -> None:
    """All paths are tried on one inventory, because a refused request changes nothing in it."""
    for path, code, pointer in REFUSED:
        with subtests.test(path):
            assert idcs.refused("GET", path, status=400) == (code, [pointer])


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param("/users/?role=admin&role=portal&ordering=-username", ["portal", "admin"], id="users"),
        pytest.param("/users/?role__n=admin&is_active=true", ["portal"], id="other users"),
        pytest.param("/users/?username__ic=ORT&tenant=live-cn", ["portal"], id="users of a tenant"),
        pytest.param("/tenants/?code__n=nobody&q=LIVE", ["live-cn"], id="tenants"),
        pytest.param("/tenants/?quota_machines__gte=1", [], id="tenants with a quota"),
        pytest.param("/tokens/?user=portal&read_only=false", ["test"], id="tokens"),
        pytest.param("/tokens/?expires_at__lte=2100-01-01T00:00:00Z", [], id="tokens that expire"),
        pytest.param("/sources/?enabled__n=false&failures__lte=0", ["file"], id="sources"),
        pytest.param("/sources/file/runs/?state=failed&state=succeeded&ordering=-id", [], id="runs"),
        pytest.param("/changes/?kind=idc&key__n=a&key__ic=B&action=create", ["b"], id="changes"),
        pytest.param("/placements/?state__n=released&region=A&machine_count__lte=0&idc=d", ["d"], id="placements"),
        pytest.param("/placements/?due_to_leave=true&due_to_leave=false&tenant=live-cn", ["d"], id="leaving or not"),
        pytest.param("/placements/?due_to_leave=true", [], id="leaving"),
        pytest.param("/deliveries/?type=placement.reserved&tries__gte=0&tenant__n=live-cn", [], id="deliveries"),
        pytest.param("/bandwidth/?region=A&p95_7d_mbps__gte=1&ordering=-line", [], id="bandwidth"),
    ],
)
def test_every_list_has_the_same_look_ups(idcs: Api, portal: Api, path: str, found: list[str]) -> None:
    source = {"code": "file", "kind": "csv", "schedule": 300, "config": {"file": "f.csv"}}
    idcs.post("/sources/", {**source, "mapping": {"idc": "i", "metric": "m", "value": "v"}}, status=201)
    portal.post("/schedule/", {"region": "A", "profile": "seed-example", "action": "reserve"}, status=201)
    names = ("key", "idc", "username", "code", "name")
    rows = idcs.get(path)["results"]
    assert [next(row[name] for name in names if name in row) for row in rows] == found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/sources/file/runs/", "colour"),
        ("/sources/file/runs/", "q"),
        ("/sources/file/runs/", "enabled"),
        ("/profiles/seed-example/revisions/", "to"),
        ("/profiles/seed-example/revisions/1/diff/", "from"),
        ("/idcs/a/", "colour"),
    ],
)
def test_below_a_list_unknown_parameters_are_refused_too(idcs: Api, path: str, name: str) -> None:
    source = {"code": "file", "kind": "csv", "schedule": 300, "config": {"file": "f.csv"}}
    idcs.post("/sources/", {**source, "mapping": {"idc": "i", "metric": "m", "value": "v"}}, status=201)
    assert idcs.refused("GET", f"{path}?{name}=1", status=400) == ("unknown_parameter", [f"?{name}"])


@pytest.mark.parametrize("path", ["/plugins/", "/collectors/", "/provider_kinds/", "/profiles/cost-first/revisions/"])
def test_what_stands_in_no_table_comes_in_pages_too(idcs: Api, path: str) -> None:
    whole, first = idcs.get(path), idcs.get(f"{path}?limit=1")
    assert list(whole) == ["count", "next", "previous", "results"]
    assert whole["count"] == len(whole["results"]) == len(walked(idcs, f"{path}?limit=1"))
    assert first["results"] == whole["results"][:1]
    assert idcs.refused("GET", f"{path}?colour=red", status=400) == ("unknown_parameter", ["?colour"])


LABELS = {
    "a": {"owner": "own", "7": "seven"},
    "b": {"owner": "partner", "disk": ""},
    "c": {"owner": "own", "disk": "ssd"},
}


@pytest.mark.both
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("label=owner%3Down", "ac"),
        ("label=owner%3Down&label=owner%3Dpartner", "abc"),
        ("label=disk", "bc"),
        ("label=disk%3D", "b"),
        ("label=7%3Dseven", "a"),
        ("label=owner%3Down&label__n=disk", "a"),
        ("label__n=owner%3Down&q=demo", ""),
        ("label__n=disk%3Dssd&label=owner", "ab"),
        ("label=colour", ""),
    ],
)
def test_labels(idcs: Api, query: str, found: str) -> None:
    for code, labels in LABELS.items():
        idcs.call("PATCH", f"/idcs/{code}/", {"labels": labels}, status=200)
    assert [idc["code"] for idc in idcs.get(f"/idcs/?{query}&ordering=code")["results"]] == list(found)


def test_who_has_no_such_label(idcs: Api) -> None:
    idcs.call("PATCH", "/regions/A/", {"labels": {"market": "south"}}, status=200)
    assert [each["code"] for each in idcs.get("/regions/?label=market%3Dsouth")["results"]] == ["A"]
    assert "A" not in [each["code"] for each in idcs.get("/regions/?label__n=market%3Dsouth")["results"]]
    assert idcs.get("/regions/?label__n=market%3Dnorth")["count"] == idcs.get("/regions/")["count"]
    assert idcs.refused("GET", "/idcs/?label=%3Dx", status=400) == ("wrong_type", ["?label"])


@pytest.mark.parametrize("kind", ["taints", "affinities"])
def test_what_is_in_force(idcs: Api, kind: str) -> None:
    what = {"key": "k", "effect": "NoSchedule"} if kind == "taints" else {"kind": "prefer", "weight": 5}
    past, future = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
    windows = {
        "always": {},
        "now": {"starts_at": past, "ends_at": future},
        "coming": {"starts_at": future},
        "over": {"starts_at": past, "ends_at": "2020-02-01T00:00:00Z"},
    }
    for number, (reason, window) in enumerate(windows.items()):
        idcs.post(f"/{kind}/", {"idc": "abdef"[number], **what, "reason": reason, **window}, status=201)

    def reasons(query: str) -> set[str]:
        return {each["reason"] for each in idcs.get(f"/{kind}/?{query}")["results"]} & set(windows)

    assert reasons("in_force=true") == {"always", "now"}
    assert reasons("in_force=false") == {"coming", "over"}
    assert reasons("in_force=true&in_force=false") == set(windows)
    assert idcs.refused("GET", f"/{kind}/?in_force=yes", status=400) == ("invalid_choice", ["?in_force"])


def test_a_brief_list_of_decisions(idcs: Api, portal: Api) -> None:
    """A decision by itself is always told in full."""
    made = portal.schedule(region="A", profile="seed-example", explain="full")
    (full,) = portal.get("/decisions/")["results"]
    (brief,) = portal.get("/decisions/?brief=true")["results"]
    long = {"candidates", "tie", "margin", "rejected", "rejected_counts", "near_misses", "stale"}
    assert [brief[name] for name in long] == [None] * len(long)
    assert {name: full[name] for name in full.keys() - long} == {name: brief[name] for name in brief.keys() - long}
    assert full["candidates"] == made["candidates"]
    assert portal.get("/decisions/?brief=false")["results"] == [full]
    assert portal.refused("GET", "/decisions/?brief=1", status=400) == ("invalid_choice", ["?brief"])
    assert portal.refused("GET", f"/decisions/{made['decision_id']}/?brief=true", status=400)[0] == "unknown_parameter"


def test_the_root_lists_what_there_is(idcs: Api, anonymous: Api) -> None:
    found = idcs.get("/")
    assert found["idcs"].endswith("/api/v1/idcs/")
    assert found["schedule/batch"].endswith("/api/v1/schedule/batch/")
    answers = {name: idcs.raw("GET", f"/{name}/").status_code for name in found}
    assert {name for name, status in answers.items() if status == 405} == {"schedule", "schedule/batch", "capacity"}
    assert {name for name, status in answers.items() if status not in {200, 405}} == {"samples"}, "it wants a metric"
    assert anonymous.refused("GET", "/", status=401)[0] == "token_missing"


def test_lines_inside_an_idc_carry_the_id_that_lines_and_bandwidth_want(idcs: Api) -> None:
    line = {"isp": "ct", "purchased_mbps": 100}
    idcs.call("PATCH", "/idcs/a/", {"lines": [line, {**line, "code": "spare"}]}, status=200)
    shown = idcs.get("/idcs/a/")
    by_code = {each["code"]: each["id"] for each in idcs.get("/lines/?idc=a")["results"]}
    assert {each["code"]: each["id"] for each in shown["lines"]} == by_code
    assert idcs.call("PUT", "/idcs/a/", shown, status=200) == shown, "what was read can be written back"
    first, second = shown["lines"]
    swapped = {"lines": [{**first, "id": second["id"]}, second]}
    assert idcs.refused("PATCH", "/idcs/a/", swapped, status=400) == ("read_only", ["/lines/0/id"])
    fresh = {"code": "fresh", "region": "A", "lines": [first]}
    assert idcs.refused("POST", "/idcs/", fresh, status=400) == ("read_only", ["/lines/0/id"])


STATUSES = "online, offline, draining, retired"


@pytest.mark.parametrize(
    ("method", "path", "body", "listed"),
    [
        ("POST", "/idcs/", {"code": "n", "region": "A", "status": "asleep"}, STATUSES),
        ("GET", "/idcs/?status=asleep", None, STATUSES),
        ("GET", "/idcs/?ordering=colour", None, "code, name, region, status, tier, partition, provider"),
        ("GET", "/taints/?colour=red", None, "ordering, q, reason, region, starts_at__gte, starts_at__lte, value"),
        ("POST", "/isps/", {"code": "n", "colour": "red"}, "code, name, aliases"),
        ("POST", "/lines/", {"idc": "a", "isp": "ct", "purchased_mbps": 1, "charge_type": "beads"}, "p95_month"),
        ("POST", "/providers/", {"code": "n", "kind": "wishful"}, "simulated"),
        ("POST", "/sources/", {"code": "n", "kind": "pigeon", "schedule": 300}, "prometheus"),
        ("POST", "/users/", {"username": "n", "role": "king"}, "viewer, portal, operator, admin"),
        ("POST", "/users/", {"username": "n", "role": "viewer", "language": "tlh"}, "en"),
    ],
)
def test_a_refused_choice_lists_what_there_is(idcs: Api, method: str, path: str, body: Any, listed: str) -> None:
    error, *_ = idcs.call(method, path, body, status=400)["errors"]
    assert listed in error["detail"]


def walked(api: Api, path: str) -> list[Any]:
    """All pages, one after the other."""
    found = []
    while path:
        page = api.get(path)
        found += page["results"]
        url = urlsplit(page["next"] or "")
        path = f"{url.path.removeprefix('/api/v1')}?{url.query}" if page["next"] else ""
    return found


def test_pages_by_offset_show_each_once(idcs: Api) -> None:
    assert [idc["code"] for idc in walked(idcs, "/idcs/?limit=3&ordering=tier")] == list("abcdefg")


@pytest.mark.both
def test_pages_by_cursor_show_each_once(idcs: Api, portal: Api) -> None:
    made = [portal.schedule(region="A", profile="seed-example")["decision_id"] for _ in range(5)]
    portal.get(f"/decisions/{made[-1]}/")  # written behind the answer

    assert [decision["decision_id"] for decision in walked(portal, "/decisions/?limit=2")] == made[::-1]


def test_a_series_comes_in_pages(idcs: Api) -> None:
    query = "/samples/?idc=a&metric=x&from=2026-01-01T00:00:00Z&to=2026-01-01T02:00:00Z"
    whole = idcs.get(query)

    assert (whole["next"], whole["previous"], len(whole["results"])) == (None, None, 24)
    assert walked(idcs, f"{query}&limit=7") == whole["results"]
    second = urlsplit(idcs.get(f"{query}&limit=7")["next"])
    back = urlsplit(idcs.get(f"{second.path.removeprefix('/api/v1')}?{second.query}")["previous"])
    assert idcs.get(f"{back.path.removeprefix('/api/v1')}?{back.query}")["results"] == whole["results"][:7]


@pytest.fixture
def thousands(world: Api) -> Api:  # noqa: F811
    region, isp = Region.objects.get(code="A"), Isp.objects.get(code="ct")
    made = Idc.objects.bulk_create([Idc(code=f"many-{number}", region=region) for number in range(2000)])
    Line.objects.bulk_create([Line(idc=idc, code="ct", isp=isp, purchased_mbps=100) for idc in made])
    Taint.objects.bulk_create([Taint(idc=idc, key="k") for idc in made])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # the planner would take the tables for empty as long as nobody has counted
    return world


@pytest.mark.no_cover
def test_thousands_take_as_many_queries_as_ten(
    thousands: Api, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    paths = ["/idcs/?region=A&", "/lines/?isp=ct&", "/taints/?region=A&", "/idcs/?isp=ct&q=many&"]
    for path, limit in product(paths, (1, 1000)):
        with django_assert_max_num_queries(8, info=path):
            page = thousands.get(f"{path}limit={limit}&offset=1000")
        assert page["count"] >= 2000
        assert len(page["results"]) == limit
