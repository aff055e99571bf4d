"""Which placements would be cheaper elsewhere.

All placements that hold bandwidth are assigned anew for the smallest bill. Each may stay where it stands, or go where
a new order like it may go. Room that a placement leaves counts as free for nobody, so that the moves can be made one by
one, in any sequence, each before its old place is given up.
"""

import time
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from itertools import takewhile
from typing import Final, Literal
from uuid import UUID

import msgspec
import numpy as np

from idcsched.framework.billing import TRAFFIC_LEVELS
from idcsched.framework.errors import Conflict, IdcschedError
from idcsched.framework.labels import Rows
from idcsched.framework.lines import NO_LINE
from idcsched.framework.messages import _
from idcsched.framework.monthly_bill import OrderBills
from idcsched.framework.normalize import Floats
from idcsched.framework.overlay import with_allocations
from idcsched.framework.request import Planned
from idcsched.framework.snapshot import Snapshot
from idcsched.placement.models import Placement
from idcsched.scheduling.live import LiveState
from idcsched.scheduling.reserved_room import without_reserved_room

from .assignment import Assignment, descended, in_sequence, largest_first
from .optimum import Optimum, Problem, Status, bill_of, bills_by_line, solve
from .problem import MOST_OPTIONS, Options, Plannable, options_of, price_known
from .shifts import Months, Shift, shift_of
from .standing import Standing, holding_bandwidth, plannable_of, standing_of
from .weeks import LEAST, WeeksSaved, weeks_of

__all__ = ["CENTS", "LEAST", "LineChange", "Move", "Place", "Rearrangement", "rearrangement", "saving", "saving_check"]

CENTS: Final = 2
FOR_SINGLE_MOVES: Final = 0.5
"""The share of the time that moving single orders may take."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """An IDC, and the lines that are used there."""

    idc: str
    lines: tuple[str, ...]


class LineChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a move changes on a line: its bill of a month and what it carries, before the move and after it.

    Null where the line's price, or what it carries, is not known, as may be on a flat-rate line.
    """

    idc: str
    line: str
    purchased_mbps: float
    carries_before_mbps: float | None
    carries_after_mbps: float | None
    bill_before: float | None
    bill_after: float | None


class Move(msgspec.Struct, frozen=True, kw_only=True, rename={"origin": "from", "target": "to"}):
    """A placement that would be cheaper elsewhere.

    `saves` is what the bills of a month fall by if it is moved after those above it in the list: by the last 30 days of
    its lines or, where these are not known, by the formula that places are searched by. `machines` are those that would
    have to be set up elsewhere: none where only the line changes. `lines` are those that it would leave, then those
    that it would use. `expected` is what of `saves` is to be expected by what earlier moves have kept of their
    promises. Of the last four whole weeks, `weeks_known` are known on all of these lines, and in `weeks_saved` of these
    the move would have saved. These three are null in advice from before they were stored.
    """

    placement: UUID
    request_id: str
    tenant: str
    business: str
    origin: Place
    target: Place
    saves: float
    expected: float | None = None
    machines: int
    bandwidth_mbps: float
    ordered_at: datetime | None = None
    weeks_saved: int | None = None
    weeks_known: int | None = None
    lines: tuple[LineChange, ...] = ()


class Rearrangement(msgspec.Struct, frozen=True, kw_only=True):
    """The moves, each with what it saves after those before it, and what any others could save at most.

    Of `placements` that hold bandwidth, `left_out` had no part in the search; `profiles` are the revisions by which the
    others were decided.
    """

    placements: int
    left_out: int
    profiles: Mapping[str, int] = {}
    status: Status | Literal["nothing_to_move"] = "nothing_to_move"
    saves_at_most: float = 0.0
    moves: tuple[Move, ...] = ()


def rearrangement(
    picture: LiveState, *, now: datetime, seconds: float, staying: Set[UUID] = frozenset()
) -> Rearrangement:
    """Return which placements would be cheaper elsewhere, searched for so many seconds; those `staying` may not go."""
    placements = list(holding_bandwidth())
    picture = without_reserved_room(picture, min([placement.priority for placement in placements], default=0))
    decided = _decided(list(standing_of(placements, picture)), picture.snapshot, now, staying)
    left_out = len(placements) - len(decided)
    if not decided:
        return Rearrangement(placements=len(placements), left_out=left_out)
    plannable = plannable_of(decided, picture.snapshot)
    problem, start = plannable.problem, plannable.start
    optimum = _searched(problem, start, seconds)
    chosen = _borne_out(decided, plannable, optimum.chosen, picture.snapshot, now)
    chosen = _allowed_together(decided, plannable, chosen, picture.snapshot, now)
    chosen = _worthwhile(problem, start, chosen)
    steps = list(_steps(decided, plannable, chosen, picture.snapshot, now))
    changes = _line_changes(plannable, picture.snapshot, steps, chosen)
    moves = tuple(
        _move(
            decided[step.order][0],
            plannable.places[start[step.order]],
            plannable.places[chosen[step.order]],
            step.saves,
            weeks_of(step.shift, picture.snapshot),
            lines,
        )
        for step, lines in zip(steps, changes, strict=True)
    )
    return Rearrangement(
        placements=len(placements),
        left_out=left_out,
        profiles={placed.profile.code: placed.profile.revision for placed, _options in decided},
        status=optimum.status,
        saves_at_most=bill_of(problem, start) - optimum.bound,
        moves=moves,
    )


def _searched(problem: Problem, start: Rows, seconds: float) -> Optimum:
    """Move single orders as long as that saves something, and then look for what is cheaper still.

    The first goes through any fleet in seconds and saves nearly all there is; the second knows how much there is.
    """
    began = time.monotonic()
    better = descended(problem, start, seconds=seconds * FOR_SINGLE_MOVES)
    found = solve(problem, seconds=seconds - (time.monotonic() - began), start=better)
    if found.status == "nothing_found" and (better != start).any():
        return msgspec.structs.replace(found, status="time_limit")
    return found


def saving(
    placement: Placement, idc: str, lines: Sequence[str] | None, picture: LiveState, now: datetime
) -> float | None:
    """Return what the bills of a month fall by if this placement alone moves there; None: that can't be told.

    Without `lines`, those of the IDC count on which it would be cheapest.
    """
    decided = _decided(list(standing_of([placement], picture)), picture.snapshot, now, frozenset())
    if not decided:
        return None
    plannable = plannable_of(decided, picture.snapshot)
    problem, start = plannable.problem, plannable.start.item(0)
    there = [
        option
        for option, place in enumerate(plannable.places)
        if place.idc == idc and (lines is None or set(place.lines or ()) == set(lines))
    ]
    if not there:
        return None
    bills = [bill_of(problem, np.array([option])) for option in (start, *there)]
    cheapest = there[int(np.argmin(bills[1:]))]
    exact = Months(picture.snapshot).saves(shift_of(decided[0][0], problem, start, cheapest, picture.snapshot, now))
    return bills[0] - min(bills[1:]) if exact is None else exact


def saving_check(
    placement: Placement, idc: str, lines: Sequence[str] | None, wanted: float, *, picture: LiveState, now: datetime
) -> None:
    """Raise Conflict `saves_less` where the move would not save so much a month now."""
    saves = saving(placement, idc, lines, picture, now)
    if saves is None:
        raise Conflict("saves_less", _("what it would save is not known: it may not go there, or a bill is not known"))
    if saves < wanted:
        raise Conflict(
            "saves_less", _("it would save {saves:,.2f} a month, not {wanted:,.2f}"), saves=saves, wanted=wanted
        )


def _decided(
    standing: Sequence[Standing], snapshot: Snapshot, now: datetime, staying: Set[UUID]
) -> list[tuple[Standing, Options]]:
    """Return the options of each placement: where it stands, and, unless it stays, where a new order like it may go.

    Without those that can't be decided, those whose line bills nobody knows what, and options on such lines.
    """
    known, decided = price_known(snapshot.lines), []
    most = MOST_OPTIONS // max(len(standing), 1)
    for placed in standing:
        try:
            decision = placed.decision(placed.alone(snapshot), now)
        except IdcschedError:
            continue
        if known[list(placed.pick[1])].all():
            options = options_of(decision, pick=placed.pick, standing=True, most=most)
            billed = (known[options.lines] | (options.lines == NO_LINE)).all(axis=1)
            if placed.placement.pk in staying:
                billed &= np.arange(billed.size) == options.at(placed.pick)
            decided.append((placed, options.take(np.flatnonzero(billed))))
    return decided


def _borne_out(
    decided: Sequence[tuple[Standing, Options]], plannable: Plannable, chosen: Rows, snapshot: Snapshot, now: datetime
) -> Rows:
    """Return the assignment without options that the month of their lines speaks against.

    Such an order gets the next best option by the formula, if there is one, or stays where it stands.
    """
    problem, start, borne_out = plannable.problem, plannable.start, chosen.copy()
    by_formula, months = Assignment(problem, start), Months(snapshot)

    def saves(order: int, option: int) -> bool:
        exact = months.saves(shift_of(decided[order][0], problem, start.item(order), option, snapshot, now))
        return exact is None or exact >= LEAST

    for order in np.flatnonzero(chosen != start).tolist():
        if not saves(order, chosen.item(order)):
            options = np.flatnonzero(problem.order == order).tolist()
            by_saving = sorted([(by_formula.saving(order, option), option) for option in options], reverse=True)
            others = [option for saving, option in by_saving if saving >= LEAST and by_formula.fits(order, option)]
            borne_out[order] = next((option for option in others if saves(order, option)), start.item(order))
    return borne_out


def _allowed_together(
    decided: Sequence[tuple[Standing, Options]], plannable: Plannable, chosen: Rows, snapshot: Snapshot, now: datetime
) -> Rows:
    """Return the assignment without moves that something forbids beside those before them.

    Each is decided once more, as a new order that comes when the others have moved. Of such limits as that of the
    plugin `spread` the program does not know.
    """
    start, allowed = plannable.start, plannable.start.copy()
    for order, _saves in in_sequence(plannable.problem, start, chosen):
        (placed, options), place = decided[order], plannable.places[chosen[order]]
        row, lines = snapshot.idcs.row_of[place.idc], place.lines or ()
        pick = row, tuple([snapshot.lines.number(row, line) for line in lines])
        try:
            decision = placed.planned(place).decision(placed.alone(snapshot), now)
        except IdcschedError:
            continue
        if options_of(decision, pick=pick).at(pick) is not None:
            allowed[order] = chosen[order]
            snapshot = with_allocations(snapshot, [placed.at(place, options)])
    return allowed


def _worthwhile(problem: Problem, start: Rows, chosen: Rows) -> Rows:
    """Return the assignment without moves that save less than the least beside all others."""
    kept, dropped = Assignment(problem, chosen), True
    while dropped:
        dropped = False
        for order in np.flatnonzero(kept.chosen != start).tolist():
            if -kept.saving(order, start.item(order)) < LEAST:
                kept.move(order, start.item(order))
                dropped = True
    return kept.chosen


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    """An order's move, with what it saves after the moves before it.

    `bills` are those of the month of its lines, without the order and with it; None: `saves` is by the formula.
    """

    order: int
    saves: float
    shift: Shift
    bills: OrderBills | None

    def bills_around(self) -> Mapping[int, tuple[float, float]]:
        """Return the bill of each line before the move and after it."""
        if self.bills is None:
            return {}
        bills = zip(self.bills.without.tolist(), self.bills.with_order.tolist(), strict=True)
        return {
            line: (with_order, without) if place < self.shift.left.size else (without, with_order)
            for place, (line, (without, with_order)) in enumerate(zip(self.shift.lines.tolist(), bills, strict=True))
        }


def _steps(
    decided: Sequence[tuple[Standing, Options]], plannable: Plannable, chosen: Rows, snapshot: Snapshot, now: datetime
) -> Iterator[_Step]:
    """Yield the moves, each time the one that saves most after those before it, as long as that is worth it.

    They save what the bills of the lines' last month say or, where one of these is not known, what the formula says
    that the search goes by.
    """
    problem, start = plannable.problem, plannable.start
    by_formula, months, bills = Assignment(problem, start), Months(snapshot), dict[int, OrderBills | None]()
    shifts = {
        order: shift_of(decided[order][0], problem, start.item(order), chosen.item(order), snapshot, now)
        for order in np.flatnonzero(chosen != start).tolist()
    }

    def saving(order: int) -> float:
        exact = months.saves(shifts[order])
        return by_formula.saving(order, chosen.item(order)) if exact is None else exact

    def move(order: int) -> None:
        bills[order] = months.bills(shifts[order])
        months.make(shifts[order])
        by_formula.move(order, chosen.item(order))

    for order, saves in takewhile(lambda each: each[1] >= LEAST, largest_first(shifts, saving, move)):
        yield _Step(order=order, saves=saves, shift=shifts[order], bills=bills[order])


def _line_changes(
    plannable: Plannable, snapshot: Snapshot, steps: Sequence[_Step], chosen: Rows
) -> Iterator[tuple[LineChange, ...]]:
    """Yield, for each of the moves in that sequence, what it changes on the lines."""
    problem, now = plannable.problem, plannable.start.copy()
    bills, carried = _line_totals(plannable, snapshot, now)
    for step in steps:
        order, of_month = step.order, step.bills_around()
        options = now[order], chosen[order]
        now[order] = chosen[order]
        bills_then, carried_then = _line_totals(plannable, snapshot, now)
        yield tuple(
            LineChange(
                idc=snapshot.idcs.codes[snapshot.lines.idc[line]],
                line=snapshot.lines.codes[line],
                purchased_mbps=snapshot.lines.purchased[line].item(),
                carries_before_mbps=_known(carried[line]),
                carries_after_mbps=_known(carried_then[line]),
                bill_before=_known(before),
                bill_after=_known(after),
            )
            for line in dict.fromkeys(
                line for option in options for line in problem.mbps.thing[problem.mbps.option == option].tolist()
            )
            for before, after in [of_month.get(line, (bills[line], bills_then[line]))]
        )
        bills, carried = bills_then, carried_then


def _line_totals(plannable: Plannable, snapshot: Snapshot, chosen: Rows) -> tuple[Floats, Floats]:
    """Return the bill of a month of each line, and what it carries, with the chosen options on top of the rest.

    NaN where it is not known.
    """
    lines, problem, load = snapshot.lines, plannable.problem, plannable.load
    rest = lines.price * np.maximum(load[:, np.newaxis] * TRAFFIC_LEVELS, lines.paid[:, np.newaxis]).mean(axis=1)
    bills = np.where(lines.flat_rate, lines.price_per_mbps * lines.purchased, rest) + bills_by_line(problem, chosen)
    return bills, load + problem.mbps.total(chosen, load.size)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), CENTS)


def _move(
    placed: Standing,
    origin: Planned,
    target: Planned,
    saves: float,
    weeks: WeeksSaved,
    lines: tuple[LineChange, ...],
) -> Move:
    placement = placed.placement
    return Move(
        placement=placement.pk,
        request_id=placement.request_id,
        tenant=placement.tenant.code,
        business=placement.business,
        origin=Place(idc=origin.idc, lines=origin.lines or ()),
        target=Place(idc=target.idc, lines=target.lines or ()),
        saves=round(saves, CENTS),
        machines=0 if target.idc == origin.idc else placement.machine_count,
        bandwidth_mbps=placement.bandwidth_mbps,
        ordered_at=placement.created_at,
        weeks_saved=weeks.saved,
        weeks_known=weeks.known,
        lines=lines,
    )
