import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db.models import Model

from idcsched.audit.writing import write
from idcsched.feed.models import Topic
from idcsched.feed.services import feed_append
from idcsched.inventory.models import Line
from metrics_ingest.billing.calendar import Calendar, Month
from metrics_ingest.billing.figures import (
    DayFigures,
    PeakFigures,
    day_figures,
    hour_means,
    means,
    measured_of_days,
    peak_figures,
    theil_sen,
    week_profile,
)
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.builtin import BANDWIDTH, ROLLUPS_MOVED
from metrics_ingest.models import BandwidthDay, BandwidthHistory, BandwidthMonth, BandwidthRollup, Latest, Metric
from metrics_ingest.samples.batch import Flags, Floats, Integers
from metrics_ingest.samples.checking import KEPT
from metrics_ingest.samples.slots import (
    HOURS_A_WEEK,
    SLOT,
    SLOTS_A_DAY,
    Values,
    as_measured,
    packed,
    slot_floor,
    slots_between,
    utc_midnight,
)
from metrics_ingest.samples.storage import history_read

__all__ = ["rollups_refresh"]

BATCH: Final = 250
"""The lines computed together: some 12 MB of values, and one short transaction."""
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
PROFILE: Final = 28 * DAY
"""The time that the profile of the week covers: four weeks, so that each of its hours is a mean of four."""
WINDOWS: Final = {"24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}
MONTH_DAYS: Final = 30
TREND_DAYS: Final = 28
"""Whole weeks, so that a weekend at one end does not look like a trend."""
TREND_LEAST: Final = 7
LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The stretch of whole UTC days that the history covers, and the parts of it that figures are computed from."""

    now: datetime
    metric: int
    first: date
    utc_days: int
    start: datetime
    end: int
    calendar: Calendar
    hours_until: datetime

    @classmethod
    def at(cls, now: datetime) -> "_Plan":
        zone = ZoneInfo(settings.BILLING_ZONE)
        end = slot_floor(now) + SLOT  # includes the slot that is still being filled
        start = utc_midnight((slot_floor(now) - KEPT).date())
        return cls(
            now=now,
            metric=Metric.objects.values_list("pk", flat=True).get(code=BANDWIDTH),
            first=start.date(),
            utc_days=(slot_floor(now).date() - start.date()).days + 1,
            start=start,
            end=slots_between(start, end),
            calendar=Calendar.of(start=start, end=end, zone=zone),
            hours_until=slot_floor(now.astimezone(zone).replace(minute=0, second=0, microsecond=0)),
        )

    def window(self, length: timedelta) -> slice:
        """Return the slots of the period of that length that ends now."""
        return slice(self.end - length // SLOT, self.end)

    @property
    def hours(self) -> slice:
        """The slots of the last 168 whole hours."""
        until = slots_between(self.start, self.hours_until)
        return slice(until - HOURS_A_WEEK * (HOUR // SLOT), until)

    @property
    def whole_days(self) -> slice:
        """The slots of the 720 hours before today."""
        today = int(self.calendar.bounds[-2])
        return slice(today - MONTH_DAYS * SLOTS_A_DAY, today)

    @property
    def midnight(self) -> datetime:
        """When today began in the billing zone."""
        return self.start + int(self.calendar.bounds[-2]) * SLOT


def rollups_refresh(*, lines: Sequence[Line] | None = None, now: datetime) -> int:
    """Recompute the bandwidth figures of these lines (None: of all ever measured); return how many lines there are.

    Everything is computed from the history alone, so late samples are taken in. A batch of lines is one transaction.
    Figures computed for a later time are left as they are, so two calls may run at once. Days and months are written
    only where they differ from the stored ones.
    """
    plan = _Plan.at(now)
    ids = _lines_measured(plan) if lines is None else np.array(sorted(line.pk for line in lines), dtype=np.int64)
    if not ids.size:
        return 0
    hours_of_week = plan.calendar.hours_of_week(plan.window(PROFILE))
    for start in range(0, ids.size, BATCH):
        _refresh(ids[start : start + BATCH], plan, hours_of_week)
    with write():
        feed_append(topic=Topic.METRICS, key=ROLLUPS_MOVED)
    return int(ids.size)


def _lines_measured(plan: _Plan) -> Integers:
    rows = Latest.objects.filter(metric_id=plan.metric, line__isnull=False).order_by("line_id")
    return np.fromiter(rows.values_list("line_id", flat=True), dtype=np.int64)


def _refresh(ids: Integers, plan: _Plan, hours_of_week: Integers) -> None:
    slots = history_read(plan.metric, ids, plan.first, plan.utc_days)[:, : plan.end]
    days = day_figures(slots, plan.calendar)
    columns = _columns(slots, days, plan, hours_of_week)
    with write():
        writable = ~np.isin(ids, _computed_later(ids, plan.now))
        _save_rollups(ids, columns, writable, plan)
        _save_history(ids, slots, writable, plan)
        _save_days(ids, days, writable, plan)
        for month in plan.calendar.months():
            _save_month(ids, slots, days, month, writable, plan)


def _computed_later(ids: Integers, now: datetime) -> list[int]:
    """Lock the roll-ups of the lines, creating those that are missing; return the lines computed for a later time."""
    computed_at = _locked(ids)
    if missing := [line for line in ids.tolist() if line not in computed_at]:
        BandwidthRollup.objects.bulk_create(map(_empty_rollup, missing), ignore_conflicts=True)
        computed_at = _locked(ids)
    return [line for line, at in computed_at.items() if at > now]


def _locked(ids: Integers) -> dict[int, datetime]:
    rows = BandwidthRollup.objects.select_for_update().filter(line_id__in=ids.tolist()).order_by("line_id")
    return dict(rows.values_list("line_id", "computed_at"))


def _empty_rollup(line: int) -> BandwidthRollup:
    hours = np.full(HOURS_A_WEEK, np.nan, dtype=np.float32)
    return BandwidthRollup(
        line_id=line,
        window_seconds=0,
        covered_slots=0,
        busy_profile=packed(hours),
        hours=packed(hours),
        hours_until=LONG_AGO,
        computed_at=LONG_AGO,
    )


def _columns(slots: Values, days: DayFigures, plan: _Plan, hours_of_week: Integers) -> dict[str, npt.NDArray[Any]]:
    """Compute the roll-ups' figures: by column, an array with one value per line."""
    columns: dict[str, npt.NDArray[Any]] = {}
    columns["p95_mbps"], columns["covered_slots"] = percentile_95(slots[:, plan.window(settings.BANDWIDTH_WINDOW)])
    for name, length in WINDOWS.items():
        columns[f"p95_{name}_mbps"], columns[f"covered_{name}"] = percentile_95(slots[:, plan.window(length)])
    peaks = peak_figures(days, slice(-MONTH_DAYS, None))
    whole_days = slice(-TREND_DAYS - 1, -1)  # today is not over yet
    trend = theil_sen(days.p95[:, whole_days], least=TREND_LEAST)
    for name in ("peak", "fifth", "mean"):
        line = theil_sen(getattr(days, name)[:, whole_days], least=TREND_LEAST)
        columns[f"{name}_mbps_per_day"], columns[f"{name}_spread_mbps"] = line.slope, line.spread
    return columns | {
        "mean_30d_mbps": means(slots[:, plan.window(WINDOWS["30d"])]),
        **_peak_columns(peaks, suffix="_30d"),
        "trend_level_mbps": trend.level,
        "trend_mbps_per_day": trend.slope,
        "trend_spread_mbps": trend.spread,
        "busy_profile": week_profile(slots[:, plan.window(PROFILE)], hours_of_week),
        "hours": hour_means(slots[:, plan.hours]),
    }


def _save_rollups(ids: Integers, columns: Mapping[str, npt.NDArray[Any]], writable: Flags, plan: _Plan) -> None:
    common = {
        "window_seconds": int(settings.BANDWIDTH_WINDOW.total_seconds()),
        "hours_until": plan.hours_until,
        "computed_at": plan.now,
    }
    BandwidthRollup.objects.bulk_create(
        [BandwidthRollup(line_id=line, **common, **figures) for line, figures in _by_line(ids, columns, writable)],
        update_conflicts=True,
        unique_fields=["line"],
        update_fields=[*common, *columns],
    )


def _save_history(ids: Integers, slots: Values, writable: Flags, plan: _Plan) -> None:
    """Write the 30 whole days by the hour: once a day, and where late samples have filled a gap."""
    known = np.count_nonzero(~np.isnan(slots[:, plan.whole_days]), axis=1).tolist()
    stored = BandwidthHistory.objects.filter(line_id__in=ids.tolist(), until=plan.midnight)
    held = dict(stored.values_list("line_id", "known_slots"))
    new = [place for place in np.flatnonzero(writable).tolist() if held.get(int(ids[place])) != known[place]]
    if not new:
        return
    days = slots[new, plan.whole_days]
    BandwidthHistory.objects.bulk_create(
        [
            BandwidthHistory(
                line_id=int(ids[place]),
                hours=packed(hours),
                until=plan.midnight,
                known_slots=known[place],
                measured=packed(measured),
            )
            for place, hours, measured in zip(new, hour_means(days), measured_of_days(days), strict=True)
        ],
        update_conflicts=True,
        unique_fields=["line"],
        update_fields=["hours", "until", "known_slots", "measured"],
    )


def _save_days(ids: Integers, days: DayFigures, writable: Flags, plan: _Plan) -> None:
    """Write the days that differ from the stored ones: today, and days of which samples came late."""
    previous = _stored_days(ids, plan)
    peak, fifth, p95, mean = map(as_measured, (days.peak, days.fifth, days.p95, days.mean))
    figures = np.stack([mean, p95, days.covered], axis=-1)
    changed = (days.covered > 0) & writable[:, None] & (previous != figures).any(axis=-1)
    rows = [
        BandwidthDay(
            line_id=int(ids[place]),
            day=plan.calendar.days[day],
            peak_mbps=float(peak[place, day]),
            fifth_mbps=float(fifth[place, day]),
            p95_mbps=float(p95[place, day]),
            mean_mbps=float(mean[place, day]),
            covered_slots=int(days.covered[place, day]),
        )
        for place, day in np.argwhere(changed).tolist()
    ]
    _upsert(BandwidthDay, rows, "day")


def _stored_days(ids: Integers, plan: _Plan) -> Floats:
    """Return mean, percentile and count of the stored days, by line and day; NaN where there is none."""
    first = plan.calendar.days[0]
    result = np.full((len(ids), len(plan.calendar.days), 3), np.nan)
    rows = BandwidthDay.objects.order_by().filter(line_id__in=ids.tolist(), day__range=(first, plan.calendar.days[-1]))
    held = list(rows.values_list("line_id", "day", "mean_mbps", "p95_mbps", "covered_slots"))
    if held:
        lines, days, *figures = zip(*held, strict=True)
        result[np.searchsorted(ids, lines), [(day - first).days for day in days]] = np.transpose(figures)
    return result


def _save_month(ids: Integers, slots: Values, days: DayFigures, month: Month, writable: Flags, plan: _Plan) -> None:
    """Write the month's figures where they differ from the stored ones."""
    inside = slots[:, month.slots]
    p95, covered = percentile_95(inside)
    peaks = peak_figures(days, month.days)
    columns = {
        "p95_mbps": p95,
        "mean_mbps": means(inside),
        **_peak_columns(peaks, suffix=""),
        "days": peaks.days,
        "slots": np.full(len(ids), inside.shape[1]),
        "covered_slots": covered,
    }
    rows = BandwidthMonth.objects.filter(line_id__in=ids.tolist(), month=month.first).order_by()
    previous = {line: tuple(figures) for line, *figures in rows.values_list("line_id", *columns)}
    changed = [
        BandwidthMonth(line_id=line, month=month.first, computed_at=plan.now, **figures)
        for line, figures in _by_line(ids, columns, writable & (covered > 0))
        if previous.get(line) != tuple(figures.values())
    ]
    _upsert(BandwidthMonth, changed, "month")


def _peak_columns(peaks: PeakFigures, *, suffix: str) -> dict[str, npt.NDArray[Any]]:
    return {
        f"fourth_peak{suffix}_mbps": peaks.fourth_peak,
        f"enhanced_95{suffix}_mbps": peaks.enhanced_95,
        f"daily_peak_average{suffix}_mbps": peaks.daily_peak_average,
    }


def _by_line(
    ids: Integers, columns: Mapping[str, npt.NDArray[Any]], chosen: Flags
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the chosen lines, each with its figures as they are stored."""
    columns = {name: as_measured(column) if column.dtype == np.float64 else column for name, column in columns.items()}
    for place in np.flatnonzero(chosen).tolist():
        yield int(ids[place]), {name: _value(column[place]) for name, column in columns.items()}


def _upsert(model: type[Model], rows: Sequence[Any], key: str) -> None:
    updated = [field.name for field in model._meta.concrete_fields if field.name not in {"id", "line", key}]
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["line", key], update_fields=updated, batch_size=1000
    )


def _value(value: Any) -> Any:
    """Return a figure as its database column takes it."""
    if isinstance(value, np.ndarray):
        return packed(value)
    return None if math.isnan(value) else value.item()
