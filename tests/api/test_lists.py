"""Lists: look-ups, pages, order. What means nothing is refused; a long list takes no more queries than a short one."""

from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection

from idcsched.inventory.models import Idc, Isp, Line, Region, Taint
from tests.api.conftest import Api
from tests.api.test_resources import world  # noqa: F401 - the fixture, used by name


def codes(api: Api, query: str) -> list[str]:
    return [idc["code"] for idc in api.get(f"/idcs/?{query}")["results"]]


@pytest.fixture
def idcs(world: Api) -> Api:  # noqa: F811
    """`a` to `d` lie in A, `e` and `f` in B, `g` in a sub-region of A."""
    world.post("/regions/", {"code": "A1", "parent": "A"}, status=201)
    line = {"isp": "ct", "purchased_mbps": 100}
    world.post("/idcs/", {"code": "g", "name": "Gold", "region": "A1", "latitude": 1, "longitude": 2, "lines": [line]})
    return world


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
    """All by one inventory, which nothing that is refused changes."""
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
        ("/profiles/seed-example/revisions/", "limit"),
        ("/profiles/seed-example/revisions/1/diff/", "from"),
        ("/idcs/a/", "colour"),
    ],
)
def test_below_a_list_unknown_parameters_are_refused_too(idcs: Api, path: str, name: str) -> None:
    source = {"code": "file", "kind": "csv", "schedule": 300, "config": {"file": "f.csv"}}
    idcs.post("/sources/", {**source, "mapping": {"idc": "i", "metric": "m", "value": "v"}}, status=201)
    assert idcs.refused("GET", f"{path}?{name}=1", status=400) == ("unknown_parameter", [f"?{name}"])


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
