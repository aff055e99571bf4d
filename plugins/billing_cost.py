"""`billing_cost` (Score): what this request adds to the bill of the chosen lines, and what it takes up beside.

For a line with the list price p per billed Mbps and month (daily prices × 30; by volume the price per GB × 162), with x
= the Mbps that the request needs, U = what the line carries already (the line metric `bandwidth_mbps`) and what is
pending on it, C = its commit, and w = (U + x) ÷ its purchased bandwidth:

    over    = the mean of clip((U · l + x − C) ÷ x, 0, 1) over five equally probable l: 0.88, 0.95, 1, 1.05, 1.14
    fill    = min(1, (U + x) ÷ C)
    billed  = p · busy · over
    counted = billed + p · [ busy · free · fill² · (1 − over) + scarcity · clip((w − 0.7) ÷ 0.2, 0, 1.5)² ]

Both are per Mbps and month; the raw value is `counted`. The score's `note` says it for the whole request, beside what
the line's last 30 days would have cost with the order and without it; where these are not known, beside `billed`.
`busy` is the part of the request that would be billed if there were no commit: what flows, by its shape, in the busiest
5 % of the line's last 168 hours, all of it where shape or history is not known; by volume its mean as a multiple of one
half, 1 where the shape is not known. The five levels stand for a month whose traffic nobody knows to the Mbps. Without
a commit `over` and `fill` are 1. On a flat-rate line `over` is 0 and C is 90 % of the purchased bandwidth; by volume C
is twice the commit, which is a mean. What lies under the commit is paid already, but using it up has a price (`free`),
and so has taking a line above 70 % of its bandwidth (`scarcity`).

For example, 100 Mbps of unknown shape on a line at 20 CNY with a commit of 240 Mbps, of whose 1,000 Mbps 200 are in
use: `over` is 0.608, so that 1,215 CNY a month are billed; with the commit that it uses up the request counts as 1,412.

With `method: exact` the raw value is the mean of `counted` and of the bill: what the line's last 30 whole days would
have cost with the order on top, by its contract, less what they cost without it. That takes the percentile of the whole
month anew instead of asking how much of the order meets the busiest hours of one week. The bill without the order is
that of the five-minute values, and so is that with an order which flows at all hours; a shape is laid over the means of
hours. Where fewer than 14 days of the line are known, the month repeats the mean week of what is known; where nothing
is, or the history is not loaded (the setting `EXACT_BILL_LINES`), the formula alone counts, and the note says so.

Of several chosen lines (`isp_match: all`) the values are summed. Arguments: `method` (`formula`, or `exact`); `free`
(0.25) and `scarcity` (0.75), both as factors of the line's price; `dearest`, the `counted` at which an IDC gets 0
points, by default the installation's (`DEAREST_PRICE`, 60). Less is better, fixed on 0..`dearest`; a higher value is
clipped, and the note says so. Missing data: neutral. Where the request needs no bandwidth, or no survivor has a price,
the scorer is left out of the sum.
"""

from math import isnan
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from idcsched.framework.billing import FREE, GB_A_MONTH, SCARCITY, AddedBill
from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.context import Cycle
from idcsched.framework.labels import Rows
from idcsched.framework.line_bills import line_bills, months_with
from idcsched.framework.lines import NO_LINE, LineChoice
from idcsched.framework.messages import Message, _
from idcsched.framework.monthly_bill import EXACT
from idcsched.framework.normalize import Floats, Scale, rounded
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.snapshot import Lines, Reading

# What of the order flows in the line's busiest hours:
FLOWS = _(
    # the "% of" here is no field: xgettext: no-python-format
    "{busy:.0f} % of the order flows in the line's busiest hours"
)
SHAPE_UNKNOWN = _("the order's shape is not known, so all of it counts as flowing in the line's busiest hours")
HOURS_UNKNOWN = _("the line's busiest hours are not known, so all of the order counts as flowing in them")
# Nothing but what is billed counts:
WITHOUT_COMMIT = _("{part}; the line has no commit: {billed:,.0f} {currency} a month")
ABOVE_COMMIT = _("{part}, all of it above the commit: {billed:,.0f} {currency} a month")
BY_VOLUME = _("the order moves {gb:,.0f} GB a month: {billed:,.0f} {currency}")
# The commit and the room that the order takes up count, too:
WITH_ROOM = _(
    "{part}; the line has no commit: {billed:,.0f} {currency} a month; with the room that it takes up it counts "
    "as {total:,.0f}"
)
WITH_COMMIT = _(
    # the "% of" here is no field: xgettext: no-python-format
    "{part}, {over:.0f} % of that is billed on top of the commit: {billed:,.0f} {currency} a month; with the commit, "
    "then {fill:.0f} % used, and the room that it takes up the order counts as {total:,.0f}"
)
VOLUME_WITH_ROOM = _(
    # the "% of" here is no field: xgettext: no-python-format
    "the order moves {gb:,.0f} GB a month, {over:.0f} % of that is billed on top of what is paid anyway: "
    "{billed:,.0f} {currency} a month; with what it takes up of the commit and the room it counts as {total:,.0f}"
)
FLAT_RATE = _(
    # the "% used" here is no field: xgettext: no-python-format
    "the line costs the same whatever flows: 0 {currency} a month; with what the order takes up of the line, then "
    "{level:.0f} % used, it counts as {total:,.0f}"
)
# Where a bill can be computed, it is the bill that is said:
BILL = _(
    "the line's last 30 days would have cost {with_order:,.0f} {currency} with the order instead of {without:,.0f}, "
    "{exact:,.0f} more"
)
BILL_AS_BEFORE = _(
    "the line's last 30 days would have cost {with_order:,.0f} {currency} with the order as without it: nothing more "
    "is billed"
)
BILL_BY_WEEK = _(
    "by the week that is known of the line, a month would cost {with_order:,.0f} {currency} with the order instead of "
    "{without:,.0f}, {exact:,.0f} more"
)
BILL_BY_WEEK_AS_BEFORE = _(
    "by the week that is known of the line, a month would cost {with_order:,.0f} {currency} with the order as without "
    "it: nothing more is billed"
)
COUNTED = _("{part}; by the busiest hours, the commit and the room it counts as {formula:,.0f}")
# With `method: exact`:
AVERAGED = _(
    "{part}; by the busiest hours, the commit and the room it counts as {formula:,.0f}; on average as {total:,.0f}"
)
TOO_SHORT = _("{part}; too little is known of the line's last 30 days for an exact bill")
NOT_LOADED = _("{part}; the last 30 days of the lines are not loaded here, so there is no exact bill")
TOO_DEAR = _(
    "the order counts as {total:,.0f} {currency} a month, {price:,.2f} per Mbps: from {dearest:g} per Mbps on an IDC "
    "gets 0 points"
)

Factor = Annotated[float, msgspec.Meta(ge=0, le=100)]


class BillingCostArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a bill is estimated, the prices of using up the commit and the last room of a line, and the price that gives
    0 points."""

    method: Literal["formula", "exact"] = "formula"
    free: Factor = FREE
    scarcity: Factor = SCARCITY
    dearest: Annotated[float, msgspec.Meta(gt=0, le=1e6)] | None = None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What the request adds to the bill of each row's line by the formula, and what it counts as, the raw value."""

    formula: AddedBill
    counted: Floats


class BillingCost(Plugin):
    """The price assumes that the order stays and that the traffic keeps its pattern all month."""

    name = "billing_cost"
    Args = BillingCostArgs
    scale = Scale(kind="fixed", better="less", low=0.0, high=1.0)
    metrics = (BANDWIDTH,)
    prices = True

    def scale_for(self, ctx: Cycle) -> Scale:
        high = self.args.dearest or ctx.snapshot.dearest_price or 1.0
        return Scale(kind="fixed", better="less", low=0.0, high=high)

    def score(self, ctx: Cycle) -> Reading | None:
        choice, lines = ctx.lines, ctx.snapshot.lines
        if not ctx.need or not lines.codes:
            return None  # nothing is billed
        groups = distinct_groups(choice)
        if not any(np.isfinite(lines.price[group[group != NO_LINE]]).any() for group in groups):
            return None  # no price is known
        bills = [self._estimate(ctx, group) for group in groups]
        ctx.state[self] = bills[0]
        total = bills[0].counted
        if len(bills) > 1:
            line_prices = [
                np.where(group == NO_LINE, 0.0, bill.counted) for bill, group in zip(bills, groups, strict=True)
            ]
            total = np.where(choice.has_line, np.sum(line_prices, axis=0), np.nan)
        return Reading(
            metric=BANDWIDTH,
            values=rounded(total),
            known=choice.known & ~np.isnan(total),
            at=ctx.line_times(BANDWIDTH, choice.groups[0]),
            lines=choice.groups[0],
        )

    def _estimate(self, ctx: Cycle, group: Rows) -> Estimate:
        """Return what the request adds to the bill of each row's line in `group`."""
        formula = line_bills(
            ctx.snapshot.lines, group, ctx.need, ctx.shape.hours, free=self.args.free, scarcity=self.args.scarcity
        )
        if self.args.method == "formula":
            return Estimate(formula=formula, counted=formula.counted)
        mean = (formula.counted + months_with(ctx, group).added / ctx.need) / 2
        return Estimate(formula=formula, counted=np.where(np.isnan(mean), formula.counted, mean))

    def note(self, ctx: Cycle, position: int) -> Note | None:
        bill: Estimate | None = ctx.state.get(self)
        if bill is None or isnan(counted := bill.counted.item(position)):
            return None
        if len(ctx.lines.of(position)) != 1:
            return None
        lines, line = ctx.snapshot.lines, ctx.lines.of(position)[0]
        need, busy = ctx.need, bill.formula.busy.item(position)
        numbers: dict[str, Any] = {
            "part": _flowing(ctx, line, busy),
            "over": 100 * bill.formula.over.item(position),
            "fill": 100 * bill.formula.fill.item(position),
            "level": 100 * (lines.load.item(line) + need) / lines.purchased.item(line),
            "gb": need * busy * GB_A_MONTH,
            "billed": bill.formula.billed.item(position) * need,
            "total": counted * need,
            "price": counted,
            "currency": ctx.snapshot.currency,
            "dearest": self.scale_for(ctx).high,
        }
        if counted > numbers["dearest"]:
            return Note(TOO_DEAR, numbers)
        only_billed = bill.formula.billed.item(position) == bill.formula.counted.item(position)
        part = Note(_sentence(lines, line, only_billed=only_billed), numbers)
        if lines.flat_rate[line]:
            return part
        numbers["formula"] = bill.formula.counted.item(position) * need
        return self._billed(ctx, line, numbers) or self._without_bill(ctx, part)

    def _billed(self, ctx: Cycle, line: int, numbers: dict[str, Any]) -> Note | None:
        """Say the bill of a month with the order and without it; None: too little is known of the line."""
        month = months_with(ctx, np.array([line]))
        if isnan(month.added.item()):
            return None
        figures = {"exact": month.added.item(), "with_order": month.with_order.item(), "without": month.without.item()}
        exact, by_week = (BILL, BILL_BY_WEEK) if round(figures["exact"]) else (BILL_AS_BEFORE, BILL_BY_WEEK_AS_BEFORE)
        bill = Note(exact if month.method == EXACT else by_week, {**numbers, **figures})
        return Note(COUNTED if self.args.method == "formula" else AVERAGED, {**numbers, "part": bill})

    def _without_bill(self, ctx: Cycle, part: Note) -> Note:
        if self.args.method == "formula":
            return part
        return Note(NOT_LOADED if ctx.snapshot.history is None else TOO_SHORT, {"part": part})


def _flowing(ctx: Cycle, line: int, busy: float) -> Note:
    """Say what of the order flows in the line's busiest hours, or why that is not known."""
    if ctx.shape.hours is None:
        return Note(SHAPE_UNKNOWN, {})
    if not ctx.snapshot.lines.busiest_of(np.array([line])).any():
        return Note(HOURS_UNKNOWN, {})
    return Note(FLOWS, {"busy": 100 * busy})


def _sentence(lines: Lines, line: int, *, only_billed: bool) -> Message:
    """Return the sentence that fits the line's contract; `only_billed`: nothing but what is billed counts."""
    if lines.flat_rate[line]:
        return FLAT_RATE
    if lines.by_volume[line]:
        return BY_VOLUME if only_billed else VOLUME_WITH_ROOM
    if lines.paid[line]:
        return ABOVE_COMMIT if only_billed else WITH_COMMIT
    return WITHOUT_COMMIT if only_billed else WITH_ROOM


def distinct_groups(choice: LineChoice) -> list[Rows]:
    """Return the chosen lines, with a line that serves several ISPs only once."""
    if len(choice.groups) == 1:
        return list(choice.groups)
    groups: list[Rows] = []
    for group in choice.groups:
        seen = np.logical_or.reduce([group == other for other in groups]) if groups else np.zeros(group.size, np.bool_)
        groups.append(np.where(seen, NO_LINE, group))
    return groups
