"""Capacity: a line's room, what is left of the stock, and an order's claims on both.

Filters, scorers, counts and claims all call these functions, so that they agree.
"""

from dataclasses import dataclass
from math import ceil, floor, isnan
from typing import Literal

import msgspec
import numpy as np

from .normalize import DECIMALS, Floats, Number, rounded

__all__ = [
    "BANDWIDTH",
    "Claim",
    "Usage",
    "ceiling",
    "demand",
    "headroom",
    "purchase",
    "room",
    "shortfall",
    "stock_left",
    "used_bandwidth",
]

BANDWIDTH = "bandwidth_mbps"
"""The resource that orders claim of a line, and the line metric that measures its use."""
_SHOWN = 1000  # free amounts are shown in thousandths of a Mbps, GiB or core


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How the installation counts used bandwidth; the same for every profile."""

    count: Literal["monitored", "ordered"] = "monitored"
    max_level: float = 0.9


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An amount of one resource of a line or, where `line` is None, of the IDC's stock.

    The claim is granted only if the resource's `counted` total (what is pending, or all that is ordered) does not
    exceed `ceiling` afterwards; None: there is no limit.
    """

    resource: str
    amount: float
    ceiling: float | None = None
    line: str | None = None
    counted: Literal["pending", "ordered"] = "pending"

    @property
    def key(self) -> tuple[str, str]:
        """The line and the resource, which identify the claim within one IDC."""
        return self.line or "", self.resource


def used_bandwidth(latest: Floats, percentile: Floats) -> Floats:
    """Return the larger of the latest value and the window's percentile, or the one that is known; NaN: neither is."""
    return np.fmax(latest, percentile)


def demand(used: Floats, pending: Floats, ordered: Floats, usage: Usage) -> tuple[Floats, Floats]:
    """Return (used, pending) as `room` takes them; under `ordered` they are (max(used, Σ ordered), 0)."""
    if usage.count == "ordered":
        return np.maximum(used, ordered), np.zeros_like(pending)
    return used, pending


def room(purchased: Number, max_level: Number, used: Number, pending: Number) -> Number:
    """Return the Mbps that may still be placed on a line: purchased × max_level − used − pending. May be negative."""
    return rounded(purchased * max_level - used - pending)


def ceiling(purchased: float, max_level: float, used: float, usage: Usage) -> float:
    """Return the most that may be pending on a line (under `ordered`: ordered in all) for `room` not to be negative.

    An unknown `used` (NaN) counts as 0.
    """
    counted = 0.0 if isnan(used) or usage.count == "ordered" else used
    return float(rounded(purchased * max_level - counted))


def headroom(room_left: Floats, purchased: Floats) -> Floats:
    """Return the share of the purchased bandwidth that is left; 0 where nothing was purchased."""
    return np.divide(room_left, purchased, out=np.zeros_like(room_left), where=purchased > 0)


def stock_left(stock: Floats, taken: Floats) -> Floats:
    """Return the stock that may still be sold; infinite where the stock is unlimited (NaN)."""
    left = rounded(stock - taken)
    left[np.isnan(left)] = np.inf
    return left


def shortfall(need: float, free: float) -> dict[str, float]:
    """Return `need`, `free` and `short_by` to be shown; `free` is rounded down, so that it never looks like enough.

    Where more is taken than may be, `free` is 0, and what is taken too much is lacking as well.
    """
    left = floor(round(free * _SHOWN, DECIMALS)) / _SHOWN
    return {"need": need, "free": max(left, 0.0), "short_by": max(round(need - left, DECIMALS), 0.0)}


def purchase(short_by: float, max_level: float) -> float:
    """Return the Mbps to be purchased for so much more room on a line, rounded up."""
    return ceil(round(short_by / max_level * _SHOWN, DECIMALS)) / _SHOWN
