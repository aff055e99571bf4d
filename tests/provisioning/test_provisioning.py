"""Machines are started where the decision says, and in the next best IDC where they can't be had there."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_update
from idcsched.audit.context import origin_set
from idcsched.feed.services import feed_append
from idcsched.framework.errors import Conflict, Invalid
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_update
from idcsched.ledger.models import Claim, Headcount, Holding
from idcsched.placement.documents import placement_documents, with_details
from idcsched.placement.ledger_audit import ledger_differences
from idcsched.placement.lifecycle import Action
from idcsched.placement.models import Attempt, Event, Machine, Placement, Provider, SimulatedMachine
from idcsched.placement.ordering import NoFeasible
from idcsched.placement.services import (
    placement_commit,
    placement_confirm,
    placement_provision,
    placement_release,
    placement_retry,
    waiting_try,
)
from idcsched.provisioning.services import machine_tend, provider_delete, provider_update
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.models import Decision
from tests.keeping import Kept
from tests.placement.conftest import FLEET, PORTAL
from tests.provisioning.starting import at_once, equip, reconfigure, standing, work, work_once

Order = Callable[..., Placement]
Recommend = Callable[..., Scheduled]


EQUIPPED: Kept[None] = Kept(upon=FLEET)


@pytest.fixture
def provision(order: Order) -> Order:
    """A function that places an order whose machines are started; each IDC has a provider that needs no time."""
    EQUIPPED.write(partial(equip, a=at_once(), b=at_once(), c=at_once()))
    return lambda **fields: order(action="provision", **fields)


def fresh(placement: Placement) -> Placement:
    return Placement.objects.select_related("idc").get(pk=placement.pk)


def states(placement: Placement) -> list[str]:
    return list(Event.objects.filter(placement=placement).order_by("version").values_list("state", flat=True))


def document(placement: Placement) -> Any:
    return placement_documents([with_details(Placement.objects.filter(pk=placement.pk)).get()])[0]


def taken() -> dict[str, float]:
    rows = Holding.objects.filter(resource="bandwidth_mbps", taken__gt=0).select_related("idc")
    return {row.idc.code: row.taken for row in rows}


def check_nothing_held() -> None:
    assert taken() == {}
    assert {row.machines for row in Headcount.objects.all()} == {0}
    assert not Claim.objects.filter(released_at__isnull=True).exists()
    assert standing() == set()
    assert ledger_differences() == []


def test_it_works(provision: Order) -> None:
    placement = provision(request_id="order-1")
    assert (placement.state, placement.version, placement.expires_at) == ("provisioning", 2, None)
    assert states(placement) == ["reserved", "provisioning"]
    assert [machine.state for machine in document(placement).machines] == ["pending"] * 3

    work()

    told = document(placement)
    assert (told.state, told.idc, told.attempts, told.needs_attention) == ("active", "a", [], False)
    assert [machine.name for machine in told.machines] == ["order-1-1", "order-1-2", "order-1-3"]
    assert {machine.state for machine in told.machines} == {"active"}
    assert all(machine.addresses and machine.provider_id for machine in told.machines)
    assert standing() == standing(placement)
    assert states(placement) == ["reserved", "provisioning", "active"]
    assert Claim.objects.get(holding__resource="bandwidth_mbps").fading_since is not None
    assert ledger_differences() == []


def test_it_is_released_once_its_machines_are_gone(provision: Order) -> None:
    placement = provision()
    work()
    reconfigure("a", gone_after_seconds=3600)
    assert placement_release(placement=placement).state == "releasing"
    work_once()
    assert fresh(placement).state == "releasing"
    assert taken() == {"a": 300}
    SimulatedMachine.objects.update(gone_at=timezone.now())
    work()
    assert states(placement) == ["reserved", "provisioning", "active", "releasing", "released"]
    check_nothing_held()


def test_it_is_released_while_machines_start(provision: Order) -> None:
    reconfigure("a", up_after_seconds=3600)
    placement = provision()
    work_once()
    assert len(standing()) == 3
    placement_release(placement=placement)
    work()
    assert states(placement)[-2:] == ["releasing", "released"]
    check_nothing_held()


def test_it_is_released_before_anything_was_started(provision: Order) -> None:
    placement = provision()
    placement_release(placement=placement)
    work()
    assert fresh(placement).state == "released"
    assert SimulatedMachine.objects.count() == 0
    check_nothing_held()


@pytest.mark.parametrize("move", [placement_confirm, placement_provision])
def test_what_is_provisioning_is_not_provisioned_or_confirmed_again(provision: Order, move: Any) -> None:
    with pytest.raises(Conflict) as refusal:
        move(placement=provision())
    assert refusal.value.code == "invalid_transition"


def test_a_second_release_is_refused_and_gives_nothing_back_twice(provision: Order) -> None:
    placement, other = provision(), provision()
    work()
    placement_release(placement=placement)
    with pytest.raises(Conflict):
        placement_release(placement=placement)
    work()
    with pytest.raises(Conflict):
        placement_release(placement=placement)
    assert taken() == {fresh(other).idc.code: 300}
    assert sum(row.machines for row in Headcount.objects.all()) == 3


def test_a_reservation_is_provisioned_later(provision: Order, order: Order) -> None:
    placement = order()
    begun = placement_provision(placement=placement)
    assert (begun.state, begun.expires_at) == ("provisioning", None)
    work()
    assert fresh(placement).state == "active"


def test_a_recommendation_is_provisioned(provision: Order, recommend: Recommend) -> None:
    token = recommend().commit_token
    assert token is not None
    commit = {"commit_token": token, "action": Action.PROVISION, "principal": PORTAL, "http_request_id": "1"}
    placement, new = placement_commit(**commit)
    assert (placement.state, new) == ("provisioning", True)
    assert placement_commit(**commit)[0] == placement
    work()
    assert fresh(placement).state == "active"


def test_one_that_waited_goes_straight_on(provision: Order) -> None:
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "offline"})
    feed_append(topic="inventory", key="a")
    placement = provision(only=["a"], region=None, wait_seconds=600)
    assert placement.state == "waiting"
    idc_update(idc=Idc.objects.get(code="a"), changes={"status": "online"})
    feed_append(topic="inventory", key="a")
    assert waiting_try(now=timezone.now()) == 1
    assert states(placement) == ["waiting", "reserved", "provisioning"]
    work()
    assert fresh(placement).state == "active"


def test_shares_of_a_spread_order_are_started_each_by_itself(provision: Order) -> None:
    first = provision(machines=[{"count": 4, "bandwidth_mbps": 100, "cpu": 4}], spread={"max_per_idc": 2})
    work()
    placements = Placement.objects.filter(group_id=first.group_id)
    assert {(each.idc.code, each.state, each.machines) for each in map(told_of, placements)} == {
        ("a", "active", 2), ("b", "active", 2),
    }  # fmt: skip


def told_of(placement: Placement) -> Any:
    class Told:
        idc = placement.idc
        state = placement.state
        machines = len(standing(placement))

    return Told


def test_a_share_does_not_fall_to_where_another_stands(provision: Order) -> None:
    reconfigure("a", refused=1.0)
    first = provision(machines=[{"count": 4, "bandwidth_mbps": 100, "cpu": 4}], spread={"max_per_idc": 2})
    work()
    found = {fresh(each).idc.code for each in Placement.objects.filter(group_id=first.group_id, state="active")}
    assert found == {"b", "c"}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no machines": ({"machines": None}, "machines_required"),
    "too many": ({"machines": [{"count": 1001}]}, "too_many_machines"),
    "a supposition": ({"hypothetical": {"ignore_taints": []}}, "hypothetical_is_not_real"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_started_is_refused(provision: Order, case: str) -> None:
    fields, code = REFUSED[case]
    with pytest.raises(Invalid) as refusal:
        provision(**fields)
    assert refusal.value.code == code
    assert not Placement.objects.exists()


def test_an_idc_without_a_provider_is_passed_over(order: Order) -> None:
    equip(b=at_once())
    placement = order(action="provision")
    assert placement.idc.code == "b"
    (passed_over,) = Decision.objects.get().taken["passed_over"]
    assert passed_over == {"idc": "a", "rank": 1, "because": "no_provider"}


def test_where_no_idc_has_one_nothing_is_provisioned(order: Order, recommend: Recommend) -> None:
    with pytest.raises(NoFeasible) as refusal:
        order(action="provision")
    assert refusal.value.code == "no_provider"
    with pytest.raises(NoFeasible) as refusal:
        placement_commit(
            commit_token=recommend().commit_token, action=Action.PROVISION, principal=PORTAL, http_request_id="1"
        )
    assert refusal.value.code == "no_provider"
    with pytest.raises(Conflict) as refused:
        placement_provision(placement=order())
    assert refused.value.code == "no_provider"
    assert [placement.state for placement in Placement.objects.all()] == ["reserved"]


def test_a_machine_that_breaks_is_started_again(provision: Order) -> None:
    reconfigure("a", broken=1.0)
    placement = provision()
    work_once()
    reconfigure("a")
    work()
    assert (fresh(placement).state, fresh(placement).idc.code) == ("active", "a")
    assert set(Machine.objects.values_list("lives", flat=True)) == {1}
    assert standing() == standing(placement)


def test_a_machine_whose_creation_nobody_was_told_of_is_adopted(provision: Order) -> None:
    reconfigure("a", unanswered=1.0)
    placement = provision()
    work_once()
    assert (len(standing()), {machine.error for machine in document(placement).machines} != {None}) == (3, True)
    work()
    assert fresh(placement).state == "active"
    assert (SimulatedMachine.objects.count(), standing()) == (3, standing(placement))


def test_a_machine_that_takes_too_long_is_started_again(provision: Order) -> None:
    reconfigure("a", up_after_seconds=3600, boot_seconds=60)
    placement = provision()
    work_once()
    Machine.objects.update(since=timezone.now() - timedelta(seconds=61))
    work_once()
    assert {machine.error for machine in Machine.objects.all()} == {"it was not up within 60 s"}
    reconfigure("a")
    work()
    assert fresh(placement).state == "active"
    assert standing() == standing(placement)


def test_it_falls_to_the_next_best_idc(provision: Order) -> None:
    reconfigure("a", refused=1.0)
    placement = provision(request_id="order-1")
    first = placement.decision_id
    work()
    told = document(placement)
    assert (told.state, told.idc) == ("active", "b")
    assert [(attempt.idc, attempt.state) for attempt in told.attempts] == [("a", "failed")]
    assert "refuses, as it is configured" in told.attempts[0].error
    assert states(placement) == ["reserved", "provisioning", "provisioning", "active"]
    assert taken() == {"b": 300}
    decision = Decision.objects.get(pk=told.decision_id)
    assert (str(first) != told.decision_id, decision.taken["because"]) == (True, "provider_failed")
    assert (decision.taken["idc"], decision.taken["rank"]) == ("b", 1)
    assert ledger_differences() == []


def test_one_of_three_that_fails_takes_the_others_with_it(provision: Order) -> None:
    reconfigure("a", at_most=2)
    placement = provision()
    work()
    assert document(placement).idc == "b"
    assert "there is room for 2 machines" in document(placement).attempts[0].error
    assert standing() == standing(placement)


def test_new_capacity_is_taken_before_the_old_is_given_back(provision: Order) -> None:
    """The order moves on to `b` when its machines in `a` are removed, and takes its capacity there before it gives back
    that of `a`.
    """
    reconfigure("a", at_most=2, gone_after_seconds=3600)
    placement = provision()
    work_once()
    work_once()
    assert (document(placement).idc, taken()) == ("a", {"a": 300})
    SimulatedMachine.objects.update(gone_at=timezone.now())
    work()
    assert taken() == {"b": 300}
    claims = {claim.holding.idc.code: claim for claim in Claim.objects.filter(holding__resource="bandwidth_mbps")}
    assert claims["b"].created_at < claims["a"].released_at


def test_it_fails_with_every_attempt_listed(provision: Order) -> None:
    for code in "abc":
        reconfigure(code, refused=1.0)
    placement = provision()
    work()
    told = document(placement)
    assert (told.state, [attempt.idc for attempt in told.attempts], told.machines) == ("failed", ["a", "b", "c"], [])
    last = Event.objects.filter(placement=placement).last()
    assert last is not None
    assert [attempt["idc"] for attempt in last.detail["attempts"]] == ["a", "b", "c"]
    check_nothing_held()


def test_a_failed_one_is_tried_again(provision: Order) -> None:
    for code in "abc":
        reconfigure(code, refused=1.0)
    placement = provision()
    work()
    reconfigure("a")
    again = placement_retry(placement=placement, http_request_id="2")
    assert (again.state, again.idc.code) == ("provisioning", "a")
    work()
    assert fresh(placement).state == "active"
    assert [attempt.state for attempt in Attempt.objects.all()] == ["failed", "failed", "failed", "active"]
    assert ledger_differences() == []


def test_a_retry_that_fits_nowhere_leaves_it_failed(provision: Order) -> None:
    for code in "abc":
        reconfigure(code, refused=1.0)
    placement = provision()
    work()
    for idc in Idc.objects.all():
        idc_update(idc=idc, changes={"status": "offline"})
    with pytest.raises(NoFeasible) as refusal:
        placement_retry(placement=placement, http_request_id="2")
    assert refusal.value.code == "no_feasible_idc"
    assert fresh(placement).state == "failed"
    check_nothing_held()


def test_a_retry_counts_against_the_quota(provision: Order) -> None:
    for code in "abc":
        reconfigure(code, refused=1.0)
    placement = provision()
    work()
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 2})
    with pytest.raises(Conflict) as refusal:
        placement_retry(placement=placement, http_request_id="2")
    assert refusal.value.code == "quota_exceeded"
    assert fresh(placement).state == "failed"


def test_falling_needs_no_more_quota(provision: Order) -> None:
    tenant_update(tenant=Tenant.objects.get(), changes={"quota_machines": 3})
    reconfigure("a", refused=1.0)
    placement = provision()
    work()
    assert (fresh(placement).state, fresh(placement).idc.code) == ("active", "b")


def test_a_failed_one_is_released(provision: Order) -> None:
    for code in "abc":
        reconfigure(code, refused=1.0)
    placement = provision()
    work()
    assert placement_release(placement=placement).state == "released"
    check_nothing_held()


@pytest.mark.parametrize("state", ["reserved", "provisioning", "active", "released"])
def test_only_a_failed_one_is_tried_again(provision: Order, order: Order, state: str) -> None:
    placement = order() if state == "reserved" else provision()
    if state != "provisioning":
        work()
    if state == "released":
        placement_release(placement=placement)
        work()
    with pytest.raises(Conflict) as refusal:
        placement_retry(placement=placement, http_request_id="2")
    assert refusal.value.code == "invalid_transition"


def test_leftovers_that_cannot_be_removed_hold_the_capacity(provision: Order) -> None:
    reconfigure("a", at_most=2, stuck=1.0)
    placement = provision()
    for _ in range(8):
        work_once()
    told = document(placement)
    assert (told.state, told.idc, told.needs_attention, taken()) == ("provisioning", "a", True, {"a": 300})
    assert len(told.machines) == 2

    assert placement_release(placement=placement).state == "releasing"
    for _ in range(6):
        work_once()
    assert (fresh(placement).state, fresh(placement).needs_attention, taken()) == ("releasing", True, {"a": 300})

    reconfigure("a")
    work()
    assert (fresh(placement).state, fresh(placement).needs_attention) == ("released", False)
    check_nothing_held()


def test_a_provider_with_machines_is_kept(provision: Order) -> None:
    placement = provision()
    work()
    provider = placement_provider(placement)
    idc_update(idc=fresh(placement).idc, changes={"provider": ""})
    with pytest.raises(Conflict) as refusal:
        provider_delete(provider=provider)
    assert refusal.value.code == "in_use"
    with pytest.raises(Conflict):
        provider_update(provider=provider, changes={"code": "other"})


def placement_provider(placement: Placement) -> Any:
    return Provider.objects.get(code=fresh(placement).idc.provider)


def test_a_provider_that_is_switched_off_still_removes(provision: Order) -> None:
    placement = provision()
    work()
    provider_update(provider=placement_provider(placement), changes={"enabled": False})
    assert provision().idc.code == "b"
    placement_release(placement=placement)
    work()
    assert fresh(placement).state == "released"


def test_why_it_was_done_is_kept(provision: Order) -> None:
    with origin_set(actor="me", via="api", message="for the match on Sunday"):
        placement = provision()
    events = Event.objects.filter(placement=placement)
    assert {(event.actor, event.detail["message"]) for event in events} == {("me", "for the match on Sunday")}


def test_a_machine_that_is_not_due_is_left_alone(provision: Order) -> None:
    provision()
    work()
    assert not any(machine_tend(machine_id=machine.pk) for machine in Machine.objects.all())
