"""The program's arrays, from what was decided on each order alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from idcsched.framework.billing import free_mbps
from idcsched.framework.columns import STOCK_RESOURCES
from idcsched.framework.context import Cycle
from idcsched.framework.decision import Decision
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.line_bills import billable_share
from idcsched.framework.lines import NO_LINE
from idcsched.framework.normalize import Floats
from idcsched.framework.request import Planned
from idcsched.framework.snapshot import Lines, Snapshot

from .optimum import NOWHERE, Problem, Uses

__all__ = ["MOST_OPTIONS", "Options", "Pick", "Plannable", "options_of", "price_known", "problem_of"]

MOST_OPTIONS: Final = 60_000
"""Options of all orders; where there would be more, each order has those that are cheapest for it alone."""
Pick = tuple[int, tuple[int, ...]]
"""An IDC's row in the snapshot, and the lines used there."""


class Plannable(msgspec.Struct, frozen=True):
    """The program, where each of its options is, the assignment that is known already, and what each line carries
    without the orders (NaN: not known)."""

    problem: Problem
    places: list[Planned]
    start: Rows
    load: Floats


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """One order's options: the rows of their IDCs, how far down the ranking these are (0 to 1), the lines (NO_LINE: no
    more), and the part of the order that each line would bill if nothing were free.

    In each option the order needs `need` Mbps of each line, and of the IDC the amounts in `stock`, by resource. `flow`
    are the Mbps that flow at most.
    """

    rows: Rows
    rank: Floats
    lines: Rows
    busy: Floats
    need: float
    flow: float
    stock: Mapping[str, float]

    def take(self, positions: Rows) -> "Options":
        """Return the options at those positions."""
        parts = {name: getattr(self, name)[positions] for name in ("rows", "rank", "lines", "busy")}
        return msgspec.structs.replace(self, **parts)

    def at(self, pick: Pick | None) -> int | None:
        """Return the position of the option of a pick; None where a line stands in that is no option while the others
        have room."""
        if pick is None:
            return None
        of_idc = np.flatnonzero(self.rows == pick[0]).tolist()
        same = (option for option in of_idc if set(self.lines[option].tolist()) - {NO_LINE} == set(pick[1]))
        return next(same, None)


class _Tariffs(msgspec.Struct, frozen=True):
    """What each line charges per billed Mbps and month, and what is free on the line, one column a level of traffic."""

    price: Floats
    free: Floats


def problem_of(
    orders: Sequence[Options],
    picks: Sequence[Pick | None],
    snapshot: Snapshot,
    *,
    load: Floats | None = None,
    standing: bool = False,
) -> Plannable:
    """Return the program of some orders (at least one).

    `picks` are where the orders would go one after the other or, with `standing`, where they stand: what they hold
    there is no part of the room that the snapshot has left. `load` is what the lines carry without the orders, if that
    is not what they carry in the snapshot.
    """
    carried = snapshot.lines.load if load is None else load
    tariffs = _tariffs(snapshot, carried)
    parts, start, places = [], list[int](), list[Planned]()
    for order, (options, pick) in enumerate(zip(orders, picks, strict=True)):
        held = pick if standing else None
        parts.append(_part(options, order, len(snapshot.lines.codes), snapshot.size, first=len(places), held=held))
        position = options.at(pick)
        start.append(NOWHERE if position is None else len(places) + position)
        places += _places(snapshot, options)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order_of, rank, on_line, line, flow, busy, taking, thing, amount = columns
    resources, resource = np.unique(thing, return_inverse=True)
    return Plannable(
        Problem(
            orders=len(orders),
            order=order_of,
            rank=rank,
            capacity=_capacity(snapshot)[resources],
            taken=Uses(taking, resource, amount),
            price=tariffs.price,
            free=tariffs.free,
            mbps=Uses(on_line, line, flow),
            busy=busy,
        ),
        places,
        np.array(start, dtype=np.intp),
        carried,
    )


def price_known(lines: Lines) -> Mask:
    """Return of which lines it is known what more traffic would cost there."""
    return lines.flat_rate | ~(np.isnan(lines.price) | np.isnan(lines.load))


def _tariffs(snapshot: Snapshot, load: Floats) -> _Tariffs:
    """Return the tariffs of all lines. Where price or load is not known, all is billed, at the dearest price."""
    lines, known = snapshot.lines, price_known(snapshot.lines)
    price = np.where(lines.flat_rate, 0.0, np.where(known, lines.price, snapshot.dearest_price))
    return _Tariffs(price, np.where(known[:, np.newaxis], free_mbps(load, lines.paid), 0.0))


def _capacity(snapshot: Snapshot) -> Floats:
    """Return what is left of all resources: the room of each line, then each IDC's stock, one resource after the other.

    Room that is not known limits nothing: the filters have let the order pass.
    """
    room = np.where(np.isnan(snapshot.lines.room), np.inf, snapshot.lines.room)
    return np.concatenate([room, *[snapshot.stock.left[name] for name in STOCK_RESOURCES]]).clip(min=0.0)


def options_of(
    decision: Decision, *, pick: Pick | None = None, standing: bool = False, most: int = MOST_OPTIONS
) -> Options:
    """Return every IDC that fits, with every line that carries the order there.

    Where these are more than `most`, those are returned that bill least for the order alone, and that of the pick. With
    `standing`, the order stands where the pick says; that is an option, whether a new order would fit there or not.
    """
    ctx, place = decision.survivors, np.empty(decision.survivors.size)
    place[decision.ranking.order] = np.arange(ctx.size) / max(ctx.size, 1)
    positions, lines = _with_lines(ctx)
    snapshot, hours = ctx.snapshot, ctx.shape.hours
    busy = [billable_share(snapshot.lines, column, hours) for column in lines.T]
    options = Options(
        rows=ctx.row_numbers[positions],
        rank=place[positions],
        lines=lines,
        busy=np.stack(busy, axis=1) if busy else np.empty(lines.shape),
        need=ctx.need,
        flow=ctx.need,
        stock={name: need for name in STOCK_RESOURCES if (need := ctx.request.need(name))},
    )
    if standing and pick is not None and options.at(pick) is None:
        used = np.array(pick[1], dtype=np.intp)
        options = _with_pick(options, pick[0], used, billable_share(snapshot.lines, used, hours))
    return _cheapest(options, _tariffs(snapshot, snapshot.lines.load), pick, most)


def _with_pick(options: Options, row: int, lines: Rows, busy: Floats) -> Options:
    """Return the options with one more, the last in the ranking."""
    width = max(options.lines.shape[1], lines.size)
    more = [(0, 0), (0, width - options.lines.shape[1])], (0, width - lines.size)
    return msgspec.structs.replace(
        options,
        rows=np.append(options.rows, row),
        rank=np.append(options.rank, 1.0),
        lines=np.vstack(
            [np.pad(options.lines, more[0], constant_values=NO_LINE), np.pad(lines, more[1], constant_values=NO_LINE)]
        ),
        busy=np.vstack([np.pad(options.busy, more[0]), np.pad(busy, more[1])]),
    )


def _with_lines(ctx: Cycle) -> tuple[Rows, Rows]:
    """Return positions among the survivors, and for each of these the lines of one option there, one column a line."""
    everywhere = np.arange(ctx.size)
    if not ctx.need:
        return everywhere, np.empty((ctx.size, 0), dtype=np.intp)
    chosen = ctx.lines.groups
    if len(chosen) > 1:
        lines = np.stack(chosen, axis=1)
        for number in range(1, len(chosen)):  # a line that serves several ISPs counts once
            again = (lines[:, :number] == lines[:, number : number + 1]).any(axis=1)
            lines[again, number] = NO_LINE
        return everywhere, lines
    columns = [*ctx.carrying_lines(), chosen[0]]
    known = np.stack(columns[:-1], axis=1) if len(columns) > 1 else np.empty((ctx.size, 0), dtype=np.intp)
    columns[-1] = np.where((known == chosen[0][:, np.newaxis]).any(axis=1), NO_LINE, chosen[0])
    there = [np.flatnonzero(column != NO_LINE) for column in columns]
    lines = np.concatenate([column[positions] for column, positions in zip(columns, there, strict=True)])
    return np.concatenate(there), lines[:, np.newaxis]


def _cheapest(options: Options, tariffs: _Tariffs, pick: Pick | None, most: int) -> Options:
    """Return the options that bill least for the order alone, and that of its pick."""
    if options.rows.size <= most:
        return options
    on_line = options.lines != NO_LINE
    billed = (options.need - tariffs.free[options.lines]).clip(0.0, options.need).mean(axis=2)
    bill = np.where(on_line, tariffs.price[options.lines] * options.busy * billed, 0.0).sum(axis=1)
    kept = np.lexsort((options.rank, bill))[: max(most, 1)]
    position = options.at(pick)
    return options.take(kept if position is None else np.union1d(kept, position))


def _part(
    options: Options, order: int, lines: int, idcs: int, *, first: int, held: Pick | None
) -> tuple[np.ndarray[Any, Any], ...]:
    """Return one order's part of the program's columns; its options are numbered from `first` on.

    Of what the order holds already it takes nothing more.
    """
    number = first + np.arange(options.rows.size)
    of, at = np.nonzero(options.lines != NO_LINE)
    line = options.lines[of, at]
    row, held_lines = (NOWHERE, ()) if held is None else held
    elsewhere, other_line = options.rows != row, ~np.isin(line, held_lines)
    stock = [(place, options.stock[name]) for place, name in enumerate(STOCK_RESOURCES) if name in options.stock]
    resources = [lines + place * idcs + options.rows[elsewhere] for place, _ in stock]
    return (
        np.full(options.rows.size, order),
        options.rank,
        number[of],
        line,
        np.full(line.size, options.flow),
        options.busy[of, at],
        np.concatenate([number[of][other_line], *[number[elsewhere] for _ in stock]]),
        np.concatenate([line[other_line], *resources]),
        np.concatenate(
            [
                np.full(np.count_nonzero(other_line), options.need),
                *[np.full(np.count_nonzero(elsewhere), need) for _, need in stock],
            ]
        ),
    )


def _places(snapshot: Snapshot, options: Options) -> list[Planned]:
    idcs, codes = snapshot.idcs.codes, snapshot.lines.codes
    return [
        Planned(idc=idcs[row], lines=tuple([codes[line] for line in lines if line != NO_LINE]) or None)
        for row, lines in zip(options.rows.tolist(), options.lines.tolist(), strict=True)
    ]
