"""A new token works at once everywhere; a revoked one can write nothing at once, and soon cannot read either."""

from typing import Any

import pytest

from tests.stories.fleet import Fleet, chosen_by, new_fleet
from tests.stories.product import SOON, Answer, Caller, Product, name, until

ROUNDS = 8
"""The test is repeated, because a process that reads the feed too late might be in time once by chance."""


@pytest.fixture
def fleet(product: Product) -> Fleet:
    return new_fleet(product)


def known_tokens(product: Product, fleet: Fleet, who: str, admins: tuple[Caller, Caller]) -> list[Any]:
    """New tokens of that user, one for each caller, of which both web processes have learnt.

    Processes learn of changes in their order: who knows a sample knows of the tokens that were made before it.
    """
    tokens = [product.new_token(who) for _ in admins]
    fleet.measure(fleet.idcs[0], 3)
    for admin in admins:
        until(lambda admin=admin: admin.schedule(**fleet.question)["score"] == 3, "the sample everywhere", seconds=SOON)  # type: ignore[misc]
    return tokens


def used_after_revoking(admin: Caller, token: Any, caller: Caller, path: str, body: Any) -> Answer:
    """Revoke a token through one web process; return what another process answers to a POST with the token."""
    admin.post(f"/tokens/{token['id']}/revoke/", status=200)
    return caller.as_(token["token"]).ask("POST", path, body)


def test_a_new_token_works_at_once_in_both_processes(product: Product, fleet: Fleet) -> None:
    first, other = product.first_and_other("admin")
    body = {"name": "just made", "user": "portal"}
    for asking, asked in ((first, first), (first, other), (other, first)):
        secret = asking.post("/tokens/", body, status=201)["token"]
        assert chosen_by(asked.as_(secret), fleet.question) == fleet.idcs[0]
        reserved = asked.as_(secret).post("/schedule/", fleet.question | {"action": "reserve"}, status=201)
        assert reserved["idc"] == fleet.idcs[0]


def test_a_revoked_token_reserves_nothing_anywhere(product: Product, fleet: Fleet) -> None:
    admins = product.first_and_other("admin")
    order = fleet.question | {"action": "reserve"}
    for token, caller in zip(known_tokens(product, fleet, "portal", admins), admins, strict=True):
        assert used_after_revoking(admins[0], token, caller, "/schedule/", order).status == 401
    assert admins[0].get(f"/placements/?idc={fleet.idcs[0]}")["count"] == 0


def test_a_revoked_token_places_no_recommendation_anywhere(product: Product, fleet: Fleet) -> None:
    admins = product.first_and_other("admin")
    for token, caller in zip(known_tokens(product, fleet, "portal", admins), admins, strict=True):
        recommended = caller.as_(token["token"]).schedule(**fleet.question)
        taken = {"commit_token": recommended["commit_token"]}
        assert used_after_revoking(admins[0], token, caller, "/placements/", taken).status == 401
    assert admins[0].get(f"/placements/?idc={fleet.idcs[0]}")["count"] == 0


def test_a_revoked_token_edits_nothing_anywhere(product: Product, fleet: Fleet) -> None:
    admins = product.first_and_other("admin")
    taint = {"idc": fleet.idcs[0], "key": "maintenance", "effect": "NoSchedule"}
    for token, caller in zip(known_tokens(product, fleet, "operator", admins), admins, strict=True):
        assert used_after_revoking(admins[0], token, caller, "/taints/", taint).status == 401
    assert admins[0].get(f"/taints/?idc={fleet.idcs[0]}")["count"] == 0


def test_a_user_who_is_locked_out_reserves_nothing_anywhere(product: Product, fleet: Fleet) -> None:
    first, other = admins = product.first_and_other("admin")
    user = name("portal")
    first.post("/users/", {"username": user, "role": "portal", "tenant": fleet.tenant}, status=201)
    token, _ = known_tokens(product, fleet, user, admins)
    ordering = other.as_(token["token"])

    def lets_in() -> bool:
        return ordering.ask("GET", "/me/").status == 200

    for _ in range(ROUNDS):
        first.call("PATCH", f"/users/{user}/", {"is_active": False}, status=200)
        assert ordering.post("/schedule/", fleet.order(1), status=401)["code"] == "token_invalid"
        first.call("PATCH", f"/users/{user}/", {"is_active": True}, status=200)
        until(lets_in, "the other web process to know him again", seconds=SOON)
    assert first.get(f"/placements/?tenant={fleet.tenant}")["count"] == 0
    assert ordering.post("/schedule/", fleet.order(1), status=201)["idc"] == fleet.idcs[0]


def test_a_revoked_token_is_soon_given_no_recommendations(product: Product, fleet: Fleet) -> None:
    first, other = admins = product.first_and_other("admin")
    token, _ = known_tokens(product, fleet, "portal", admins)
    assert used_after_revoking(first, token, first, "/schedule/", fleet.question).status == 401

    def refused() -> bool:
        return other.as_(token["token"]).ask("POST", "/schedule/", fleet.question).status == 401

    until(refused, "the refusal by the other web process", seconds=SOON)
