"""What a line's charge type bills: pure functions of a month's figures.

A month that still runs is billed as if it ended now. Prices of the monthly types are per Mbps and month, those of the
daily types per Mbps and day, that of volume per GB (10⁹ bytes). What is committed is billed in any case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from idcsched.inventory.choices import ChargeType

__all__ = ["Bill", "Figures", "Tariff", "bill", "billable_mbps", "measured_mbps"]

MBIT_PER_GB: Final = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the bandwidth of some time came to, in Mbps."""

    p95: float
    fourth_peak: float
    enhanced_95: float
    daily_peak_average: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What is known of a line's contract."""

    charge_type: str
    purchased_mbps: float
    commit_mbps: float | None = None
    price_per_mbps: float | None = None
    price_per_gb: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """How much of what is billed, and for how much money; None where the price is not known."""

    quantity: float
    unit: Literal["mbps", "mbps_days", "gb"]
    amount: float | None


def billable_mbps(tariff: Tariff, figures: Figures) -> float:
    """The Mbps that the charge type looks at, the commit at least: what one month is compared with another by."""
    if tariff.charge_type == ChargeType.FIXED:
        return tariff.purchased_mbps
    return max(measured_mbps(tariff.charge_type, figures), tariff.commit_mbps or 0.0)


def measured_mbps(charge_type: str, figures: Figures) -> float:
    """The figure that a charge type looks at; `fixed` looks at none."""
    return {
        ChargeType.P95_MONTH: figures.p95,
        ChargeType.FOURTH_PEAK_MONTH: figures.fourth_peak,
        ChargeType.DAILY_PEAK: figures.daily_peak_average,
        ChargeType.DAILY_PEAK_AVERAGE: figures.daily_peak_average,
        ChargeType.ENHANCED_95: figures.enhanced_95,
        ChargeType.VOLUME: figures.mean,
    }[ChargeType(charge_type)]


def bill(tariff: Tariff, figures: Figures, *, daily_peaks: Sequence[float], days: int, seconds: float) -> Bill:
    """Of a month with that many days and seconds, so far; `daily_peaks` are those of the days with values.

    A day without values is billed its commit under `daily_peak`, and as the mean of the others under
    `daily_peak_average`; the volume of a gap is taken to be that of the mean.
    """
    commit = tariff.commit_mbps or 0.0
    if tariff.charge_type == ChargeType.VOLUME:
        gigabytes = billable_mbps(tariff, figures) * seconds / MBIT_PER_GB
        return Bill(quantity=gigabytes, unit="gb", amount=_times(gigabytes, tariff.price_per_gb))
    if tariff.charge_type == ChargeType.DAILY_PEAK:
        mbps_days = sum(max(peak, commit) for peak in daily_peaks) + commit * (days - len(daily_peaks))
        return Bill(quantity=mbps_days, unit="mbps_days", amount=_times(mbps_days, tariff.price_per_mbps))
    billed = billable_mbps(tariff, figures)
    if tariff.charge_type == ChargeType.DAILY_PEAK_AVERAGE:
        return Bill(quantity=billed * days, unit="mbps_days", amount=_times(billed * days, tariff.price_per_mbps))
    return Bill(quantity=billed, unit="mbps", amount=_times(billed, tariff.price_per_mbps))


def _times(quantity: float, price: float | None) -> float | None:
    return None if price is None else quantity * price
