"""The demo's past orders: what its tenant has asked for in the last weeks, made up from a seed and the day of loading.

Where each of them stands is decided by the engine (`past_course`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings

from .documents import Document, demo

__all__ = ["CONFIRMED_AFTER", "FIRST_DAY", "MACHINE_MBPS", "AskedOrder", "past_orders"]

BUSINESSES: Final = ("live-streaming", "conference", "backup")
SEED: Final = 2
ORDERS: Final = 96
FIRST_DAY, LAST_DAY = 29, 1
"""The orders came in these days before that of loading: records of decisions are kept for 30 days, unless set."""
WORKING_HOURS: Final = (9, 18)
MEAN_STAY: Final = timedelta(days=15)
LEAST_STAY: Final = timedelta(days=2)
CONFIRMED_AFTER: Final = timedelta(minutes=4)
MACHINE_MBPS: Final = 100.0
LEAST_SHARE, MOST_SHARE = 0.01, 0.025
"""The share of a line's purchased bandwidth that an order asks for, but for one machine at least."""
ANY_ISP: Final = 0.3
"""The part of the orders that name no ISP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOrder:
    """An order of `machines` anywhere in `region`, which came at `at` and is released at `until`.

    `isp` None: a line of any ISP will do.
    """

    number: int
    business: str
    region: str
    isp: str | None
    machines: int
    at: datetime
    until: datetime

    @property
    def code(self) -> str:
        return f"past-order-{self.number}"

    @property
    def confirmed_at(self) -> datetime:
        """When its machines were up, from which on its traffic flows."""
        return self.at + CONFIRMED_AFTER

    @property
    def document(self) -> dict[str, Any]:
        """The request as the API takes it."""
        return {
            "request_id": self.code,
            "action": "reserve",
            "region": self.region,
            **({} if self.isp is None else {"isp": self.isp}),
            "machines": [{"count": self.machines, "bandwidth_mbps": MACHINE_MBPS}],
            "labels": {"business": self.business},
        }


def past_orders(*, now: datetime) -> list[AskedOrder]:
    """Return the orders in the sequence in which they came; they are the same for all times of a day of loading."""
    return sorted(_orders(now), key=lambda order: order.at)


def _orders(now: datetime) -> Iterator[AskedOrder]:
    """Yield the orders: each line is as likely as any other to be the one whose region and ISP an order asks for."""
    chance = np.random.default_rng(SEED)
    zone = ZoneInfo(settings.BILLING_ZONE)
    lines, today = _lines(), now.astimezone(zone).date()
    above = {region["code"]: region.get("parent") for region in demo("regions")}
    for number in range(1, ORDERS + 1):
        region, line = lines[chance.integers(len(lines))]
        day = today - timedelta(days=int(chance.integers(LAST_DAY, FIRST_DAY + 1)))
        clock = time(int(chance.integers(*WORKING_HOURS)), int(chance.integers(60)))
        at = datetime.combine(day, clock, zone).astimezone(UTC)
        share = float(chance.uniform(LEAST_SHARE, MOST_SHARE))
        yield AskedOrder(
            number=number,
            business=BUSINESSES[number % len(BUSINESSES)],
            region=_outermost(region, above),
            isp=None if chance.random() < ANY_ISP else line["isp"],
            machines=max(1, round(share * line["purchased_mbps"] / MACHINE_MBPS)),
            at=at,
            until=at + LEAST_STAY + float(chance.exponential()) * MEAN_STAY,
        )


def _outermost(region: str, above: Mapping[str, str | None]) -> str:
    """Return the outermost region around one; `above` has what each lies in."""
    while outer := above[region]:
        region = outer
    return region


def _lines() -> list[tuple[str, Document]]:
    """Return the lines after which orders ask, each with its region: those of the demo's IDCs without a taint."""
    tainted = {taint["idc"] for taint in demo("taints")}
    return [(idc["region"], line) for idc in demo("idcs") if idc["code"] not in tainted for line in idc["lines"]]
