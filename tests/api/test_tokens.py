"""Tokens over the API: the secret once, rotation without a gap, an end for good."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import ApiToken, User
from idcsched.accounts.services import token_issue, token_update
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
