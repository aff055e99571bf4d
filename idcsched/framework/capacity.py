"""Room: how much a line can still take, what a Mbps of it costs, and what an order claims of it.

One function each, called by whoever filters, scores, counts or claims.
"""

from dataclasses import dataclass
from math import floor, isnan
from typing import Literal

import msgspec
import numpy as np

from .normalize import DECIMALS, Floats, Number, rounded

__all__ = [
    "BANDWIDTH",
    "DAYS_A_MONTH",
    "GB_A_MONTH",
    "Claim",
    "Usage",
    "ceiling",
    "demand",
    "headroom",
    "monthly_price",
    "paid_anyway",
    "room",
    "shortfall",
    "stock_left",
    "used_bandwidth",
]

BANDWIDTH = "bandwidth_mbps"
"""What a line gives: a resource that orders claim, and the metric that says how much of it is used."""
DAYS_A_MONTH = 30
GB_A_MONTH = 162.0  # what 1 Mbps carries in 30 days where mean ÷ p95 is 0.5
_FLAT_RATE_PAID = 0.9  # of a flat-rate line, the part of the purchased bandwidth that counts as its commit
_SHOWN = 1000  # parts of a Mbps, GiB or core


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How the installation counts used bandwidth; the same for every profile."""

    count: Literal["monitored", "ordered"] = "monitored"
    max_level: float = 0.9


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """So much of one thing: of a line, or, where `line` is None, of the IDC's stock.

    It may be honoured only if what is `counted` of it (what is pending, or all that is ordered) does not exceed
    `ceiling` afterwards; None: there is no limit.
    """

    resource: str
    amount: float
    ceiling: float | None = None
    line: str | None = None
    counted: Literal["pending", "ordered"] = "pending"

    @property
    def key(self) -> tuple[str, str]:
        """What it is about, within one IDC."""
        return self.line or "", self.resource


def used_bandwidth(latest: Floats, percentile: Floats) -> Floats:
    """The larger of the latest value and the percentile of the window; unknown (NaN) where nothing was ever seen.

    Where only one of the two is there, it is the larger.
    """
    return np.fmax(latest, percentile)


def demand(used: Floats, pending: Floats, ordered: Floats, usage: Usage) -> tuple[Floats, Floats]:
    """(used, pending) as `room` takes them: under `ordered`, max(used, Σ ordered) stands in for their sum."""
    if usage.count == "ordered":
        return np.maximum(used, ordered), np.zeros_like(pending)
    return used, pending


def room(purchased: Number, max_level: Number, used: Number, pending: Number) -> Number:
    """Mbps that may still be placed on a line: purchased × max_level − used − pending. May be negative."""
    return rounded(purchased * max_level - used - pending)


def ceiling(purchased: float, max_level: float, used: float, usage: Usage) -> float:
    """What may be pending on a line at most (under `ordered`: ordered in all), so that `room` is not negative.

    `used` NaN is not known and counts as nothing.
    """
    seen = 0.0 if isnan(used) or usage.count == "ordered" else used
    return float(rounded(purchased * max_level - seen))


def headroom(room_left: Floats, purchased: Floats) -> Floats:
    """The share of the purchased bandwidth that is left; 0 where nothing was purchased."""
    return np.divide(room_left, purchased, out=np.zeros_like(room_left), where=purchased > 0)


def stock_left(stock: Floats, taken: Floats) -> Floats:
    """What may still be sold; infinite where the stock is unlimited (NaN)."""
    left = rounded(stock - taken)
    left[np.isnan(left)] = np.inf
    return left


def shortfall(need: float, free: float) -> dict[str, float]:
    """How far off something is, in figures for people: what is free is rounded down, so that it never looks enough."""
    left = max(floor(round(free * _SHOWN, DECIMALS)) / _SHOWN, 0.0)
    return {"need": need, "free": left, "short_by": max(round(need - left, DECIMALS), 0.0)}


def monthly_price(charge_type: str, per_mbps: float | None, per_gb: float | None) -> float | None:
    """The price of one billed Mbps for a month of 30 days; None where it is not known."""
    if charge_type == "volume":
        return None if per_gb is None else per_gb * GB_A_MONTH
    if per_mbps is None:
        return None
    return per_mbps * DAYS_A_MONTH if charge_type.startswith("daily_") else per_mbps


def paid_anyway(charge_type: str, commit: float | None, purchased: float) -> float:
    """The Mbps of a line that are paid for whether they flow or not: its commit, most of a flat-rate line's width."""
    if charge_type == "fixed":
        return _FLAT_RATE_PAID * purchased
    return 0.0 if charge_type == "volume" or commit is None else commit
