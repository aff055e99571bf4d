"""Only so many threads of a process may call the database or another server at once; two stay free for requests that
call neither.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from idcsched.db import places
from idcsched.db.places import LEFT_FREE, place
from idcsched.framework.errors import Unavailable
from idcsched.scheduling.live import live
from tests.api.conftest import Api

ASKED = '{"region": "A", "profile": "seed-example"}'


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each test with all places free, and with no request that has waited in vain."""
    monkeypatch.setattr(places, "_places", places._Places(settings.WEB_THREADS - LEFT_FREE))
    monkeypatch.setattr(places, "PATIENCE", 0.1)


@contextmanager
def all_taken() -> Iterator[None]:
    """Other threads hold every place."""
    over, holding = threading.Event(), threading.Barrier(settings.WEB_THREADS - LEFT_FREE + 1)

    def hold() -> None:
        with place():
            holding.wait(100)
            over.wait(600)

    with ThreadPoolExecutor(settings.WEB_THREADS) as pool:
        held = [pool.submit(hold) for _ in range(settings.WEB_THREADS - LEFT_FREE)]
        try:
            holding.wait(100)
            yield
        finally:
            over.set()
            for each in held:
                each.result()


def test_it_works() -> None:
    with all_taken(), pytest.raises(Unavailable, match="as many requests"), place():
        pass
    with place():
        pass


def test_who_holds_a_place_needs_no_other() -> None:
    with place(), place(), place():
        assert places._here.holds_place
    assert not places._here.holds_place


def test_a_place_that_becomes_free_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 200)
    with all_taken(), ThreadPoolExecutor(1) as pool:

        def take() -> bool:
            with place():
                return True

        waiting = pool.submit(take)
        sleep(0.1)
        assert not waiting.done()
        places._places.give_back()  # as if one had come to its end
        assert waiting.result(100)
        places._places._free.acquire()


def test_after_one_has_waited_in_vain_others_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "REFUSING_FOR", 200)
    with all_taken():
        with pytest.raises(Unavailable), place():
            pass
        monkeypatch.setattr(places, "PATIENCE", 200)
        began = monotonic()
        with pytest.raises(Unavailable), place():
            pass
        assert monotonic() - began < 100


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/isps/", ""), ("POST", "/regions/", '{"code": "R"}'), ("POST", "/schedule/batch/", "{}")],
)
def test_who_finds_none_is_told_when_to_come_again(method: str, path: str, body: str, seed: Api) -> None:
    with all_taken():
        refused: Any = seed.raw(method, path, body)
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (503, "busy", "5")
    assert refused["X-Request-ID"]


def test_an_order_and_a_key_need_a_place(seed: Api) -> None:
    with all_taken():
        ordered: Any = seed.raw("POST", "/schedule/", '{"region": "A", "action": "reserve"}')
        again: Any = seed.raw("POST", "/schedule/", ASKED, Idempotency_Key="k")
    assert [ordered.json()["code"], again.json()["code"]] == ["busy", "busy"]


def test_what_asks_nobody_needs_none(seed: Api) -> None:
    with all_taken():
        assert seed.raw("POST", "/schedule/", ASKED).status_code == 200
        assert Client(SERVER_NAME="localhost").get("/health/live/").status_code == 200


@pytest.mark.parametrize(
    ("lag_allowed", "status", "database"), [(200, 200, "ok"), (-1, 503, "lagging")], ids=["in time", "lagging"]
)
def test_whether_it_is_ready_is_told_by_what_is_known(
    seed: Api, monkeypatch: pytest.MonkeyPatch, lag_allowed: float, status: int, database: str
) -> None:
    monkeypatch.setattr("idcsched.scheduling.live.LAGGING_AFTER", lag_allowed)
    live.catch_up()
    with all_taken():
        ready = Client(SERVER_NAME="localhost").get("/health/ready/")
    assert (ready.status_code, ready.json()["database"], ready.json()["broker"]) == (status, database, "not asked")


@pytest.mark.usefixtures("db")
def test_metrics_say_that_all_are_taken() -> None:
    with all_taken():
        answer = Client(SERVER_NAME="localhost").get("/metrics")
    assert answer.status_code == 200
    told = {f"idcsched_places_taken {settings.WEB_THREADS - LEFT_FREE}.0", "idcsched_database_up 0.0"}
    assert told <= {*answer.content.decode().splitlines()}


@pytest.mark.usefixtures("db")
def test_a_browser_is_shown_a_page() -> None:
    with all_taken():
        refused = Client(SERVER_NAME="localhost").get("/admin/login/", headers={"accept": "text/html"})
    assert refused.status_code == 503
    assert "Not available now" in refused.content.decode()
