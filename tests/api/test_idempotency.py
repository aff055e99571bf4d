"""`Idempotency-Key`: a request that is sent twice under one key is carried out once."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from idcsched.accounts.models import ApiToken, IdempotencyKey, User
from idcsched.accounts.services import idempotency_prune, token_issue, user_create
from idcsched.accounts.tasks import idempotency_prune as idempotency_prune_task
from idcsched.accounts.tasks import sessions_prune
from idcsched.api.idempotency import Idempotent
from idcsched.db.places import LEFT_FREE
from idcsched.framework.errors import Unavailable
from idcsched.inventory.models import Isp, Region, Taint
from idcsched.inventory.services import isp_create
from tests.api.conftest import Api

TAINT = {"idc": "a", "key": "k", "effect": "NoSchedule"}
KEY = {"Idempotency_Key": "order-1"}


def test_it_works(seed: Api) -> None:
    first = seed.raw("POST", "/taints/", json.dumps(TAINT), **KEY)
    again = seed.raw("POST", "/taints/", json.dumps(TAINT), **KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["ETag" if "ETag" in first.headers else "Content-Type"]
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert Taint.objects.filter(key="k").count() == 1


def test_another_key_is_another_request(seed: Api) -> None:
    seed.call("POST", "/regions/", {"code": "R"}, status=201, **KEY)
    assert seed.call("POST", "/regions/", {"code": "R"}, status=409, Idempotency_Key="order-2")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/regions/", {"code": "S"}, id="another body"),
        pytest.param("/regions/?limit=1", {"code": "R"}, id="another query"),
        pytest.param("/isps/", {"code": "R"}, id="another address"),
    ],
)
def test_the_key_of_another_request_is_refused(admin: Api, path: str, body: dict[str, str]) -> None:
    admin.call("POST", "/regions/", {"code": "R"}, status=201, **KEY)
    assert admin.call("POST", path, body, status=422, **KEY)["code"] == "idempotency_key_reused"
    assert list(Region.objects.values_list("code", flat=True)) == ["R"]


def test_each_user_has_keys_of_their_own(admin: Api, api: Callable[..., Api]) -> None:
    user_create(username="second", role="admin")
    second = Api(
        Client(
            SERVER_NAME="localhost",
            headers={"authorization": f"Bearer {token_issue(user=User.objects.get(username='second'), name='t').text}"},
        )
    )
    admin.call("POST", "/regions/", {"code": "R"}, status=201, **KEY)
    second.call("POST", "/regions/", {"code": "S"}, status=201, **KEY)
    api("admin").call("POST", "/regions/", {"code": "R"}, status=201, **KEY)  # another token of the same user
    assert Region.objects.count() == 2


def test_a_refusal_is_an_answer(admin: Api) -> None:
    admin.post("/regions/", {"code": "R"}, status=201)
    assert admin.call("POST", "/regions/", {"code": "R"}, status=409, **KEY)
    admin.call("DELETE", "/regions/R/", status=204)
    assert admin.call("POST", "/regions/", {"code": "R"}, status=409, **KEY)
    admin.call("POST", "/regions/", {"code": "R"}, status=201, Idempotency_Key="order-2")


def test_a_refusal_of_an_unknown_name_is_not_kept(admin: Api) -> None:
    """A request for an unknown region is refused. Sent again with the same key once the region exists, it succeeds."""
    body = {"code": "x", "region": "R"}
    assert admin.call("POST", "/idcs/", body, status=400, **KEY)["code"] == "unknown_region"
    assert not IdempotencyKey.objects.exists()
    admin.post("/regions/", {"code": "R"}, status=201)
    admin.call("POST", "/idcs/", body, status=201, **KEY)


def test_who_may_not_ask_leaves_no_key(portal: Api) -> None:
    portal.call("POST", "/regions/", {"code": "R"}, status=403, **KEY)
    assert not IdempotencyKey.objects.exists()


def test_what_could_not_be_answered_is_tried_again(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from idcsched.api.views.inventory import IspViewSet  # noqa: PLC0415  # beside what is done to it

    def failing(**fields: Any) -> Isp:
        isp_create(code="half")
        raise Unavailable("away", "it is away")

    monkeypatch.setattr(IspViewSet, "create_service", staticmethod(failing))
    assert admin.call("POST", "/isps/", {"code": "ct"}, status=503, **KEY)["code"] == "away"
    monkeypatch.undo()
    admin.call("POST", "/isps/", {"code": "ct"}, status=201, **KEY)
    assert list(Isp.objects.values_list("code", flat=True)) == ["ct"]


def test_a_bug_leaves_nothing_behind(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from idcsched.api.views.inventory import IspViewSet  # noqa: PLC0415  # beside what is done to it

    def broken(**fields: Any) -> Isp:
        isp_create(code="half")
        raise ZeroDivisionError

    monkeypatch.setattr(IspViewSet, "create_service", staticmethod(broken))
    admin.client.raise_request_exception = False
    assert admin.raw("POST", "/isps/", '{"code": "ct"}', **KEY).status_code == 500
    assert not Isp.objects.exists()
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "\xe4", "\t"])
def test_a_key_is_refused(admin: Api, key: str) -> None:
    found = admin.call("POST", "/regions/", {"code": "R"}, status=400, Idempotency_Key=key)
    assert found["code"] == "invalid_idempotency_key"
    assert not Region.objects.exists()


@pytest.fixture
def held(api: Callable[..., Api], monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A thread works on a request with the key until the test sets the event."""
    from idcsched.api.views.inventory import IspViewSet  # noqa: PLC0415  # beside what is done to it

    begun, go_on = threading.Event(), threading.Event()

    def slow(**fields: Any) -> Isp:
        begun.set()
        assert go_on.wait(200)
        return isp_create(**fields)

    somebody = api("admin")

    def ask() -> None:
        try:
            somebody.call("POST", "/isps/", {"code": "ct"}, status=201, **KEY)
        finally:
            connection.close()

    with monkeypatch.context() as patched, ThreadPoolExecutor(1) as pool:
        patched.setattr(IspViewSet, "create_service", staticmethod(slow))
        first = pool.submit(ask)
        assert begun.wait(100)
        patched.undo()
        try:
            yield go_on
        finally:
            go_on.set()
            first.result(100)


@pytest.mark.postgresql
def test_while_the_first_is_worked_on_the_others_are_told_to_wait(admin: Api, held: threading.Event) -> None:
    for body in ({"code": "ct"}, {"code": "cu"}):
        busy = admin.raw("POST", "/isps/", json.dumps(body), **KEY)
        assert (busy.status_code, busy.headers["Retry-After"]) == (409, "2")
        assert json.loads(busy.content)["code"] == "idempotency_key_busy"
    admin.call("POST", "/isps/", {"code": "cu"}, status=201, Idempotency_Key="order-2")


def test_whoever_asks_during_the_first_gets_one_work_and_one_answer(admin: Api, held: threading.Event) -> None:
    held.set()
    answers = [admin.raw("POST", "/isps/", '{"code": "ct"}', **KEY)]
    while answers[-1].status_code == 409:
        answers.append(admin.raw("POST", "/isps/", '{"code": "ct"}', **KEY))
    assert answers[-1].headers["Idempotent-Replayed"] == "true"
    assert Isp.objects.count() == IdempotencyKey.objects.count() == 1


def test_a_day_later_the_key_is_free(admin: Api) -> None:
    admin.call("POST", "/regions/", {"code": "R"}, status=201, **KEY)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    admin.call("POST", "/regions/", {"code": "S"}, status=201, **KEY)
    assert Region.objects.count() == 2


def test_what_is_old_is_forgotten(admin: Api) -> None:
    for number in range(5):
        admin.call("POST", "/regions/", {"code": f"R{number}"}, status=201, Idempotency_Key=f"k{number}")
    IdempotencyKey.objects.exclude(key="k4").update(created_at=timezone.now() - timedelta(hours=25))
    assert idempotency_prune(now=timezone.now(), batch=2) == 4
    assert idempotency_prune_task() == {"pruned": 0}
    assert [row.key for row in IdempotencyKey.objects.all()] == ["k4"]
    sessions_prune()


def test_a_secret_is_not_kept(admin: Api, user: Callable[[str], User]) -> None:
    document = {"user": user("portal").username, "name": "n"}
    first = admin.call("POST", "/tokens/", document, status=201, **KEY)
    again = admin.call("POST", "/tokens/", document, status=201, **KEY)
    assert first["token"]
    assert again == {**first, "token": None}
    assert first["token"].encode() not in bytes(IdempotencyKey.objects.get().body)
    assert ApiToken.objects.filter(name="n").count() == 1


def test_a_recommendation_is_answered_again(seed: Api, portal: Api) -> None:
    asked = {"region": "A", "profile": "seed-example"}
    first = portal.call("POST", "/schedule/", asked, status=200, **KEY)
    assert portal.call("POST", "/schedule/", asked, status=200, **KEY) == first


def posts(patterns: list[URLPattern | URLResolver], at: str = "") -> dict[str, Any]:
    """The views of the API that take a POST, by address."""
    found: dict[str, Any] = {}
    for pattern in patterns:
        address = at + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found |= posts(pattern.url_patterns, address)
        elif address.startswith("api/v1/"):
            view = getattr(pattern.callback, "cls", None)
            actions = getattr(pattern.callback, "actions", None)
            if view is not None and ("post" in actions if actions else hasattr(view, "post")):
                found[address] = view
    return found


def test_every_post_honours_it() -> None:
    found = posts(get_resolver().url_patterns)
    assert len(found) > 10
    anonymous = {address for address, view in found.items() if not view.authentication_classes}
    assert anonymous == {"api/v1/providers/<str:code>/outcomes/"}, "keys belong to users"
    assert [address for address in found.keys() - anonymous if not issubclass(found[address], Idempotent)] == []


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_of_many_at_once_one_works() -> None:
    text = token_issue(user=user_create(username="root", role="admin"), name="t").text
    at_once = settings.WEB_THREADS - LEFT_FREE  # more of them are refused as busy where each takes long
    barrier = threading.Barrier(at_once)

    def ask(number: int) -> tuple[int, bytes]:
        try:
            barrier.wait()
            answered = Api(Client(SERVER_NAME="localhost", headers={"authorization": f"Bearer {text}"})).raw(
                "POST", "/regions/", '{"code": "R"}', **KEY
            )
            return answered.status_code, answered.content
        finally:
            connection.close()

    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(ask, range(at_once)))
    assert Region.objects.count() == 1
    assert {status for status, _ in answers} <= {201, 409}
    assert len({content for status, content in answers if status == 201}) == 1
    assert all(b"idempotency_key_busy" in content for status, content in answers if status == 409)
