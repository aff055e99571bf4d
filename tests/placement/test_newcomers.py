"""A new order comes after the waiting orders that are at least as urgent: capacity that comes back is kept for them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from idcsched.framework.request import Machine
from idcsched.ledger.keeping import kept_now
from idcsched.ledger.models import Holding
from idcsched.ledger.taking import oversold
from idcsched.placement.choices import choices
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.ordering import NoFeasible
from idcsched.placement.orders import order_of
from idcsched.placement.reserving import take_together
from idcsched.placement.transitions import placement_release
from idcsched.placement.waiting import LONGEST_KEPT, PATIENCE, waiting_try
from idcsched.scheduling.capacity import CapacityQuestion, capacity
from idcsched.scheduling.deciding import Scheduled, decide_request
from idcsched.scheduling.live import live
from tests.placement.conftest import PORTAL, asked

Order = Callable[..., Placement]
ONLY_A = {"only": ["a"], "region": None}
SMALL, BIG = [{"bandwidth_mbps": 300}], [{"bandwidth_mbps": 900}]


def soon() -> int:
    return waiting_try(now=timezone.now())


def aged(by: timedelta) -> None:
    Placement.objects.filter(state="waiting").update(created_at=timezone.now() - by)


@pytest.fixture
def full(order: Order) -> list[Placement]:
    """Three small orders that fill `a`."""
    return [order(**ONLY_A, machines=SMALL) for _ in range(3)]


@pytest.fixture
def waiting(order: Order, full: list[Placement]) -> Placement:
    return order(**ONLY_A, machines=SMALL, wait_seconds=3600, priority=3)


def test_it_works(order: Order, full: list[Placement], waiting: Placement) -> None:
    placement_release(placement=full[0])
    for priority in (3, 0, -1):
        with pytest.raises(NoFeasible, match="kept for orders that wait") as refused:
            order(**ONLY_A, machines=SMALL, priority=priority)
        assert refused.value.code == "no_feasible_idc"
        assert refused.value.decision.near_misses[0].short_by == 300
    assert soon() == 1
    waiting.refresh_from_db()
    assert waiting.state == "reserved"
    assert kept_now() == ()
    assert ledger_differences() == []


def test_the_more_urgent_goes_first(order: Order, full: list[Placement], waiting: Placement) -> None:
    placement_release(placement=full[0])
    assert order(**ONLY_A, machines=SMALL, priority=4).state == "reserved"
    assert soon() == 0


def test_one_that_waits_as_well_waits_behind(order: Order, full: list[Placement], waiting: Placement) -> None:
    placement_release(placement=full[0])
    later = order(**ONLY_A, machines=SMALL, wait_seconds=3600, priority=3)
    assert later.state == "waiting"
    assert soon() == 1
    assert not waiting.awaits.exists(), "it waits no more"
    later.refresh_from_db()
    assert later.state == "waiting"


def test_the_ledger_itself_refuses(order: Order, full: list[Placement], waiting: Placement) -> None:
    """The database itself protects what is kept for a waiting order from a decision whose picture does not show it."""
    placement_release(placement=full[0])
    request = asked(**ONLY_A, machines=SMALL)
    blind = replace(live.current(), kept=())
    made = decide_request(request=request, tenant="live-cn", actor="portal", http_request_id="1", picture=blind)
    takes = next(choices(order_of(request, tenant="live-cn", actor="portal"), made, at_most=1))
    with pytest.raises(IntegrityError) as refused:
        take_together(takes)
    assert oversold(refused.value)


def test_a_recommendation_and_what_still_fits_say_the_same(
    order: Order, recommend: Callable[..., Scheduled], full: list[Placement], waiting: Placement
) -> None:
    def fit() -> int:
        question = CapacityQuestion(machine=Machine(bandwidth_mbps=100), only=("a",))
        return capacity(question=question, principal=PORTAL).count

    placement_release(placement=full[0])
    assert recommend(**ONLY_A, machines=SMALL).result == "unschedulable"
    assert recommend(**ONLY_A, machines=SMALL, priority=4).result == "scheduled"
    assert fit() == 0
    soon()
    placement_release(placement=waiting)
    assert fit() == 3


def test_what_those_that_wait_can_not_use_is_free_after_a_round(order: Order, full: list[Placement]) -> None:
    order(**ONLY_A, machines=BIG, wait_seconds=3600)
    placement_release(placement=full[0])
    with pytest.raises(NoFeasible):
        order(**ONLY_A, machines=SMALL)
    assert soon() == 0
    assert order(**ONLY_A, machines=SMALL).state == "reserved"


def test_for_who_has_waited_for_long_it_is_kept_until_it_is_all_there(order: Order, full: list[Placement]) -> None:
    big = order(**ONLY_A, machines=BIG, wait_seconds=36_000)
    aged(PATIENCE)
    for placement in full:
        assert soon() == 0
        placement_release(placement=placement)
        with pytest.raises(NoFeasible, match="kept for orders that wait"):
            order(**ONLY_A, machines=SMALL)
    assert soon() == 1
    big.refresh_from_db()
    assert big.state == "reserved"
    placement_release(placement=big)
    assert order(**ONLY_A, machines=SMALL).state == "reserved"


def test_only_so_much_is_kept_and_only_there(order: Order, full: list[Placement]) -> None:
    order(**ONLY_A, machines=[{"bandwidth_mbps": 500}], wait_seconds=36_000)
    aged(PATIENCE)
    for placement in full[:2]:
        placement_release(placement=placement)
    placement_release(placement=order(**ONLY_A, machines=SMALL, priority=9))
    order(**ONLY_A, machines=[{"bandwidth_mbps": 300}], priority=9)
    assert soon() == 0
    assert [(kept.idc, kept.line, kept.resource, kept.amount) for kept in kept_now()] == [
        ("a", "ct", "bandwidth_mbps", 500)
    ]
    assert order(machines=[{"bandwidth_mbps": 800}]).idc.code == "b", "elsewhere there is room"


def test_not_for_ever(order: Order, full: list[Placement]) -> None:
    order(**ONLY_A, machines=BIG, wait_seconds=36_000)
    aged(PATIENCE)
    placement_release(placement=full[0])
    assert soon() == 0
    aged(PATIENCE + LONGEST_KEPT)
    assert soon() == 0
    assert order(**ONLY_A, machines=SMALL).state == "reserved"


def test_nor_if_nobody_tries_those_that_wait(order: Order, full: list[Placement], waiting: Placement) -> None:
    placement_release(placement=full[0])
    Holding.objects.filter(kept__gt=0).update(kept_until=timezone.now())
    live.forget()
    assert order(**ONLY_A, machines=SMALL).state == "reserved"


def test_who_gives_up_keeps_nothing(order: Order, full: list[Placement], waiting: Placement) -> None:
    placement_release(placement=waiting)
    placement_release(placement=full[0])
    assert order(**ONLY_A, machines=SMALL).state == "reserved"


def test_where_nobody_waits_nothing_is_kept(order: Order, waiting: Placement) -> None:
    elsewhere = order(only=["b"], region=None, machines=[{"bandwidth_mbps": 800}])
    placement_release(placement=elsewhere)
    assert kept_now() == ()
    assert order(only=["b"], region=None, machines=[{"bandwidth_mbps": 800}]).state == "reserved"


def test_what_waits_for_something_else_keeps_nothing(order: Order, full: list[Placement]) -> None:
    """The order needs more cores than the IDC has, so that no release can help it, and no bandwidth is kept for it."""
    waits = order(**{**ONLY_A, "machines": [{"bandwidth_mbps": 100, "cpu": 500}]}, wait_seconds=3600)
    assert (waits.state, waits.awaits.count()) == ("waiting", 0)
    placement_release(placement=full[0])
    assert kept_now() == ()
    assert soon() == 0
    aged(PATIENCE)
    assert soon() == 0
    assert kept_now() == ()


def test_several_who_have_waited_each_keep_their_own(order: Order, full: list[Placement]) -> None:
    for priority in (1, 2):
        order(**ONLY_A, machines=[{"bandwidth_mbps": 400}], wait_seconds=36_000, priority=priority)
    aged(PATIENCE)
    assert soon() == 0
    (kept,) = kept_now()
    assert (kept.amount, kept.priority) == (800, 2)
    assert soon() == 0
    assert [each.amount for each in kept_now()] == [800], "the next round says the same"
