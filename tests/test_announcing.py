"""Tasks are announced to the workers by a thread: nobody waits for the broker, whatever it does."""

import json
import socket
from collections.abc import Iterator

import pytest
from celery import current_app
from redis import Redis
from structlog.contextvars import bound_contextvars

from idcsched.jobs import announcing
from idcsched.jobs.announcing import Announcer, announce, announcer
from tests.e2e.installation import wait_for
from tests.outbound.peers import closed_port

TASK = "idcsched.provisioning.tasks.machine_tend"
BROKERS = ("hangs", "is away", "refuses")


@pytest.fixture
def queue(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """A broker of this test's own; tasks that were announced before do not reach it."""
    announcer.flush()
    with Redis.from_url(redis_url) as client:
        monkeypatch.setitem(current_app.conf, "broker_write_url", redis_url)
        yield client
        announcer.flush()


@pytest.fixture
def broken(how: str, request: pytest.FixtureRequest, queue: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A broker that hangs, is away or refuses, as `how` says, until the end of the test."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the system takes connections, and nobody reads from them
        ports = {"hangs": silent.getsockname()[1], "is away": closed_port()}
        url = request.getfixturevalue("full_redis") if how == "refuses" else f"redis://127.0.0.1:{ports[how]}/0"
        monkeypatch.setitem(current_app.conf, "broker_write_url", url)
        yield


def test_it_works(queue: Redis) -> None:
    with bound_contextvars(request_id="order-1"):
        announce(TASK, "m-1", expires=20)
        announce(TASK, "m-2")
    wait_for(lambda: queue.llen("provide") == 2, "the messages", seconds=100)
    last, first = (json.loads(message) for message in queue.lrange("provide", 0, -1))
    assert (first["headers"]["task"], first["headers"]["argsrepr"]) == (TASK, "('m-1',)")
    assert {first["headers"]["request_id"], last["headers"]["request_id"]} == {"order-1"}
    assert first["headers"]["expires"]
    assert last["headers"]["expires"] is None


@pytest.mark.parametrize("how", BROKERS)
def test_what_the_broker_does_not_take_is_left_to_the_sweeps(
    how: str,
    broken: None,
    queue: Redis,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = Announcer()
    monkeypatch.setattr(own._thread, "start", lambda: None)
    monkeypatch.setattr(announcing, "announcer", own)
    for _ in range(3):
        announce(TASK, "m-1")
    own.flush()
    assert own.waiting == 0
    assert "3 are left to the sweeps" in caplog.text

    monkeypatch.setitem(current_app.conf, "broker_write_url", redis_url)
    announce(TASK, "m-2")
    own.flush()
    assert queue.llen("provide") == 1


@pytest.mark.parametrize("how", ["hangs"])
def test_nobody_waits_for_a_broker_that_hangs(broken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a timeout of ten minutes, any waiting for the broker would keep the test from ending."""
    monkeypatch.setitem(announcing.BROKER_WITHIN, "socket_timeout", 600)
    for _ in range(20):
        announce(TASK, "m-1")
    assert announcer._thread.running


def test_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Announcer()
    monkeypatch.setattr(own._thread, "start", lambda: None)
    monkeypatch.setattr(announcing, "announcer", own)
    for number in range(announcing.MOST + 1):
        announce(TASK, number)
    assert own.waiting == announcing.MOST
    assert own._queue[0].arguments == (1,)
