"""Taking a candidate: placement, decision, events and claims are written in one transaction, or nothing is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.audit.statements import Statement, insertion, run_together
from idcsched.framework.normalize import DECIMALS
from idcsched.framework.request import Request
from idcsched.inventory.models import Idc
from idcsched.ledger.taking import Stay, taking
from idcsched.scheduling.models import Decision
from idcsched.scheduling.schedule import Made

from .callbacks import announced, callbacks_of
from .candidates import Candidate
from .events import advance, first_events
from .lifecycle import Action, Move
from .models import Event, Placement
from .quota import quota_respected

__all__ = ["Order", "order_of", "take", "take_for", "wait"]

TTL_SECONDS = 600
BUSINESS = "business"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is wanted by whom, whatever decision it will be."""

    request: Request
    tenant: Tenant
    actor: str
    action: Action
    based_on: UUID | None = None
    group_id: UUID | None = None

    @property
    def business(self) -> str:
        return (self.request.labels or {}).get(BUSINESS, "")

    @property
    def machines(self) -> int:
        return sum(1 if machine.count is None else machine.count for machine in self.request.machines or ())

    @property
    def bandwidth_mbps(self) -> float:
        return round(self.request.bandwidth, DECIMALS)

    @property
    def ttl(self) -> timedelta:
        return timedelta(seconds=TTL_SECONDS if self.request.ttl_seconds is None else self.request.ttl_seconds)


def order_of(request: Request, *, tenant: str, actor: str, **extra: Any) -> Order:
    """What `request` wants: to reserve, unless it says `provision`."""
    action = Action.PROVISION if request.action == "provision" else Action.RESERVE
    found = Tenant.objects.get(code=tenant)
    return Order(request=request, tenant=found, actor=actor, **{"action": action, **extra})


def take(order: Order, made: Made, candidate: Candidate, *, because: Sequence[str] = ()) -> Placement:
    """A new placement with all that it takes of the candidate; `because` says why better ones were passed over.

    Raises IntegrityError where something is no longer there (see `ledger.taking.oversold`), Conflict `quota_exceeded`.
    """
    placement = _placement(order, made)
    found = _Taking.of(order, made, candidate, placement.pk, because)
    for name, value in found.fields.items():
        setattr(placement, name, value)
    events = first_events(placement, {Move.RESERVE: found.detail})
    with _quota_kept(order):
        run_together([*found.decided, insertion([placement]), *_told(placement, events), *found.claimed])
    announced(placement)
    return placement


def take_for(
    placement: Placement, order: Order, made: Made, candidate: Candidate, *, because: Sequence[str] = ()
) -> None:
    """The same for a placement that has waited, and is held; raises what `take` raises."""
    found = _Taking.of(order, made, candidate, placement.pk, because)
    with transaction.atomic(), _quota_kept(order):
        run_together([*found.decided, *found.claimed])
        advance(placement, Move.RESERVE, detail=found.detail, **found.fields, next_try_at=None)


def wait(order: Order, made: Made, *, seconds: float, cures: Sequence[str]) -> Placement:
    """A new placement that holds nothing, and waits for it."""
    placement = _placement(order, made)
    placement.expires_at = placement.created_at + timedelta(seconds=seconds)
    placement.tried_at, placement.cures = placement.created_at, list(cures)
    events = first_events(placement, {Move.WAIT: {"cures": placement.cures}})
    decision = _decision(order, made, placement.pk, taken=None)
    run_together([insertion([decision]), insertion([placement]), *_told(placement, events)])
    announced(placement)
    return placement


def _told(placement: Placement, events: Sequence[Event]) -> list[Statement]:
    """The events, and the callbacks that tell of them."""
    callbacks = callbacks_of(placement, events)
    return [insertion(rows) for rows in (events, callbacks) if rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taking:
    """What taking a candidate means to the placement's row, to its event, and to the tables below."""

    fields: dict[str, Any]
    detail: dict[str, Any]
    decided: list[Any]
    claimed: list[Any]

    @classmethod
    def of(cls, order: Order, made: Made, candidate: Candidate, placement: UUID, because: Sequence[str]) -> "_Taking":
        now = timezone.now()
        taken = {"idc": candidate.idc, "rank": candidate.rank, "because": because[-1] if because else None}
        stay = Stay(
            placement=placement,
            idc=candidate.idc,
            tenant=order.tenant.code,
            business=order.business,
            machines=order.machines,
            claims=candidate.claims,
        )
        return cls(
            fields=_fields(order, made, candidate, now),
            detail={**taken, "claims": [msgspec.to_builtins(claim) for claim in candidate.claims]},
            decided=[insertion([_decision(order, made, placement, taken=taken)])],
            claimed=taking([stay], at=now),
        )


def _fields(order: Order, made: Made, candidate: Candidate, now: datetime) -> dict[str, Any]:
    need = order.request.bandwidth
    return {
        "idc_id": Idc.objects.values_list("pk", flat=True).get(code=candidate.idc),
        "lines": [{"line": code, "isp": isp, "bandwidth_mbps": need} for code, isp in candidate.lines],
        "decision_id": UUID(made.scheduled.decision_id),
        "expires_at": now + order.ttl,
        "held_back": candidate.held_back,
    }


def _placement(order: Order, made: Made) -> Placement:
    now = timezone.now()
    return Placement(
        id=uuid7(),
        tenant=order.tenant,
        actor=order.actor,
        request_id=order.request.request_id or "",
        action=order.action,
        request=msgspec.to_builtins(order.request),
        business=order.business,
        machine_count=order.machines,
        bandwidth_mbps=order.bandwidth_mbps,
        group_id=order.group_id,
        decision_id=UUID(made.scheduled.decision_id),
        based_on=order.based_on,
        priority=order.request.priority or 0,
        ttl_seconds=int(order.ttl.total_seconds()),
        callback_url=order.request.callback_url or "",
        created_at=now,
        changed_at=now,
    )


def _decision(order: Order, made: Made, placement: UUID, *, taken: dict[str, Any] | None) -> Decision:
    row = made.record.row({order.tenant.code: order.tenant.pk})
    row.placement, row.taken = placement, taken
    return row


@contextmanager
def _quota_kept(order: Order) -> Iterator[None]:
    """Where the tenant has a quota, a transaction in which it is known to be kept; raises Conflict `quota_exceeded`."""
    if order.tenant.quota_bandwidth_mbps is None and order.tenant.quota_machines is None:
        yield
        return
    with transaction.atomic():
        quota_respected(tenant=order.tenant.code, bandwidth_mbps=order.bandwidth_mbps, machines=order.machines)
        yield
