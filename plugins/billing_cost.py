"""`billing_cost` (Score): what this request would add to the bill of the chosen lines, per Mbps and month.

Reads line prices and commits, the ledger, and the line metric `bandwidth_mbps` with its hourly profile. Under a
percentile only the traffic in a line's busiest hours is billed. Traffic under the commit is already paid for, but using
up the commit has a price here, and so has using up a line's last room. Arguments: `free` (0.25), the price of using up
the commit; `scarcity` (0.5), that of the last room, both as factors of the line's price; `dearest`, the price per Mbps
and month at which an IDC gets 0 points, by default the installation's (`DEAREST_PRICE`, 60). Less is better, fixed on
0..`dearest`; a higher price is clipped, and the note says so. Missing data: neutral. Where the request needs no
bandwidth, or no survivor has a price, the scorer leaves the sum.
"""

from math import isnan
from typing import Annotated, Any

import msgspec
import numpy as np

from idcsched.framework.capacity import BANDWIDTH
from idcsched.framework.context import Cycle
from idcsched.framework.labels import Rows
from idcsched.framework.lines import NO_LINE, LineChoice
from idcsched.framework.messages import _
from idcsched.framework.normalize import Floats, Scale, rounded
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.snapshot import HOURS_A_WEEK, Lines, Reading

SCARCE_FROM, SCARCE_SPAN, SCARCE_MOST = 0.7, 0.2, 1.5
_SOME = 1e-9  # Mbps: the least divisor, where there is no commit

UNDER_COMMIT = _(
    # the "% of" here is no field: xgettext: no-python-format
    "{busy:.0f} % of the order flows in the line's busiest hours; with the order {fill:.0f} % of the commit is used: "
    "{total:,.0f} {currency} a month"
)
OVER_COMMIT = _(
    # the "% of" here is no field: xgettext: no-python-format
    "{busy:.0f} % of the order flows in the line's busiest hours; {over:.0f} % of the order is billed on top of the "
    "commit: {total:,.0f} {currency} a month"
)
WITHOUT_COMMIT = _(
    # the "% of" here is no field: xgettext: no-python-format
    "{busy:.0f} % of the order flows in the line's busiest hours; the line has no commit: "
    "{total:,.0f} {currency} a month"
)
TOO_DEAR = _("{total:,.0f} {currency} a month: from {dearest:g} per Mbps on an IDC gets 0 points")

Factor = Annotated[float, msgspec.Meta(ge=0, le=100)]


class BillingCostArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The prices of using up the commit and the last room of a line, and the price that gives 0 points."""

    free: Factor = 0.25
    scarcity: Factor = 0.5
    dearest: Annotated[float, msgspec.Meta(gt=0, le=1e6)] | None = None


class Bill(msgspec.Struct, frozen=True):
    """The price of the request on one line of each row, per Mbps and month, and the parts of that price."""

    raw: Floats
    busy: Floats
    over: Floats
    fill: Floats
    commit: Floats


class BillingCost(Plugin):
    """The price assumes that the order stays and that the traffic keeps its pattern all month."""

    name = "billing_cost"
    Args = BillingCostArgs
    scale = Scale(kind="fixed", better="less", low=0.0, high=1.0)
    metrics = (BANDWIDTH,)

    def scale_for(self, ctx: Cycle) -> Scale:
        high = self.args.dearest or ctx.snapshot.dearest_price or 1.0
        return Scale(kind="fixed", better="less", low=0.0, high=high)

    def score(self, ctx: Cycle) -> Reading | None:
        choice, lines = ctx.lines, ctx.snapshot.lines
        if not ctx.need or not lines.codes:
            return None  # nothing is billed
        groups = distinct_groups(choice)
        prices = [np.where(group == NO_LINE, np.nan, lines.price[group]) for group in groups]
        if not any(np.isfinite(price).any() for price in prices):
            return None  # no price is known
        bills = [self._bill(ctx, group, price) for group, price in zip(groups, prices, strict=True)]
        ctx.state[self] = bills[0]
        total = bills[0].raw
        if len(bills) > 1:
            line_prices = [np.where(group == NO_LINE, 0.0, bill.raw) for bill, group in zip(bills, groups, strict=True)]
            total = np.where(choice.has_line, np.sum(line_prices, axis=0), np.nan)
        return Reading(
            metric=BANDWIDTH,
            values=rounded(total),
            known=choice.known & ~np.isnan(total),
            at=ctx.line_times(BANDWIDTH, choice.groups[0]),
            lines=choice.groups[0],
        )

    def _bill(self, ctx: Cycle, group: Rows, price: Floats) -> Bill:
        """Return the price of the request on each row's line in `group`, whose list price is `price`."""
        lines, need = ctx.snapshot.lines, ctx.need
        load, commit = lines.load[group] + need, lines.paid[group]
        over = ((load - commit) / need).clip(0.0, 1.0)
        over = np.where(lines.flat_rate[group], 0.0, np.where(lines.daily[group], 1.0, over))
        fill = np.minimum(1.0, load / np.maximum(commit, _SOME))
        level = load / np.maximum(lines.purchased[group], _SOME)
        scarce = ((level - SCARCE_FROM) / SCARCE_SPAN).clip(0.0, SCARCE_MOST) ** 2
        busy = busy_share(lines, group, hour_of_week_shape(ctx.request.shape))
        paid = fill**2 * self.args.free * (1.0 - over) + over
        raw = price * (paid * busy + self.args.scarcity * scarce)
        return Bill(raw, busy, over, fill, commit)

    def note(self, ctx: Cycle, position: int) -> Note | None:
        bill: Bill | None = ctx.state.get(self)
        if bill is None or isnan(raw := bill.raw.item(position)):
            return None
        if len(ctx.lines.of(position)) != 1:
            return None
        numbers: dict[str, Any] = {
            "busy": 100 * bill.busy.item(position),
            "over": 100 * bill.over.item(position),
            "fill": 100 * bill.fill.item(position),
            "total": raw * ctx.need,
            "currency": ctx.snapshot.currency,
            "dearest": self.scale_for(ctx).high,
        }
        if raw > numbers["dearest"]:
            return Note(TOO_DEAR, numbers)
        if not bill.commit.item(position):
            return Note(WITHOUT_COMMIT, numbers)
        return Note(OVER_COMMIT if bill.over.item(position) else UNDER_COMMIT, numbers)


def distinct_groups(choice: LineChoice) -> list[Rows]:
    """Return the chosen lines, with a line that serves several ISPs only once."""
    if len(choice.groups) == 1:
        return list(choice.groups)
    groups: list[Rows] = []
    for group in choice.groups:
        seen = np.logical_or.reduce([group == other for other in groups]) if groups else np.zeros(group.size, np.bool_)
        groups.append(np.where(seen, NO_LINE, group))
    return groups


def hour_of_week_shape(shape: tuple[float, ...] | None) -> Floats | None:
    """Return the request's shape over the 168 hours of a week; None: flat."""
    if shape is None:
        return None
    return np.tile(np.array(shape), HOURS_A_WEEK // len(shape))


def busy_share(lines: Lines, group: Rows, shape: Floats | None) -> Floats:
    """Return φ, the part of the request that flows in the line's busiest hours; 1 for a line without history."""
    if shape is None:
        return np.ones(group.size)
    busiest = lines.busiest_of(group)
    hours = busiest.sum(axis=1)
    return np.where(hours > 0, (busiest @ shape) / np.maximum(hours, 1), 1.0)
