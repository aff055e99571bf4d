"""Where machines can't be had in one IDC: the next best one, and in the end the placement has failed."""

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
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.schedule import Made, make

from .choices import choices
from .events import advance, held
from .lifecycle import HOLDING, Action, Move, State, next_state
from .models import Attempt, AttemptState, Event, Machine, MachineState, Placement
from .ordering import NoFeasible
from .orders import Order, order_of
from .quota import quota_check
from .release import capacity_given_back
from .rollup import attempt_gone, settle
from .start import attempt_begin, machines_check
from .taking import take_over

__all__ = ["placement_fall", "placement_retry", "placements_reconcile"]

MOST_ATTEMPTS = 5
"""In so many IDCs a placement is tried before it has failed."""
FAILED_THERE = "provider_failed"
SETTLED = timedelta(seconds=5)


def placement_fall(*, placement_id: UUID) -> bool:
    """If what was begun came to nothing and is removed, begin in the next best IDC, or fail; whether it was so."""
    fallen = Placement.objects.filter(pk=placement_id, state=State.PROVISIONING, attempts__state=AttemptState.FAILED)
    return fallen.exists() and _fall(placement_id)


@write()
def placement_retry(*, placement: Placement, http_request_id: str) -> Placement:
    """Decide anew and have the machines started there. What has failed before may be tried again.

    Raises Conflict `invalid_transition`, NoFeasible `no_feasible_idc`, Conflict `quota_exceeded`, PluginFailed.
    """
    found = held(placement.pk)
    next_state(found.state, Move.RETRY)
    order = _order(found)
    machines_check(order.request)
    live.catch_up()
    made = make(request=order.request, tenant=order.tenant.code, actor=found.actor, http_request_id=http_request_id)
    if not _taken(found, order, made, Move.RETRY, avoided={}):
        quota_check(order.tenant, order.use)
        recorder.hand_in(made.record)
        raise NoFeasible("no_feasible_idc", _("{summary}"), made)
    return found


def placements_reconcile(*, now: datetime, at_most: int = 500) -> int:
    """Move on those that stand still though nobody is at any of their machines; says how many there were."""
    at_work = Machine.objects.filter(
        attempt__placement=OuterRef("pk"),
        state__in=[MachineState.PENDING, MachineState.CREATING, MachineState.DELETING],
    )
    still = Placement.objects.filter(
        ~Exists(at_work), state__in=[State.PROVISIONING, State.RELEASING], changed_at__lt=now - SETTLED
    )
    ids = list(still.order_by("changed_at").values_list("pk", flat=True)[:at_most])
    for placement_id in ids:
        _settle(placement_id)
        placement_fall(placement_id=placement_id)
    return len(ids)


@write()
def _settle(placement_id: UUID) -> None:
    settle(held(placement_id))


@write()
def _fall(placement_id: UUID) -> bool:
    placement = held(placement_id)
    if placement.state != State.PROVISIONING or attempt_gone(placement) is None:
        return False
    tried = list(_tried(placement))
    if len(tried) >= MOST_ATTEMPTS or not _fallen(placement, tried):
        failures = [{"idc": attempt.idc.code, "error": attempt.error} for attempt in tried]
        advance(placement, Move.FAIL, detail={"attempts": failures})
        capacity_given_back(placement)
    return True


def _fallen(placement: Placement, tried: Iterable[Attempt]) -> bool:
    """Whether another IDC has taken it."""
    order = _order(placement)
    avoided = {**dict.fromkeys(_taken_by_the_group(placement), "spread"), **_failed(tried)}
    try:
        made = make(
            request=order.request,
            tenant=order.tenant.code,
            actor=placement.actor,
            http_request_id=str(placement.pk),
            picture=replace(live.catch_up(), kept=()),  # it holds what it needs already, only elsewhere
        )
    except IdcschedError:  # its profile or region is gone, say: there is nowhere to fall to
        return False
    return _taken(placement, order, made, Move.FALL, avoided)


def _taken(placement: Placement, order: Order, made: Made, move: Move, avoided: dict[str, str]) -> bool:
    """Down the ranking, past those that are avoided; what it held goes back once it has another place."""
    left = placement.idc.code if placement.idc and placement.state in HOLDING else None
    for (take,) in choices(order, made, at_most=MOST_ATTEMPTS, avoided=avoided):
        try:
            with transaction.atomic():
                take_over(placement, take, move)
                if left is not None:
                    capacity_given_back(placement, idc=left)
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
    given: dict[str, Any] = {"action": Action.PROVISION, "group_id": placement.group_id}
    return order_of(request, tenant=placement.tenant.code, actor=placement.actor, **given)


def _tried(placement: Placement) -> QuerySet[Attempt]:
    """The attempts since the placement was last told to begin."""
    begun = Event.objects.filter(placement=placement, move__in=[Move.PROVISION, Move.RETRY]).order_by("-version")
    since = begun.values_list("at", flat=True).first()
    return placement.attempts.select_related("idc").filter(started_at__gte=since or placement.created_at)


def _failed(tried: Iterable[Attempt]) -> dict[str, str]:
    return {attempt.idc.code: FAILED_THERE for attempt in tried}


def _taken_by_the_group(placement: Placement) -> list[str]:
    """Where the other shares of an order stand that was to be spread: there it must not go."""
    first = placement.attempts.order_by("number").first()
    if placement.group_id is None or first is None:
        return []
    decision = Decision.objects.filter(pk=first.decision_id).first()
    if decision is None or not decision.request.get("spread"):
        return []
    others = Placement.objects.filter(group_id=placement.group_id, state__in=sorted(HOLDING)).exclude(pk=placement.pk)
    return list(others.values_list("idc__code", flat=True))
