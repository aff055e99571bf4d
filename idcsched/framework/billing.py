"""What an order adds to the bill of a line: functions over arrays, one entry a line.

Let p be the line's price per billed Mbps and month, x what the order needs, U what the line carries already with what
is pending, C the commit and w = (U + x) ÷ purchased:

    over = the mean of clip((U · e^z + x − C) ÷ x, 0, 1) over five levels z of a normal distribution, σ = 0.1
    fill = min(1, (U + x) ÷ C)
    price per Mbps = p · [ busy · (over + free · fill² · (1 − over)) + scarcity · clip((w − 0.7) ÷ 0.2, 0, 1.5)² ]

`busy` is the part of the order that the contract bills: what flows in the line's busiest hours or, on a line that is
billed by volume, the order's mean. Five levels instead of one, since nobody knows this month's traffic to the Mbps: a
line just below its commit is not free. What lies under the commit is paid already, but using up the commit has a price
(`free`), and so has using up a line's last room (`scarcity`).
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
    "AddedBill",
    "added_bill",
    "monthly_price",
    "paid_anyway",
]

FREE: Final = 0.25
SCARCITY: Final = 0.75
DAYS_A_MONTH: Final = 30
MEAN_OF_PEAK: Final = 0.5
"""Mean ÷ peak of traffic whose shape is not known; measured traffic has about this mean ÷ 95th percentile."""
GB_A_MONTH: Final = 162.0
"""What 1 Mbps carries in 30 days at that mean."""

_FLAT_RATE_PAID: Final = 0.9  # the part of a flat-rate line's purchased bandwidth that counts as its commit
_LEVELS: Final = np.exp(0.1 * np.array([-1.2816, -0.5244, 0.0, 0.5244, 1.2816]))[:, np.newaxis]
"""The middles of five equally probable parts of a log-normal distribution."""
_SCARCE_FROM, _SCARCE_SPAN, _SCARCE_MOST = 0.7, 0.2, 1.5
_SOME: Final = 1e-9  # Mbps: the least divisor


class AddedBill(msgspec.Struct, frozen=True, kw_only=True):
    """What an order adds on one line of each row: per Mbps and month the `price` that is compared, which includes the
    commit and the room that are used up, and the part of it that is `billed`."""

    price: Floats
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
    over = ((load * _LEVELS + need - paid) / need).clip(0.0, 1.0).mean(axis=0)
    over = np.where(flat_rate, 0.0, over)
    fill = np.minimum(1.0, (load + need) / np.maximum(paid, _SOME))
    level = (load + need) / np.maximum(purchased, _SOME)
    scarce = ((level - _SCARCE_FROM) / _SCARCE_SPAN).clip(0.0, _SCARCE_MOST) ** 2
    billed = price * busy * over
    used_up = price * (busy * free * fill**2 * (1.0 - over) + scarcity * scarce)
    return AddedBill(price=billed + used_up, billed=billed, busy=busy, over=over, fill=fill)


def monthly_price(charge_type: str, per_mbps: float | None, per_gb: float | None) -> float | None:
    """Return the price of one billed Mbps for a month of 30 days; None where it is not known."""
    if charge_type == "volume":
        return None if per_gb is None else per_gb * GB_A_MONTH
    if per_mbps is None:
        return None
    return per_mbps * DAYS_A_MONTH if charge_type.startswith("daily_") else per_mbps


def paid_anyway(charge_type: str, commit: float | None, purchased: float) -> float:
    """Return the Mbps that are paid for whether used or not, on the scale of the line's busiest hours.

    That is the commit; on a flat-rate line 90 % of its bandwidth. A commit by volume is a mean, which the busiest hours
    exceed.
    """
    if charge_type == "fixed":
        return _FLAT_RATE_PAID * purchased
    if commit is None:
        return 0.0
    return commit / MEAN_OF_PEAK if charge_type == "volume" else commit
