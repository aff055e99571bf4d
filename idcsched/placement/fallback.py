"""Fallback: where machines can't be started in one IDC, the placement falls to the next best one, or fails."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from idcsched.audit.writing import write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError
from idcsched.framework.messages import _
from idcsched.framework.request import Request
from idcsched.ledger.taking import oversold
from idcsched.scheduling.deciding import MadeDecision, decide_request
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder

from .choices import choices
from .events import advance, placement_locked
from .lifecycle import HOLDING, Action, Move, State, next_state
from .models import Attempt, AttemptState, Event, Machine, MachineState, Placement
from .ordering import NoFeasible
from .orders import Order, order_of
from .quota import quota_check
from .release import capacity_given_back
from .reserving import move_to_idc
from .rollup import attempt_gone, settle
from .start import attempt_begin, machines_check

__all__ = ["placement_retry", "placement_try_next_idc", "placements_reconcile"]

MOST_ATTEMPTS = 5
"""The number of IDCs in which a placement is tried before it fails."""
FAILED_THERE = "provider_failed"
SETTLED = timedelta(seconds=5)
"""Placements that have changed within this time are left to the workers at their machines."""


def placement_try_next_idc(*, placement_id: UUID) -> bool:
    """If the last attempt has failed and its machines are gone, try the next best IDC, or fail; return whether so."""
    fallen = Placement.objects.filter(pk=placement_id, state=State.PROVISIONING, attempts__state=AttemptState.FAILED)
    return fallen.exists() and _fall(placement_id)


@write()
def placement_retry(*, placement: Placement, http_request_id: str) -> Placement:
    """Decide anew and have the machines started there. IDCs in which they have failed before may be tried again.

    Raises Conflict `invalid_transition`, NoFeasible `no_feasible_idc`, Conflict `quota_exceeded`, PluginFailed.
    """
    locked = placement_locked(placement.pk)
    next_state(locked.state, Move.RETRY)
    order = _order(locked)
    machines_check(order.request)
    live.catch_up()
    made = decide_request(
        request=order.request, tenant=order.tenant.code, actor=locked.actor, http_request_id=http_request_id
    )
    if not _take_first(locked, order, made, Move.RETRY, avoided={}):
        quota_check(order.tenant, order.use)
        recorder.hand_in(made.record)
        raise NoFeasible("no_feasible_idc", _("{summary}"), made)
    return locked


def placements_reconcile(*, now: datetime, at_most: int = 500) -> int:
    """Move on placements that stand still while no machine of theirs is in progress; return how many there were."""
    in_progress = Machine.objects.filter(
        attempt__placement=OuterRef("pk"),
        state__in=[MachineState.PENDING, MachineState.CREATING, MachineState.DELETING],
    )
    still = Placement.objects.filter(
        ~Exists(in_progress), state__in=[State.PROVISIONING, State.RELEASING], changed_at__lt=now - SETTLED
    )
    ids = list(still.order_by("changed_at").values_list("pk", flat=True)[:at_most])
    for placement_id in ids:
        _settle(placement_id)
        placement_try_next_idc(placement_id=placement_id)
    return len(ids)


@write()
def _settle(placement_id: UUID) -> None:
    settle(placement_locked(placement_id))


@write()
def _fall(placement_id: UUID) -> bool:
    placement = placement_locked(placement_id)
    if placement.state != State.PROVISIONING or attempt_gone(placement) is None:
        return False
    attempts = list(_attempts_made(placement))
    if len(attempts) >= MOST_ATTEMPTS or not _try_next_idc(placement, attempts):
        failures = [{"idc": attempt.idc.code, "error": attempt.error} for attempt in attempts]
        advance(placement, Move.FAIL, detail={"attempts": failures})
        capacity_given_back(placement)
    return True


def _try_next_idc(placement: Placement, attempts: Iterable[Attempt]) -> bool:
    """Decide again without the IDCs to be avoided; return whether another IDC could be taken."""
    order = _order(placement)
    avoided = {**dict.fromkeys(_idcs_of_the_group(placement), "spread"), **_failed_idcs(attempts)}
    try:
        made = decide_request(
            request=order.request,
            tenant=order.tenant.code,
            actor=placement.actor,
            http_request_id=str(placement.pk),
            picture=replace(live.catch_up(), kept=()),  # it has capacity already, so no waiting order goes first
        )
    except IdcschedError:  # such as a profile or region that is gone
        return False
    return _take_first(placement, order, made, Move.FALL, avoided)


def _take_first(placement: Placement, order: Order, made: MadeDecision, move: Move, avoided: dict[str, str]) -> bool:
    """Take the best choice that can be had and release what the placement held; return whether there was one."""
    left_idc = placement.idc.code if placement.idc and placement.state in HOLDING else None
    for (take,) in choices(order, made, at_most=MOST_ATTEMPTS, avoided=avoided):
        try:
            with transaction.atomic():
                move_to_idc(placement, take, move)
                if left_idc is not None:
                    capacity_given_back(placement, idc=left_idc)
                attempt_begin(placement)
        except IntegrityError as error:
            if not oversold(error):
                raise
            placement.refresh_from_db()
        else:
            return True
    return False


def _order(placement: Placement) -> Order:
    request = convert(placement.request, Request)
    extra: dict[str, Any] = {"action": Action.PROVISION, "group_id": placement.group_id}
    return order_of(request, tenant=placement.tenant.code, actor=placement.actor, **extra)


def _attempts_made(placement: Placement) -> QuerySet[Attempt]:
    """Return the attempts since the last order or retry to start machines."""
    begun = Event.objects.filter(placement=placement, move__in=[Move.PROVISION, Move.RETRY]).order_by("-version")
    since = begun.values_list("at", flat=True).first()
    return placement.attempts.select_related("idc").filter(started_at__gte=since or placement.created_at)


def _failed_idcs(attempts: Iterable[Attempt]) -> dict[str, str]:
    return {attempt.idc.code: FAILED_THERE for attempt in attempts}


def _idcs_of_the_group(placement: Placement) -> list[str]:
    """Return the IDCs of the other shares of a spread order, which this share must avoid."""
    first = placement.attempts.order_by("number").first()
    if placement.group_id is None or first is None:
        return []
    decision = Decision.objects.filter(pk=first.decision_id).first()
    if decision is None or not decision.request.get("spread"):
        return []
    others = Placement.objects.filter(group_id=placement.group_id, state__in=sorted(HOLDING)).exclude(pk=placement.pk)
    return list(others.values_list("idc__code", flat=True))
