"""Taking a candidate: placement, decision, events and claims are written in one transaction, or nothing is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
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

from .beginning import machines_check, provision_begin
from .callbacks import announced, callbacks_of
from .candidates import Candidate
from .events import advance, first_events, held
from .lifecycle import HOLDING, Action, Move
from .models import Event, Placement
from .quota import quota_respected

__all__ = ["BUSINESS", "Order", "Take", "awaits_set", "order_of", "take_for", "take_over", "take_together", "wait"]

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
        return self.request.machine_count

    @property
    def bandwidth_mbps(self) -> float:
        return round(self.request.bandwidth, DECIMALS)

    @property
    def priority(self) -> int:
        return self.request.priority or 0

    @property
    def ttl(self) -> timedelta:
        return timedelta(seconds=TTL_SECONDS if self.request.ttl_seconds is None else self.request.ttl_seconds)


def order_of(request: Request, *, tenant: str, actor: str, **extra: Any) -> Order:
    """What `request` wants: to reserve, unless it says `provision`. Raises Invalid where no machines can be started."""
    action = Action.PROVISION if request.action == "provision" else Action.RESERVE
    found = Tenant.objects.get(code=tenant)
    order = Order(request=request, tenant=found, actor=actor, **{"action": action, **extra})
    if order.action == Action.PROVISION:
        machines_check(request)
    return order


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What is to be taken for whom: by that decision, of that candidate; `because` says why better ones were not."""

    order: Order
    made: Made
    candidate: Candidate
    because: Sequence[str] = ()

    @property
    def starts(self) -> bool:
        """Whether its machines are to be started at once."""
        return self.order.action == Action.PROVISION and not self.candidate.held_back


def take_together(takes: Sequence[Take]) -> list[Placement]:
    """A new placement for each, with all that it takes of its candidate, all or none.

    Raises IntegrityError where something is no longer there (see `ledger.taking.oversold`), Conflict `quota_exceeded`.
    """
    now, idcs = timezone.now(), _keys_of(takes)
    placements = [_placement(each.order, each.made) for each in takes]
    events = [
        event
        for each, placement in zip(takes, placements, strict=True)
        for event in _reserved(placement, each, idcs, now)
    ]
    with _started_with(takes, placements), _quotas_kept(takes):
        run_together(
            [
                insertion(_decisions(takes, placements)),
                insertion(placements),
                *_told(events),
                *taking(
                    [
                        _stay(each, placement.pk, behind=each.order.priority)
                        for each, placement in zip(takes, placements, strict=True)
                    ],
                    at=now,
                ),
            ]
        )
    for placement in placements:
        announced(placement)
    return placements


def take_for(placement: Placement, takes: Sequence[Take]) -> None:
    """The same for a placement that has waited, and is held: it takes the first, new ones of its group the others.

    What is kept for those that wait is there for it.
    """
    now, idcs = timezone.now(), _keys_of(takes)
    first, others = takes[0], takes[1:]
    rest = [_placement(each.order, each.made) for each in others]
    events = [event for each, row in zip(others, rest, strict=True) for event in _reserved(row, each, idcs, now)]
    everybody = [placement, *rest]
    with transaction.atomic(), _started_with(takes, everybody), _quotas_kept(takes):
        run_together(
            [
                insertion(_decisions(takes, everybody)),
                *([insertion(rest)] if rest else []),
                *_told(events),
                *taking([_stay(each, row.pk) for each, row in zip(takes, everybody, strict=True)], at=now),
            ]
        )
        fields = {**_ordered(first.order), **_fields(first, idcs, now), "next_try_at": None}
        advance(placement, Move.RESERVE, detail=_detail(first), **fields)
    for row in rest:
        announced(row)


def take_over(placement: Placement, each: Take, move: Move) -> None:
    """The same for one whose machines are to stand somewhere else now, and is held; what it holds it goes on holding.

    Its tenant's quota counts unless the placement is counted already; else it also stands behind those that wait.
    """
    now, idcs, counted = timezone.now(), _keys_of([each]), placement.state in HOLDING
    stay = _stay(each, placement.pk, behind=None if counted else each.order.priority)
    with transaction.atomic(), _quotas_kept([] if counted else [each]):
        run_together([insertion(_decisions([each], [placement])), *taking([stay], at=now)])
        fields = {**_fields(each, idcs, now), "expires_at": None, "held_back": ""}
        advance(placement, move, detail=_detail(each), **fields)


def wait(order: Order, made: Made, *, seconds: float, cures: Sequence[str], awaits: Collection[str]) -> Placement:
    """A new placement that holds nothing, and waits for it: for room in those IDCs, or for another cure."""
    placement = _placement(order, made)
    placement.expires_at = placement.created_at + timedelta(seconds=seconds)
    placement.tried_at, placement.cures = placement.created_at, list(cures)
    events = first_events(placement, {Move.WAIT: {"cures": placement.cures}})
    decision = _decision(order, made, placement.pk, taken=None)
    with transaction.atomic():
        run_together([insertion([decision]), insertion([placement]), *_told(events)])
        awaits_set(placement, awaits)
    announced(placement)
    return placement


def awaits_set(placement: Placement, idcs: Collection[str]) -> None:
    """What is given back in these IDCs is kept for it from now on."""
    placement.awaits.set(Idc.objects.filter(code__in=idcs).values_list("pk", flat=True))


def _told(events: Sequence[Event]) -> list[Statement]:
    """The events, and the callbacks that tell of them."""
    callbacks = [callback for event in events for callback in callbacks_of(event.placement, [event])]
    return [insertion(rows) for rows in (events, callbacks) if rows]


def _keys_of(takes: Sequence[Take]) -> dict[str, int]:
    codes = {each.candidate.idc for each in takes}
    return dict(Idc.objects.filter(code__in=codes).values_list("code", "pk"))


def _reserved(placement: Placement, each: Take, idcs: Mapping[str, int], now: datetime) -> list[Event]:
    """What the new placement has of its candidate, and the events that say so."""
    for name, value in _fields(each, idcs, now).items():
        setattr(placement, name, value)
    return first_events(placement, {Move.RESERVE: _detail(each)})


def _detail(each: Take) -> dict[str, Any]:
    return {**_taken(each), "claims": [msgspec.to_builtins(claim) for claim in each.candidate.claims]}


def _taken(each: Take) -> dict[str, Any]:
    because = each.because[-1] if each.because else None
    return {"idc": each.candidate.idc, "rank": each.candidate.rank, "because": because}


def _stay(each: Take, placement: UUID, *, behind: int | None = None) -> Stay:
    return Stay(
        placement=placement,
        idc=each.candidate.idc,
        tenant=each.order.tenant.code,
        business=each.order.business,
        machines=each.order.machines,
        claims=each.candidate.claims,
        behind=behind,
    )


def _fields(each: Take, idcs: Mapping[str, int], now: datetime) -> dict[str, Any]:
    order, candidate = each.order, each.candidate
    need = order.request.bandwidth
    return {
        "idc_id": idcs.get(candidate.idc),
        "lines": [{"line": code, "isp": isp, "bandwidth_mbps": need} for code, isp in candidate.lines],
        "decision_id": UUID(each.made.scheduled.decision_id),
        "expires_at": now + order.ttl,
        "held_back": candidate.held_back,
    }


def _ordered(order: Order) -> dict[str, Any]:
    """What an order says of its placement; of one that is spread, each has its share."""
    return {
        "request": msgspec.to_builtins(order.request),
        "machine_count": order.machines,
        "bandwidth_mbps": order.bandwidth_mbps,
        "group_id": order.group_id,
    }


def _placement(order: Order, made: Made) -> Placement:
    now = timezone.now()
    return Placement(
        id=uuid7(),
        tenant=order.tenant,
        actor=order.actor,
        request_id=order.request.request_id or "",
        action=order.action,
        business=order.business,
        decision_id=UUID(made.scheduled.decision_id),
        based_on=order.based_on,
        priority=order.priority,
        ttl_seconds=int(order.ttl.total_seconds()),
        callback_url=order.request.callback_url or "",
        created_at=now,
        changed_at=now,
        **_ordered(order),
    )


def _decisions(takes: Sequence[Take], placements: Sequence[Placement]) -> list[Decision]:
    """A row for each decision, with the first placement that came of it and all that was taken by it."""
    rows: dict[str, Decision] = {}
    for each, placement in zip(takes, placements, strict=True):
        row = rows.get(each.made.scheduled.decision_id)
        if row is None:
            rows[each.made.scheduled.decision_id] = _decision(each.order, each.made, placement.pk, taken=_taken(each))
        elif row.taken is not None:
            row.taken.setdefault("others", []).append(_taken(each))
    return list(rows.values())


def _decision(order: Order, made: Made, placement: UUID, *, taken: dict[str, Any] | None) -> Decision:
    row = made.record.row({order.tenant.code: order.tenant.pk})
    row.placement, row.taken = placement, taken
    return row


@contextmanager
def _started_with(takes: Sequence[Take], placements: Sequence[Placement]) -> Iterator[None]:
    """What is taken inside and is to be started at once is started in the same transaction."""
    starting = [placement for each, placement in zip(takes, placements, strict=True) if each.starts]
    with transaction.atomic() if starting else nullcontext():
        yield
        for placement in starting:
            begun = held(placement.pk)
            provision_begin(begun)
            placement.__dict__.update(begun.__dict__)


@contextmanager
def _quotas_kept(takes: Sequence[Take]) -> Iterator[None]:
    """Where a tenant has a quota, a transaction in which it is known to be kept; raises Conflict `quota_exceeded`."""
    orders: dict[str, list[Order]] = {}
    for each in takes:
        tenant = each.order.tenant
        if tenant.quota_bandwidth_mbps is not None or tenant.quota_machines is not None:
            orders.setdefault(tenant.code, []).append(each.order)
    if not orders:
        yield
        return
    with transaction.atomic():
        for code in sorted(orders):
            bandwidth = round(sum(order.bandwidth_mbps for order in orders[code]), DECIMALS)
            machines = sum(order.machines for order in orders[code])
            quota_respected(tenant=code, bandwidth_mbps=bandwidth, machines=machines)
        yield
