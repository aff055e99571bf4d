"""Takes candidates: placements, decisions, events and claims are written in one transaction, all or none."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from idcsched.inventory.models import Idc
from idcsched.ledger.taking import Entry, claims_take
from idcsched.scheduling.deciding import MadeDecision
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.services import decisions_insert, with_pictures
from idcsched.scheduling.snapshot_archive import pictures

from .callbacks import announce_on_commit, callbacks_of
from .events import advance, first_events, placement_locked
from .lifecycle import HOLDING, Move
from .models import Delivery, Event, Placement
from .orders import Order, Take
from .quota import NOTHING, has_quota, quota_respected
from .start import provision_begin

__all__ = ["awaits_set", "move_to_idc", "reserve_waiting", "take_together", "wait"]

NO_LINES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The rows to be written for an order, and the entries of its placements in the ledger."""

    takes: Sequence[Take]
    placement_ids: Sequence[UUID]
    decisions: Sequence[Decision]
    entries: Sequence[Entry]
    placements: Sequence[Placement] = ()
    events: Sequence[Event] = ()


def take_together(takes: Sequence[Take]) -> list[Placement]:
    """Write a new placement for each take, with all that it takes of its candidate, all or none.

    Raises IntegrityError where capacity has run out (see `ledger.taking.oversold`), Conflict `quota_exceeded`.
    """

    def written() -> list[Placement]:
        placements = [_placement(take.order, take.made) for take in takes]
        with _order_transaction(_rows(takes, placements, new=placements, behind=True)):
            _start(takes, placements)
        return placements

    placements = with_pictures(written)
    for placement in placements:
        announce_on_commit(placement)
    return placements


def reserve_waiting(placement: Placement, takes: Sequence[Take]) -> None:
    """Reserve for a waiting placement, which must be locked (`placement_locked`).

    The placement gets the first take; for each of the others a new placement of its group is written. Capacity kept for
    waiting orders may be taken. Where this raises, read the placement again.
    """
    now, first = timezone.now(), takes[0]
    rest = [_placement(take.order, take.made) for take in takes[1:]]
    all_placements = [placement, *rest]
    with _order_transaction(_rows(takes, all_placements, new=rest)):
        fields = {**_order_fields(first.order), **_candidate_fields(first, now), "next_try_at": None}
        advance(placement, Move.RESERVE, detail=_event_detail(first), **fields)
        _start(takes, all_placements)
    for row in rest:
        announce_on_commit(row)


def move_to_idc(placement: Placement, take: Take, move: Move) -> None:
    """Move a placement, which must be locked, to another IDC; the capacity that it holds so far is not released.

    A placement that holds nothing yet counts against its tenant's quota and takes nothing kept for waiting orders.
    Where this raises, read the placement again.
    """
    counted = placement.state in HOLDING
    with _order_transaction(_rows([take], [placement], new=[], behind=not counted), counted=counted):
        fields = {**_candidate_fields(take, timezone.now()), "expires_at": None, "held_back": ""}
        advance(placement, move, detail=_event_detail(take), **fields)


def wait(
    order: Order,
    made: MadeDecision,
    *,
    seconds: float,
    cures: Sequence[str],
    lacks: dict[str, Any] | None,
    awaits: Collection[str],
) -> Placement:
    """Write a new placement that waits for capacity in the IDCs `awaits`, or for another cure, and holds nothing."""
    placement = _placement(order, made)
    placement.expires_at = placement.created_at + timedelta(seconds=seconds)
    placement.tried_at, placement.cures = placement.created_at, list(cures)
    placement.lacks = lacks
    events = first_events(placement, {Move.WAIT: {"cures": placement.cures}})
    decision = _decision(order, made, placement.pk, taken=None)

    def written() -> None:
        with transaction.atomic():
            _record([decision], [placement], events)
            awaits_set(placement, awaits)

    with_pictures(written)
    announce_on_commit(placement)
    return placement


def awaits_set(placement: Placement, idcs: Collection[str]) -> None:
    """Set the IDCs in which released capacity is kept for the placement."""
    placement.awaits.set(Idc.objects.filter(code__in=idcs).values_list("pk", flat=True))


@contextmanager
def _order_transaction(rows: _Rows, *, counted: bool = False) -> Iterator[None]:
    """Write the rows, then the block's own writes, and last the rows that orders contend for, in one transaction.

    These are the tenants' quotas and the ledger. `counted`: the placements count against the quotas already.
    """
    with transaction.atomic():
        _record(rows.decisions, rows.placements, rows.events)
        yield
        if not counted:
            _quotas_respect(rows)
        news = claims_take(rows.entries, at=timezone.now())
        transaction.on_commit(lambda: live.lay(news), robust=True)


def _record(decisions: Sequence[Decision], placements: Sequence[Placement], events: Sequence[Event]) -> None:
    """Insert decisions with their pictures, placements, and events with their callbacks."""
    decisions_insert(decisions)
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
    """Return the rows to be written. The last of the placements are `new`: they are inserted with their first events.

    `behind`: the takes get nothing that is kept for waiting orders of the same or a higher priority.
    """
    now = timezone.now()
    new_takes = zip(takes[len(takes) - len(new) :], new, strict=True)
    return _Rows(
        takes=takes,
        placement_ids=[placement.pk for placement in placements],
        decisions=_decisions(takes, placements),
        entries=[
            _entry(take, placement.pk, behind=take.order.priority if behind else None)
            for take, placement in zip(takes, placements, strict=True)
        ],
        placements=new,
        events=[event for take, placement in new_takes for event in _reserve(placement, take, now)],
    )


def _reserve(placement: Placement, take: Take, now: datetime) -> list[Event]:
    """Set the new placement's fields by its candidate, and return its first events."""
    fields = _candidate_fields(take, now)
    for name, value in fields.items():
        setattr(placement, name, value)
    placement.idc = take.made.picture.rows.idc(fields["idc_id"], take.candidate.idc)
    return first_events(placement, {Move.RESERVE: _event_detail(take)})


def _event_detail(take: Take) -> dict[str, Any]:
    promised = {} if take.promised is None else {"promised": take.promised}
    return {**_choice(take), "claims": [msgspec.to_builtins(claim) for claim in take.candidate.claims], **promised}


def _choice(take: Take) -> dict[str, Any]:
    """Return which candidate was taken, and why, as decisions and events record it."""
    return {
        "idc": take.candidate.idc,
        "rank": take.candidate.rank,
        "because": take.because,
        "passed_over": msgspec.to_builtins(take.passed_over),
    }


def _entry(take: Take, placement: UUID, *, behind: int | None = None) -> Entry:
    picture, allocation = take.made.picture, take.allocation
    key, on_lines = picture.idc_keys[allocation.idc], any(claim.line for claim in allocation.claims)
    return Entry(
        placement=placement,
        allocation=allocation,
        idc_key=key,
        line_keys=picture.rows.lines(key) if on_lines else NO_LINES,
        tenant_key=take.order.tenant.pk,
        behind=behind,
    )


def _candidate_fields(take: Take, now: datetime) -> dict[str, Any]:
    order, candidate = take.order, take.candidate
    need = order.request.bandwidth
    return {
        "idc_id": take.made.picture.idc_keys[candidate.idc],
        "lines": [{"line": code, "isp": isp, "bandwidth_mbps": need} for code, isp in candidate.lines],
        "bill": msgspec.to_builtins(candidate.bill),
        "decision_id": UUID(take.made.scheduled.decision_id),
        "expires_at": now + order.ttl,
        "held_back": candidate.held_back,
    }


def _order_fields(order: Order) -> dict[str, Any]:
    """Return the placement's fields that come from the order; of a spread order each placement has its share."""
    return {
        "request": msgspec.to_builtins(order.request),
        "machine_count": order.machines,
        "bandwidth_mbps": order.bandwidth_mbps,
        "group_id": order.group_id,
    }


def _placement(order: Order, made: MadeDecision) -> Placement:
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
        replaces_id=order.replaces,
        priority=order.priority,
        ttl_seconds=int(order.ttl.total_seconds()),
        callback_url=order.request.callback_url or "",
        created_at=now,
        changed_at=now,
        **_order_fields(order),
    )


def _decisions(takes: Sequence[Take], placements: Sequence[Placement]) -> list[Decision]:
    """Return one row for each decision, with its first placement and all candidates taken by it."""
    rows: dict[str, Decision] = {}
    for take, placement in zip(takes, placements, strict=True):
        row = rows.get(take.made.scheduled.decision_id)
        if row is None:
            rows[take.made.scheduled.decision_id] = _decision(take.order, take.made, placement.pk, taken=_choice(take))
        elif row.taken is not None:
            row.taken.setdefault("others", []).append(_choice(take))
    return list(rows.values())


def _decision(order: Order, made: MadeDecision, placement: UUID, *, taken: dict[str, Any] | None) -> Decision:
    row = made.record.row({order.tenant.code: order.tenant.pk}, pictures)
    row.placement, row.taken = placement, taken
    return row


def _start(takes: Sequence[Take], placements: Sequence[Placement]) -> None:
    """Start the machines of those takes whose orders ask for them at once."""
    for take, placement in zip(takes, placements, strict=True):
        if take.starts:
            locked = placement_locked(placement.pk)
            provision_begin(locked)
            placement.__dict__.update(locked.__dict__)  # so that the caller sees the new state


def _quotas_respect(rows: _Rows) -> None:
    """Raise Conflict `quota_exceeded` if with these takes a tenant holds more than its quota; a move holds no more."""
    limited = [take.order for take in rows.takes if has_quota(take.order.tenant) and take.order.replaces is None]
    for code in sorted({order.tenant.code for order in limited}):
        need = sum((order.use for order in limited if order.tenant.code == code), NOTHING)
        quota_respected(code, need, placements=rows.placement_ids)
