"""A period of the past: what flowed on the lines without the orders, and the orders in the sequence in which they came.

A backtest decides the orders again. So traffic and orders are apart: where an order stands, its traffic flows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from idcsched.framework.external import Reply
from idcsched.framework.normalize import Floats
from idcsched.framework.overlay import Allocation
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.charges import Tariff
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, Values

__all__ = ["PastOrder", "Period"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PastOrder:
    """An order as it came at `at` (seconds since 1970), and what it took until `until`; `done` empty: nothing.

    `profile` is the one by which it was decided in truth, where that is known.

    `snapshot` returns what was known at that time. `flow` are the parts of the ordered Mbps that flow in the 168 hours
    of a week, from Monday 00:00 in the billing zone.
    """

    code: str
    at: float
    until: float
    request: Request
    labels: Mapping[str, str]
    flow: Floats
    snapshot: Callable[[], Snapshot]
    replies: Mapping[str, Reply] = field(default_factory=dict)
    done: tuple[Allocation, ...] = ()
    profile: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Period:
    """The lines by (IDC, line) with the numbers of their rows, their contracts, what flowed, and the orders.

    `isps` and `regions` have the operator of each line and the region of its IDC.
    `traffic` is in 5-minute slots from `start`, a midnight in the billing zone; NaN: a gap. The first `lead` days are
    history for the decisions, and are not billed. Bandwidth of a young order counts as pending for `fade` seconds.
    """

    lines: Mapping[tuple[str, str], int]
    tariffs: tuple[Tariff, ...]
    isps: tuple[str, ...]
    regions: tuple[str, ...]
    traffic: Values
    start: datetime
    zone: ZoneInfo
    lead: int
    orders: tuple[PastOrder, ...]
    fade: float
    currency: str
    hour_of_slot: np.ndarray[Any, np.dtype[np.int64]] = field(init=False)
    """The hour of the week of each slot."""

    def __post_init__(self) -> None:
        end = self.start + self.traffic.shape[1] * SLOT
        calendar = Calendar.of(start=self.start, end=end, zone=self.zone)
        hours = calendar.hours_of_week(slice(0, self.traffic.shape[1]))
        object.__setattr__(self, "hour_of_slot", hours)

    @property
    def days(self) -> int:
        """The number of days that are billed."""
        return self.traffic.shape[1] // SLOTS_A_DAY - self.lead

    def flows(self, order: PastOrder, allocations: Iterable[Allocation]) -> Iterator[tuple[int, slice, Values]]:
        """Yield what flows if the order stands there: the row of a line, the slots, and the Mbps in each."""
        slots = slice(self.slot(order.at), self.slot(order.until))
        parts = order.flow[self.hour_of_slot[slots]]
        for allocation in allocations:
            for claim in allocation.claims:
                row = self.lines.get((allocation.idc, claim.line or ""))
                if row is not None:
                    yield row, slots, (claim.amount * parts).astype(np.float32)

    def slot(self, at: float) -> int:
        """Return the number of the slot in which a time lies; of a time outside of the period, the nearest."""
        slot = (datetime.fromtimestamp(at, UTC) - self.start) // SLOT
        return min(max(slot, 0), self.traffic.shape[1])
