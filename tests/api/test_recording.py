"""Decisions are recorded after they were answered, and only a request for a record waits for that."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import sleep
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from msgspec.structs import replace

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, tenant_delete
from idcsched.jobs.background import Background
from idcsched.scheduling import recorder as recording
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import Recorder, recorder
from idcsched.scheduling.records import DecisionRecord
from tests.api.conftest import Api
from tests.database import somebody_waits_for_a_lock
from tests.e2e.installation import wait_for

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

ASKED = {"region": "A", "profile": "seed-example"}


@pytest.fixture(autouse=True)
def room(db: None) -> Iterator[None]:
    """The process's recorder has room for ten of these answers, and has dropped none yet."""
    before = recorder._room, recorder.dropped
    recorder._room, recorder.dropped = 40, 0
    yield
    recorder.flush()
    recorder._room, recorder.dropped = before


@pytest.fixture
def following(seed: Api) -> Iterator[None]:
    """Keep the live picture up to date as a web process does."""
    live.follow()
    live.current()
    yield
    live.stop()


def soon(condition: Callable[[], Any]) -> None:
    wait_for(condition, "the recorder", seconds=100)


def orders() -> list[str]:
    return list(Decision.objects.order_by("id").values_list("request_id", flat=True))


def test_it_works(seed: Api, portal: Api) -> None:
    answer = portal.schedule(**ASKED, explain="full")

    recorded = portal.get(f"/decisions/{answer['decision_id']}/")

    assert recorded["candidates"] == answer["candidates"]
    assert recorded["commit_token"] is None
    assert recorded["tenant"] == "live-cn"
    assert portal.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)["identical"] is True


def test_a_recommendation_asks_the_database_nothing(
    seed: Api, following: None, portal: Api, django_assert_num_queries: Callable[[int], Any]
) -> None:
    portal.schedule(**ASKED)  # notes that the token is in use
    with django_assert_num_queries(0):
        for explain in ("none", "summary", "full"):
            portal.schedule(**ASKED, explain=explain)


def test_a_refusal_asks_the_database_nothing_but_for_a_name(
    seed: Api, following: None, portal: Api, django_assert_num_queries: Callable[[int], Any]
) -> None:
    """A refusal takes no query, or one for a name that the process does not know, since the feed may have it."""
    portal.schedule(**ASKED)
    with django_assert_num_queries(0):
        portal.refused("POST", "/schedule/", {"region": "A", "regoin": "A"}, status=400)
    with django_assert_num_queries(1):
        portal.refused("POST", "/schedule/", {"region": "nowhere"}, status=400)


def test_all_are_recorded_in_the_order_of_the_answers(seed: Api, portal: Api) -> None:
    asked = [f"order-{n}" for n in range(30)]
    for request_id in asked:
        soon(lambda: recorder.waiting < 5)
        portal.schedule(**ASKED, request_id=request_id)
    soon(lambda: orders() == asked)
    assert recorder.dropped == 0


def test_the_list_has_what_this_process_has_answered(seed: Api, portal: Api) -> None:
    portal.schedule(**ASKED, request_id="order-1")
    assert [found["request_id"] for found in portal.get("/decisions/")["results"]] == ["order-1"]


def test_a_replay_with_a_key_waits_for_its_record_before_its_transaction(
    seed: Api, portal: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside the transaction it would wait for the recorder's thread, which on SQLite waits for that transaction."""
    flushed_inside: list[bool] = []
    flush = recorder.flush

    def noted() -> None:
        flushed_inside.append(connection.in_atomic_block)
        flush()

    monkeypatch.setattr(Background, "running", True)  # so that no thread writes
    monkeypatch.setattr(recorder, "flush", noted)
    decision = portal.schedule(**ASKED)["decision_id"]
    portal.post(f"/decisions/{decision}/replay/", {}, idempotency_key="once", status=200)
    assert flushed_inside == [False]


def test_one_that_another_process_is_about_to_record_is_waited_for(
    seed: Api, portal: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[DecisionRecord] = []
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(recorder, "hand_in", held.append)
        answer = portal.schedule(**ASKED)
    monkeypatch.setattr(recording, "AWAITED_FOR", 60.0)  # the machine may have other things to do

    def elsewhere() -> None:
        sleep(0.5)
        Recorder().hand_in(held[0])
        connection.close()

    other = threading.Thread(target=elsewhere)
    other.start()
    assert portal.get(f"/decisions/{answer['decision_id']}/")["decision_id"] == answer["decision_id"]
    other.join()


@pytest.mark.parametrize(
    "made_up",
    [
        pytest.param("00000000-0000-7000-8000-000000000000", id="long ago"),
        pytest.param("ffffffff-ffff-7fff-bfff-ffffffffffff", id="in the year 10889"),
    ],
)
def test_one_that_is_not_young_is_not_waited_for(
    made_up: str, seed: Api, portal: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN", -1.0)  # whoever sleeps so long raises
    assert portal.refused("GET", f"/decisions/{made_up}/", status=404)[0] == "not_found"


def test_a_database_that_hangs_makes_nobody_wait_and_what_finds_no_room_is_counted(seed: Api, portal: Api) -> None:
    with recorder._writing:  # as if a batch never came to an end
        for _ in range(20):
            portal.schedule(**ASKED)
        waiting = recorder.waiting
        assert waiting + recorder.dropped == 20
        assert 0 < waiting < 20
    soon(lambda: Decision.objects.count() == waiting)


@pytest.mark.postgresql
def test_a_database_that_is_away_gets_them_once_it_is_back(
    seed: Api, portal: Api, following: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal.schedule(**ASKED, request_id="before")
    soon(lambda: orders() == ["before"])
    with monkeypatch.context() as outage:
        outage.setitem(connection.settings_dict, "PORT", "1")
        connection.close()
        recorder.stop()  # and with it its connection
        portal.schedule(**ASKED, request_id="meanwhile")
        soon(lambda: recorder._thread._failing)
        soon(lambda: recorder.waiting == 1)
    soon(lambda: orders() == ["before", "meanwhile"])
    assert recorder.dropped == 0


@pytest.mark.postgresql
def test_one_that_cannot_be_recorded_keeps_no_other_back(seed: Api, portal: Api) -> None:
    with recorder._writing:
        for n in range(3):
            portal.schedule(**ASKED, request_id=f"order-{n}")
        recorder._queue[1] = replace(recorder._queue[1], actor="\0")  # PostgreSQL takes it in no text
    soon(lambda: orders() == ["order-0", "order-2"])
    assert recorder.dropped == 1


def test_what_was_handed_in_is_recorded_before_it_stops(seed: Api, portal: Api) -> None:
    for n in range(5):
        portal.schedule(**ASKED, request_id=f"order-{n}")
    recorder.stop()
    soon(lambda: len(orders()) == 5)


def test_the_last_round_is_made_again_where_it_fails() -> None:
    """The last round may find its connection cut off, so it is made a second time."""
    made: list[int] = []

    def last() -> None:
        made.append(len(made))
        if len(made) == 1:
            raise OperationalError("server closed the connection unexpectedly")

    thread = Background("a test", lambda: None, seconds=1000, last=last)
    thread.start()
    thread.stop(seconds=100)
    assert made == [0, 1]


@pytest.fixture
def shop(seed: Api) -> Tenant:
    return tenant_create(code="shop")


def kept_for_the_shop(api: Api, decision: str) -> None:
    """Assert that the decision is on record with its tenant `shop`, and that it replays identically."""
    assert api.get(f"/decisions/{decision}/")["tenant"] == "shop"
    assert api.post(f"/decisions/{decision}/replay/", {}, status=200)["identical"] is True
    assert recorder.dropped == 0


@pytest.mark.parametrize("recorded", [pytest.param(True, id="on record"), pytest.param(False, id="on its way there")])
def test_the_tenant_is_deleted_and_the_record_stands(recorded: bool, seed: Api, shop: Tenant) -> None:
    with recorder._writing:
        decision = seed.schedule(**ASKED, tenant="shop")["decision_id"]
        if not recorded:
            seed.call("DELETE", "/tenants/shop/", status=204)
    recorder.flush()
    if recorded:
        seed.call("DELETE", "/tenants/shop/", status=204)
    kept_for_the_shop(seed, decision)


@pytest.mark.postgresql
def test_the_tenant_is_deleted_while_the_record_is_written(seed: Api, shop: Tenant) -> None:
    with ExitStack() as deletion:
        with recorder._writing:
            decision = seed.schedule(**ASKED, tenant="shop")["decision_id"]
            deletion.enter_context(transaction.atomic())
            tenant_delete(tenant=shop)
        soon(somebody_waits_for_a_lock)
    kept_for_the_shop(seed, decision)
