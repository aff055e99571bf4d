"""Every endpoint × method × caller, held against the table in docs/permissions.md."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone
from drf_spectacular.generators import EndpointEnumerator

from idcsched.accounts.models import ApiToken, Tenant
from idcsched.accounts.roles import Role
from idcsched.accounts.services import tenant_create, token_issue, token_revoke, user_create
from idcsched.api.routing import nothing_here
from idcsched.inventory.services import region_scope_create
from tests.api.conftest import Api
from tests.architecture.repository import ROOT

PAGE = ROOT / "docs" / "permissions.md"
ROW = re.compile(
    r"^\| `(?P<path>[^`]+)` \| (?P<method>[A-Z]+) \| (?P<role>\w+) \| (?P<read_only>yes|no) \|", re.MULTILINE
)
VALUES = ("nowhere", "0", "1", "00000000-0000-0000-0000-000000000000", "candidates")
NOBODY = {"anonymous", "expired", "revoked", "foreign network", "locked out"}
ROLES = {
    "viewer": Role.VIEWER,
    "viewer of all tenants": Role.VIEWER,
    "portal": Role.PORTAL,
    "operator": Role.OPERATOR,
    "operator of a region": Role.OPERATOR,
    "admin": Role.ADMIN,
    "read-only admin": Role.ADMIN,
}


class Rule(NamedTuple):
    role: Role | None
    """The least role that may; None lets in anybody, logged in or not."""
    read_only: bool


def _rule(role: str, read_only: str) -> Rule:
    return Rule(None if role == "anybody" else Role(role), read_only == "yes")


@cache
def table() -> dict[tuple[str, str], Rule]:
    rows = ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return {(row["path"].lstrip("/"), row["method"]): _rule(row["role"], row["read_only"]) for row in rows}


@cache
def endpoints() -> frozenset[tuple[str, str]]:
    found = EndpointEnumerator().get_api_endpoints()
    return frozenset((path.removeprefix("/api/v1/"), method) for path, _, method, _ in found)


@cache
def address(path: str) -> str:
    """Return an address of this endpoint, with keys that no object has."""
    names = re.findall(r"\{\w+\}", path)
    for values in product(VALUES, repeat=len(names)):
        filled = path
        for name, value in zip(names, values, strict=True):
            filled = filled.replace(name, value, 1)
        try:
            found = resolve(f"/api/v1/{filled}")
        except Resolver404:
            continue
        if found.func is not nothing_here:
            return f"/{filled}"
    raise AssertionError(f"no address found for {path}: add what its parts look like to VALUES")


def with_token(text: str) -> Api:
    return Api(Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {text}"}))


@pytest.fixture
def callers(seed: Api, tenant: Tenant) -> Callable[[str], Api]:
    def make(name: str) -> Api:
        if name == "anonymous":
            return Api(Client(SERVER_NAME="localhost"))
        role = ROLES.get(name, Role.ADMIN)
        home = tenant if name in {"viewer", "portal"} else None
        user = user_create(username=f"caller {name}".replace(" ", "-"), role=role, tenant=home)
        if name == "operator of a region":
            region_scope_create(user=user, region="B")
        networks = ["203.0.113.0/24"] if name == "foreign network" else []
        issued = token_issue(user=user, name="t", read_only=name == "read-only admin", allowed_networks=networks)
        if name == "expired":
            now = timezone.now()
            past = {"created_at": now - timedelta(days=2), "expires_at": now - timedelta(days=1)}
            ApiToken.objects.filter(pk=issued.token.pk).update(**past)
        if name == "revoked":
            token_revoke(token=issued.token)
        if name == "locked out":
            type(user).objects.filter(pk=user.pk).update(is_active=False)
        return with_token(issued.text)

    return make


def answered(api: Api, path: str, method: str) -> str:
    response = api.raw(method, address(path), None if method in {"GET", "DELETE"} else "{}")
    assert response.status_code < 500, (path, method, response.content)
    if response.status_code == 401:
        return "nobody"
    if response.status_code == 403:
        return str(json.loads(response.content)["code"])
    return "let in"


WHOLE_INSTALLATION = ("advice/", "backtests/", "metrics/", "profiles/", "shapes/")


def expected(caller: str, path: str, method: str, rule: Rule) -> str:
    if rule.role is None:
        return "let in"
    if caller in NOBODY:
        return "nobody"
    if ROLES[caller].rank < rule.role.rank:
        return "role_not_allowed"
    whole = path.startswith(WHOLE_INSTALLATION) and path != "advice/moves/"
    if caller == "operator of a region" and whole and method != "GET":
        return "region_not_allowed"
    return "read_only_token" if caller == "read-only admin" and not rule.read_only else "let in"


def test_it_works() -> None:
    """Every endpoint has a row, and every row an endpoint."""
    missing = [f"| `{path}` | {method} | <least role> | <yes or no> |" for path, method in endpoints() - set(table())]
    assert not missing, "docs/permissions.md lacks, under its heading:\n" + "\n".join(sorted(missing))
    assert not set(table()) - endpoints(), "docs/permissions.md has rows for what is not there"


@pytest.mark.no_cover
@pytest.mark.parametrize("caller", [*sorted(NOBODY), *ROLES])
def test_who_is_let_in(callers: Callable[[str], Api], caller: str) -> None:
    api = callers(caller)
    wrong = []
    for (path, method), rule in sorted(table().items()):
        found, wanted = answered(api, path, method), expected(caller, path, method, rule)
        if found != wanted:
            wrong.append(f"{method} {path}: {caller} gets {found!r}, docs/permissions.md says {wanted!r}")
    assert not wrong, "\n".join(wrong)


ORDER = {"region": "A", "profile": "seed-example", "action": "reserve", "callback_url": "https://portal.example/"}


@pytest.fixture
def other(seed: Api) -> Api:
    """A portal of another tenant; the tenant of `portal` may be called back."""
    seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["portal.example"]}, status=200)
    stranger = user_create(username="stranger", role="portal", tenant=tenant_create(code="other"))
    return with_token(token_issue(user=stranger, name="t").text)


def key_of(resource: str, seed: Api, portal: Api) -> str:
    """The key of a row that belongs to the portal's tenant."""
    decided = portal.schedule(region="A", profile="seed-example")
    ordered = portal.post("/schedule/", ORDER, status=201)
    keys: dict[str, Callable[[], Any]] = {
        "placements": lambda: ordered["id"],
        "deliveries": lambda: portal.get("/deliveries/")["results"][0]["id"],
        "decisions": lambda: decided["decision_id"],
        "tenants": lambda: "live-cn",
        "tokens": lambda: portal.get("/me/")["token"]["id"],
        "changes": lambda: seed.get("/changes/?limit=1")["results"][0]["id"],
    }
    return str(keys[resource]())


OF_A_TENANT = ["decisions", "placements", "deliveries", "tenants", "tokens", "changes"]


@pytest.mark.parametrize("resource", OF_A_TENANT)
def test_what_belongs_to_another_tenant_is_not_there(seed: Api, portal: Api, other: Api, resource: str) -> None:
    """A row of one tenant is neither found by its key nor listed for a portal of another tenant."""
    key = key_of(resource, seed, portal)
    assert seed.get(f"/{resource}/{key}/")
    if resource != "changes":  # it changed nothing itself
        assert portal.get(f"/{resource}/{key}/")
    assert other.refused("GET", f"/{resource}/{key}/", status=404) == ("not_found", [])
    listed = other.get(f"/{resource}/")["results"]
    assert key not in [row.get("decision_id", row.get("code", row.get("id"))) for row in listed]


@pytest.mark.parametrize("resource", OF_A_TENANT)
def test_no_endpoint_takes_a_key_of_another_tenant(seed: Api, portal: Api, other: Api, resource: str) -> None:
    """The answer for a key of another tenant is the same as for a key that does not exist."""
    key = key_of(resource, seed, portal)
    below = [(path, method) for path, method in sorted(endpoints()) if path.startswith(f"{resource}/{{")]
    assert below
    for path, method in below:
        guessed, made_up = (re.sub(r"\{\w+\}", value, path, count=1) for value in (key, address(path).split("/")[2]))
        body = None if method in {"GET", "DELETE"} else "{}"
        answers = [other.raw(method, f"/{each}", body) for each in (guessed, made_up)]
        assert [answer.status_code for answer in answers] in ([404, 404], [403, 403]), (path, method)
        documents = [json.loads(answer.content) for answer in answers]
        assert documents[0] == documents[1], (path, method)


@pytest.mark.parametrize("move", ["confirm", "release", "provision", "retry"])
def test_nobody_moves_the_placement_of_another_tenant(seed: Api, portal: Api, other: Api, move: str) -> None:
    placement = portal.post("/schedule/", ORDER, status=201)["id"]

    assert other.refused("POST", f"/placements/{placement}/{move}/", status=404) == ("not_found", [])
    assert portal.get(f"/placements/{placement}/")["version"] == 1
    assert other.refused("GET", f"/placements/{placement}/events/", status=404) == ("not_found", [])


def test_nobody_takes_up_the_recommendation_of_another_tenant(seed: Api, portal: Api, other: Api) -> None:
    token = portal.schedule(region="A", profile="seed-example")["commit_token"]

    assert other.refused("POST", "/placements/", {"commit_token": token}, status=404)[0] == "not_found"
    assert portal.post("/placements/", {"commit_token": token}, status=201)["tenant"] == "live-cn"


def test_nobody_sends_the_callback_of_another_tenant_again(seed: Api, portal: Api, other: Api) -> None:
    portal.post("/schedule/", ORDER, status=201)
    delivery = portal.get("/deliveries/")["results"][0]["id"]

    assert other.refused("POST", f"/deliveries/{delivery}/resend/", status=404) == ("not_found", [])


SCOPED: dict[str, Any] = {
    "taints": {"key": "k", "effect": "NoSchedule"},
    "affinities": {"kind": "prefer", "weight": 5},
    "samples": {"metric": "x", "value": 1.0},
}


@pytest.mark.parametrize("resource", SCOPED)
@pytest.mark.parametrize(("idc", "allowed"), [("e", True), ("a", False)], ids=["inside", "outside"])
def test_an_operator_of_a_region_writes_there_alone(
    callers: Callable[[str], Api], resource: str, idc: str, allowed: bool
) -> None:
    """An operator of region B may write about `e`, which lies in B, and not about `a`, which does not."""
    api = callers("operator of a region")
    document = {**SCOPED[resource], "idc": idc}
    body = json.dumps([document] if resource == "samples" else document)
    response = api.raw("POST", f"/{resource}/", body)
    if allowed:
        assert response.status_code in {200, 201}, response.content
    else:
        assert (response.status_code, json.loads(response.content)["code"]) == (403, "region_not_allowed")


def marked(admin: Api, resource: str, idc: str) -> str:
    made = admin.post(f"/{resource}/", {**SCOPED[resource], "idc": idc}, status=201)
    return f"/{resource}/{(made[0] if isinstance(made, list) else made)['id']}/"


@pytest.mark.parametrize("resource", ["taints", "affinities"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(("idc", "allowed"), [("e", True), ("a", False)], ids=["inside", "outside"])
def test_so_do_changes(
    seed: Api, callers: Callable[[str], Api], resource: str, method: str, idc: str, allowed: bool
) -> None:
    path = marked(seed, resource, idc)
    body = {**SCOPED[resource], "reason": "why"} | ({"idc": idc} if method == "PUT" else {})
    response = callers("operator of a region").raw(method, path, None if method == "DELETE" else json.dumps(body))

    if allowed:
        assert response.status_code in {200, 204}, response.content
    else:
        assert (response.status_code, json.loads(response.content)["code"]) == (403, "region_not_allowed")
        assert seed.get(path)["reason"] == ""


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("to", [{"idc": "a"}, {"selector": {"match_labels": {"idc/code": "e"}}}])
def test_nothing_is_moved_out_of_the_region(
    seed: Api, callers: Callable[[str], Api], method: str, to: dict[str, Any]
) -> None:
    """An operator of region B can move an affinity neither to `a` nor to a selector, which may match IDCs elsewhere."""
    path = marked(seed, "affinities", "e")
    body = json.dumps({**SCOPED["affinities"], **to})
    response = callers("operator of a region").raw(method, path, body)

    assert (response.status_code, json.loads(response.content)["code"]) == (403, "region_not_allowed")
    assert seed.get(path)["idc"] == "e"


@pytest.mark.parametrize("resource", SCOPED)
def test_one_outside_of_many_is_named(seed: Api, callers: Callable[[str], Api], resource: str) -> None:
    api = callers("operator of a region")
    document = SCOPED[resource]
    many = [{**document, "idc": "e"}, {**document, "idc": "f"}, {**document, "idc": "a"}, {**document, "idc": "b"}]

    assert api.refused("POST", f"/{resource}/", many, status=403) == ("region_not_allowed", ["/2"])
    if resource != "samples":
        before = seed.get(f"/{resource}/")["count"]
        assert len(api.post(f"/{resource}/", many[:2], status=201)) == 2
        assert seed.get(f"/{resource}/")["count"] == before + 2


def test_so_is_one_of_many_changes(seed: Api, callers: Callable[[str], Api]) -> None:
    ids = [int(marked(seed, "taints", idc).split("/")[2]) for idc in ("e", "a")]
    body = [{"id": number, "reason": "why"} for number in ids]

    refused = callers("operator of a region").refused("PATCH", "/taints/", body, status=403)
    assert refused == ("region_not_allowed", ["/1"])
    assert seed.get(f"/taints/{ids[0]}/")["reason"] == ""
