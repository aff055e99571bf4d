"""Threads that decide take turns; who waits for something else has none, and nobody waits for ever."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from pytest_django.fixtures import Settings

from idcsched.accounts.roles import Principal, Role
from idcsched.framework.request import Request
from idcsched.framework.spreading import solve
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling import schedule as scheduling
from idcsched.scheduling import turns
from idcsched.scheduling.live import live
from idcsched.scheduling.services import profile_create
from idcsched.scheduling.turns import Turn
from tests.outbound.peers import Exchange, json_reply, loopback_allowed, peer

SOMEBODY = Principal(user_id=1, username="tester", role=Role.ADMIN, all_tenants=True)

THREADS = 4


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits waits longer than a test may take."""
    monkeypatch.setattr(turns, "PATIENCE", 60.0)


def together(what: Callable[[], None]) -> None:
    threads = [threading.Thread(target=what) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)


@pytest.fixture
def most() -> Iterator[Callable[[], None]]:
    """Something to be done within a turn; in the end it has never been done by two threads at once."""
    inside: list[int] = []
    seen: set[int] = set()

    def once() -> None:
        inside.append(1)
        seen.add(len(inside))
        time.sleep(0.002)  # as NumPy does, it lets the interpreter's lock go
        inside.pop()

    yield once
    assert seen == {1}


@pytest.mark.usefixtures("patient")
def test_it_works(most: Callable[[], None]) -> None:
    def compute() -> None:
        for _ in range(10):
            with Turn():
                most()

    together(compute)


@pytest.mark.usefixtures("patient")
def test_one_that_fails_gives_its_turn_on() -> None:
    with pytest.raises(ZeroDivisionError), Turn():
        raise ZeroDivisionError
    with Turn():
        pass  # for ever, if it had been kept


def test_one_that_takes_long_keeps_nobody_waiting() -> None:
    begun, enough = threading.Event(), threading.Event()

    def dawdle() -> None:
        with Turn():
            begun.set()
            enough.wait(30)

    slow = threading.Thread(target=dawdle)
    slow.start()
    assert begun.wait(10)
    for _ in range(3):  # each leaves the other its turn
        with Turn():
            assert not enough.is_set()
    assert slow.is_alive()
    enough.set()
    slow.join(10)


@pytest.mark.usefixtures("db")
@pytest.mark.usefixtures("patient")
def test_who_decides_has_a_turn(monkeypatch: pytest.MonkeyPatch, most: Callable[[], None]) -> None:
    region_create(code="A")
    profile_create(code="p", body={"plugins": []})
    picture = live.current()

    def noted(*args: object, **kwargs: object) -> object:
        most()
        return solve(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("idcsched.scheduling.schedule.solve", noted)

    def make_some() -> None:
        for _ in range(5):
            scheduling.make(
                request=Request(region="A", profile="p"),
                tenant=None,
                actor="tester",
                http_request_id="http-1",
                picture=picture,
            )

    together(make_some)


@pytest.mark.usefixtures("db")
@pytest.mark.usefixtures("patient")
def test_who_waits_for_an_extender_has_none(settings: Settings) -> None:
    region_create(code="A")
    idc_create(code="a", region="A", lines=[])

    def others_first(exchange: Exchange) -> None:
        with Turn():  # for ever, if whoever asks had one
            json_reply({"scores": {}})(exchange)

    with loopback_allowed(settings), peer(others_first) as server:
        profile_create(
            code="asking",
            body={"plugins": [{"name": "judge", "plugin": "extender", "weight": 1, "args": {"url": server.url}}]},
        )
        answer = scheduling.schedule(
            request=Request(region="A", profile="asking"), principal=SOMEBODY, http_request_id="http-1"
        )
    assert (len(server.calls), answer.plugin_errors) == (1, ())


@pytest.mark.usefixtures("db")
@pytest.mark.usefixtures("patient")
def test_who_explains_everything_takes_none() -> None:
    region_create(code="A")
    profile_create(code="p", body={"plugins": []})
    asked = Request(region="A", profile="p", explain="full")
    with Turn():  # for ever, if it waited for this one
        made = scheduling.make(request=asked, tenant=None, actor="tester", http_request_id="http-1")
    assert made.scheduled.profile.code == "p"
