"""What an order adds to the bill of a line: functions over arrays, one entry a line.

docs/plugins/billing_cost.md has the formula in words; the names here are those of the page.
"""

from typing import Final

import msgspec
import numpy as np

from .normalize import Floats

__all__ = [
    "DAYS_A_MONTH",
    "FREE",
    "GB_A_MONTH",
    "MEAN_OF_PEAK",
    "SCARCITY",
    "TRAFFIC_LEVELS",
    "AddedBill",
    "added_bill",
    "free_mbps",
    "monthly_price",
    "paid_anyway",
]

FREE: Final = 0.25
SCARCITY: Final = 0.75
DAYS_A_MONTH: Final = 30
MEAN_OF_PEAK: Final = 0.5
"""Mean ÷ peak that is assumed of an order without a shape. Measured lines have about this mean ÷ 95th percentile."""
GB_A_MONTH: Final = 162.0
"""What 1 Mbps carries in 30 days at that mean."""
TRAFFIC_LEVELS: Final = np.exp(0.1 * np.array([-1.2816, -0.5244, 0.0, 0.5244, 1.2816]))
"""The traffic of a line that this month may have, as multiples of what is known: the middles of five equally probable
parts of a log-normal distribution."""

_FLAT_RATE_PAID: Final = 0.9  # the part of a flat-rate line's purchased bandwidth that counts as its commit
_SCARCE_FROM, _SCARCE_SPAN, _SCARCE_MOST = 0.7, 0.2, 1.5
_SOME: Final = 1e-9  # Mbps: the least divisor


class AddedBill(msgspec.Struct, frozen=True, kw_only=True):
    """What an order adds on each line, per Mbps and month: `billed`, what the contract charges; `counted`, that and
    the price of the commit and the room that are used up. The others are the parts of the formula."""

    counted: Floats
    billed: Floats
    busy: Floats
    over: Floats
    fill: Floats


def added_bill(
    need: float,
    busy: Floats,
    *,
    price: Floats,
    load: Floats,
    paid: Floats,
    purchased: Floats,
    flat_rate: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    free: float = FREE,
    scarcity: float = SCARCITY,
) -> AddedBill:
    """Return what `need` Mbps add to the bills of some lines; NaN where a line's price or load is not known."""
    over = ((load * TRAFFIC_LEVELS[:, np.newaxis] + need - paid) / need).clip(0.0, 1.0).mean(axis=0)
    over = np.where(flat_rate, 0.0, over)
    fill = np.minimum(1.0, (load + need) / np.maximum(paid, _SOME))
    level = (load + need) / np.maximum(purchased, _SOME)
    scarce = ((level - _SCARCE_FROM) / _SCARCE_SPAN).clip(0.0, _SCARCE_MOST) ** 2
    billed = price * busy * over
    used_up = price * (busy * free * fill**2 * (1.0 - over) + scarcity * scarce)
    return AddedBill(counted=billed + used_up, billed=billed, busy=busy, over=over, fill=fill)


def free_mbps(load: Floats, paid: Floats) -> Floats:
    """Return the Mbps of each line that are paid for and not in use, one column a level of the line's traffic.

    What orders need beyond these is what `added_bill` bills.
    """
    return np.maximum(paid[:, np.newaxis] - load[:, np.newaxis] * TRAFFIC_LEVELS, 0.0)


def monthly_price(charge_type: str, per_mbps: float | None, per_gb: float | None) -> float | None:
    """Return the price of one billed Mbps for a month of 30 days; None where it is not known."""
    if charge_type == "volume":
        return None if per_gb is None else per_gb * GB_A_MONTH
    if per_mbps is None:
        return None
    return per_mbps * DAYS_A_MONTH if charge_type.startswith("daily_") else per_mbps


def paid_anyway(charge_type: str, commit: float | None, purchased: float) -> float:
    """Return the Mbps that are paid for whether used or not, comparable with the line's load, which is a percentile.

    That is the commit; on a flat-rate line 90 % of its bandwidth. A commit by volume is a mean; divided by
    `MEAN_OF_PEAK` it is the percentile of traffic with that mean.
    """
    if charge_type == "fixed":
        return _FLAT_RATE_PAID * purchased
    if commit is None:
        return 0.0
    return commit / MEAN_OF_PEAK if charge_type == "volume" else commit
