"""What flows on the demo's lines for orders, beside the lines' own traffic: what the ledger says is held there."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from idcsched.inventory.models import Line
from idcsched.placement.selectors import orders_on_lines

from .source import LineKey, slot_start
from .traffic import SLOT_SECONDS, Floats, use_of_business

__all__ = ["ordered_traffic"]


def ordered_traffic(*, first: int, until: int) -> Mapping[LineKey, Floats]:
    """Return the Mbps of all orders of each line in the slots from `first` up to, not including, `until`."""
    keys = {line: (idc, code) for line, idc, code in Line.objects.values_list("pk", "idc__code", "code")}
    traffic: dict[LineKey, Floats] = {}
    uses: dict[str, Floats] = {}
    for order in orders_on_lines(start=slot_start(first), end=slot_start(until)):
        if order.business not in uses:
            uses[order.business] = use_of_business(order.business, first=first, count=until - first)
        begin = max(_slot_from(order.since) - first, 0)
        end = until - first if order.until is None else _slot_from(order.until) - first
        on_line = traffic.setdefault(keys[order.line], np.zeros(until - first))
        on_line[begin:end] += order.mbps * uses[order.business][begin:end]
    return traffic


def _slot_from(at: datetime) -> int:
    """Return the first slot that begins at that time or later."""
    return -int(-at.timestamp() // SLOT_SECONDS)
