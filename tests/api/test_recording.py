"""Decisions are recorded behind the answers: all of them, and nobody waits but who asks for one."""

import threading
from collections.abc import Callable, Iterator
from time import sleep
from typing import Any

import pytest
from django.db import connection, transaction
from msgspec.structs import replace

from idcsched.api import idempotency
from idcsched.api.views import decisions
from idcsched.background import Background
from idcsched.placement import committing
from idcsched.scheduling import callers, schedule
from idcsched.scheduling import recorder as recording
from idcsched.scheduling.live import Live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import Recorder
from idcsched.scheduling.records import DecisionRecord
from tests.api.conftest import Api
from tests.e2e.installation import wait_for

# Threads and an in-memory SQLite database do not go together; `tests/e2e` shows the same with files.
pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

ASKED = {"region": "A", "profile": "seed-example"}


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """This process's, with a thread, and room for ten of these answers."""
    found = Recorder(room=40)
    found.start()
    for module in (schedule, decisions):
        monkeypatch.setattr(module, "recorder", found)
    yield found
    found.stop()


@pytest.fixture
def following(seed: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """The live picture as a web process keeps it."""
    found = Live()
    found.follow()
    for module in (schedule, callers):
        monkeypatch.setattr(module, "live", found)
    found.current()
    yield found
    found.stop()


def soon(condition: Callable[[], Any]) -> None:
    wait_for(condition, "the recorder", seconds=10)


def orders() -> list[str]:
    return list(Decision.objects.order_by("id").values_list("request_id", flat=True))


def test_it_works(seed: Api, portal: Api, recorder: Recorder) -> None:
    answer = portal.schedule(**ASKED, explain="full")

    recorded = portal.get(f"/decisions/{answer['decision_id']}/")

    assert recorded["candidates"] == answer["candidates"]
    assert recorded["commit_token"] is None
    assert recorded["tenant"] == "live-cn"
    assert portal.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)["identical"] is True


def test_a_recommendation_asks_the_database_nothing(
    seed: Api, recorder: Recorder, following: Live, portal: Api, django_assert_num_queries: Callable[[int], Any]
) -> None:
    portal.schedule(**ASKED)  # notes that the token is in use
    with django_assert_num_queries(0):
        for explain in ("none", "summary", "full"):
            portal.schedule(**ASKED, explain=explain)


def test_a_refusal_asks_the_database_nothing(
    seed: Api, recorder: Recorder, following: Live, portal: Api, django_assert_num_queries: Callable[[int], Any]
) -> None:
    portal.schedule(**ASKED)
    with django_assert_num_queries(0):
        portal.refused("POST", "/schedule/", {"region": "nowhere"}, status=400)
        portal.refused("POST", "/schedule/", {"region": "A", "regoin": "A"}, status=400)


def test_all_are_recorded_in_the_order_of_the_answers(seed: Api, portal: Api, recorder: Recorder) -> None:
    asked = [f"order-{n}" for n in range(30)]
    for request_id in asked:
        soon(lambda: recorder.waiting < 5)
        portal.schedule(**ASKED, request_id=request_id)
    soon(lambda: orders() == asked)
    assert recorder.dropped == 0


def test_the_list_has_what_this_process_has_answered(seed: Api, portal: Api, recorder: Recorder) -> None:
    portal.schedule(**ASKED, request_id="order-1")
    assert [found["request_id"] for found in portal.get("/decisions/")["results"]] == ["order-1"]


def test_an_order_with_a_key_waits_for_records_before_its_transaction_and_not_inside(
    seed: Api, portal: Api, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside it would wait for the recorder's thread, which on SQLite waits for the transaction."""
    flushed_inside: list[bool] = []
    flush = recorder.flush

    def noted() -> None:
        flushed_inside.append(connection.in_atomic_block)
        flush()

    recorder.stop()  # nobody else writes
    monkeypatch.setattr(Background, "running", True)  # so that who hands in does not write either
    monkeypatch.setattr(recorder, "flush", noted)
    for module in (idempotency, committing):
        monkeypatch.setattr(module, "recorder", recorder)
    token = portal.schedule(**ASKED)["commit_token"]
    portal.schedule(**ASKED)
    assert recorder.waiting == 2
    portal.post("/placements/", {"commit_token": token}, idempotency_key="once", status=201)
    assert flushed_inside == [False]
    with transaction.atomic():
        portal.schedule(**ASKED)
        recorder.settle()
    assert recorder.waiting == 1


def test_one_that_another_process_is_about_to_record_is_waited_for(
    seed: Api, portal: Api, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
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
    made_up: str, seed: Api, portal: Api, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN", -1.0)  # whoever sleeps so long raises
    assert portal.refused("GET", f"/decisions/{made_up}/", status=404)[0] == "not_found"


def test_a_database_that_hangs_makes_nobody_wait_and_what_finds_no_room_is_counted(
    seed: Api, portal: Api, recorder: Recorder
) -> None:
    with recorder._writing:  # as if a batch never came to an end
        for _ in range(20):
            portal.schedule(**ASKED)
        waiting = recorder.waiting
        assert waiting + recorder.dropped == 20
        assert 0 < waiting < 20
    soon(lambda: Decision.objects.count() == waiting)


def test_a_database_that_is_away_gets_them_once_it_is_back(
    seed: Api, portal: Api, recorder: Recorder, following: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal.schedule(**ASKED, request_id="before")
    soon(lambda: orders() == ["before"])
    with monkeypatch.context() as outage:
        outage.setitem(connection.settings_dict, "PORT", "1")
        connection.close()
        recorder._thread.stop()  # and with it its connection
        recorder.start()
        portal.schedule(**ASKED, request_id="meanwhile")
        soon(lambda: recorder._thread._failing)
        soon(lambda: recorder.waiting == 1)
    soon(lambda: orders() == ["before", "meanwhile"])
    assert recorder.dropped == 0


def test_one_that_cannot_be_recorded_keeps_no_other_back(seed: Api, portal: Api, recorder: Recorder) -> None:
    with recorder._writing:
        for n in range(3):
            portal.schedule(**ASKED, request_id=f"order-{n}")
        recorder._queue[1] = replace(recorder._queue[1], actor="\0")  # PostgreSQL takes it in no text
    soon(lambda: orders() == ["order-0", "order-2"])
    assert recorder.dropped == 1


def test_what_was_handed_in_is_recorded_before_it_stops(seed: Api, portal: Api, recorder: Recorder) -> None:
    for n in range(5):
        portal.schedule(**ASKED, request_id=f"order-{n}")
    recorder.stop()
    assert len(orders()) == 5
    portal.schedule(**ASKED, request_id="afterwards")
    assert orders()[-1] == "afterwards", "without a thread it is recorded at once"
