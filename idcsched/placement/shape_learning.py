"""The nightly learning of traffic shapes, from the lines' hourly traffic and what the ledger says was held on them.

The arithmetic is `metrics_ingest.billing.shape_learning`. It runs twice: with the businesses of each tenant as groups,
and with the businesses of all tenants together. An order carries traffic from when its machines are up, which is when
its claim began to fade, until it is released; an order that never got so far carries none.

Time and memory are bounded: the businesses whose orders changed the most are learnt, all others count as one whose
shape is not kept. Where there are too many orders, the lines with the most are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from idcsched.jobs.services import lease_give_up, lease_take
from idcsched.scheduling.shapes import BusinessOfTenant, shapes_learnt_store
from metrics_ingest.billing.shape_learning import Holdings, LearnedShape, ShapeRegression
from metrics_ingest.hourly import HourlyTraffic, hourly_traffic
from metrics_ingest.samples.checking import KEPT

from .selectors import orders_on_lines

__all__ = ["LearningRun", "shapes_learn"]

LEASE: Final = "shapes_learn"
LEASE_LASTS: Final = timedelta(minutes=10)
MOST_BUSINESSES: Final = 200
MOST_ORDERS: Final = 150_000
BATCH: Final = 250
"""The lines added to the regression together."""
ORDER: Final = np.dtype(
    [("line", np.int64), ("business", np.int64), ("start", np.float64), ("until", np.float64), ("mbps", np.float64)]
)
"""What an order held on a line: the line's row in the traffic, the number of the business, and hours of the traffic."""

Orders = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningRun:
    """What a run has learnt from `lines` of the `measured` lines; `left_out` counts businesses beyond the limit."""

    learned: dict[BusinessOfTenant, LearnedShape]
    lines: int
    measured: int
    left_out: int


def shapes_learn(*, now: datetime, history: timedelta = KEPT) -> LearningRun | None:
    """Learn the shape of each tenant's businesses, and of those that several tenants have, and store them.

    Returns None, and does nothing, while another process does the same.
    """
    holder = uuid4()
    if not lease_take(name=LEASE, holder=holder, now=now, lasting=LEASE_LASTS):
        return None
    try:
        run = _learning_run(hourly_traffic(now=now, history=history))
        shapes_learnt_store(learned=run.learned, now=now)
        return run
    finally:
        lease_give_up(name=LEASE, holder=holder)


def _learning_run(traffic: HourlyTraffic) -> LearningRun:
    orders, businesses = _orders(traffic)
    orders, lines = _bounded(orders, len(traffic.lines))
    named = {key for key in businesses if key[1]}
    tenants = Counter(business for _, business in named)
    learned = _learned(traffic, orders, businesses)
    left_out = len(named - learned.keys())
    if max(tenants.values(), default=0) > 1:
        of_all = _learned(traffic, orders, [(None, business) for _, business in businesses])
        learned |= {key: result for key, result in of_all.items() if tenants[key[1]] > 1}
    return LearningRun(learned=learned, lines=lines, measured=len(traffic.lines), left_out=left_out)


def _orders(traffic: HourlyTraffic) -> tuple[Orders, list[BusinessOfTenant]]:
    """Return what orders held on the measured lines, and the businesses by their numbers."""
    numbers: dict[BusinessOfTenant, int] = {}
    row_of = {line: row for row, line in enumerate(traffic.lines.tolist())}

    def columns() -> Iterator[tuple[Any, ...]]:
        for order in orders_on_lines(start=traffic.start, end=traffic.end):
            number = numbers.setdefault((order.tenant, order.business), len(numbers))
            if order.line in row_of:
                until = np.inf if order.until is None else traffic.hour(order.until)
                yield row_of[order.line], number, traffic.hour(order.since), until, order.mbps

    return np.fromiter(columns(), dtype=ORDER), list(numbers)


def _bounded(orders: Orders, lines: int) -> tuple[Orders, int]:
    """Return the orders on as many lines, those with few orders first, as have no more than are looked at."""
    counts = np.bincount(orders["line"], minlength=lines)
    in_turn = np.argsort(counts, kind="stable")
    kept = in_turn[np.cumsum(counts[in_turn]) <= MOST_ORDERS]
    return orders[np.isin(orders["line"], kept)], len(kept)


def _learned(
    traffic: HourlyTraffic, orders: Orders, businesses: Sequence[BusinessOfTenant]
) -> dict[BusinessOfTenant, LearnedShape]:
    """Learn the shape of each of these businesses; several numbers may be of the same one.

    The last group takes the orders of all businesses that are not looked at, and those without the label.
    """
    chosen = _most_changed(orders, businesses, len(traffic.hours_of_week))
    column = {key: number for number, key in enumerate(chosen)}
    group_of = np.array([column.get(key, len(chosen)) for key in businesses], dtype=np.int64)
    regression = ShapeRegression(groups=len(chosen) + 1, hours_of_week=traffic.hours_of_week)
    for first in range(0, len(traffic.lines), BATCH):
        batch = orders[(orders["line"] >= first) & (orders["line"] < first + BATCH)]
        holdings = Holdings(
            line=batch["line"] - first,
            group=group_of[batch["business"]],
            start=batch["start"],
            until=batch["until"],
            mbps=batch["mbps"],
        )
        regression.add(traffic.mbps[first : first + BATCH], holdings)
    return dict(zip(chosen, regression.learn(), strict=False))


def _most_changed(orders: Orders, businesses: Sequence[BusinessOfTenant], hours: int) -> list[BusinessOfTenant]:
    """Return the businesses whose orders came and went the most, in Mbps; then those that hold the most."""
    came_or_went = (orders["start"] > 0) | (orders["until"] < hours)
    by_number = [
        np.bincount(orders["business"], weights=mbps, minlength=len(businesses)).tolist()
        for mbps in (orders["mbps"] * came_or_went, orders["mbps"])
    ]
    moved: Counter[BusinessOfTenant] = Counter()
    held: Counter[BusinessOfTenant] = Counter()
    for business, mbps_moved, mbps_held in zip(businesses, *by_number, strict=True):
        moved[business] += mbps_moved
        held[business] += mbps_held
    named = [business for business in held if business[1]]
    return sorted(named, key=lambda key: (-moved[key], -held[key], key[1], key[0] or 0))[:MOST_BUSINESSES]
