"""Bandwidth reports of lines for people who answer for capacity and cost, read from the roll-ups."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Self
from zoneinfo import ZoneInfo

import msgspec
from django.conf import settings
from django.db.models import Case, ExpressionWrapper, F, FloatField, Prefetch, QuerySet, Value, When
from django.db.models.functions import Coalesce

from idcsched.inventory.choices import ChargeType
from idcsched.inventory.models import Line
from metrics_ingest.billing.calendar import midnight, month_start, next_month
from metrics_ingest.billing.charges import Bill, Figures, Tariff, amount_at, bill, billable_mbps, measured_mbps
from metrics_ingest.billing.forecasting import FARTHEST_DAYS, DailyTrend, Forecast, forecast
from metrics_ingest.models import BandwidthDay, BandwidthMonth, BandwidthRollup
from metrics_ingest.samples.slots import SLOT, slots_between

__all__ = [
    "BandwidthReport",
    "BillReport",
    "DayReport",
    "MonthReport",
    "measured_in_30_days",
    "month_reports",
    "rollups_reported",
]

TRENDS = {
    ChargeType.P95_MONTH: "trend",
    ChargeType.FOURTH_PEAK_MONTH: "peak",
    ChargeType.DAILY_PEAK: "peak",
    ChargeType.DAILY_PEAK_AVERAGE: "peak",
    ChargeType.ENHANCED_95: "fifth",
    ChargeType.VOLUME: "mean",
}
"""The daily figure whose trend the forecast of a charge type uses, as the prefix of the roll-up's columns."""
HIGHEST_DAYS = frozenset({ChargeType.FOURTH_PEAK_MONTH, ChargeType.ENHANCED_95})
"""The charge types that bill by a month's highest days."""
WINDOW_SLOTS = {"24h": 288, "7d": 7 * 288, "30d": 30 * 288}
MONTHS, DAYS = "latest_months", "latest_days"
"""The attributes of a line that `rollups_reported` fills: the running month and the last, their days for `daily_peak`.
"""


class Percentile(msgspec.Struct, frozen=True, kw_only=True):
    """The 95th percentile of a window, and for how much of it values are known (0..1)."""

    mbps: float | None
    coverage: float


class TrendReport(msgspec.Struct, frozen=True, kw_only=True):
    """A robust line through the last 28 whole days' percentiles: its height today, and its slope."""

    level_mbps: float
    mbps_per_day: float


class BillReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a month bills: `quantity` in `unit` (`mbps`, `mbps_days`, `gb`); no amount where no price is known."""

    billable_mbps: float
    quantity: float
    unit: str
    amount: float | None
    currency: str


class MonthReport(msgspec.Struct, frozen=True, kw_only=True):
    """A billing month, `YYYY-MM`, as far as it has come; `coverage` is the share of its slots with a value.

    `complete` once it is over and its last slots are computed.
    """

    month: str
    complete: bool
    coverage: float
    days_with_values: int
    p95_mbps: float
    fourth_peak_mbps: float
    enhanced_95_mbps: float
    daily_peak_average_mbps: float
    mean_mbps: float
    bill: BillReport


class DayReport(msgspec.Struct, frozen=True, kw_only=True):
    """A billing day; `covered_slots` counts its five-minute values, 288 in most days."""

    day: date
    peak_mbps: float
    fifth_mbps: float
    p95_mbps: float
    mean_mbps: float
    covered_slots: int

    @classmethod
    def of(cls, row: BandwidthDay) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.__struct_fields__})


class ForecastReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the running month will be billed by; four months in five end between `low_mbps` and `high_mbps`.

    The interval is null with fewer than seven whole days. `fixed` bills what was purchased, whatever flows. The amounts
    are what the month then costs, null where no price is known.
    """

    month: str
    billable_mbps: float
    low_mbps: float | None
    high_mbps: float | None
    amount: float | None
    low_amount: float | None
    high_amount: float | None
    currency: str


class BandwidthReport(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `month` is the running one, null before its first value, `last_month` the one before, billed by the
    present contract; `forecast` is null where the last 30 days have no value, unless the line is `fixed`; `trend` with
    fewer than seven whole days; `days_until_high_water` where it is over a year away or never.
    """

    line: int
    idc: str
    code: str
    isp: str
    charge_type: str
    purchased_mbps: float
    commit_mbps: float | None
    computed_at: datetime
    p95: dict[str, Percentile]
    month: MonthReport | None
    last_month: MonthReport | None
    forecast: ForecastReport | None
    trend: TrendReport | None
    high_water_mbps: float
    days_until_high_water: float | None

    @classmethod
    def of(cls, row: Any, now: datetime) -> Self:
        """Report on a row of `rollups_reported`, which must be read for the same `now`."""
        line: Line = row.line
        rows: dict[date, BandwidthMonth] = {row.month: row for row in getattr(line, MONTHS)}
        months = {
            month: _month_report(
                line, rows[month], [day.peak_mbps for day in getattr(line, DAYS) if month_start(day.day) == month], now
            )
            for month in rows
        }
        first = _month(now)
        return cls(
            line=line.pk,
            idc=line.idc.code,
            code=line.code,
            isp=line.isp.code,
            charge_type=line.charge_type,
            purchased_mbps=line.purchased_mbps,
            commit_mbps=line.commit_mbps,
            computed_at=row.computed_at,
            p95={
                name: Percentile(
                    mbps=getattr(row, f"p95_{name}_mbps"), coverage=getattr(row, f"covered_{name}") / slots
                )
                for name, slots in WINDOW_SLOTS.items()
            },
            month=months.get(first),
            last_month=months.get(_month_before(first)),
            forecast=_forecast(row, rows.get(first), now),
            trend=_trend_report(row),
            high_water_mbps=row.high_water_mbps,
            days_until_high_water=row.days_until_high_water,
        )


def rollups_reported(now: datetime) -> QuerySet[BandwidthRollup]:
    """Return the roll-ups, each with its line, the line's last two months and the days until the line is full.

    Three queries, however many lines.
    """
    first = _month_before(_month(now))
    months = BandwidthMonth.objects.filter(month__gte=first)
    days = BandwidthDay.objects.filter(day__gte=first, line__charge_type=ChargeType.DAILY_PEAK).order_by("day")
    high_water = ExpressionWrapper(
        F("line__purchased_mbps") * Coalesce("line__max_level", Value(settings.BANDWIDTH_MAX_LEVEL)),
        output_field=FloatField(),
    )
    left = F("high_water_mbps") - F("trend_level_mbps")
    rows = BandwidthRollup.objects.select_related("line__idc", "line__isp").annotate(
        high_water_mbps=high_water,
        days_until_high_water=Case(
            When(trend_level_mbps__gte=F("high_water_mbps"), then=Value(0.0)),
            When(
                trend_mbps_per_day__gt=0,
                trend_level_mbps__gte=F("high_water_mbps") - FARTHEST_DAYS * F("trend_mbps_per_day"),
                then=left / F("trend_mbps_per_day"),
            ),
            output_field=FloatField(),
        ),
    )
    return rows.prefetch_related(
        Prefetch("line__bandwidth_months", queryset=months, to_attr=MONTHS),
        Prefetch("line__bandwidth_days", queryset=days, to_attr=DAYS),
    )


def measured_in_30_days(row: BandwidthRollup) -> float | None:
    """Return the figure of the last 30 days by which the line's contract bills, and 30 more days of its trend on top.

    None where either is not known, or the line is billed whatever flows.
    """
    charge_type = ChargeType(row.line.charge_type)
    if charge_type == ChargeType.FIXED or row.p95_30d_mbps is None:
        return None
    slope: float | None = getattr(row, f"{TRENDS[charge_type]}_mbps_per_day")
    if slope is None:
        return None
    return measured_mbps(charge_type, _rolling_figures(row)) + max(0.0, 30 * slope)


def month_reports(line: Line, months: Sequence[BandwidthMonth], now: datetime) -> list[MonthReport]:
    """Report on the line's months, billed by its present contract; at most one query."""
    peaks: dict[date, list[float]] = {}
    if months and line.charge_type == ChargeType.DAILY_PEAK:
        first, last = min(row.month for row in months), next_month(max(row.month for row in months))
        days = BandwidthDay.objects.filter(line=line, day__gte=first, day__lt=last).order_by("day")
        for day, peak in days.values_list("day", "peak_mbps"):
            peaks.setdefault(month_start(day), []).append(peak)
    return [_month_report(line, row, peaks.get(row.month, []), now) for row in months]


def _month_report(line: Line, row: BandwidthMonth, peaks: Sequence[float], now: datetime) -> MonthReport:
    """Report on a month; `peaks` are its days' highest values, by which `daily_peak` alone bills."""
    start, end = midnight(row.month, _zone()), midnight(next_month(row.month), _zone())
    last = (start + (row.slots - 1) * SLOT).astimezone(_zone()).date()
    tariff, figures = _tariff(line), _month_figures(row)
    billed = bill(tariff, figures, daily_peaks=peaks, days=last.day, seconds=row.slots * SLOT.total_seconds())
    return MonthReport(
        month=f"{row.month:%Y-%m}",
        complete=end <= now and row.slots == slots_between(start, end),
        coverage=row.covered_slots / row.slots,
        days_with_values=row.days,
        p95_mbps=row.p95_mbps,
        fourth_peak_mbps=row.fourth_peak_mbps,
        enhanced_95_mbps=row.enhanced_95_mbps,
        daily_peak_average_mbps=row.daily_peak_average_mbps,
        mean_mbps=row.mean_mbps,
        bill=_bill_report(billed, billable_mbps(tariff, figures)),
    )


def _bill_report(billed: Bill, mbps: float) -> BillReport:
    return BillReport(
        billable_mbps=mbps,
        quantity=billed.quantity,
        unit=billed.unit,
        amount=billed.amount,
        currency=settings.CURRENCY,
    )


def _forecast(row: BandwidthRollup, running: BandwidthMonth | None, now: datetime) -> ForecastReport | None:
    line: Line = row.line
    first = _month(now)
    start, end = midnight(first, _zone()), midnight(next_month(first), _zone())
    if line.charge_type == ChargeType.FIXED:
        expected = Forecast(mbps=line.purchased_mbps, low=line.purchased_mbps, high=line.purchased_mbps)
    elif row.p95_30d_mbps is None:
        return None
    else:
        expected = forecast(
            month=None if running is None else measured_mbps(line.charge_type, _month_figures(running)),
            rolling=measured_mbps(line.charge_type, _rolling_figures(row)),
            passed=(now - start) / (end - start),
            days_left=(end - now) / timedelta(days=1),
            sway=_sway(row, TRENDS[ChargeType(line.charge_type)]),
            commit=line.commit_mbps or 0.0,
            highest=line.charge_type in HIGHEST_DAYS,
        )
    days, seconds = (next_month(first) - first).days, (end - start).total_seconds()
    amount, low, high = (
        None if mbps is None else amount_at(_tariff(line), mbps, days=days, seconds=seconds)
        for mbps in (expected.mbps, expected.low, expected.high)
    )
    return ForecastReport(
        month=f"{first:%Y-%m}",
        billable_mbps=expected.mbps,
        low_mbps=expected.low,
        high_mbps=expected.high,
        amount=amount,
        low_amount=low,
        high_amount=high,
        currency=settings.CURRENCY,
    )


def _sway(row: BandwidthRollup, figure: str) -> DailyTrend | None:
    """Return slope and spread of the trend of a daily figure, one of the values of TRENDS."""
    slope, spread = getattr(row, f"{figure}_mbps_per_day"), getattr(row, f"{figure}_spread_mbps")
    return None if slope is None or spread is None else DailyTrend(slope=slope, spread=spread)


def _trend_report(row: BandwidthRollup) -> TrendReport | None:
    level, slope = row.trend_level_mbps, row.trend_mbps_per_day
    return None if level is None or slope is None else TrendReport(level_mbps=level, mbps_per_day=slope)


def _tariff(line: Line) -> Tariff:
    return Tariff(
        charge_type=line.charge_type,
        purchased_mbps=line.purchased_mbps,
        commit_mbps=line.commit_mbps,
        price_per_mbps=line.price_per_mbps,
        price_per_gb=line.price_per_gb,
    )


def _month_figures(row: BandwidthMonth) -> Figures:
    return Figures(
        p95=row.p95_mbps,
        fourth_peak=row.fourth_peak_mbps,
        enhanced_95=row.enhanced_95_mbps,
        daily_peak_average=row.daily_peak_average_mbps,
        mean=row.mean_mbps,
    )


def _rolling_figures(row: BandwidthRollup) -> Figures:
    """Return the figures of the last 30 days; where the percentile is known, all of them are."""
    return Figures(
        p95=row.p95_30d_mbps or 0.0,
        fourth_peak=row.fourth_peak_30d_mbps or 0.0,
        enhanced_95=row.enhanced_95_30d_mbps or 0.0,
        daily_peak_average=row.daily_peak_average_30d_mbps or 0.0,
        mean=row.mean_30d_mbps or 0.0,
    )


def _month(now: datetime) -> date:
    """Return the first day of the running month."""
    return month_start(now.astimezone(_zone()).date())


def _month_before(first: date) -> date:
    return month_start(first - timedelta(days=1))


def _zone() -> ZoneInfo:
    return ZoneInfo(settings.BILLING_ZONE)
