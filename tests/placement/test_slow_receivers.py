"""A receiver of callbacks that is slow delays its own alone: few workers are at one host at a time."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.celery import app
from idcsched.placement import delivering
from idcsched.placement.delivering import AT_A_TIME, callbacks_announce, placement_deliver
from idcsched.placement.models import Delivery, Placement
from tests.e2e.installation import wait_for
from tests.outbound.peers import Exchange, Peer
from tests.placement.receiving import FINE, receiver

SMALL = [{"count": 1, "cpu": 1}]


@pytest.fixture
def answered() -> Event:
    """An event: once it is set, the slow receiver answers."""
    return Event()


@pytest.fixture
def slow(answered: Event) -> Iterator[Peer]:
    def behave(exchange: Exchange) -> None:
        while not answered.is_set() and exchange.wait(0.02):
            pass
        FINE(exchange)

    with receiver(behave) as server:
        yield server
        answered.set()


@pytest.fixture
def told(fleet: None, slow: Peer, order: Callable[..., Placement]) -> list[Placement]:
    """Placements with callbacks to the slow receiver, three more than may be sent at a time."""
    tenant_update(tenant=Tenant.objects.get(), changes={"callback_hosts": ["127.0.0.1", "localhost"]})
    return [order(callback_url=slow.url, machines=SMALL) for _ in range(AT_A_TIME + 3)]


@pytest.fixture
def elsewhere(told: list[Placement], order: Callable[..., Placement]) -> Iterator[Placement]:
    """A placement of a receiver at another host, ordered after them."""
    with receiver() as server:
        yield order(callback_url=server.url.replace("127.0.0.1", "localhost"), machines=SMALL)


@pytest.fixture
def workers() -> Iterator[Callable[[Placement], Future[int]]]:
    def work(placement_id: UUID) -> int:
        try:
            return placement_deliver(placement_id=placement_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_A_TIME + 3) as pool:
        yield lambda placement: pool.submit(work, placement.pk)


@pytest.mark.both
def test_it_works(
    told: list[Placement],
    elsewhere: Placement,
    slow: Peer,
    answered: Event,
    workers: Callable[[Placement], Future[int]],
) -> None:
    at_it = [workers(placement) for placement in told[:AT_A_TIME]]
    try:
        wait_for(lambda: len(slow.calls) == AT_A_TIME, "the slow receiver to be told", seconds=100)
        assert [workers(placement).result(100) for placement in told[AT_A_TIME:]] == [0, 0, 0], "nobody waits for it"
        assert workers(elsewhere).result(100) == 1
        assert len(slow.calls) == AT_A_TIME
    finally:
        answered.set()
    assert sum(future.result(100) for future in at_it) == len(told), "who is there goes on with the rest"
    assert set(Delivery.objects.values_list("state", "tries")) == {("delivered", 1)}


def test_the_sweep_announces_no_more_of_a_host(told: list[Placement], elsewhere: Placement) -> None:
    assert callbacks_announce(now=timezone.now()) == AT_A_TIME + 1


def test_other_hosts_get_their_turn(told: list[Placement], answered: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has been at one host for long puts the rest at the end of the queue."""
    announced: list[UUID] = []
    monkeypatch.setattr(delivering, "announce_now", announced.append)
    monkeypatch.setattr(delivering, "TURN", timedelta())
    assert placement_deliver(placement_id=told[0].pk) == 0
    assert announced == [told[0].pk]


@pytest.mark.parametrize(("task", "queue"), [("placement_deliver", "deliver"), ("waiting_try", "idcsched")])
def test_what_wakes_waiting_orders_is_in_another_queue(task: str, queue: str) -> None:
    assert app.amqp.router.route({}, f"idcsched.placement.tasks.{task}")["queue"].name == queue
