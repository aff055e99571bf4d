"""What a month on each line costs by its traffic over a period, computed from the 5-minute values as real bills are."""

from datetime import datetime, timedelta
from itertools import pairwise
from math import nan

import numpy as np

from idcsched.framework.labels import Rows
from idcsched.framework.normalize import Floats
from idcsched.inventory.choices import ChargeType
from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.charges import Figures, Tariff, bill
from metrics_ingest.billing.figures import day_figures, means, peak_figures
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, Values

from .period import Period

__all__ = ["monthly_costs"]

DAYS_A_MONTH = 30
BY_THE_DAY = (ChargeType.DAILY_PEAK, ChargeType.DAILY_PEAK_AVERAGE, ChargeType.VOLUME)
"""The charge types whose bill grows with the days; that of the others is the price of a month."""


def monthly_costs(period: Period, rows: Rows, traffic: Values) -> Floats:
    """Return what a month of 30 days on these lines costs on average with that traffic; NaN: a price is not known.

    The days after the lead are cut into equal months, as near to 30 days as can be.
    """
    months = max(1, round(period.days / DAYS_A_MONTH))
    bounds = np.linspace(period.lead, period.lead + period.days, months + 1).round().astype(int).tolist()
    costs = [
        _costs(
            [period.tariffs[row] for row in rows.tolist()],
            traffic[:, first * SLOTS_A_DAY : end * SLOTS_A_DAY],
            period.start + timedelta(days=first),
            period,
        )
        for first, end in pairwise(bounds)
    ]
    mean: Floats = np.mean(costs, axis=0)
    return mean


def _costs(tariffs: list[Tariff], slots: Values, start: datetime, period: Period) -> Floats:
    """Return the bills of one month, scaled to 30 days."""
    days = slots.shape[1] // SLOTS_A_DAY
    figures = day_figures(slots, Calendar.of(start=start, end=start + slots.shape[1] * SLOT, zone=period.zone))
    peaks, percentiles, mean = peak_figures(figures, slice(None)), percentile_95(slots)[0], means(slots)
    costs = np.full(len(tariffs), nan)
    for line, tariff in enumerate(tariffs):
        amount = bill(
            tariff,
            Figures(
                p95=percentiles[line],
                fourth_peak=peaks.fourth_peak[line],
                enhanced_95=peaks.enhanced_95[line],
                daily_peak_average=peaks.daily_peak_average[line],
                mean=mean[line],
            ),
            daily_peaks=[peak for peak in figures.peak[line].tolist() if peak == peak],  # noqa: PLR0124 - no gaps
            days=days,
            seconds=(slots.shape[1] * SLOT).total_seconds(),
        ).amount
        if amount is not None:
            costs[line] = amount * (DAYS_A_MONTH / days if tariff.charge_type in BY_THE_DAY else 1.0)
    return costs
