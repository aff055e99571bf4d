"""What the moves of the advice that were made save by now, told as the advice tells it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
from django.conf import settings

from idcsched.framework.labels import Mask
from idcsched.framework.line_bills import billable_share
from idcsched.framework.lines import NO_LINE
from idcsched.framework.shape import order_shape
from idcsched.framework.snapshot import Snapshot
from idcsched.placement.lifecycle import Move as Step
from idcsched.placement.lifecycle import State
from idcsched.placement.models import Event, Placement
from idcsched.scheduling.live import LiveState

from .moves import CENTS, Place
from .optimum import bill_of
from .problem import Options, Pick, Plannable, price_known
from .shifts import Months, shift_of
from .standing import Standing, holding_bandwidth, plannable_of, standing_of

__all__ = ["MadeMove", "moves_made"]

MOST: Final = 100
"""How many moves are looked at, the latest."""


class MadeMove(msgspec.Struct, frozen=True, kw_only=True, rename={"origin": "from", "target": "to"}):
    """A move of the advice that was made: what it promised to save a month, and what it saves as things are now.

    `placement` is the one that it made.
    """

    placement: UUID
    request_id: str
    tenant: str
    origin: Place
    target: Place
    promised: float
    saves: float
    confirmed_at: datetime


class _Made(msgspec.Struct, frozen=True):
    """What a move promised, and where its placement stood before."""

    promised: float
    origin: Place


def moves_made(picture: LiveState, now: datetime) -> list[MadeMove]:
    """Return the latest moves of the advice that were confirmed, with what they promised and what they save by now.

    A move saves by how much the bills would rise if its placement stood where it stood before. Those are looked at that
    still stand, were confirmed so long ago that their traffic is measured, and whose bills are known in both places.
    """
    made = _confirmed(now)
    if not made:
        return []
    snapshot, known = picture.snapshot, price_known(picture.snapshot.lines)
    standing = [placed for placed in standing_of(list(holding_bandwidth()), picture) if _all_known(known, placed.pick)]
    before = [_before(made.get(placed.placement.pk), snapshot, known) for placed in standing]
    if not any(before):
        return []
    options = [
        (placed, _options(placed, [placed.pick, *([pick] if pick else [])], snapshot))
        for placed, pick in zip(standing, before, strict=True)
    ]
    plannable, months = plannable_of(options, snapshot), Months(snapshot)
    found = []
    for order, (placed, pick) in enumerate(zip(standing, before, strict=True)):
        if pick:
            there = plannable.start.item(order)
            back = months.saves(shift_of(placed, plannable.problem, there, there + 1, snapshot, now))
            saves = _rise(plannable, order) if back is None else -back
            found.append(_made_move(placed.placement, made[placed.placement.pk], saves))
    return sorted(found, key=lambda move: move.confirmed_at, reverse=True)


def _made_move(placement: Placement, made: _Made, saves: float) -> MadeMove:
    return MadeMove(
        placement=placement.pk,
        request_id=placement.request_id,
        tenant=placement.tenant.code,
        origin=made.origin,
        target=_place(placement.idc.code if placement.idc else "", placement.lines),
        promised=made.promised,
        saves=round(saves, CENTS),
        confirmed_at=placement.changed_at,
    )


def _confirmed(now: datetime) -> Mapping[UUID, _Made]:
    """Return the moves that were confirmed so long ago that what was ordered has faded, by their new placement."""
    events = Event.objects.filter(
        move=Step.RESERVE,
        detail__has_key="promised",
        placement__state=State.ACTIVE,
        placement__changed_at__lte=now - settings.BANDWIDTH_FADE,
        placement__replaces__idc__isnull=False,
    ).order_by("-placement__changed_at")
    columns = "placement", "detail", "placement__replaces__idc__code", "placement__replaces__lines"
    return {
        placement: _Made(detail["promised"], _place(idc, lines))
        for placement, detail, idc, lines in events.values_list(*columns)[:MOST]
    }


def _place(idc: str, lines: Sequence[Mapping[str, Any]]) -> Place:
    return Place(idc=idc, lines=tuple([use["line"] for use in lines]))


def _before(made: _Made | None, snapshot: Snapshot, known: Mask) -> Pick | None:
    """Return where the placement stood; None where it has not moved, or where that place or its bill is not known."""
    row = None if made is None else snapshot.idcs.row_of.get(made.origin.idc)
    if made is None or row is None:
        return None
    lines = snapshot.lines
    if not set(made.origin.lines) <= set(lines.codes_of(row)):
        return None
    pick = row, tuple(sorted([lines.number(row, line) for line in made.origin.lines]))
    return pick if _all_known(known, pick) else None


def _all_known(known: Mask, pick: Pick) -> bool:
    return bool(known[list(pick[1])].all())


def _options(placed: Standing, picks: Sequence[Pick], snapshot: Snapshot) -> Options:
    """Return these places as the placement's options, whether a new order may go there or not."""
    shape = order_shape(placed.request, placed.labels, snapshot.shapes).hours
    lines = np.full((len(picks), max([len(used) for _row, used in picks])), NO_LINE)
    busy, amount = np.zeros(lines.shape), max([held.amount for held in placed.held.values()])
    for option, (_row, used) in enumerate(picks):
        lines[option, : len(used)] = used
        busy[option, : len(used)] = billable_share(snapshot.lines, np.array(used), shape)
    return Options(
        rows=np.array([row for row, _used in picks]),
        rank=np.zeros(len(picks)),
        lines=lines,
        busy=busy,
        need=amount,
        flow=amount,
        stock={},
    )


def _rise(plannable: Plannable, order: int) -> float:
    """Return by how much the bills rise where one order goes from its first option to its second."""
    then = plannable.start.copy()
    then[order] += 1
    return bill_of(plannable.problem, then) - bill_of(plannable.problem, plannable.start)
