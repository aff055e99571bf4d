"""A batch for the smallest bill: planned together, then decided one by one, as any batch.

Line a/ct costs 20 per Mbps, has room for 200 Mbps, and its commit is used but for about 100. Line b/ct costs 10.50. An
order of 200 Mbps adds 2,024 to the bill of `a` and 2,100 to that of `b`; afterwards `a` has no room for one of 100.
The other way round the order of 100 adds 572 to the bill of `a`, or 1,050 to that of `b`.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from idcsched.accounts.services import tenant_create
from idcsched.framework.errors import IdcschedError, Invalid
from idcsched.framework.request import Request
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.placement import ordering
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.models import Placement
from idcsched.placement.services import batch_answer, gang_place
from idcsched.planning import batches
from idcsched.planning.batches import Plan, batch_by_bill
from idcsched.planning.optimum import solve
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.replay import replay
from idcsched.scheduling.services import profile_create
from metrics_ingest.services import Sample, samples_store
from tests.keeping import Kept
from tests.placement.conftest import PORTAL

BY_BILL = {"name": "bill", "plugin": "billing_cost", "weight": 1, "args": {"free": 0, "scarcity": 0}}
FILTERS = [{"name": name, "plugin": name} for name in ("available", "network_flow", "resource", "taint")]
FLEET: Kept[None] = Kept()

pytestmark = pytest.mark.usefixtures("fleet")


@pytest.fixture
def fleet(db: None) -> None:
    FLEET.write(_fleet)


def _fleet() -> None:
    region_create(code="A")
    isp_create(code="ct")
    line = {"isp": "ct", "purchased_mbps": 1000, "max_level": 1.0}
    idc_create(code="a", region="A", stock_cpu=100, lines=[{**line, "price_per_mbps": 20, "commit_mbps": 900}])
    idc_create(code="b", region="A", stock_cpu=100, lines=[{**line, "price_per_mbps": 10.5}])
    used = {"a": 800.0, "b": 0.0}
    now = timezone.now()
    samples = [Sample(idc=idc, line="ct", metric="bandwidth_mbps", value=mbps, at=now) for idc, mbps in used.items()]
    samples_store(samples=samples, now=now)
    profile_create(code="cheap", body={"plugins": [*FILTERS, BY_BILL]})
    tenant_create(code="live-cn", default_profile="cheap")


def asked(mbps: float, *, action: str | None = "reserve", cpu: float = 1, **fields: Any) -> Request:
    machines = [{"bandwidth_mbps": mbps, "cpu": cpu}]
    return msgspec.convert({"region": "A", "action": action, "machines": machines, **fields}, Request)


def planned(*requests: Request | IdcschedError, serve: Callable[..., Any] = batch_answer) -> tuple[list[str], Plan]:
    batch, plan = batch_by_bill(requests=list(requests), principal=PORTAL, http_request_id="http-1", serve=serve)
    return [_told(outcome) for outcome in batch.outcomes], plan


def _told(outcome: Any) -> str:
    """The IDC of an outcome, with `?` before it for a recommendation; else the code of the refusal."""
    if isinstance(outcome, Scheduled):
        return f"?{outcome.idc.code}" if outcome.idc else "?"
    return outcome.idc.code if isinstance(outcome, Placement) and outcome.idc else getattr(outcome, "code", "waiting")


@pytest.mark.parametrize("serve", [batch_answer, gang_place])
@pytest.mark.parametrize("action", ["reserve", "recommend"])
def test_it_works(serve: Callable[..., Any], action: str) -> None:
    told, plan = planned(asked(200, action=action), asked(100, action=action), serve=serve)
    assert [idc.removeprefix("?") for idc in told] == ["b", "a"]
    assert (plan.status, plan.placed, plan.greedy_placed, plan.currency) == ("optimal", 2, 2, "CNY")
    assert plan.bill == pytest.approx(2100 + 572, abs=1)
    assert plan.greedy_bill == pytest.approx(2024 + 1050, abs=1)
    assert plan.bound <= plan.bill
    assert plan.gap < 0.001
    assert plan.not_as_planned == ()
    assert Placement.objects.count() == (2 if action == "reserve" else 0)
    assert ledger_differences() == []


def test_decisions_can_be_made_again() -> None:
    planned(asked(200, action=None), asked(100, action=None), asked(50))
    recorder.settle()
    decisions = Decision.objects.order_by("id")
    assert [decision.idc for decision in decisions] == ["b", "a", "b"]
    assert {decision.answer["picked"] for decision in decisions} == {"planned"}
    assert decisions[0].request["planned"] == {"idc": "b", "lines": ["ct"]}
    assert all(replay(decision=decision).identical for decision in decisions)


def test_the_stock_limits_it() -> None:
    """`a` has 100 cores: the second order of 60 has to go to the dearer place."""
    told, plan = planned(asked(50, cpu=60), asked(50, cpu=60), asked(50, cpu=60))
    assert sorted(told) == ["a", "b", "no_feasible_idc"]
    assert (plan.placed, plan.greedy_placed) == (2, 2)


def test_orders_without_bandwidth_cost_nothing() -> None:
    told, plan = planned(asked(0, cpu=60), asked(0, cpu=60))
    assert sorted(told) == ["a", "b"]
    assert (plan.bill, plan.placed) == (0.0, 2)


def test_what_is_wrong_or_spread_or_supposed_has_no_part() -> None:
    spread = asked(50, machines=[{"count": 2, "bandwidth_mbps": 50}], spread={"max_per_idc": 1})
    supposed = asked(100, action=None, hypothetical={"idcs": [{"code": "a", "status": "offline"}]})
    told, plan = planned(Invalid("wrong_type", "no"), asked(100, region="nowhere"), supposed, spread)
    assert told[:3] == ["wrong_type", "unknown_region", "?b"]
    assert told[3] in {"a", "b"}
    assert (plan.status, plan.placed, plan.bill, plan.seconds) == ("optimal", 0, 0.0, 0.0)
    told, plan = planned(Invalid("wrong_type", "no"), asked(50))
    assert (told[0], plan.placed) == ("wrong_type", 1)


def test_what_does_not_fit_is_left_out() -> None:
    told, plan = planned(asked(5000), asked(100), asked(5000, wait_seconds=60))
    assert told == ["no_feasible_idc", "a", "waiting"]
    assert (plan.placed, plan.not_as_planned) == (1, ())


def test_somebody_is_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order fills `a` just before the order planned for `a` is taken. That order goes to the next in its
    ranking, and the plan says which order is not where it was planned.
    """
    take, quicker = ordering.take_together, []

    def take_together(takes: Any) -> Any:
        if takes[0].candidate.idc == "a" and not quicker:
            quicker.append("somebody")
            other = asked(200, only=["a"])
            ordering.placement_order(request=other, principal=PORTAL, http_request_id="http-2")
        return take(takes)

    monkeypatch.setattr(ordering, "take_together", take_together)
    told, plan = planned(asked(200), asked(100))
    assert told == ["b", "b"]
    assert plan.not_as_planned == (1,)
    assert quicker
    recorder.settle()
    taken = Decision.objects.get(pk=Placement.objects.get(request__planned__idc="a").decision_id).taken
    assert (taken["idc"], taken["because"]) == ("b", "conflict")


def test_nothing_is_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "solve", lambda problem, *, seconds, start: solve(problem, seconds=0, start=start))
    told, plan = planned(asked(200), asked(100))
    assert told == ["a", "b"]
    assert (plan.status, plan.bill) == ("nothing_found", plan.greedy_bill)
    assert plan.gap > 0.1


def test_the_bill_of_one_order_is_the_formulas() -> None:
    """For a single order the plan's bill is the one that `billing_cost` calculates."""
    batch, plan = batch_by_bill(
        requests=[asked(100, action=None)], principal=PORTAL, http_request_id="http-1", serve=batch_answer
    )
    (outcome,) = batch.outcomes
    assert isinstance(outcome, Scheduled)
    assert outcome.candidates is not None
    scores = {candidate.idc: candidate.scores["bill"] for candidate in outcome.candidates}
    assert plan.bill == pytest.approx(100 * (scores["a"].raw or 0), abs=0.01)
