"""`ETag`, `If-Match` and `If-None-Match`: a write with a stale tag is refused, a read with the current one gets no
body.
"""

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone
from drf_spectacular.generators import EndpointEnumerator

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.inventory.models import Idc, Line
from idcsched.planning.models import MoveAnswer
from idcsched.scheduling.recorder import recorder
from metrics_ingest.models import Source
from metrics_ingest.services import rollups_refresh
from tests.api.conftest import Api
from tests.api.test_bandwidth import measure
from tests.api.test_resources import KEYS, WRITES, world  # noqa: F401 - the fixture, used by name

OLD = '"000000000000000000000000"'


def etag(api: Api, path: str, **headers: str) -> str:
    return api.raw("GET", path, **headers).headers["ETag"]


def status(api: Api, method: str, path: str, body: Any = None, **headers: str) -> int:
    return api.raw(method, path, None if body is None else json.dumps(body), **headers).status_code


@pytest.mark.parametrize("resource", list(WRITES))
def test_it_works(world: Api, resource: str) -> None:  # noqa: F811
    """The tag of a new object lets it be changed and deleted; an old one lets nothing be done."""
    made = world.raw("POST", f"/{resource}/", json.dumps(WRITES[resource][1]))
    path = f"/{resource}/{made.json()[KEYS.get(resource, 'code')]}/"
    tag = made.headers["ETag"]

    assert etag(world, path) == tag
    for method, body in (("PATCH", {}), ("PUT", {}), ("DELETE", None)):
        assert status(world, method, path, body, If_Match=OLD) == 412
    changed = world.raw("PATCH", path, "{}", If_Match=tag)
    assert changed.status_code == 200
    assert status(world, "DELETE", path, If_Match=changed.headers["ETag"]) == 204


def test_a_refusal_changes_nothing(world: Api) -> None:  # noqa: F811
    problem = world.call("PATCH", "/idcs/a/", {"partition": "gold"}, status=412, If_Match=OLD)

    assert (problem["code"], problem["status"]) == ("stale_etag", 412)
    assert Idc.objects.get(code="a").partition == ""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("{tag}", 200, id="the tag"),
        pytest.param('"x", {tag}', 200, id="one of several"),
        pytest.param("*", 200, id="whatever there is"),
        pytest.param("W/{tag}", 412, id="a weak one never matches"),
        pytest.param('"x"', 412, id="another"),
        pytest.param("nonsense", 412, id="what is no tag at all"),
        pytest.param("", 412, id="nothing"),
    ],
)
def test_what_if_match_may_say(world: Api, given: str, expected: int) -> None:  # noqa: F811
    header = given.format(tag=etag(world, "/idcs/a/"))

    assert status(world, "PATCH", "/idcs/a/", {"name": "A"}, If_Match=header) == expected


def test_what_is_nested_counts(world: Api) -> None:  # noqa: F811
    """An IDC shows its lines, so a change of a line makes the IDC's tag stale."""
    line = world.post("/lines/", {"idc": "a", "isp": "ct", "purchased_mbps": 10}, status=201)
    tag = etag(world, "/idcs/a/")

    world.call("PATCH", f"/lines/{line['id']}/", {"purchased_mbps": 20}, status=200)

    assert status(world, "PATCH", "/idcs/a/", {"name": "A"}, If_Match=tag) == 412


def test_who_has_it_gets_no_body(world: Api) -> None:  # noqa: F811
    for path in ("/idcs/a/", "/idcs/", "/profiles/seed-example/"):
        tag = etag(world, path)
        known = world.raw("GET", path, If_None_Match=tag)
        assert (known.status_code, known.content, known.headers["ETag"]) == (304, b"", tag)
        assert status(world, "GET", path, If_None_Match=OLD) == 200
    world.call("PATCH", "/idcs/a/", {"name": "A"}, status=200)
    assert etag(world, "/idcs/a/") != tag


def test_an_activation_is_an_edit(world: Api) -> None:  # noqa: F811
    body = {"plugins": [], "message": "nothing at all"}
    world.post("/profiles/seed-example/revisions/", body, status=201)
    tag = etag(world, "/profiles/seed-example/")

    assert status(world, "POST", "/profiles/seed-example/revisions/2/activate/", If_Match=OLD) == 412
    assert status(world, "POST", "/profiles/seed-example/revisions/2/activate/", If_Match=tag) == 200


SOURCE = {
    "code": "s", "kind": "csv", "schedule": 300, "config": {"file": "f.csv"},
    "mapping": {"idc": "i", "metric": "m", "value": "v"},
}  # fmt: skip

MOVE = {
    "placement": "0192f0c1-58a4-7c7e-8f5d-4a1b2c3d4e5f", "request_id": "order-1", "tenant": "live-cn", "business": "",
    "from": {"idc": "a", "lines": ["ct"]}, "to": {"idc": "b", "lines": ["ct"]},
    "saves": 100.0, "machines": 1, "bandwidth_mbps": 100.0,
}  # fmt: skip


def test_304_is_promised_where_it_is_given(world: Api, portal: Api, user: Callable[[str], User]) -> None:  # noqa: F811
    """The OpenAPI document promises a 304 for exactly those addresses that answer with one."""
    for resource in ("lines", "taints", "affinities", "shapes", "providers"):
        world.post(f"/{resource}/", WRITES[resource][1], status=201)
    world.post("/sources/", SOURCE, status=201)
    world.post("/profiles/seed-example/backtest/", {}, status=202)
    world.post("/region_scopes/", {"user": user("operator").username, "region": "A"}, status=201)
    world.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["127.0.0.1"]}, status=200)
    placed = portal.post("/schedule/", {**ORDER, "callback_url": "http://127.0.0.1:9/"}, status=201)
    MoveAnswer.objects.create(placement=placed["id"], tenant=Tenant.objects.get(), state="done", move=MOVE)
    recorder.settle()
    measure(Line.objects.get(), np.full(288, 100.0), timezone.now())
    rollups_refresh(now=timezone.now())

    paths = world.get("/schema/?format=json")["paths"]
    reads = {path.removeprefix("/api/v1"): methods["get"] for path, methods in paths.items() if "get" in methods}
    for path, operation in reads.items():
        address = path
        if member := re.match(r"(/\w+/(?:\w+/)?)\{(\w+)\}/", path):
            first = world.get(member[1])["results"][0]
            key = first["decision_id"] if member[1] == "/decisions/" else first[member[2]]
            address = path.replace(member[0], f"{member[1]}{key}/").replace("{number}", "1")
        query = "?idc=a&line=ct&metric=bandwidth_mbps" if path == "/samples/" else ""
        answer = world.raw("GET", address + query)
        assert answer.status_code == 200, (address, answer.content)
        tag = answer.headers.get("ETag", "*")
        given = status(world, "GET", address + query, If_None_Match=tag) == 304
        assert ("304" in operation["responses"]) is given, path
        assert ("If-None-Match" in [each["name"] for each in operation.get("parameters", ())]) is given, path


ORDER = {"region": "A", "profile": "seed-example", "action": "reserve", "machines": [{"count": 1}]}
MOVES = ("confirm", "provision", "release", "retry", "give_up", "move")
BODIES = {"give_up": {"reason": "gone"}, "move": {"idc": "b"}}
CHANGE_NOTHING = {
    *("/decisions/{id}/replay/", "/profiles/{code}/preview/", "/profiles/{code}/backtest/", "/sources/{code}/test/"),
    "/providers/{code}/outcomes/",  # the provider's own word, which knows no ETag
}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_is_an_edit(seed: Api, portal: Api, admin: Api, move: str) -> None:
    placement = portal.post("/schedule/", ORDER, status=201)
    path, body = f"/placements/{placement['id']}/", BODIES.get(move)
    for stale in ('"nope"', OLD, "nonsense"):
        problem = admin.call("POST", f"{path}{move}/", body, status=412, If_Match=stale)
        assert problem["code"] == "stale_etag"
    assert portal.get(path) == placement
    assert status(admin, "POST", f"{path}{move}/", body, If_Match=etag(portal, path)) != 412


def test_a_placement_is_tagged_by_all_that_show_it(seed: Api, portal: Api) -> None:
    made = portal.raw("POST", "/schedule/", json.dumps(ORDER))
    path, tag = f"/placements/{made.json()['id']}/", made.headers["ETag"]
    assert etag(portal, path) == tag
    seed.post("/taints/", {"idc": made.json()["idc"], "key": "power", "effect": "NoExecute"}, status=201)
    assert portal.get(path)["due_to_leave"] == "power"
    moved = portal.raw("POST", f"{path}confirm/", If_Match=tag)
    assert moved.status_code == 200
    assert etag(portal, path) == moved.headers["ETag"] != tag
    assert status(portal, "POST", f"{path}release/", If_Match=tag) == 412
    assert status(portal, "POST", f"{path}release/", If_Match=moved.headers["ETag"]) == 200


def test_so_is_whatever_else_is_done_to_an_object(world: Api, portal: Api, settings: Any) -> None:  # noqa: F811
    world.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["127.0.0.1"]}, status=200)
    placement = portal.post("/schedule/", {**ORDER, "callback_url": "http://127.0.0.1:9/"}, status=201)
    world.post("/sources/", SOURCE, status=201)
    token = world.post("/tokens/", {"user": "portal", "name": "n"}, status=201)["id"]
    delivery = portal.get("/deliveries/")["results"][0]["id"]
    draft = {"plugins": [], "message": "nothing at all"}
    done: dict[str, tuple[str, Any]] = {
        "/deliveries/{id}/resend/": (f"/deliveries/{delivery}/", None),
        "/sources/{code}/run/": ("/sources/s/", None),
        "/tenants/{code}/callback_secret/": ("/tenants/live-cn/", None),
        "/profiles/{code}/revisions/": ("/profiles/seed-example/", draft),
        "/profiles/{code}/revisions/{number}/activate/": ("/profiles/seed-example/", None),
        "/tokens/{id}/rotate/": (f"/tokens/{token}/", {}),
        "/tokens/{id}/revoke/": (f"/tokens/{token}/", None),
        **{f"/placements/{{id}}/{move}/": (f"/placements/{placement['id']}/", None) for move in MOVES},
    }
    below = {
        path.removeprefix("/api/v1")
        for path, _, method, _ in EndpointEnumerator().get_api_endpoints()
        if method == "POST" and "}" in path
    }
    assert below == set(done) | CHANGE_NOTHING
    for address, (path, body) in done.items():
        if not address.startswith("/placements/"):
            part = address.partition("}")[2].replace("{number}", "2").removeprefix("/")
            assert status(world, "POST", path + part, body, If_Match=OLD) == 412, address
            assert status(world, "POST", path + part, body, If_Match=etag(world, path)) < 300, address


@pytest.mark.postgresql
@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_of_two_at_once_one_wins(seed: Api, api: Callable[..., Api]) -> None:
    """Both have read the same; the second waits for the first, and is then refused."""
    tag, admin = etag(seed, "/idcs/a/"), api("admin")
    held, outcomes = threading.Barrier(2), list[int]()

    def edit(name: str) -> None:
        held.wait(100)
        outcomes.append(status(admin, "PATCH", "/idcs/a/", {"name": name}, If_Match=tag))
        connection.close()

    for _ in range(10):
        outcomes.clear()
        threads = [threading.Thread(target=edit, args=(f"{tag}{number}",)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == [200, 412]
        tag = etag(seed, "/idcs/a/")


def test_of_many_the_stale_one_is_named(world: Api) -> None:  # noqa: F811
    tag = etag(world, "/idcs/a/")
    problem = world.call("PATCH", "/idcs/", [{"code": "a"}, {"code": "b"}], status=412, If_Match=tag)

    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/1", "stale_etag")]


@pytest.mark.parametrize("resource", ["tokens", "users", "sources"])
def test_what_moves_by_itself_makes_no_edit_stale(world: Api, resource: str) -> None:  # noqa: F811
    """A token is used, a user logs in, a source is asked: nobody has edited them."""
    world.post("/sources/", SOURCE, status=201)
    token = world.get("/me/")["token"]["id"]
    path = {"tokens": f"/tokens/{token}/", "users": "/users/admin/", "sources": "/sources/s/"}[resource]
    tag, now = etag(world, path), timezone.now()
    ApiToken.objects.update(last_used_at=now)
    User.objects.update(last_login=now)
    Source.objects.update(started_at=now, failures=3)

    assert etag(world, path) == tag
    assert status(world, "GET", path, If_None_Match=tag) == 200, "a reader is shown that it was used"
    change = {"tokens": {"name": "n"}, "users": {"email": "a@example.com"}, "sources": {"enabled": False}}[resource]
    assert status(world, "PATCH", path, change, If_Match=tag) == 200
    assert status(world, "PATCH", path, change, If_Match=tag) == 412
