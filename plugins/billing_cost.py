"""`billing_cost` (Score): what this request would add to the bill of the chosen lines, per Mbps and month.

Reads line prices and commits, the ledger, and the line metric `bandwidth_mbps` with its hourly profile. Only what
flows in a line's busiest hours is billed under a percentile; what lies under the commit is already paid, but using
it up is not free; the last room is dear. Arguments: `free` (0.25), the price of using up the commit, and `scarcity`
(0.5), that of the last room. Less is better, fixed on 0..the dearest list price in the inventory. Missing data:
neutral. Where the request needs no bandwidth, or no survivor has a price, the scorer leaves the sum.
"""

from math import isnan
from typing import Annotated, Any

import msgspec
import numpy as np

from idcsched.framework.building import BANDWIDTH
from idcsched.framework.context import Cycle
from idcsched.framework.labels import Mask, Rows
from idcsched.framework.lines import NO_LINE, LineChoice
from idcsched.framework.normalize import Floats, Number, Scale, rounded_alike, rounded_each
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.snapshot import HOURS_A_WEEK, Lines, Reading
from idcsched.framework.standing import LineNow

ALL_OF_IT = np.ones(())
_SOME = 1e-9  # Mbps: next to nothing, to be divided by where there is none
_ROUNDED = 1e-6  # more than a raw value loses by being rounded
SCARCE_FROM, SCARCE_SPAN, SCARCE_MOST = 0.7, 0.2, 1.5

WITH_COMMIT = (
    "{busy:.0f} % of it flows in the line's busiest hours; {over:.0f} % lies above the commit; "
    "the commit is {fill:.0f} % used: {total:,.0f} {currency} a month"
)
WITHOUT_COMMIT = (
    "{busy:.0f} % of it flows in the line's busiest hours; there is no commit: {total:,.0f} {currency} a month"
)

Factor = Annotated[float, msgspec.Meta(ge=0, le=100)]


class BillingCostArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How dear it is to use up what is already paid, and what is nearly gone."""

    free: Factor = 0.25
    scarcity: Factor = 0.5


class Bill(msgspec.Struct, frozen=True):
    """What one group of chosen lines would bill for the request, row by row."""

    raw: Floats
    busy: Floats
    over: Floats
    fill: Floats
    commit: Floats


class Chosen(msgspec.Struct, frozen=True):
    """One group of chosen lines, with all of a bill that does not depend on how much is needed.

    `some_commit` and `some_purchased` are never nought, to be divided by; `fixed` and `daily` are None where no line
    anywhere is billed so.
    """

    load: Floats
    commit: Floats
    some_commit: Floats
    some_purchased: Floats
    price: Floats
    busy: Floats
    fixed: Mask | None
    daily: Mask | None


class BillingCost(Plugin):
    """An order is priced as if it stayed and the month were steady."""

    name = "billing_cost"
    reads = {"promise": ("isp", "isp_match", "shape")}
    Args = BillingCostArgs
    scale = Scale(kind="fixed", better="less", low=0.0, high=1.0)
    metrics = (BANDWIDTH,)

    def scale_for(self, ctx: Cycle) -> Scale:
        high = ctx.snapshot.dearest_price or 1.0
        return ctx.snapshot.derive("bills", lambda: Scale(kind="fixed", better="less", low=0.0, high=high))

    def score(self, ctx: Cycle) -> Reading | None:
        need, choice, lines = ctx.need, ctx.lines, ctx.snapshot.lines
        groups = distinct_groups(choice)
        priced = choice.complete and lines.all_priced
        if not need or not (priced or any_priced(lines, groups)):
            return None
        reads = self.reads["promise"] if choice.settled else None
        chosen = ctx.remembered("chosen", reads, lambda: [chosen_lines(ctx, group) for group in groups])
        bills = [self.bill(of_group, need) for of_group in chosen]
        ctx.state[self] = bills[0]
        total = sum_of(bills, groups)
        if not (priced or choice.has_line.all()):
            total = np.where(choice.has_line, total, np.nan)
        known = choice.known if priced and choice.all_known else choice.known & ~np.isnan(total)
        return Reading(metric=BANDWIDTH, values=rounded_each(total), known=known, lines=choice.groups[0])

    def promise(self, ctx: Cycle) -> Reading | None:
        """Nothing bills less than the very first Mbps, where the need has no say in which line is chosen."""
        groups = distinct_groups(ctx.lines)
        if not ctx.line_policy().settled or not ctx.snapshot.lines.codes:
            return None
        least = sum_of([self._first_mbps(chosen_lines(ctx, group)) for group in groups], groups)
        known = ctx.lines.known & ctx.lines.has_line & ~np.isnan(least)
        return Reading(metric=BANDWIDTH, values=least - _ROUNDED, known=known)

    def _first_mbps(self, lines: Chosen) -> Bill:
        """What no need bills less than: it fills the commit no less, exceeds it no less, and leaves no more room."""
        fill = np.minimum(1.0, lines.load / lines.some_commit)
        under = self.args.free * fill**2
        over = lines.load >= lines.commit
        if lines.fixed is not None:
            over &= ~lines.fixed
        if lines.daily is not None:
            over |= lines.daily
        paid = lines.busy * np.where(over, 1.0, np.minimum(under, 1.0))
        scarce = scarcity(lines.load / lines.some_purchased)
        return Bill(lines.price * (paid + self.args.scarcity * scarce), lines.busy, under, fill, lines.commit)

    def bill(self, lines: Chosen, need: float) -> Bill:
        """What the order bills on these lines."""
        load = lines.load + need
        over = over_commit(load, need, lines.commit)
        if lines.fixed is not None:
            over[lines.fixed] = 0.0
        if lines.daily is not None:
            over[lines.daily] = 1.0
        fill = at_most(1.0, load / lines.some_commit)
        load /= lines.some_purchased
        scarce = scarcity(load)
        return Bill(self._sum(lines.price, lines.busy, over, fill, scarce), lines.busy, over, fill, lines.commit)

    def score_again(self, ctx: Cycle, line: LineNow[Number]) -> Number | None:
        """As `bill` has it of all lines; how busy each is, is told of all at once.

        Where the commit is dearer than what goes beyond it, an order may make the next one cheaper.
        """
        need, lines = ctx.need, ctx.snapshot.lines
        if ctx.request.shape is not None or self.args.free > 1.0:
            return None
        load, commit = line.load + need, line.of(lines.paid)
        over = over_commit(load, need, commit)
        if lines.special:
            over = instead(line.of(lines.flat_rate), 0.0, instead(line.of(lines.daily), 1.0, over))
        fill = at_most(1.0, load / some(commit))
        scarce = scarcity(load / some(line.of(lines.purchased)))
        return rounded_alike(self._sum(line.of(lines.price), ALL_OF_IT, over, fill, scarce))

    def _sum(self, price: Number, busy: Floats, over: Number, fill: Number, scarce: Number) -> Number:
        """The formula of the scheduling rules, of one line or of one of each row."""
        paid = fill * fill
        paid *= self.args.free
        paid *= 1.0 - over
        paid += over
        if busy is not ALL_OF_IT:
            paid *= busy
        paid += self.args.scarcity * scarce
        found: Number = price * paid
        return found

    def note(self, ctx: Cycle, position: int) -> Note | None:
        bill: Bill | None = ctx.state.get(self)
        if bill is None or isnan(raw := bill.raw.item(position)):
            return None
        choice = ctx.lines
        if not (choice.complete and len(choice.groups) == 1) and len(choice.of(position)) != 1:
            return None
        numbers: dict[str, Any] = {
            "busy": 100.0 if bill.busy is ALL_OF_IT else 100 * bill.busy.item(position),
            "over": 100 * bill.over.item(position),
            "fill": 100 * bill.fill.item(position),
            "total": raw * ctx.need,
            "currency": ctx.snapshot.currency,
        }
        return Note(WITH_COMMIT if bill.commit.item(position) else WITHOUT_COMMIT, numbers)


def chosen_lines(ctx: Cycle, group: Rows) -> Chosen:
    """The line that each row has in `group`; where it has none, the first that there is."""
    lines = ctx.snapshot.lines
    group = group if ctx.lines.complete else np.maximum(group, 0)
    commit = lines.paid[group]
    return Chosen(
        load=lines.load[group],
        commit=commit,
        some_commit=some(commit),
        some_purchased=some(lines.purchased[group]),
        price=lines.price[group],
        busy=busy_share(lines, group, hour_of_week_shape(ctx.request.shape)),
        fixed=lines.flat_rate[group] if lines.special else None,
        daily=lines.daily[group] if lines.special else None,
    )


def over_commit(load: Number, need: float, commit: Number) -> Number:
    """Which part of the need lies above what is already paid."""
    over = load - commit
    over /= need
    return clipped(over, 1.0)


def scarcity(level: Number) -> Number:
    """How dear the last room is at that level of use."""
    dear = level - SCARCE_FROM
    dear /= SCARCE_SPAN
    dear = clipped(dear, SCARCE_MOST)
    dear *= dear
    return dear


def clipped(value: Number, most: float) -> Number:
    """From nought to `most`; of an array, in its place."""
    if isinstance(value, float):
        return 0.0 if value < 0.0 else min(value, most)
    np.maximum(value, 0.0, out=value)
    np.minimum(value, most, out=value)
    return value


def some(value: Number) -> Number:
    """Never nought."""
    if isinstance(value, float):
        return max(_SOME, value)
    return np.maximum(value, _SOME)


def instead(where: Any, value: float, other: Number) -> Number:
    """`value` there, and elsewhere the other."""
    if isinstance(other, float):
        return value if where else other
    return np.where(where, value, other)


def at_most(most: float, value: Number) -> Number:
    """`most` at most; of an array, in its place."""
    return min(most, value) if isinstance(value, float) else np.minimum(most, value, out=value)


def any_priced(lines: Lines, groups: list[Rows]) -> bool:
    """Whether the price of any of these lines is known."""
    return any(np.isfinite(lines.price[group[group != NO_LINE]]).any() for group in groups)


def sum_of(bills: list[Bill], groups: list[Rows]) -> Floats:
    """What all lines of each row bill together; a line that is none bills nothing."""
    if len(bills) == 1:
        return bills[0].raw
    total = np.zeros(groups[0].size)
    for bill, group in zip(bills, groups, strict=True):
        total += np.where(group != NO_LINE, bill.raw, 0.0)
    return total


def distinct_groups(choice: LineChoice) -> list[Rows]:
    """The chosen lines, a line that serves several ISPs only once."""
    if len(choice.groups) == 1:
        return list(choice.groups)
    groups: list[Rows] = []
    for group in choice.groups:
        again = np.logical_or.reduce([group == other for other in groups]) if groups else np.zeros(group.size, np.bool_)
        groups.append(np.where(again, NO_LINE, group))
    return groups


def hour_of_week_shape(shape: tuple[float, ...] | None) -> Floats | None:
    """The request's shape over the 168 hours of a week; None: flat."""
    if shape is None:
        return None
    return np.tile(np.array(shape), HOURS_A_WEEK // len(shape))


def busy_share(lines: Lines, group: Rows, shape: Floats | None) -> Floats:
    """φ: which part of the request flows in the line's busiest hours; no history of the line: all of it."""
    if shape is None:
        return ALL_OF_IT
    busiest = lines.busiest_of(group)
    hours = busiest.sum(axis=1)
    return np.where(hours > 0, (busiest @ shape) / np.maximum(hours, 1), 1.0)
