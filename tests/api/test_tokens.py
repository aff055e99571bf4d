"""Tokens over the API: the secret is shown once, rotation leaves no gap, and a revoked token stays revoked."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.services import tenant_create, token_issue, token_update, user_create
from idcsched.audit.models import Change
from tests.api.conftest import Api


def with_token(text: str) -> Api:
    return Api(Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {text}"}))


@pytest.fixture
def shop(user: Callable[[str], User]) -> User:
    return user("portal")


def test_it_works(admin: Api, shop: User) -> None:
    made = admin.post("/tokens/", {"user": "portal", "name": "orders", "allowed_networks": ["127.0.0.0/8"]}, status=201)
    assert with_token(made["token"]).get("/me/")["username"] == "portal"
    shown = admin.get(f"/tokens/{made['id']}/")
    assert shown["token"] is None
    assert (shown["prefix"], shown["tenant"], shown["read_only"]) == (made["token"][:8], None, False)
    assert made["token"] not in str(list(Change.objects.values()))


def test_rotating_leaves_no_gap(admin: Api, shop: User) -> None:
    old = admin.post("/tokens/", {"user": "portal", "name": "orders"}, status=201)
    own = with_token(old["token"])
    new = own.post(f"/tokens/{old['id']}/rotate/", {"overlap_seconds": 3600}, status=201)
    assert new["token"] != old["token"]
    for text in (old["token"], new["token"]):
        assert with_token(text).get("/me/")["username"] == "portal"
    ends = ApiToken.objects.get(pk=old["id"]).expires_at
    assert ends is not None
    assert timedelta(minutes=59) < ends - timezone.now() < timedelta(minutes=61)
    again = own.post(f"/tokens/{old['id']}/rotate/", {}, status=409)
    assert (again["code"], again["detail"]) == (
        "token_ended",
        "this token was rotated before: rotate the one that took its place",
    )


def test_rotating_without_an_overlap_ends_the_old_one_at_once(admin: Api, shop: User) -> None:
    old = admin.post("/tokens/", {"user": "portal", "name": "orders"}, status=201)
    new = admin.post(f"/tokens/{old['id']}/rotate/", {"overlap_seconds": 0}, status=201)
    assert with_token(old["token"]).refused("GET", "/me/", status=401) == ("token_expired", [])
    assert with_token(new["token"]).get("/me/")


@pytest.mark.parametrize("body", [False, 0, [], ""], ids=repr)
def test_what_is_no_rotation_rotates_nothing(admin: Api, shop: User, body: Any) -> None:
    made = admin.post("/tokens/", {"user": "portal", "name": "orders"}, status=201)
    admin.post(f"/tokens/{made['id']}/rotate/", body, status=400)
    assert ApiToken.objects.filter(name="orders").count() == 1


def test_rotating_keeps_what_it_is(admin: Api, shop: User) -> None:
    ends = timezone.now() + timedelta(days=9)
    issued = token_issue(user=shop, name="n", read_only=True, allowed_networks=["127.0.0.0/8"], expires_at=ends)
    new = admin.post(f"/tokens/{issued.token.pk}/rotate/", {}, status=201)
    kept = ApiToken.objects.get(pk=new["id"])
    assert (kept.read_only, kept.allowed_networks, kept.expires_at, kept.name) == (True, ["127.0.0.0/8"], ends, "n")


def test_nobody_lets_their_own_token_live_longer(admin: Api, shop: User) -> None:
    issued = token_issue(user=shop, name="n", expires_at=timezone.now() + timedelta(days=1))
    address, later = f"/tokens/{issued.token.pk}/rotate/", {"expires_at": "2099-01-01T00:00:00Z"}
    assert with_token(issued.text).refused("POST", address, later, status=400) == ("prolonged", ["/expires_at"])
    assert admin.post(address, later, status=201)["expires_at"].startswith("2099-01-01")


def within(days: int) -> datetime:
    return timezone.now() + timedelta(days=days)


NARROW: dict[str, dict[str, Any]] = {
    "a tenant": {"tenant": "live-cn"},
    "an end": {"expires_at": within(1)},
    "a network": {"allowed_networks": ["127.0.0.0/8"]},
}
WIDER: dict[str, list[tuple[dict[str, Any], int, str]]] = {
    "a tenant": [({}, 403, "tenant_not_allowed"), ({"tenant": "other"}, 403, "tenant_not_allowed")],
    "an end": [({}, 400, "prolonged"), ({"expires_at": within(2)}, 400, "prolonged")],
    "a network": [
        ({}, 403, "address_not_allowed"),
        ({"allowed_networks": ["126.0.0.0/7"]}, 403, "address_not_allowed"),
        ({"allowed_networks": ["127.0.0.1", "::/0"]}, 403, "address_not_allowed"),
    ],
}


@pytest.fixture
def everywhere(tenant: Tenant) -> User:
    """A portal of all tenants."""
    tenant_create(code="other")
    return user_create(username="everywhere", role="portal")


@pytest.mark.parametrize("bound", NARROW)
def test_a_token_gets_no_other_that_may_more(everywhere: User, bound: str) -> None:
    """A leaked token rotates itself and its equals, but no sibling that is less bound; it can end any of them."""
    own = token_issue(user=everywhere, name="own", **NARROW[bound])
    for fields, status, code in WIDER[bound]:
        sibling = f"/tokens/{token_issue(user=everywhere, name='sibling', **fields).token.pk}/"
        assert with_token(own.text).call("POST", f"{sibling}rotate/", {}, status=status)["code"] == code
        assert with_token(own.text).get(sibling)["rotated_at"] is None
        assert with_token(own.text).post(f"{sibling}revoke/", None, status=200)["revoked_at"]
    equal = token_issue(user=everywhere, name="equal", **NARROW[bound]).token.pk
    for key in (equal, own.token.pk):
        assert with_token(own.text).post(f"/tokens/{key}/rotate/", {}, status=201)["token"]


def test_a_sibling_is_rotated_to_an_earlier_end(everywhere: User) -> None:
    ends = within(1)
    own, sibling = token_issue(user=everywhere, name="own", expires_at=ends), token_issue(user=everywhere, name="s")
    address = f"/tokens/{sibling.token.pk}/rotate/"
    new = with_token(own.text).post(address, {"expires_at": ends.isoformat()}, status=201)
    assert ApiToken.objects.get(pk=new["id"]).expires_at == ends


def test_a_token_that_was_rotated_does_not_come_back(everywhere: User) -> None:
    own = token_issue(user=everywhere, name="own")
    new = with_token(own.text).post(f"/tokens/{own.token.pk}/rotate/", {}, status=201)
    again = with_token(own.text).refused("POST", f"/tokens/{new['id']}/rotate/", {}, status=400)
    assert again == ("prolonged", ["/expires_at"])


@pytest.mark.parametrize("bound", ["an end", "a network"])
def test_an_administrators_token_makes_none_that_may_more(admin: Api, shop: User, bound: str) -> None:
    own = token_issue(user=User.objects.get(username="admin"), name="own", **NARROW[bound])
    bounded, count = with_token(own.text), ApiToken.objects.count()
    (name,) = NARROW[bound]
    for fields, status, code in WIDER[bound]:
        document = json.loads(json.dumps({"user": "portal", "name": "n", **fields}, default=datetime.isoformat))
        assert bounded.call("POST", "/tokens/", document, status=status)["code"] == code
        change = {name: document.get(name, [] if name == "allowed_networks" else None)}
        assert bounded.call("PATCH", f"/tokens/{own.token.pk}/", change, status=status)["code"] == code
    assert ApiToken.objects.count() == count
    equal = json.loads(json.dumps({"user": "portal", "name": "n", **NARROW[bound]}, default=datetime.isoformat))
    made = bounded.post("/tokens/", equal, status=201)
    assert bounded.call("PATCH", f"/tokens/{made['id']}/", {"name": "m"}, status=200)["name"] == "m"
    assert admin.call("PATCH", f"/tokens/{own.token.pk}/", {name: equal[name]}, status=200)


def test_a_tenant_does_not_bind_the_token_of_an_administrator(admin: Api, shop: User, tenant: Tenant) -> None:
    own = token_issue(user=User.objects.get(username="admin"), name="own", tenant=tenant)
    root = {"user": "admin", "name": "n"}
    assert with_token(own.text).post("/tokens/", root, status=201)["tenant"] is None


def test_a_session_has_no_bounds(everywhere: User, client: Client) -> None:
    client.force_login(everywhere)
    sibling = token_issue(user=everywhere, name="n").token.pk
    assert Api(client).post(f"/tokens/{sibling}/rotate/", {}, status=201)["expires_at"] is None


def test_a_read_only_token_can_neither_rotate_nor_revoke_itself(shop: User) -> None:
    issued = token_issue(user=shop, name="n", read_only=True)
    for verb in ("rotate", "revoke"):
        address = f"/tokens/{issued.token.pk}/{verb}/"
        assert with_token(issued.text).refused("POST", address, {}, status=403) == ("read_only_token", [])


def test_revoking_is_for_good(admin: Api, shop: User) -> None:
    issued = token_issue(user=shop, name="n")
    own, address = with_token(issued.text), f"/tokens/{issued.token.pk}/"
    assert own.post(f"{address}revoke/", None, status=200)["revoked_at"]
    assert own.refused("GET", "/me/", status=401) == ("token_revoked", [])
    assert admin.refused("POST", f"{address}rotate/", {}, status=409) == ("token_ended", [])
    assert admin.refused("PATCH", address, {"name": "x"}, status=409) == ("token_ended", [])


def test_nobody_sees_another_ones_token(portal: Api, admin: Api) -> None:
    own = portal.get("/me/")["token"]["id"]
    other = admin.get("/me/")["token"]["id"]
    assert [token["id"] for token in portal.get("/tokens/")["results"]] == [own]
    assert portal.refused("GET", f"/tokens/{other}/", status=404) == ("not_found", [])
    assert portal.refused("POST", f"/tokens/{other}/revoke/", {}, status=404) == ("not_found", [])
    assert portal.refused("POST", "/tokens/", {"user": "portal", "name": "x"}, status=403) == ("role_not_allowed", [])


def test_networks_and_name_can_change_and_nothing_else(admin: Api, shop: User) -> None:
    address = f"/tokens/{token_issue(user=shop, name='n').token.pk}/"
    change = {"name": "m", "allowed_networks": ["10.0.0.0/8"]}
    assert admin.call("PATCH", address, change, status=200).items() >= change.items()
    assert admin.refused("PATCH", address, {"read_only": True}, status=400) == ("read_only", ["/read_only"])
    assert admin.refused("PATCH", address, {"user": "admin"}, status=400) == ("read_only", ["/user"])
    assert admin.refused("PATCH", address, {"token": "x"}, status=400) == ("unknown_field", ["/token"])
    assert admin.call("DELETE", address, status=405)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        pytest.param({"user": "nobody"}, "unknown", "/user", id="nobody's"),
        pytest.param({"tenant": "nope"}, "unknown", "/tenant", id="for a tenant that is none"),
        pytest.param({"name": ""}, "required", "/name", id="without a name"),
        pytest.param({"expires_at": "2001-01-01T00:00:00Z"}, "in_the_past", "/expires_at", id="expired already"),
        pytest.param({"allowed_networks": ["10.0.0.1/8"]}, "invalid_network", "/allowed_networks", id="host bits"),
        pytest.param({"prefix": "x"}, "unknown_field", "/prefix", id="with a prefix of one's own"),
    ],
)
def test_a_token_is_refused(admin: Api, shop: User, change: dict[str, object], code: str, pointer: str) -> None:
    document = {"user": "portal", "name": "n", **change}
    assert admin.refused("POST", "/tokens/", document, status=400) == (code, [pointer])


@pytest.mark.parametrize("overlap", [-1, 31 * 24 * 3600, "1", 1.5])
def test_an_overlap_is_refused(admin: Api, shop: User, overlap: object) -> None:
    issued = token_issue(user=shop, name="n")
    document = {"overlap_seconds": overlap}
    _, pointers = admin.refused("POST", f"/tokens/{issued.token.pk}/rotate/", document, status=400)
    assert pointers == ["/overlap_seconds"]
    assert token_update(token=issued.token, changes={"name": "still"}).rotated_at is None
