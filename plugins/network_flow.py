"""`network_flow` (PreFilter, Score, Reserve): the chosen lines must carry the bandwidth; more room left is better.

Reads the line metric `bandwidth_mbps`. Raw value: the bandwidth that is left below the line's level
(`max_level`) after placing, as a share of the purchased, the least of all chosen lines, fixed on 0..1. Missing
data: the filter rejects (`pass` lets such lines through after all known ones, `last` uses the stale value), the
score is the worst. A request that needs no bandwidth is not filtered; an IDC without a line scores the worst.
Reserve claims the needed bandwidth of each chosen line, within what is not used of purchased × level.
"""

from math import isnan
from typing import Any

import numpy as np

from idcsched.framework.capacity import BANDWIDTH, Claim, ceiling, purchase, shortfall
from idcsched.framework.context import Cycle
from idcsched.framework.labels import Rows
from idcsched.framework.lines import NO_LINE
from idcsched.framework.messages import _
from idcsched.framework.normalize import DECIMALS, Scale
from idcsched.framework.plugin import Missing, Plugin, Reason, Verdict
from idcsched.framework.ranking import line_headroom
from idcsched.framework.snapshot import Reading

NO_LINE_AT_ALL = Reason("no_line", _("no line"), _("has no line that could carry {need:.10g} Mbps"), cures=("lines",))
UNKNOWN = Reason(
    "bandwidth_unknown",
    _("bandwidth unknown"),
    _("how much {line} is used is not known, and {need:.10g} Mbps are needed"),
    cures=("metrics",),
)
NOT_ENOUGH = Reason(
    "not_enough_bandwidth",
    _("not enough bandwidth"),
    _("needs {need:.10g} Mbps on {line}, {free:.10g} left"),
    cures=("metrics", "ledger", "lines"),
)


class NetworkFlow(Plugin):
    """Keeps IDCs whose chosen line (with `all`: each) can carry Σ count × bandwidth; scores the headroom left."""

    name = "network_flow"
    scale = Scale(kind="fixed", low=0.0, high=1.0)
    missing = Missing(filter="reject", score="worst")
    metrics = (BANDWIDTH,)

    def pre_filter(self, ctx: Cycle) -> tuple[Verdict, ...] | None:
        need = ctx.need
        if not need:
            return None
        choice, codes, unknown_use = ctx.lines, ctx.snapshot.lines.codes, self._line_of_unknown_use(ctx)
        use_known = choice.carries | (unknown_use == NO_LINE)
        return (
            Verdict(choice.has_line, NO_LINE_AT_ALL, lambda i: {"need": need}),
            Verdict(use_known, UNKNOWN, lambda i: {"need": need, "line": codes[unknown_use[i]]}),
            Verdict(
                choice.carries | ~choice.has_line | ~use_known,
                NOT_ENOUGH,
                detail=lambda i: {**self._tightest_line(ctx, i, need), "lines": self._eligible_lines(ctx, i, need)},
                figures=lambda i: self._figures(ctx, i, need),
            ),
        )

    def score(self, ctx: Cycle) -> Reading:
        oldest = self._oldest(ctx)
        return Reading(
            metric=BANDWIDTH,
            values=line_headroom(ctx),
            known=ctx.lines.known,
            at=ctx.line_times(BANDWIDTH, oldest),
            lines=oldest,
        )

    def reserve(self, ctx: Cycle) -> list[Claim]:
        need, lines, usage = round(ctx.need, DECIMALS), ctx.snapshot.lines, ctx.snapshot.usage
        return [
            Claim(
                resource=BANDWIDTH,
                amount=need,
                line=lines.codes[line],
                ceiling=ceiling(lines.purchased.item(line), lines.max_level.item(line), lines.used.item(line), usage),
                counted="ordered" if usage.count == "ordered" else "pending",
            )
            for line in (ctx.lines.of(0) if need else ())  # row 0: the chosen IDC is the only row
        ]

    @staticmethod
    def _line_of_unknown_use(ctx: Cycle) -> Rows:
        """Return for each row a chosen line that rejects the row because its use is unknown, or else NO_LINE.

        Rows that lack a line are rejected for that, and have NO_LINE here.
        """
        unknown_use, choice, rooms = np.full(ctx.size, NO_LINE, dtype=np.intp), ctx.lines, ctx.snapshot.lines.room
        if choice.known.all():
            return unknown_use
        for chosen in choice.groups if rooms.size else ():  # several where each wanted ISP has its own line
            # the filter judges by room, so `usable` puts stale values on record as room; it does so under `pass`, too
            reading = ctx.line_metric(BANDWIDTH, chosen).with_values(rooms[chosen])
            usable = ctx.usable(reading, among=choice.has_line)
            if ctx.missing.filter != "pass":
                unknown_use = np.where(choice.has_line & ~usable, chosen, unknown_use)
        return unknown_use

    @staticmethod
    def _oldest(ctx: Cycle) -> Rows:
        """Return each row's line with the oldest measurement, whose age is the score's."""
        oldest, *others = ctx.lines.groups
        for chosen in others:
            at, oldest_at = (ctx.line_times(BANDWIDTH, lines) for lines in (chosen, oldest))
            oldest = np.where(~(at >= oldest_at), chosen, oldest)  # not `<`: a line never measured (NaN) is the oldest
        return oldest

    @classmethod
    def _figures(cls, ctx: Cycle, i: int, need: float) -> dict[str, Any] | None:
        """Return need, room and shortfall of the row's line with the least room.

        Where the use of a chosen line is unknown, return the first line with `free` null; without a line, None.
        """
        if ctx.lines.known[i]:
            return cls._tightest_line(ctx, i, need)
        first = next((ctx.snapshot.lines.codes[line] for line in ctx.lines.of(i)), None)
        return None if first is None else {"line": first, "need": need, "free": None, "short_by": None}

    @staticmethod
    def _tightest_line(ctx: Cycle, i: int, need: float) -> dict[str, Any]:
        """Return need, room and shortfall of the row's line with the least room."""
        lines = ctx.snapshot.lines
        rooms = [(lines.room.item(line), lines.codes[line]) for line in ctx.lines.of(i)]
        room, line = min([(room, line) for room, line in rooms if not isnan(room)])
        return {"line": line, **shortfall(need, room)}

    @staticmethod
    def _eligible_lines(ctx: Cycle, i: int, need: float) -> list[dict[str, Any]]:
        """Return what each line that the row's order could use lacks, the least first; null where its use is unknown.

        `purchase_mbps`: what would have to be bought of the line. What is lacking on all that are `chosen` must be
        bought: with `all` these may be several.
        """
        lines, chosen = ctx.snapshot.lines, ctx.lines.of(i)
        lacks = []
        for line, room in ctx.eligible_lines(i).items():
            lack = {"free": None, "short_by": None} if isnan(room) else shortfall(need, room)
            short_by = lack["short_by"]
            lacks.append(
                {
                    "line": lines.codes[line],
                    "isp": lines.isps[line],
                    "free": lack["free"],
                    "short_by": short_by,
                    "purchase_mbps": None if short_by is None else purchase(short_by, lines.max_level.item(line)),
                    "chosen": line in chosen,
                }
            )
        return sorted(lacks, key=lambda lack: np.inf if lack["short_by"] is None else lack["short_by"])
