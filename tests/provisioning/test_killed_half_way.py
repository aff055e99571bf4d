"""Workers that die at any point of a turn: every machine is started once, none is left behind."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from idcsched.ledger.models import Holding
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Event, Machine, Placement, SimulatedMachine
from idcsched.placement.services import placement_release, placements_reconcile
from idcsched.provisioning import worker
from idcsched.provisioning.drivers.simulated import Simulated
from idcsched.provisioning.services import machine_tend
from tests.provisioning.starting import AT_WORK, at_once, equip, standing

Order = Callable[..., Placement]

PLACEMENTS = 12


class Killed(BaseException):
    """The end of a worker, which no `except Exception` catches."""


class Fate:
    """Kills the worker at random before or after the functions that it is put around."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.off = False

    def around(self, name: str, done: Callable[..., Any]) -> Callable[..., Any]:
        def doing(*args: Any, **kwargs: Any) -> Any:
            self._maybe(f"before {name}")
            result = done(*args, **kwargs)
            self._maybe(f"after {name}")
            return result

        return doing

    def _maybe(self, point: str) -> None:
        if not self.off and self.chance.random() < 0.12:
            self.kills[point] += 1
            raise Killed(point)


@pytest.fixture(params=[0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def fate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fate:
    found = Fate(request.param)
    for name in ("create", "find", "delete"):
        monkeypatch.setattr(Simulated, name, found.around(name, getattr(Simulated, name)))
    for name in ("_claimed", "settle", "placement_try_next_idc"):
        monkeypatch.setattr(worker, name, found.around(name, getattr(worker, name)))
    return found


def turns() -> None:
    """Give each machine that needs one a turn, in random order. A worker that is killed leaves its claim, which has run
    out by the next turn.
    """
    machines = list(Machine.objects.filter(state__in=AT_WORK).values_list("pk", flat=True))
    random.shuffle(machines)
    for machine_id in machines:
        Machine.objects.filter(pk=machine_id).update(next_try_at=timezone.now(), claimed_until=None)
        try:
            machine_tend(machine_id=machine_id)
        except Killed:
            continue


def test_it_works(order: Order, fate: Fate) -> None:
    equip(a=at_once(unanswered=0.1, tries=6), b=at_once(broken=0.2, tries=6), c=at_once(refused=0.9, tries=2))
    cpus = [{"count": 3, "cpu": 1}]
    where = (["a"], ["b"], ["c"], None)
    placements = [order(action="provision", machines=cpus, only=where[number % 4]) for number in range(PLACEMENTS)]
    for turn in range(200):
        turns()
        if turn == 3:
            for placement in placements[::5]:
                placement_release(placement=placement)
        if turn > 10 and turn % 5 == 0:
            try:
                placements_reconcile(now=timezone.now() + worker.MARGIN)
            except Killed:
                continue
        if not Placement.objects.filter(state__in=["provisioning", "releasing"]).exists():
            break

    states = Counter(Placement.objects.values_list("state", flat=True))
    assert set(states) <= {"active", "failed", "released"}
    assert fate.kills.total() > 20
    assert len(fate.kills) > 6
    fate.off = True
    _check_nothing_is_left_or_lost()


def _check_nothing_is_left_or_lost() -> None:
    active = Placement.objects.filter(state="active")
    listed = {token for placement in active for token in standing(placement)}
    assert len(listed) == 3 * active.count()
    assert standing() == listed
    assert SimulatedMachine.objects.filter(gone_at__isnull=True).count() == len(listed), "nothing is there twice"
    assert ledger_differences() == []
    assert sum(row.taken for row in Holding.objects.filter(resource="cpu")) == 3 * active.count()
    for placement in Placement.objects.all():
        versions = list(Event.objects.filter(placement=placement).order_by("version").values_list("version", flat=True))
        assert versions == list(range(1, placement.version + 1))
