"""Gangs and spread orders of many clients at once: none by halves, none deadlocked, nothing oversold."""

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connections

from idcsched.framework.errors import Conflict
from idcsched.framework.request import Request
from idcsched.ledger.models import Claim, Holding
from idcsched.placement.batching import batch_answer, gang_place
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.ordering import placement_order
from idcsched.placement.transitions import placement_release
from idcsched.scheduling.live import live
from tests.placement.conftest import PORTAL, ROOMS, asked

pytestmark = pytest.mark.both

CLIENTS = 6
TURNS = 8


@pytest.fixture
def committed(db: None, fleet: None) -> Iterator[None]:
    """The fleet, with a live picture that is read anew."""
    live.forget()
    yield
    live.forget()


def order(chance: random.Random) -> Request:
    machines = [{"count": chance.randint(1, 3), "bandwidth_mbps": 50, "cpu": chance.choice([1, 4])}]
    return asked(region=None, only=[chance.choice("abc")], machines=machines)


def turn(chance: random.Random) -> Counter[str]:
    """Order a gang, a batch or a spread order, or release placements, at random; return what was done, with its
    outcome.
    """
    what = chance.choice(["gang", "gang", "spread", "batch", "release", "release"])
    if what == "release":
        for placement in Placement.objects.filter(state="reserved").order_by("?")[:3]:
            try:
                placement_release(placement=placement)
            except Conflict:  # somebody else did
                continue
        return Counter(release=1)
    if what == "spread":
        machines = [{"count": 4, "bandwidth_mbps": 50, "cpu": 2}]
        try:
            spread = asked(machines=machines, spread={"max_per_idc": 2, "min_idcs": 2})
            placement_order(request=spread, principal=PORTAL, http_request_id=str(chance.random()))
        except Conflict:
            return Counter(refused=1)
        return Counter(spread=1)
    orders = [order(chance) for _ in range(4)]
    serve = gang_place if what == "gang" else batch_answer
    batch = serve(requests=orders, principal=PORTAL, http_request_id=str(chance.random()))
    return Counter({f"{what} {batch.result}": 1})


def client(seed: int) -> Counter[str]:
    chance = random.Random(seed)
    try:
        return sum((turn(chance) for _ in range(TURNS)), Counter())
    finally:
        connections.close_all()


@pytest.mark.usefixtures("committed")
def test_it_works() -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        done = sum(pool.map(client, range(CLIENTS)), Counter())

    assert done["gang all"], done
    assert sum(done.values()) == CLIENTS * TURNS
    assert ledger_differences() == []
    for holding in Holding.objects.filter(resource="bandwidth_mbps").select_related("idc"):
        assert 0 <= holding.taken <= ROOMS[holding.idc.code]
    assert Claim.objects.filter(holding__resource="bandwidth_mbps", taken_after__gt=900).count() == 0
    _check_groups(done)


def _check_groups(done: Counter[str]) -> None:
    """Check that every gang holds all its four orders, and every spread order four machines in at least two IDCs."""
    groups: dict[UUID, list[Placement]] = {}
    for placement in Placement.objects.filter(group_id__isnull=False):
        groups.setdefault(placement.group_id, []).append(placement)  # type: ignore[arg-type]
    sizes = Counter(len({row.decision_id for row in rows}) for rows in groups.values())
    assert sizes == Counter({size: count for size, count in ((4, done["gang all"]), (1, done["spread"])) if count})
    for rows in groups.values():
        if len({row.decision_id for row in rows}) == 1:
            assert sum(row.machine_count for row in rows) == 4
            assert len({row.idc_id for row in rows}) == len(rows) >= 2
