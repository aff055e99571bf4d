"""What an order adds to the bandwidth bill of a month, as data: what a calculator would say, line by line.

It is the bill of the lines' last 30 days with the order on top, by their contracts, less that without it (`exact`).
Where less than two weeks of a line are known, the month repeats the mean week of what is known (`weekly`). A flat-rate
line costs the same whatever flows (`fixed`). No profile changes these figures; what it scores is `counted`.
"""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import msgspec
import numpy as np

from .answer import Bill, LineBill
from .context import Cycle
from .labels import Rows
from .line_bills import months_with
from .monthly_bill import EXACT
from .profile import Entry, Profile
from .snapshot import Reading, Snapshot

__all__ = [
    "NO_BANDWIDTH",
    "NO_PRICE",
    "NO_TRAFFIC",
    "bill_on",
    "billed",
    "bills",
    "bills_add",
    "in_all",
    "price_scorer",
]

NO_BANDWIDTH, NO_PRICE, NO_TRAFFIC = "no_bandwidth", "no_price", "no_traffic"
"""Why there is no bill: none is needed, or the price or the traffic of a line is not known."""
METHODS = ("weekly", "exact", "fixed")
"""From the one that knows least to the one that knows most."""

CENTS = 2
HOURS_A_DAY = 24


def bills(ctx: Cycle, profile: Profile, scored: Reading | None = None) -> list[Bill | str]:
    """Return for each row the bill of the request on its chosen lines, or the code of the reason why there is none.

    `scored` is what the profile's scorer of prices says of these rows, where it has been asked already.
    """
    counted = _counted(ctx, scored or _scored(ctx, profile))
    return [
        bill if isinstance(bill, str) else msgspec.structs.replace(bill, counted=counts_as)
        for bill, counts_as in zip(map(in_all, _parts(ctx)), counted, strict=True)
    ]


def bills_add(ctx: Cycle) -> Iterator[float | None]:
    """Yield for each row what the request adds to the bill per month; None: that is not known."""
    for parts in _parts(ctx):
        known = [part.per_month for part in parts if isinstance(part, Bill)]
        yield round(sum(known), CENTS) if len(known) == len(parts) else None


def bill_on(ctx: Cycle, lines: Rows) -> Bill | str:
    """Return the bill of the request on these lines, whatever is chosen, or the reason why there is none."""
    return in_all(list(_line_bills(ctx, lines)))


def billed(bill: Bill | str | None) -> dict[str, Any]:
    """Return the two fields of an answer that say a bill, or why there is none; None: nothing was placed."""
    if isinstance(bill, str):
        return {"bill": None, "bill_unknown": bill}
    return {"bill": bill, "bill_unknown": msgspec.UNSET}


def in_all(parts: Sequence[Bill | str]) -> Bill | str:
    """Return the bill of several lines or IDCs together; where a part has none, the reason."""
    known = [part for part in parts if isinstance(part, Bill)]
    if len(known) < len(parts):
        return next(part for part in parts if isinstance(part, str))
    counted = [part.counted for part in known if part.counted is not None]
    return Bill(
        currency=known[0].currency,
        per_month=round(sum(part.per_month for part in known), CENTS),
        before=round(sum(part.before for part in known), CENTS),
        after=round(sum(part.after for part in known), CENTS),
        method=min((part.method for part in known), key=METHODS.index),
        counted=round(sum(counted), CENTS) if len(counted) == len(known) else None,
        history_days=min((part.history_days for part in known if part.history_days is not None), default=None),
        lines=tuple(line for part in known for line in part.lines),
    )


def price_scorer(profile: Profile) -> Entry | None:
    """Return the first of the profile's scorers whose raw values are prices."""
    return next((entry for entry in profile.scorers if entry.plugin.prices), None)


def _scored(ctx: Cycle, profile: Profile) -> Any:
    entry = price_scorer(profile)
    try:
        return entry.plugin.score(ctx) if entry and ctx.need and ctx.size else None
    except Exception:  # noqa: BLE001  # it failed when the decision was made, too, and is on record there
        return None


def _counted(ctx: Cycle, scored: Any) -> list[float | None]:
    """Return what the request counts as in each row, by the raw values of the scorer of prices; None: by none."""
    if not isinstance(scored, Reading):
        return [None] * ctx.size
    return [None if isnan(value) else round(value * ctx.need, CENTS) for value in scored.values.tolist()]


def _parts(ctx: Cycle) -> list[list[Bill | str]]:
    """Return for each row the bill on each of its chosen lines, or why there is none."""
    if not ctx.need or not ctx.size:
        return [[NO_BANDWIDTH]] * ctx.size
    lines_of = [ctx.lines.of(position) for position in range(ctx.size)]
    chosen = np.array([line for lines in lines_of for line in lines], dtype=np.intp)
    by_line = dict(zip(chosen.tolist(), _line_bills(ctx, chosen), strict=True))
    return [[by_line[line] for line in lines] or [NO_TRAFFIC] for lines in lines_of]


def _line_bills(ctx: Cycle, chosen: Rows) -> Iterator[Bill | str]:
    """Yield what each line alone is billed, or why that is not known."""
    lines, months = ctx.snapshot.lines, months_with(ctx, chosen)
    for number, line in enumerate(chosen.tolist()):
        if isnan(lines.price.item(line)):
            yield NO_PRICE
        elif lines.flat_rate[line]:
            cost = lines.purchased.item(line) * lines.price.item(line)
            yield _bill(ctx.snapshot, line, cost, cost, "fixed")
        elif isnan(months.with_order.item(number)):
            yield NO_TRAFFIC
        else:
            method = "exact" if months.method[number] == EXACT else "weekly"
            yield _bill(ctx.snapshot, line, months.without.item(number), months.with_order.item(number), method)


def _bill(snapshot: Snapshot, line: int, without: float, with_order: float, method: str) -> Bill:
    before, after = round(without, CENTS), round(with_order, CENTS)
    per_month, days = round(after - before, CENTS), None
    if snapshot.history is not None and method != "fixed":
        days = -(-snapshot.history.figures.known_hours.item(line) // HOURS_A_DAY)
    part = LineBill(line=snapshot.lines.codes[line], per_month=per_month, before=before, after=after, method=method)
    return Bill(
        currency=snapshot.currency,
        per_month=per_month,
        before=before,
        after=after,
        method=method,
        counted=None,
        history_days=days,
        lines=(part,),
    )
