"""`billing_cost` (Score): what this request would add to the bill of the chosen lines, per Mbps and month.

Reads line prices and commits, the ledger, and the line metric `bandwidth_mbps` with its hourly profile. Only what
flows in a line's busiest hours is billed under a percentile; what lies under the commit is already paid, but using
it up is not free; the last room is dear. Arguments: `free` (0.25), the price of using up the commit, and `scarcity`
(0.5), that of the last room. Less is better, fixed on 0..the dearest list price in the inventory. Missing data:
neutral. Where the request needs no bandwidth, or no survivor has a price, the scorer leaves the sum.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np

from idcsched.framework.building import BANDWIDTH
from idcsched.framework.capacity import demand
from idcsched.framework.context import Cycle
from idcsched.framework.labels import Rows
from idcsched.framework.lines import NO_LINE
from idcsched.framework.normalize import DECIMALS, Floats, Scale
from idcsched.framework.plugin import Note, Plugin
from idcsched.framework.snapshot import HOURS_A_WEEK, Lines, Reading

FIXED_PAID = 0.9  # of a flat-rate line, the part of the purchased bandwidth that counts as its commit
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


@dataclass(frozen=True, slots=True)
class Bill:
    """What one group of chosen lines would bill for the request, row by row."""

    raw: Floats
    busy: Floats
    over: Floats
    fill: Floats


class BillingCost(Plugin):
    """An order is priced as if it stayed and the month were steady."""

    name = "billing_cost"
    Args = BillingCostArgs
    scale = Scale(kind="fixed", better="less", low=0.0, high=1.0)
    metrics = (BANDWIDTH,)

    def scale_for(self, ctx: Cycle) -> Scale:
        return Scale(kind="fixed", better="less", low=0.0, high=ctx.snapshot.dearest_price or 1.0)

    def score(self, ctx: Cycle) -> Reading | None:
        need, lines = ctx.request.bandwidth, ctx.snapshot.lines
        if not need or not any((~np.isnan(lines.price.take(g[g != NO_LINE]))).any() for g in ctx.lines.groups):
            return None
        shape = hour_of_week_shape(ctx.request.shape)
        total = np.zeros(ctx.size)
        for group in distinct_groups(ctx):
            there = group != NO_LINE
            total += np.where(there, self.bill(ctx, np.maximum(group, 0), need, shape).raw, 0.0)
        total = np.where(ctx.lines.has_line, total, np.nan)
        reading = ctx.line_metric(BANDWIDTH, ctx.lines.groups[0])
        return Reading(
            metric=BANDWIDTH,
            values=total.round(DECIMALS),
            at=reading.at,
            known=ctx.lines.known & ~np.isnan(total),
            lines=reading.lines,
        )

    def bill(self, ctx: Cycle, group: Rows, need: float, shape: Floats | None) -> Bill:
        """The formula of the scheduling rules, for the line that each row has in `group`."""
        lines = ctx.snapshot.lines
        types = charge_types(lines)
        used, pending = demand(lines.used, lines.pending, lines.ordered, ctx.snapshot.usage)
        load = (used + pending).take(group) + need
        purchased, commit = lines.purchased.take(group), committed(lines).take(group)
        over = ((load - commit) / need).clip(0.0, 1.0)
        over = np.where(types["fixed"].take(group), 0.0, np.where(types["daily"].take(group), 1.0, over))
        fill = np.minimum(1.0, load / np.maximum(commit, 1e-9))
        busy = busy_share(lines, group, shape)
        scarce = ((load / np.maximum(purchased, 1e-9) - SCARCE_FROM) / SCARCE_SPAN).clip(0.0, SCARCE_MOST) ** 2
        paid = busy * (over + self.args.free * fill**2 * (1.0 - over))
        return Bill(lines.price.take(group) * (paid + self.args.scarcity * scarce), busy, over, fill)

    def note(self, ctx: Cycle, position: int) -> Note | None:
        need = ctx.request.bandwidth
        chosen = ctx.lines.of(position)
        if not need or len(chosen) != 1:
            return None
        bill = self.bill(ctx, np.array(chosen, dtype=np.intp), need, hour_of_week_shape(ctx.request.shape))
        raw, busy, over, fill = (float(column[0]) for column in (bill.raw, bill.busy, bill.over, bill.fill))
        if np.isnan(raw):
            return None
        numbers: dict[str, Any] = {
            "busy": 100 * busy,
            "over": 100 * over,
            "fill": 100 * fill,
            "total": raw * need,
            "currency": ctx.snapshot.currency,
        }
        free_of_commit = not committed(ctx.snapshot.lines)[chosen[0]]
        return Note(WITHOUT_COMMIT if free_of_commit else WITH_COMMIT, numbers)


def distinct_groups(ctx: Cycle) -> list[Rows]:
    """The chosen lines, a line that serves several ISPs only once."""
    groups: list[Rows] = []
    for group in ctx.lines.groups:
        again = np.logical_or.reduce([group == other for other in groups]) if groups else np.zeros(ctx.size, np.bool_)
        groups.append(np.where(again, NO_LINE, group))
    return groups


def charge_types(lines: Lines) -> dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
    kinds = lines.charge_types
    return {
        "fixed": np.array([kind == "fixed" for kind in kinds], dtype=np.bool_),
        "daily": np.array([kind.startswith("daily_") for kind in kinds], dtype=np.bool_),
    }


def committed(lines: Lines) -> Floats:
    """The bandwidth that is paid anyway; none: 0."""
    kinds = lines.charge_types
    flat = np.array([kind == "fixed" for kind in kinds], dtype=np.bool_)
    metered = np.array([kind == "volume" for kind in kinds], dtype=np.bool_)
    commit = np.where(metered, 0.0, np.nan_to_num(lines.commit, nan=0.0))
    return np.where(flat, FIXED_PAID * lines.purchased, commit)


def hour_of_week_shape(shape: tuple[float, ...] | None) -> Floats | None:
    """The request's shape over the 168 hours of a week; None: flat."""
    if shape is None:
        return None
    return np.tile(np.array(shape), HOURS_A_WEEK // len(shape))


def busy_share(lines: Lines, group: Rows, shape: Floats | None) -> Floats:
    """φ: which part of the request flows in the line's busiest hours; no history of the line: all of it."""
    if shape is None:
        return np.ones(group.size)
    busiest = lines.busiest.take(group, axis=0)
    hours = busiest.sum(axis=1)
    return np.where(hours > 0, (busiest @ shape) / np.maximum(hours, 1), 1.0)
