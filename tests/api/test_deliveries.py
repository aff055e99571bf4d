"""`deliveries/`: what portals were told, who sees it, and telling them again."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from idcsched.accounts.models import IdempotencyKey
from idcsched.accounts.services import tenant_create
from idcsched.audit.models import Change
from idcsched.placement.delivering import placement_deliver
from tests.api.conftest import Api
from tests.outbound.peers import Peer
from tests.placement.receiving import received, receiver, signature_fits

ORDER = {"region": "A", "profile": "seed-example", "action": "reserve"}


@pytest.fixture
def receiving() -> Iterator[Peer]:
    with receiver() as server:
        yield server


@pytest.fixture
def placement(seed: Api, portal: Api, receiving: Peer) -> Any:
    seed.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["127.0.0.1"]}, status=200)
    return portal.post("/schedule/", {**ORDER, "request_id": "order-1", "callback_url": receiving.url}, status=201)


def test_it_works(placement: Any, admin: Api, portal: Api, receiving: Peer) -> None:
    secret = admin.post("/tenants/live-cn/callback_secret/", None, status=201)["secret"]
    (waiting,) = portal.get("/deliveries/")["results"]
    assert waiting.items() >= {
        "placement": placement["id"], "request_id": "order-1", "tenant": "live-cn", "version": 1, "state": "pending",
        "type": "placement.reserved", "url": receiving.url, "tries": 0, "delivered_at": None, "error": None,
    }.items()  # fmt: skip

    placement_deliver(placement_id=placement["id"])

    delivery = portal.get(f"/deliveries/{waiting['id']}/")
    (message,) = received(receiving)
    assert (delivery["state"], delivery["tries"], delivery["next_try_at"]) == ("delivered", 1, None)
    assert (delivery["id"], delivery["payload"]) == (message.id, message.document)
    assert signature_fits(message, secret)
    again = portal.post(f"/deliveries/{waiting['id']}/resend/", None, status=200)
    assert (again["state"], again["tries"]) == ("pending", 1)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("state=pending", 1),
        ("state=delivered", 0),
        ("state=pending&state=given_up", 1),
        ("tenant=live-cn", 1),
        ("tenant=other", 0),
        ("request_id=order-1", 1),
        ("type=placement.released", 0),
        ("placement=00000000-0000-0000-0000-000000000000", 0),
        ("q=order-1", 1),
        ("ordering=-created_at", 1),
    ],
)
def test_filters(placement: Any, portal: Api, query: str, count: int) -> None:
    assert portal.get(f"/deliveries/?{query}")["count"] == count


@pytest.mark.parametrize(
    ("role", "may_read", "may_resend"),
    [("viewer", 200, 403), ("portal", 200, 200), ("operator", 200, 200), ("admin", 200, 200)],
)
def test_who_may_what(placement: Any, api: Callable[..., Api], role: str, may_read: int, may_resend: int) -> None:
    (delivery,) = api("admin").get("/deliveries/")["results"]
    caller = api(role)
    assert caller.raw("GET", f"/deliveries/{delivery['id']}/").status_code == may_read
    assert caller.raw("POST", f"/deliveries/{delivery['id']}/resend/").status_code == may_resend
    secret = caller.raw("POST", "/tenants/live-cn/callback_secret/").status_code
    assert secret == (201 if role == "admin" else 403)


def test_a_reading_token_resends_nothing(placement: Any, admin: Api, api: Callable[..., Api]) -> None:
    (delivery,) = admin.get("/deliveries/")["results"]
    refused = api("portal", read_only=True).refused("POST", f"/deliveries/{delivery['id']}/resend/", status=403)
    assert refused == ("read_only_token", [])


def test_nobody_else_may_anything(placement: Any, anonymous: Api) -> None:
    assert anonymous.raw("GET", "/deliveries/").status_code == 401


def test_others_deliveries_are_not_there(placement: Any, seed: Api, portal: Api, receiving: Peer) -> None:
    tenant_create(code="other", callback_hosts=["127.0.0.1"])
    seed.post("/schedule/", {**ORDER, "tenant": "other", "callback_url": receiving.url}, status=201)
    (other,) = seed.get("/deliveries/?tenant=other")["results"]
    assert [row["tenant"] for row in portal.get("/deliveries/")["results"]] == ["live-cn"]
    for method, path in (("GET", ""), ("POST", "resend/")):
        assert portal.refused(method, f"/deliveries/{other['id']}/{path}", status=404)[0] == "not_found"


@pytest.mark.parametrize(
    ("action", "url", "status", "code"),
    [
        pytest.param("reserve", "http://elsewhere.example/", 400, "callback_host_not_allowed", id="not listed"),
        pytest.param("reserve", "gopher://x/", 400, "invalid_url", id="no such scheme"),
        pytest.param("reserve", "http://127.0.0.1:0/", 400, "invalid_url", id="a port that is none"),
        pytest.param("recommend", "http://127.0.0.1:0/", 400, "invalid_url", id="not to recommend either"),
        pytest.param("recommend", "http://elsewhere.example/", 400, "callback_host_not_allowed", id="nor that host"),
        pytest.param("recommend", "gopher://x/", 400, "invalid_url", id="not even to recommend"),
    ],
)
def test_refusals(placement: Any, portal: Api, action: str, url: str, status: int, code: str) -> None:
    asked = {**ORDER, "action": action, "callback_url": url}
    assert portal.refused("POST", "/schedule/", asked, status=status) == (code, ["/callback_url"])


def test_a_recommendation_tells_nobody(placement: Any, portal: Api, receiving: Peer) -> None:
    portal.schedule(**{**ORDER, "action": "recommend", "callback_url": receiving.url})
    assert portal.get("/deliveries/")["count"] == 1


def test_a_commit_refuses_a_host_that_is_listed_no_more(placement: Any, admin: Api, portal: Api) -> None:
    asked = {**ORDER, "action": "recommend", "callback_url": placement["callback_url"]}
    token = portal.schedule(**asked)["commit_token"]
    admin.call("PATCH", "/tenants/live-cn/", {"callback_hosts": ["portal.example"]}, status=200)
    refused = portal.refused("POST", "/placements/", {"commit_token": token}, status=400)
    assert refused == ("callback_host_not_allowed", ["/commit_token"])


def test_a_commit_points_at_its_token_whatever_is_wrong_with_the_request(seed: Api, portal: Api) -> None:
    token = portal.schedule(**{**ORDER, "action": "recommend"})["commit_token"]
    refused = portal.refused("POST", "/placements/", {"commit_token": token, "action": "provision"}, status=400)
    assert refused == ("machines_required", ["/commit_token"])


@pytest.mark.parametrize("mode", ["independent", "gang"])
def test_in_a_batch_a_recommendation_is_refused_as_well(placement: Any, portal: Api, mode: str) -> None:
    asked = {**ORDER, "action": "recommend", "callback_url": "http://elsewhere.example/"}
    answer = portal.call("POST", "/schedule/batch/", {"mode": mode, "requests": [asked]})
    (error,) = answer["results"][0]["errors"]
    assert (error["code"], error["pointer"]) == ("callback_host_not_allowed", "/callback_url")


def test_for_no_tenant_any_host_may_be_asked_about(seed: Api) -> None:
    seed.schedule(**{**ORDER, "action": "recommend", "callback_url": "http://elsewhere.example/"})


def test_a_secret_is_shown_once_and_its_making_is_on_record(admin: Api, tenant: Any) -> None:
    key = {"Idempotency-Key": "k"}
    secret = admin.post("/tenants/live-cn/callback_secret/", None, status=201, **key)["secret"]
    assert secret.startswith("whsec_")
    assert admin.post("/tenants/live-cn/callback_secret/", None, status=201, **key) == {"secret": None}
    assert secret.encode() not in bytes(IdempotencyKey.objects.get().body)
    change = Change.objects.filter(kind="tenant", action="update").get()
    assert (change.actor, secret in str(change.__dict__)) == ("admin", False)


def test_a_list_takes_a_fixed_number_of_queries(
    placement: Any, portal: Api, receiving: Peer, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    for _ in range(3):
        portal.post("/schedule/", {**ORDER, "callback_url": receiving.url}, status=201)
    with django_assert_max_num_queries(5):
        assert portal.get("/deliveries/")["count"] == 4
