"""Many waiting orders: capacity that comes back goes to the first of them that fits, and none waits for ever."""

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import tenant_create
from idcsched.placement import waiting
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Placement
from idcsched.placement.transitions import placement_release
from idcsched.placement.waiting import PATIENCE, waiting_try
from idcsched.scheduling.live import live
from tests.placement.conftest import PORTAL, ROOMS

Order = Callable[..., Placement]

OTHER = Principal(user_id=2, username="other", role=Role.PORTAL, tenant="other")
ONLY_A = {"only": ["a"], "region": None}
SMALL, BIG = [{"bandwidth_mbps": 300}], [{"bandwidth_mbps": 900}]


def soon() -> int:
    return waiting_try(now=timezone.now())


def later() -> int:
    """Let the waiting orders be older than PATIENCE, and try them."""
    Placement.objects.filter(state="waiting").update(created_at=timezone.now() - PATIENCE - timedelta(seconds=1))
    return soon()


@pytest.fixture
def full(order: Order) -> list[Placement]:
    """Three small orders that fill `a`."""
    return [order(**ONLY_A, machines=SMALL) for _ in range(3)]


def test_one_that_does_not_fit_holds_nobody_up(order: Order, full: list[Placement]) -> None:
    order(**ONLY_A, machines=BIG, wait_seconds=3600, priority=5)
    small = order(**ONLY_A, machines=SMALL, wait_seconds=3600)
    placement_release(placement=full[0])
    assert soon() == 1
    small.refresh_from_db()
    assert small.state == "reserved"


def test_who_has_waited_for_long_has_room_kept_together(order: Order, full: list[Placement]) -> None:
    big = order(**ONLY_A, machines=BIG, wait_seconds=3600)
    order(**ONLY_A, machines=SMALL, wait_seconds=3600)
    for placement in full:
        assert later() == 0
        placement_release(placement=placement)
    assert later() == 1
    big.refresh_from_db()
    assert big.state == "reserved"


def test_no_room_is_kept_for_what_never_fits(order: Order, full: list[Placement]) -> None:
    order(**ONLY_A, machines=[{"bandwidth_mbps": 5000}], wait_seconds=3600)
    order(**ONLY_A, machines=SMALL, wait_seconds=3600)
    placement_release(placement=full[0])
    assert later() == 1


def test_the_room_kept_is_where_the_least_is_lacking(order: Order, full: list[Placement]) -> None:
    order(machines=[{"count": 1, "bandwidth_mbps": 800}], only=["b"], region=None)
    order(machines=BIG, only=["a", "b"], region=None, wait_seconds=3600)
    small = order(machines=SMALL, only=["a", "b"], region=None, wait_seconds=3600)
    placement_release(placement=full[0])
    placement_release(placement=full[1])
    assert later() == 0, "`a` is kept for the big one, `b` is full"
    assert small.state == "waiting"


def check_draining(order: Order, many: int, seed: int) -> None:
    """Let many orders wait; round by round give something back and try them, now and then in a fresh process, until all
    have a place.
    """
    chance = random.Random(seed)
    tenant_create(code="other", default_profile="roomy")
    for code, room in ROOMS.items():
        for _ in range(room // 100):
            order(only=[code], region=None, machines=[{"bandwidth_mbps": 100}], ttl_seconds=86_400)
    for _ in range(many):
        size = chance.choice([20, 50, 100, 400])
        order(
            chance.choice([PORTAL, OTHER]),
            machines=[{"bandwidth_mbps": size}],
            wait_seconds=86_400,
            ttl_seconds=86_400,
            priority=chance.randint(0, 3),
        )
    left = Placement.objects.filter(state="waiting")
    assert left.count() == many
    for number in range(many * 2):
        if not left.all().exists():
            break
        for placement in Placement.objects.filter(state="reserved").order_by("?")[: chance.randint(2, 20)]:
            placement_release(placement=placement)
        if number % 5 == 0:
            live.forget()
        before, seen = list(left.all()), Event.objects.count()
        soon()
        _check_round(before, list(Event.objects.order_by("id")[seen:]))
    assert not left.all().exists()
    assert Event.objects.filter(move="wait").count() == many
    assert ledger_differences() == []


def _check_round(before: list[Placement], events: list[Event]) -> None:
    """Check that no order got a place while another one, before it in order, would have fitted."""
    free = {code: float(room) for code, room in ROOMS.items()}
    newly = {event.placement_id for event in events}
    for placement in Placement.objects.filter(state="reserved").exclude(pk__in=newly).select_related("idc"):
        free[placement.idc.code] -= placement.bandwidth_mbps
    by_id = {placement.pk: placement for placement in before}
    for event in events:
        assert event.move == "reserve"
        placed = by_id.pop(event.placement_id)
        passed_over = [other for other in by_id.values() if _before(other, placed)]
        assert not [other for other in passed_over if other.bandwidth_mbps <= max(free.values())]
        free[event.detail["idc"]] -= placed.bandwidth_mbps
        assert min(free.values()) >= 0


def _before(one: Placement, other: Placement) -> bool:
    if one.priority != other.priority:
        return one.priority > other.priority
    return one.tenant_id == other.tenant_id and one.created_at < other.created_at


def test_it_works(order: Order) -> None:
    check_draining(order, 40, seed=1)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_it_works_for_many(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience is a day here, so that no room is kept for an old order, which would pass over others that fit."""
    monkeypatch.setattr(waiting, "PATIENCE", timedelta(days=1))
    check_draining(order, 150, seed=2)
