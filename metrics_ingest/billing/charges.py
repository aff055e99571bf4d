"""A line's bill for a month by its charge type: pure functions of the month's figures.

The running month is billed as if it ended now. Prices of the monthly types are per Mbps and month, those of the daily
types per Mbps and day, that of volume per GB (10⁹ bytes). The commit is billed in any case.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from idcsched.inventory.choices import ChargeType

__all__ = ["Bill", "Figures", "Tariff", "amount_at", "bill", "billable_mbps", "measured_mbps"]

MBIT_PER_GB: Final = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Bandwidth figures of a period, in Mbps."""

    p95: float
    fourth_peak: float
    enhanced_95: float
    daily_peak_average: float
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The terms of a line's contract that its bill depends on."""

    charge_type: str
    purchased_mbps: float
    commit_mbps: float | None = None
    price_per_mbps: float | None = None
    price_per_gb: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """A billed quantity with its unit, and the amount of money; `amount` is None where the price is not known."""

    quantity: float
    unit: Literal["mbps", "mbps_days", "gb"]
    amount: float | None


def billable_mbps(tariff: Tariff, figures: Figures) -> float:
    """Return the Mbps that the charge type bills by, at least the commit; comparable from month to month."""
    if tariff.charge_type == ChargeType.FIXED:
        return tariff.purchased_mbps
    return max(measured_mbps(tariff.charge_type, figures), tariff.commit_mbps or 0.0)


def measured_mbps(charge_type: str, figures: Figures) -> float:
    """Return the measured figure that a charge type bills by; raises KeyError for `fixed`, which has none."""
    return {
        ChargeType.P95_MONTH: figures.p95,
        ChargeType.FOURTH_PEAK_MONTH: figures.fourth_peak,
        ChargeType.DAILY_PEAK: figures.daily_peak_average,
        ChargeType.DAILY_PEAK_AVERAGE: figures.daily_peak_average,
        ChargeType.ENHANCED_95: figures.enhanced_95,
        ChargeType.VOLUME: figures.mean,
    }[ChargeType(charge_type)]


def bill(tariff: Tariff, figures: Figures, *, daily_peaks: Sequence[float], days: int, seconds: float) -> Bill:
    """Bill a month that has had `days` days and `seconds` seconds so far; only days with values have `daily_peaks`.

    A day without values is billed the commit under `daily_peak`, and the mean of the other days under
    `daily_peak_average`. The volume of a gap is taken to be that of the mean.
    """
    commit = tariff.commit_mbps or 0.0
    if tariff.charge_type == ChargeType.VOLUME:
        gigabytes = billable_mbps(tariff, figures) * seconds / MBIT_PER_GB
        return Bill(quantity=gigabytes, unit="gb", amount=_amount(gigabytes, tariff.price_per_gb))
    if tariff.charge_type == ChargeType.DAILY_PEAK:
        mbps_days = sum(max(peak, commit) for peak in daily_peaks) + commit * (days - len(daily_peaks))
        return Bill(quantity=mbps_days, unit="mbps_days", amount=_amount(mbps_days, tariff.price_per_mbps))
    billed = billable_mbps(tariff, figures)
    if tariff.charge_type == ChargeType.DAILY_PEAK_AVERAGE:
        return Bill(quantity=billed * days, unit="mbps_days", amount=_amount(billed * days, tariff.price_per_mbps))
    return Bill(quantity=billed, unit="mbps", amount=_amount(billed, tariff.price_per_mbps))


def amount_at(tariff: Tariff, mbps: float, *, days: int, seconds: float) -> float | None:
    """Return what a whole month is billed in which the measured figure is `mbps`, under `daily_peak` on each day."""
    same = Figures(p95=mbps, fourth_peak=mbps, enhanced_95=mbps, daily_peak_average=mbps, mean=mbps)
    return bill(tariff, same, daily_peaks=[mbps] * days, days=days, seconds=seconds).amount


def _amount(quantity: float, price: float | None) -> float | None:
    return None if price is None else quantity * price
