"""What flows on the demo's lines for orders, beside the lines' own traffic: what the ledger says is held there."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from idcsched.inventory.models import Line
from idcsched.placement.selectors import orders_on_lines

from .source import LineKey, slot_start
from .traffic import SLOT_SECONDS, Floats, use_of_business

__all__ = ["ordered_traffic", "slots_with_traffic"]


def ordered_traffic(*, first: int, until: int) -> Mapping[LineKey, Floats]:
    """Return the Mbps of all orders of each line in the slots from `first` up to, not including, `until`."""
    keys = {line: (idc, code) for line, idc, code in Line.objects.values_list("pk", "idc__code", "code")}
    traffic: dict[LineKey, Floats] = {}
    uses: dict[str, Floats] = {}
    for order in orders_on_lines(start=slot_start(first), end=slot_start(until)):
        if order.business not in uses:
            uses[order.business] = use_of_business(order.business, first=first, count=until - first)
        slots = slots_with_traffic(order.since, order.until, first=first, count=until - first)
        on_line = traffic.setdefault(keys[order.line], np.zeros(until - first))
        on_line[slots] += order.mbps * uses[order.business][slots]
    return traffic


def slots_with_traffic(since: datetime, until: datetime | None, *, first: int, count: int) -> slice:
    """Return which of the `count` slots from `first` on carry an order's traffic, which flows from `since` on.

    `until` None: it flows on.
    """
    end = count if until is None else min(max(_slot_from(until) - first, 0), count)
    return slice(min(max(_slot_from(since) - first, 0), end), end)


def _slot_from(at: datetime) -> int:
    """Return the first slot that begins at that time or later."""
    return -int(-at.timestamp() // SLOT_SECONDS)
