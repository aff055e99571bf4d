"""The documents of placements, events and callbacks in the API."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from idcsched.framework.answer import Bill, LineUse
from idcsched.framework.bills import billed
from idcsched.framework.decoding import convert
from idcsched.inventory.choices import Effect
from idcsched.inventory.models import Taint
from idcsched.inventory.taint_state import TaintState, in_state
from idcsched.scheduling.live import live

from .lifecycle import HOLDING, State
from .models import Attempt, AttemptState, Delivery, DeliveryState, Event, Machine, MachineState, Placement

__all__ = [
    "DeliveryDocument",
    "EventDocument",
    "PlacementDocument",
    "delivery_document",
    "event_document",
    "new_placement_document",
    "on_idcs_to_leave",
    "placement_bill",
    "placement_documents",
    "with_details",
]


class MachineDocument(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    state: str
    provider_id: str | None
    addresses: list[str]
    error: str | None


class AttemptDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An IDC in which the machines could not be started."""

    idc: str
    state: str
    error: str | None


class LacksDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The IDC where a waiting order lacks the least, and the code and the `detail` of its rejection."""

    idc: str
    code: str
    detail: dict[str, Any]


class WaitsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What an order waits for, as of the last try. `cures`: the kinds of change after which it is tried at once;
    `lacks`: null where several plugins reject each IDC, or the order asked for no explanation."""

    lacks: LacksDocument | None
    cures: list[str]
    tried_at: datetime | None
    next_try_at: datetime | None


class PlacementDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An order with the capacity that it holds. `held_back`: why a plugin's `permit` keeps it reserved; `bill`: what it
    adds to the bandwidth bill of a month, as it was decided; `replaces`: the placement that is released when this is
    confirmed; `waits`: null unless it waits."""

    id: str
    request_id: str | None
    tenant: str
    state: str
    needs_attention: bool
    idc: str | None
    lines: list[LineUse]
    bill: Bill | None
    group_id: str | None
    due_to_leave: str | None
    expires_at: datetime | None
    machines: list[MachineDocument]
    attempts: list[AttemptDocument]
    decision_id: str
    created_at: datetime
    version: int
    action: str
    held_back: str | None
    based_on: str | None
    replaces: str | None
    priority: int
    waits: WaitsDocument | None
    callback_url: str | None
    bill_unknown: str | msgspec.UnsetType = msgspec.UNSET


class EventDocument(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    at: datetime
    move: str
    state: str
    actor: str
    detail: dict[str, Any]


class DeliveryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A callback and whether it was received. `error`: why the last try failed; `payload`: the body, as it is sent."""

    id: str
    placement: str
    request_id: str | None
    tenant: str
    version: int
    type: str
    url: str
    state: str
    tries: int
    created_at: datetime
    tried_at: datetime | None
    next_try_at: datetime | None
    delivered_at: datetime | None
    error: str | None
    payload: msgspec.Raw


def with_details(rows: QuerySet[Placement]) -> QuerySet[Placement]:
    """Join and prefetch all that the documents need, in a fixed number of queries."""
    attempts = Attempt.objects.select_related("idc").prefetch_related("machines")
    return rows.select_related("tenant", "idc").prefetch_related(Prefetch("attempts", attempts))


def placement_documents(placements: Sequence[Placement]) -> list[PlacementDocument]:
    """Return the documents of rows read through `shown`."""
    leaving = _eviction_taints({placement.idc_id for placement in placements if placement.state in HOLDING})
    return [
        _document(placement, leaving.get(placement.idc_id), list(placement.attempts.all())) for placement in placements
    ]


def new_placement_document(placement: Placement) -> PlacementDocument:
    """Return the document of a new placement for which nothing is started yet, without a query."""
    idc = placement.idc.code if placement.idc else None
    return _document(placement, _eviction_taint_seen(idc) if idc else None, attempts=())


def event_document(event: Event) -> EventDocument:
    return EventDocument(
        version=event.version,
        at=event.at,
        move=event.move,
        state=event.state,
        actor=event.actor,
        detail=event.detail,
    )


def delivery_document(delivery: Delivery) -> DeliveryDocument:
    """Return the document of a callback that was read together with its placement and tenant."""
    return DeliveryDocument(
        id=str(delivery.pk),
        placement=str(delivery.placement_id),
        request_id=delivery.placement.request_id or None,
        tenant=delivery.placement.tenant.code,
        version=delivery.version,
        type=delivery.kind,
        url=delivery.url,
        state=delivery.state,
        tries=delivery.tries,
        created_at=delivery.created_at,
        tried_at=delivery.tried_at,
        next_try_at=delivery.next_try_at if delivery.state == DeliveryState.PENDING else None,
        delivered_at=delivery.delivered_at,
        error=delivery.error or None,
        payload=msgspec.Raw(delivery.payload.encode("utf-8")),
    )


def on_idcs_to_leave(now: datetime) -> Q:
    """Return the condition for placements that hold capacity in an IDC with a NoExecute taint in force."""
    taints = Taint.objects.filter(in_state(TaintState.IN_FORCE, now), effect=Effect.NO_EXECUTE)
    return Q(state__in=sorted(HOLDING), idc__in=taints.values("idc"))


def _eviction_taints(idcs: Iterable[int | None]) -> dict[int | None, str]:
    """Return the text of the NoExecute taint in force for each of the IDCs that has one, by primary key."""
    taints = Taint.objects.filter(
        in_state(TaintState.IN_FORCE, timezone.now()), idc__in=list(idcs), effect=Effect.NO_EXECUTE
    )
    return {idc: _taint_text(key, value) for idc, key, value in sorted(taints.values_list("idc_id", "key", "value"))}


def _eviction_taint_seen(idc: str) -> str | None:
    """Return the text of the IDC's NoExecute taint in force, if any, from the live picture."""
    picture = live.known
    if picture is None or idc not in picture.snapshot.idcs.row_of:
        return None
    row, now = picture.snapshot.idcs.row_of[idc], timezone.now().timestamp()
    taints = picture.snapshot.taints.on(row, Effect.NO_EXECUTE, now)
    return _taint_text(*taints[-1]) if taints else None


def _taint_text(key: str, value: str) -> str:
    return f"{key}={value}" if value else key


def _document(placement: Placement, leaving: str | None, attempts: Sequence[Attempt]) -> PlacementDocument:
    machines = list(attempts[-1].machines.all()) if attempts else []
    if attempts and attempts[-1].state == AttemptState.FAILED:  # show only the machines that still exist
        machines = [machine for machine in machines if machine.state != MachineState.DELETED]
    return PlacementDocument(
        id=str(placement.pk),
        request_id=placement.request_id or None,
        tenant=placement.tenant.code,
        state=placement.state,
        needs_attention=placement.needs_attention,
        idc=placement.idc.code if placement.idc else None,
        lines=[LineUse(**line) for line in placement.lines],
        **placement_bill(placement),
        group_id=str(placement.group_id) if placement.group_id else None,
        due_to_leave=leaving if placement.state in HOLDING else None,
        expires_at=placement.expires_at,
        machines=[_machine(machine) for machine in machines],
        attempts=[
            AttemptDocument(idc=attempt.idc.code, state=attempt.state, error=attempt.error or None)
            for attempt in attempts
            if attempt.state == AttemptState.FAILED
        ],
        decision_id=str(placement.decision_id),
        created_at=placement.created_at,
        version=placement.version,
        action=placement.action,
        held_back=placement.held_back or None,
        based_on=str(placement.based_on) if placement.based_on else None,
        replaces=str(placement.replaces_id) if placement.replaces_id else None,
        priority=placement.priority,
        waits=_waits(placement) if placement.state == State.WAITING else None,
        callback_url=placement.callback_url or None,
    )


def _waits(placement: Placement) -> WaitsDocument:
    return WaitsDocument(
        lacks=LacksDocument(**placement.lacks) if placement.lacks else None,
        cures=placement.cures,
        tried_at=placement.tried_at,
        next_try_at=placement.next_try_at,
    )


def placement_bill(placement: Placement) -> dict[str, Any]:
    """Return what the order adds to the bill, as it was decided, or why that is not known, as fields of a document."""
    return billed(convert(placement.bill, Bill) if isinstance(placement.bill, dict) else placement.bill)


def _machine(machine: Machine) -> MachineDocument:
    return MachineDocument(
        id=str(machine.pk),
        name=machine.name,
        state=machine.state,
        provider_id=machine.provider_id or None,
        addresses=machine.addresses,
        error=machine.error or None,
    )
