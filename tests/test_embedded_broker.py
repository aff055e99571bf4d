"""The broker that needs no server: nothing is lost or doubled between processes that share its folder."""

import multiprocessing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection, Exchange, Queue

import idcsched.celery  # noqa: F401 - names the transport

ORDERS = Queue("orders", Exchange("orders"), routing_key="orders")


def connection(folder: Path) -> Connection:
    return Connection("embedded://localhost", transport_options={"folder": str(folder), "polling_interval": 0.01})


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Connection]:
    with connection(tmp_path / "broker") as opened:
        yield opened


def test_it_works(broker: Connection) -> None:
    queue = broker.SimpleQueue(ORDERS)
    for number in range(3):
        queue.put({"number": number})
    assert queue.qsize() == 3
    assert [queue.get(timeout=120).payload["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        queue.get(block=False)


def test_what_is_not_acknowledged_comes_again(tmp_path: Path) -> None:
    with connection(tmp_path) as first:
        queue = first.SimpleQueue(ORDERS)
        queue.put("kept")
        assert queue.get(timeout=120).payload == "kept"
        queue.close()
    with connection(tmp_path) as second:
        assert second.SimpleQueue(ORDERS).get(timeout=120).payload == "kept"


def test_one_queue_never_gets_anothers_messages(broker: Connection) -> None:
    broker.SimpleQueue("a").put("for a")
    with pytest.raises(Empty):
        broker.SimpleQueue("b").get(block=False)


def _send(folder: Path, sender: int, count: int) -> None:
    with connection(folder) as opened:
        queue = opened.SimpleQueue(ORDERS)
        for number in range(count):
            queue.put([sender, number])


def _receive(folder: Path, sent: Any, found: "multiprocessing.Queue[list[list[int]]]") -> None:
    """Take what comes until all is sent and nothing is left."""
    taken, over = [], False
    with connection(folder) as opened:
        queue = opened.SimpleQueue(ORDERS)
        while not over:
            over = sent.is_set()
            with suppress(Empty):
                while True:
                    message = queue.get(timeout=1)
                    taken.append(message.payload)
                    message.ack()
    found.put(taken)


def test_processes_that_send_and_receive_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    found, sent = context.Queue(), context.Event()
    senders = [context.Process(target=_send, args=(tmp_path, number, 100)) for number in range(3)]
    receivers = [context.Process(target=_receive, args=(tmp_path, sent, found)) for _ in range(2)]
    for process in (*senders, *receivers):
        process.start()
    for process in senders:
        process.join(timeout=200)
    sent.set()
    received = [tuple(item) for _ in receivers for item in found.get(timeout=200)]
    for process in receivers:
        process.join(timeout=60)
    assert sorted(received) == [(sender, number) for sender in range(3) for number in range(100)]
    assert not list((tmp_path / "messages").iterdir())
    assert not list((tmp_path / "drafts").iterdir())
