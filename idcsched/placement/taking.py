"""Taking a candidate: placement, decision, events and claims are written in one transaction, or nothing is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from idcsched.inventory.models import Idc
from idcsched.ledger.taking import Stay, claims_take, oversold
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.schedule import Made
from idcsched.scheduling.snapshot_archive import pictures

from .callbacks import announced, callbacks_of
from .events import advance, first_events, held
from .lifecycle import HOLDING, Move
from .models import Delivery, Event, Placement
from .orders import Order, Take
from .quota import NOTHING, has_quota, quota_respected
from .start import provision_begin
from .view import tenancy_of

__all__ = ["awaits_set", "take_for", "take_over", "take_together", "wait"]

NO_LINES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What is written of one order: the new rows, and what its placements take."""

    takes: Sequence[Take]
    taking: Sequence[UUID]
    decisions: Sequence[Decision]
    stays: Sequence[Stay]
    placements: Sequence[Placement] = ()
    events: Sequence[Event] = ()


def take_together(takes: Sequence[Take]) -> list[Placement]:
    """A new placement for each, with all that it takes of its candidate, all or none.

    Raises IntegrityError where something is no longer there (see `ledger.taking.oversold`), Conflict `quota_exceeded`.
    """
    try:
        return _taken_together(takes)
    except IntegrityError as error:
        if oversold(error):
            raise
        pictures.forget()  # a database that was emptied or restored has none of those that this process stored
        return _taken_together(takes)


def _taken_together(takes: Sequence[Take]) -> list[Placement]:
    placements = [_placement(each.order, each.made) for each in takes]
    with _writing(_rows(takes, placements, new=placements, behind=True)):
        _start(takes, placements)
    for placement in placements:
        announced(placement)
    return placements


def take_for(placement: Placement, takes: Sequence[Take]) -> None:
    """The same for a placement that has waited, and is held: it takes the first, new ones of its group the others.

    What is kept for those that wait is there for it. Where this raises, read the placement again.
    """
    now, first = timezone.now(), takes[0]
    rest = [_placement(each.order, each.made) for each in takes[1:]]
    everybody = [placement, *rest]
    with _writing(_rows(takes, everybody, new=rest)):
        fields = {**_ordered(first.order), **_fields(first, now), "next_try_at": None}
        advance(placement, Move.RESERVE, detail=_detail(first), **fields)
        _start(takes, everybody)
    for row in rest:
        announced(row)


def take_over(placement: Placement, each: Take, move: Move) -> None:
    """The same for one whose machines are to stand somewhere else now, and is held; what it holds it goes on holding.

    Its tenant's quota counts unless the placement is counted already; else it also stands behind those that wait.
    Where this raises, read the placement again.
    """
    counted = placement.state in HOLDING
    with _writing(_rows([each], [placement], new=[], behind=not counted), counted=counted):
        fields = {**_fields(each, timezone.now()), "expires_at": None, "held_back": ""}
        advance(placement, move, detail=_detail(each), **fields)


def wait(order: Order, made: Made, *, seconds: float, cures: Sequence[str], awaits: Collection[str]) -> Placement:
    """A new placement that holds nothing, and waits for it: for room in those IDCs, or for another cure."""
    placement = _placement(order, made)
    placement.expires_at = placement.created_at + timedelta(seconds=seconds)
    placement.tried_at, placement.cures = placement.created_at, list(cures)
    events = first_events(placement, {Move.WAIT: {"cures": placement.cures}})
    decision = _decision(order, made, placement.pk, taken=None)
    with transaction.atomic():
        _record([decision], [placement], events)
        awaits_set(placement, awaits)
    announced(placement)
    return placement


def awaits_set(placement: Placement, idcs: Collection[str]) -> None:
    """What is given back in these IDCs is kept for it from now on."""
    placement.awaits.set(Idc.objects.filter(code__in=idcs).values_list("pk", flat=True))


@contextmanager
def _writing(rows: _Rows, *, counted: bool = False) -> Iterator[None]:
    """One transaction: the rows, what the caller writes inside, and last what others wait for: quotas and the ledger.

    `counted`: the tenants' quotas know of the placements already.
    """
    with transaction.atomic():
        _record(rows.decisions, rows.placements, rows.events)
        yield
        if not counted:
            _quotas_respect(rows)
        mark = claims_take(rows.stays, at=timezone.now())
        tenancies = [tenancy_of(each) for each in rows.takes]
        transaction.on_commit(lambda: live.took(mark, tenancies))


def _record(decisions: Sequence[Decision], placements: Sequence[Placement], events: Sequence[Event]) -> None:
    """Insert them with what the decisions saw, and the callbacks that tell of the events."""
    pictures.store(row.picture for row in decisions if row.picture)
    Decision.objects.bulk_create(decisions)
    Placement.objects.bulk_create(placements)
    Event.objects.bulk_create(events)
    Delivery.objects.bulk_create(callbacks_of(events))


def _rows(
    takes: Sequence[Take],
    placements: Sequence[Placement],
    *,
    new: Sequence[Placement],
    behind: bool = False,
) -> _Rows:
    """What is written of each take for its placement; of the last ones, which are new, also how they begin.

    `behind`: they leave alone what is kept for orders that wait, and are as urgent.
    """
    now = timezone.now()
    begun = zip(takes[len(takes) - len(new) :], new, strict=True)
    return _Rows(
        takes=takes,
        taking=[placement.pk for placement in placements],
        decisions=_decisions(takes, placements),
        stays=[
            _stay(each, placement.pk, behind=each.order.priority if behind else None)
            for each, placement in zip(takes, placements, strict=True)
        ],
        placements=new,
        events=[event for each, placement in begun for event in _reserved(placement, each, now)],
    )


def _reserved(placement: Placement, each: Take, now: datetime) -> list[Event]:
    """What the new placement has of its candidate, and the events that say so."""
    fields = _fields(each, now)
    for name, value in fields.items():
        setattr(placement, name, value)
    placement.idc = each.made.picture.rows.idc(fields["idc_id"], each.candidate.idc)
    return first_events(placement, {Move.RESERVE: _detail(each)})


def _detail(each: Take) -> dict[str, Any]:
    return {**_taken(each), "claims": [msgspec.to_builtins(claim) for claim in each.candidate.claims]}


def _taken(each: Take) -> dict[str, Any]:
    return {
        "idc": each.candidate.idc,
        "rank": each.candidate.rank,
        "because": each.because,
        "passed_over": msgspec.to_builtins(each.passed_over),
    }


def _stay(each: Take, placement: UUID, *, behind: int | None = None) -> Stay:
    picture, idc, claims = each.made.picture, each.candidate.idc, each.candidate.claims
    key, of_lines = picture.idc_keys[idc], any(claim.line for claim in claims)
    return Stay(
        placement=placement,
        idc=idc,
        idc_key=key,
        line_keys=picture.rows.lines(key) if of_lines else NO_LINES,
        tenant_key=each.order.tenant.pk,
        business=each.order.business,
        machines=each.order.machines,
        claims=claims,
        behind=behind,
    )


def _fields(each: Take, now: datetime) -> dict[str, Any]:
    order, candidate = each.order, each.candidate
    need = order.request.bandwidth
    return {
        "idc_id": each.made.picture.idc_keys[candidate.idc],
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
    row = made.record.row({order.tenant.code: order.tenant.pk}, pictures)
    row.placement, row.taken = placement, taken
    return row


def _start(takes: Sequence[Take], placements: Sequence[Placement]) -> None:
    """Have those started whose machines are to be started at once."""
    for each, placement in zip(takes, placements, strict=True):
        if each.starts:
            begun = held(placement.pk)
            provision_begin(begun)
            placement.__dict__.update(begun.__dict__)


def _quotas_respect(rows: _Rows) -> None:
    """Raise Conflict `quota_exceeded` where what is taken is more than a tenant may hold."""
    limited = [each.order for each in rows.takes if has_quota(each.order.tenant)]
    for code in sorted({order.tenant.code for order in limited}):
        need = sum((order.use for order in limited if order.tenant.code == code), NOTHING)
        quota_respected(code, need, placements=rows.taking)
