"""`spread`: one order over several IDCs is one placement in each, of one group, all or nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.feed.services import feed_append
from idcsched.framework.errors import Conflict
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.placement import ordering
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.lifecycle import Action
from idcsched.placement.models import Placement
from idcsched.placement.ordering import NoFeasible
from idcsched.placement.services import placement_commit
from idcsched.placement.transitions import placement_release
from idcsched.placement.waiting import waiting_try
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.replay import replay
from tests.placement.conftest import PORTAL

Order = Callable[..., Placement]
Recommend = Callable[..., Scheduled]

SIX = [{"count": 6, "bandwidth_mbps": 100, "cpu": 4}]
TWO_EACH = {"max_per_idc": 2}


def standing() -> dict[str, int]:
    return {placement.idc.code: placement.machine_count for placement in Placement.objects.order_by("id")}


def test_it_works(order: Order) -> None:
    first = order(machines=SIX, spread=TWO_EACH)

    placements = list(Placement.objects.order_by("id"))
    assert standing() == {"a": 2, "b": 2, "c": 2}
    assert first.pk == placements[0].pk
    assert {placement.group_id for placement in placements} == {first.group_id}
    assert first.group_id is not None
    assert {placement.bandwidth_mbps for placement in placements} == {200}
    assert {claim.amount for claim in Claim.objects.filter(holding__resource="bandwidth_mbps")} == {200}
    assert [(row.idc.code, row.machines) for row in Headcount.objects.order_by("idc__code")] == [
        ("a", 2), ("b", 2), ("c", 2),
    ]  # fmt: skip
    assert ledger_differences() == []


def test_one_decision_tells_of_all(order: Order) -> None:
    first = order(machines=SIX, spread=TWO_EACH)
    decision = Decision.objects.get()
    assert decision.placement == first.pk
    assert {placement.decision_id for placement in Placement.objects.all()} == {decision.pk}
    assert [share["idc"] for share in decision.answer["idcs"]] == ["a", "b", "c"]
    assert [taken["idc"] for taken in [decision.taken, *decision.taken["others"]]] == ["a", "b", "c"]


def test_each_goes_its_own_way(order: Order) -> None:
    first = order(machines=SIX, spread=TWO_EACH)
    placement_release(placement=first)
    assert sorted(Placement.objects.values_list("state", flat=True)) == ["released", "reserved", "reserved"]
    assert ledger_differences() == []


def test_all_or_nothing(order: Order) -> None:
    with pytest.raises(NoFeasible) as refusal:
        order(machines=[{"count": 7, "bandwidth_mbps": 100}], spread=TWO_EACH)
    assert refusal.value.decision.summary == "3/3 IDCs fit; spread so they hold 6 of 7 machines"
    assert not Placement.objects.exists()
    assert not Claim.objects.exists()


def test_a_quota_is_respected_by_all_together(order: Order, fleet: None) -> None:
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 5})
    with pytest.raises(Conflict, match="quota of 5"):
        order(machines=SIX, spread=TWO_EACH)
    assert not Placement.objects.exists()


def test_who_is_too_late_gets_a_fresh_decision(order: Order, fleet: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order fills `c` after the decision. The order is decided again, does not fit, and takes nothing."""
    decide, decided = ordering.decide_request, []

    def decide_request(**asked: object) -> object:
        made = decide(**asked)
        if not decided:
            idc = Idc.objects.get(code="c")
            Holding.objects.create(idc=idc, line=idc.lines.get(), resource="bandwidth_mbps", taken=700, ordered=700)
            feed_append(topic="ledger", key="c")
        decided.append(made.scheduled.result)
        return made

    monkeypatch.setattr(ordering, "decide_request", decide_request)
    with pytest.raises(NoFeasible, match="1 not enough bandwidth; spread so they hold 4 of 6 machines"):
        order(machines=SIX, spread=TWO_EACH)
    assert decided == ["scheduled", "unschedulable"]
    assert not Placement.objects.exists()
    assert not Claim.objects.exists()


def test_who_is_too_late_each_time_is_told_so(order: Order, fleet: None) -> None:
    """The picture does not show that `c` was filled, so that taking fails each time. The refusal is `conflict`: by the
    picture there are IDCs that fit.
    """
    live.catch_up()
    idc = Idc.objects.get(code="c")
    Holding.objects.create(idc=idc, line=idc.lines.get(), resource="bandwidth_mbps", taken=700, ordered=700)
    with pytest.raises(NoFeasible, match="concurrent orders were quicker each time: 3/3 IDCs fit") as refused:
        order(machines=SIX, spread=TWO_EACH)
    assert refused.value.code == "conflict"
    assert refused.value.decision.result == "scheduled"
    assert not Placement.objects.exists()


def test_a_recommendation_is_taken_at_its_word(order: Order, recommend: Recommend) -> None:
    made = recommend(machines=SIX, spread=TWO_EACH)
    assert made.commit_token is not None
    commit = {"commit_token": made.commit_token, "action": Action.RESERVE, "principal": PORTAL}

    placement, new = placement_commit(**commit, http_request_id="h")
    again, newly = placement_commit(**commit, http_request_id="h")

    assert (again.pk, new, newly) == (placement.pk, True, False)
    assert standing() == {"a": 2, "b": 2, "c": 2}
    assert Placement.objects.filter(group_id=placement.group_id).count() == 3


def test_a_recommendation_that_does_not_hold_any_more(order: Order, recommend: Recommend) -> None:
    made = recommend(machines=SIX, spread=TWO_EACH)
    idc_update(idc=Idc.objects.get(code="b"), changes={"status": "offline"})
    with pytest.raises(Conflict) as refusal:
        placement_commit(
            commit_token=str(made.commit_token), action=Action.RESERVE, principal=PORTAL, http_request_id="h"
        )
    assert refusal.value.code == "decision_outdated"
    assert not Placement.objects.exists()


def test_it_waits_as_a_whole(order: Order) -> None:
    full = order(machines=[{"count": 7, "bandwidth_mbps": 100}], only=["c"], region=None)
    waiting = order(machines=SIX, spread={"max_per_idc": 2, "min_idcs": 3}, wait_seconds=600)
    assert waiting.state == "waiting"

    placement_release(placement=full)
    assert waiting_try(now=timezone.now() + timedelta(seconds=1)) == 1

    group = Placement.objects.filter(state="reserved").order_by("idc__code")
    assert [(placement.idc.code, placement.machine_count) for placement in group] == [("a", 2), ("b", 2), ("c", 2)]
    assert len({placement.group_id for placement in group}) == 1
    assert waiting.pk in {placement.pk for placement in group}
    assert ledger_differences() == []


def test_made_again_it_is_the_same(order: Order) -> None:
    order(machines=SIX, spread=TWO_EACH)
    again = replay(decision=Decision.objects.get())
    assert again.identical
    assert [share.idc for share in again.again.idcs] == ["a", "b", "c"]
