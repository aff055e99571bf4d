"""Orders of many threads at once: each gets its own place, or its own refusal, and none gets what is not there."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.framework.errors import Conflict
from idcsched.ledger.models import Claim, Holding
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Placement
from idcsched.placement.ordering import placement_order
from idcsched.placement.transitions import placement_release
from idcsched.placement.waiting import waiting_try
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision, Picture
from idcsched.scheduling.replay import replay
from tests.placement.conftest import PORTAL, asked

SMALL = [{"bandwidth_mbps": 10}]
CLIENTS = 8


@pytest.fixture
def following(fleet: None) -> Iterator[None]:
    """A live picture that follows the feed, as in a web process."""
    live.follow()
    live.current()
    yield
    live.stop()


def order(number: int, **fields: Any) -> Placement | str:
    try:
        return placement_order(
            request=asked(**{"machines": SMALL, "request_id": str(number), **fields}),
            principal=PORTAL,
            http_request_id=str(number),
        )
    except Conflict as conflict:
        return conflict.code


def where(outcome: Placement | str) -> str:
    return outcome if isinstance(outcome, str) or outcome.idc is None else outcome.idc.code


def all_at_once(orders: list[Callable[[], Placement | str]]) -> list[Placement | str]:
    start = Barrier(len(orders))

    def done(one: Callable[[], Placement | str]) -> Placement | str:
        try:
            start.wait()
            return one()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(orders)) as pool:
        return list(pool.map(done, orders))


@pytest.mark.both
def test_it_works(following: None) -> None:
    placements = all_at_once([partial(order, number) for number in range(CLIENTS)])

    assert {getattr(placement, "pk", placement) for placement in placements} == set(
        Placement.objects.values_list("pk", flat=True)
    )
    assert sorted(placement.request_id for placement in placements) == [str(number) for number in range(CLIENTS)]
    assert Event.objects.count() == CLIENTS
    assert {(row.pk, row.placement) for row in Decision.objects.all()} == {
        (placement.decision_id, placement.pk) for placement in placements
    }
    assert ledger_differences() == []
    taken = sum(Holding.objects.filter(resource="bandwidth_mbps").values_list("taken", flat=True))
    assert taken == live.current().snapshot.lines.pending.sum() == 10 * CLIENTS


@pytest.mark.postgresql
def test_an_order_is_a_look_at_the_feed_and_one_transaction(
    following: None, django_assert_num_queries: Callable[..., Any]
) -> None:
    """One query looks at the feed. BEGIN and COMMIT enclose eight statements: for the decision, its IDCs, placement,
    event, feed, headcount, bandwidth and claim.
    """
    order(1)
    live.stop()  # nobody else looks at the feed
    with django_assert_num_queries(11):
        assert isinstance(order(2), Placement)
    with django_assert_num_queries(11):
        assert isinstance(order(3), Placement), "and sees what the one before it took, unread"
    assert live.current().snapshot.lines.pending.sum() == 30


def test_what_orders_saw_is_kept_once_and_each_decision_can_be_made_again(following: None) -> None:
    live.stop()  # nobody else looks at the feed
    for number in range(8):
        order(number, explain="full")

    decisions = list(Decision.objects.order_by("pk"))
    assert len({(decision.picture_id, decision.history_id) for decision in decisions}) == 1
    assert Picture.objects.count() == 2, "one of what they saw, one of the lines' history"
    assert [replay(decision=decision).identical for decision in decisions] == [True] * 8
    rooms = [decision.answer["candidates"][0]["scores"]["network_flow"]["raw"] for decision in decisions]
    assert rooms == sorted(rooms, reverse=True), "each saw what the ones before it took"
    assert len(set(rooms)) == 8


def emptied() -> None:
    Decision.objects.all().delete()
    Picture.objects.all().delete()


def test_a_database_that_was_emptied_is_given_what_they_saw_again(following: None) -> None:
    order(1)
    emptied()
    assert isinstance(order(2), Placement)
    made = Decision.objects.get()
    assert {made.picture_id, made.history_id} == set(Picture.objects.values_list("pk", flat=True))


def test_also_by_an_order_that_waits_and_is_placed_later(following: None) -> None:
    all_of_a = {"only": ["a"], "region": None, "machines": [{"bandwidth_mbps": 900}]}
    first = order(1, **all_of_a)
    assert isinstance(first, Placement)
    emptied()
    waiting = order(2, **all_of_a, wait_seconds=600)
    assert isinstance(waiting, Placement)
    assert waiting.state == "waiting"
    emptied()
    placement_release(placement=first)
    assert waiting_try(now=timezone.now() + timedelta(seconds=1)) == 1
    assert Decision.objects.get().history_id in set(Picture.objects.values_list("pk", flat=True))


@pytest.mark.both
def test_who_finds_nothing_left_is_refused_alone(following: None) -> None:
    """Three orders may each see room for 700 Mbps in `c`, and one fits. The two others are refused, and the orders for
    `a` are not.
    """
    wanted = {"only": ["c"], "region": None, "machines": [{"bandwidth_mbps": 700}]}
    big = [partial(order, number, **wanted) for number in range(3)]
    small = [partial(order, number, only=["a"], region=None) for number in range(3, 6)]
    outcomes = [where(outcome) for outcome in all_at_once([*big, *small])]

    assert sorted(outcomes[:3]) == ["c", "no_feasible_idc", "no_feasible_idc"]
    assert outcomes[3:] == ["a", "a", "a"]
    assert Claim.objects.filter(amount=700).count() == 1
    assert ledger_differences() == []


@pytest.mark.both
def test_who_would_exceed_a_quota_is_refused_alone(following: None) -> None:
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 5})
    outcomes = all_at_once([partial(order, number) for number in range(CLIENTS)])
    assert sorted(map(str, outcomes)).count("quota_exceeded") == CLIENTS - 5
    assert Placement.objects.count() == 5
    assert ledger_differences() == []
