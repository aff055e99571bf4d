"""Writes the demo's past orders as if idcsched had decided them in time: placements, claims and, later, the records.

The records follow when the shapes of the businesses are learnt from what flowed for the placements, so that each record
knows the shape of its order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings

from idcsched.accounts.models import Tenant
from idcsched.audit.writing import write
from idcsched.framework.spreading import Solution, solution_answer, solve
from idcsched.inventory.models import Idc
from idcsched.ledger.taking import Entry, claims_fade, claims_fade_begin, claims_release, claims_take
from idcsched.placement.candidates import candidates
from idcsched.placement.lifecycle import Action, Move, State, next_state
from idcsched.placement.models import Event, Placement
from idcsched.scheduling.models import Decision
from idcsched.scheduling.outcomes import noted_idcs
from idcsched.scheduling.records import DecisionRecord
from idcsched.scheduling.scheduled import ProfileBrief, Scheduled, SnapshotBrief
from idcsched.scheduling.sentences import Notebook
from idcsched.scheduling.services import decisions_insert
from idcsched.scheduling.shapes import shapes_known

from .past_course import DecidedOrder, id_of
from .past_orders import AskedOrder

__all__ = ["placements_store", "records_store"]

ACTOR = "portal"


@write()
def placements_store(*, orders: Sequence[DecidedOrder], tenant: Tenant, now: datetime) -> list[Placement]:
    """Write a placement for each order, and what the ledger says of it, as if it had been placed and released in time.

    Returns the placements, in the sequence of the orders.
    """
    idcs = _idcs()
    placements = [_placement(order, idcs[order.allocation.idc], tenant, now) for order in orders]
    Placement.objects.bulk_create(placements)
    Event.objects.bulk_create(
        event for order, placement in zip(orders, placements, strict=True) for event in _events(order, placement, now)
    )
    for order, placement in zip(orders, placements, strict=True):
        _take(order, placement, idcs[order.allocation.idc], now)
    claims_fade(now=now, over_seconds=settings.BANDWIDTH_FADE.total_seconds())
    return placements


@write()
def records_store(*, orders: Sequence[DecidedOrder], placements: Sequence[Placement], tenant: Tenant) -> None:
    """Write the record of the decision that each of the placements came of, and what its order adds to the bill."""
    shapes = {(shape.tenant, shape.business): shape for shape in shapes_known()}
    rows = []
    for order, placement in zip(orders, placements, strict=True):
        snapshot = replace(order.question.snapshot, shapes=shapes)
        question = msgspec.structs.replace(order.question, snapshot=snapshot)
        solution = solve(question)
        (taken,) = candidates(solution.decision, at_most=1)
        rows.append(_record_row(replace(order, question=question), placement, solution, tenant))
        placement.bill = msgspec.to_builtins(taken.bill)
    decisions_insert(rows)
    Placement.objects.bulk_update(placements, ["bill"])


def _idcs() -> Mapping[str, Idc]:
    """Return the IDCs with their lines and these lines' ISPs, by code."""
    return {idc.code: idc for idc in Idc.objects.prefetch_related("lines__isp")}


def _moves(asked: AskedOrder, now: datetime) -> Mapping[Move, datetime]:
    """Return the moves of the order's placement, each with its time; one that still holds is not released."""
    ended = {Move.RELEASE: asked.until, Move.GONE: asked.until} if asked.until < now else {}
    return {Move.RESERVE: asked.at, Move.CONFIRM: asked.confirmed_at, **ended}


def _placement(order: DecidedOrder, idc: Idc, tenant: Tenant, now: datetime) -> Placement:
    asked, moves = order.asked, _moves(order.asked, now)
    isps = {line.code: line.isp.code for line in idc.lines.all()}
    return Placement(
        id=id_of(asked.at),
        tenant=tenant,
        actor=ACTOR,
        request_id=asked.code,
        action=Action.RESERVE,
        request=msgspec.to_builtins(order.question.request),
        state=State.RELEASED if Move.GONE in moves else State.ACTIVE,
        version=len(moves),
        idc=idc,
        lines=[
            {"line": claim.line, "isp": isps[claim.line], "bandwidth_mbps": claim.amount}
            for claim in order.allocation.claims
            if claim.line
        ],
        business=asked.business,
        machine_count=asked.machines,
        bandwidth_mbps=order.question.request.bandwidth,
        decision_id=id_of(asked.at),
        created_at=asked.at,
        changed_at=max(moves.values()),
    )


def _events(order: DecidedOrder, placement: Placement, now: datetime) -> Iterable[Event]:
    state = None
    for version, (move, at) in enumerate(_moves(order.asked, now).items(), 1):
        state = next_state(state, move)
        detail: dict[str, Any] = {}
        if move == Move.RESERVE:
            detail = {**_choice(order), "claims": msgspec.to_builtins(order.allocation.claims)}
        yield Event(
            placement=placement, version=version, at=at, move=move, state=state, actor=placement.actor, detail=detail
        )


def _choice(order: DecidedOrder) -> dict[str, Any]:
    """Return which candidate was taken, as decisions and events record it: the first."""
    return {"idc": order.allocation.idc, "rank": 1, "because": None, "passed_over": []}


def _take(order: DecidedOrder, placement: Placement, idc: Idc, now: datetime) -> None:
    """Write into the ledger what the order took, and when it gave that back."""
    allocation, tenant, moves = order.allocation, placement.tenant, _moves(order.asked, now)
    entry = Entry(
        placement=placement.pk,
        allocation=allocation,
        idc_key=idc.pk,
        line_keys={line.code: line.pk for line in idc.lines.all()},
        tenant_key=tenant.pk,
    )
    claims_take([entry], at=moves[Move.RESERVE])
    claims_fade_begin(placement=placement.pk, since=moves[Move.CONFIRM])
    if Move.GONE in moves:
        claims_release(
            placement=placement.pk,
            idc=idc.code,
            tenant=tenant.code,
            business=allocation.business,
            machines=allocation.machines,
            at=moves[Move.GONE],
        )


def _record_row(order: DecidedOrder, placement: Placement, solution: Solution, tenant: Tenant) -> Decision:
    notebook, question = Notebook(), order.question
    scheduled = Scheduled(
        decision_id=str(placement.decision_id),
        request_id=order.asked.code,
        http_request_id=question.reference,
        **msgspec.structs.asdict(solution_answer(solution, say=notebook.say)),
        degraded=False,
        profile=ProfileBrief(question.profile.code, question.profile.revision),
        snapshot=SnapshotBrief(question.snapshot.id, 0.0),
        commit_token=None,
        elapsed_ms=0.0,
    )
    record = DecisionRecord(
        scheduled=scheduled,
        notebook=notebook,
        question=question,
        tenant=tenant.code,
        actor=ACTOR,
        noted=tuple(noted_idcs(solution.decision, [order.allocation.idc])),
    )
    row = record.row({tenant.code: tenant.pk})
    row.placement, row.taken = placement.pk, _choice(order)
    return row
