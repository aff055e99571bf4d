"""Many who order, confirm, give back and let expire at once: nothing is oversold, lost or given back twice."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils import timezone

from idcsched.framework.errors import Conflict
from idcsched.ledger.models import Claim, Holding
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Placement
from idcsched.placement.ordering import placement_order
from idcsched.placement.transitions import placement_confirm, placement_release, placements_expire
from idcsched.placement.waiting import waiting_try
from idcsched.scheduling.live import live
from tests.database import somebody_waits_for_a_lock
from tests.e2e.installation import wait_for
from tests.placement.conftest import PORTAL, ROOMS, asked

pytestmark = pytest.mark.both

CLIENTS = 8
TURNS = 12


@pytest.fixture
def committed(db: None, fleet: None) -> Iterator[None]:
    """The fleet, with a live picture that is read anew."""
    live.forget()
    yield
    live.forget()


def turn(chance: random.Random) -> str:
    """Order, confirm, release or expire something, at random; return what was done, with its outcome."""
    what = chance.choice(["order", "order", "order", "confirm", "release", "release", "expire"])
    try:
        if what == "order":
            placement_order(request=asked(ttl_seconds=60), principal=PORTAL, http_request_id=str(chance.random()))
        elif what == "expire":
            placements_expire(now=timezone.now() + timedelta(seconds=chance.choice([0, 61])), at_most=2)
        else:
            _moved(what, chance)
    except Conflict as conflict:
        return f"{what}: {conflict.code}"
    return what


def _moved(what: str, chance: random.Random) -> None:
    found = list(Placement.objects.exclude(state__in=["released", "expired"]).order_by("?")[:1])
    if found:
        {"confirm": placement_confirm, "release": placement_release}[what](placement=found[0])


def client(seed: int) -> Counter[str]:
    chance = random.Random(seed)
    try:
        return Counter(turn(chance) for _ in range(TURNS))
    finally:
        connections.close_all()


@pytest.mark.usefixtures("committed")
def test_it_works() -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        done = sum(pool.map(client, range(CLIENTS)), Counter())

    assert done["order"] > 5
    assert set(done) <= {
        "order", "confirm", "release", "expire", "order: no_feasible_idc", "confirm: invalid_transition",
        "release: invalid_transition",
    }  # fmt: skip
    assert ledger_differences() == []
    for holding in Holding.objects.filter(resource="bandwidth_mbps").select_related("idc"):
        assert 0 <= holding.taken <= ROOMS[holding.idc.code]
    assert Claim.objects.filter(ceiling__isnull=False, taken_after__gt=900).count() == 0
    _check_event_log()


def _check_event_log() -> None:
    """Check that each placement's versions have no gap, that its last event has its state, and that its claims were
    given back if it ended.
    """
    for placement in Placement.objects.all():
        events = list(Event.objects.filter(placement=placement).order_by("version"))
        assert [event.version for event in events] == list(range(1, placement.version + 1))
        assert events[-1].state == placement.state
        given_back = Claim.objects.filter(placement=placement.pk, released_at__isnull=False).count()
        assert given_back == (2 if placement.state in ("released", "expired") else 0)


def test_one_last_place(committed: None, order: Callable[..., Placement]) -> None:
    """All clients order the last place of one IDC: one gets it, and the others are refused."""
    machines = [{"bandwidth_mbps": 700}]

    def want(number: int) -> str:
        try:
            request = asked(machines=machines, only=["a"], region=None)
            return placement_order(request=request, principal=PORTAL, http_request_id=str(number)).idc.code
        except Conflict as conflict:
            return conflict.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(CLIENTS) as pool:
        assert Counter(pool.map(want, range(CLIENTS))) == {"a": 1, "no_feasible_idc": CLIENTS - 1}


@pytest.mark.postgresql
def test_who_waits_for_an_order_that_gets_its_place_gives_that_back(committed: None) -> None:
    """A release waits while the order gets its place, and then gives that place back. It must read the row anew:
    PostgreSQL would join the updated row to the IDC that it had before, which is none.
    """
    machines = [{"count": 1, "bandwidth_mbps": ROOMS["a"]}]
    full = placement_order(
        request=asked(only=["a"], region=None, machines=machines), principal=PORTAL, http_request_id="1"
    )
    waits = placement_order(
        request=asked(only=["a"], region=None, machines=machines, wait_seconds=600),
        principal=PORTAL,
        http_request_id="2",
    )
    placement_release(placement=full)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert waiting_try(now=timezone.now() + timedelta(seconds=1)) == 1
            released = pool.submit(_release_and_close, waits)
            wait_for(somebody_waits_for_a_lock, "somebody to wait")
        assert released.result(100).state == "released"
    assert not Claim.objects.filter(released_at__isnull=True).exists()
    assert ledger_differences() == []


def _release_and_close(placement: Placement) -> Placement:
    try:
        return placement_release(placement=placement)
    finally:
        connections.close_all()
