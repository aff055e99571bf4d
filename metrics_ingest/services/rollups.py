from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
from django.conf import settings

from idcsched.audit.models import Topic
from idcsched.audit.services import feed_append
from idcsched.audit.writing import write
from idcsched.inventory.models import Line
from metrics_ingest.builtin import BANDWIDTH
from metrics_ingest.models import BandwidthRollup, SampleDay
from metrics_ingest.percentile import percentile_95
from metrics_ingest.slots import (
    HOURS_A_WEEK,
    SLOT,
    SLOTS_A_DAY,
    SLOTS_AN_HOUR,
    Values,
    slot_floor,
    slots_between,
    stored,
    stretch,
    utc_midnight,
)

__all__ = ["rollups_refresh"]

BATCH: Final = 200
PROFILE: Final = timedelta(days=28)
"""How far back the profile of the week looks: four weeks, so that each hour of it is a mean of four."""
HOUR: Final = timedelta(hours=1)
FIELDS: Final = (
    "p95_mbps",
    "window_seconds",
    "covered_slots",
    "busy_profile",
    "hours",
    "hours_until",
    "computed_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Where in a stretch of whole UTC days the figures are to be found."""

    now: datetime
    first: date
    days: int
    window: slice
    hours: slice
    hours_until: datetime
    hour_of_week: npt.NDArray[np.intp]

    @classmethod
    def at(cls, now: datetime) -> "_Plan":
        zone = ZoneInfo(settings.BILLING_ZONE)
        end = slot_floor(now) + SLOT  # the slot that is being filled counts
        hours_until = slot_floor(now.astimezone(zone).replace(minute=0, second=0, microsecond=0))
        oldest = min(end - settings.BANDWIDTH_WINDOW, end - PROFILE, hours_until - HOURS_A_WEEK * HOUR)
        start = utc_midnight(oldest.date())
        days = (slot_floor(now).date() - start.date()).days + 1
        return cls(
            now=now,
            first=start.date(),
            days=days,
            window=slice(slots_between(start, end - settings.BANDWIDTH_WINDOW), slots_between(start, end)),
            hours=slice(slots_between(start, hours_until - HOURS_A_WEEK * HOUR), slots_between(start, hours_until)),
            hours_until=hours_until,
            hour_of_week=_hours_of_week(start, days * SLOTS_A_DAY, since=end - PROFILE, until=end, zone=zone),
        )


@write()
def rollups_refresh(*, lines: Sequence[Line] | None = None, now: datetime) -> int:
    """Compute anew what the bandwidth of these lines comes to (None: of all with a history); says how many.

    Gaps count as gaps and never as zero; a line without values in the window has no percentile.
    """
    plan = _Plan.at(now)
    pending = iter(sorted(_with_history(plan)) if lines is None else [line.pk for line in lines])
    count = 0
    while ids := list(islice(pending, BATCH)):
        _save(list(_rollups(ids, plan)))
        count += len(ids)
    if count:
        feed_append(topic=Topic.METRICS, key=BANDWIDTH)
    return count


def _with_history(plan: _Plan) -> set[int]:
    rows = SampleDay.objects.filter(metric__code=BANDWIDTH, day__gte=plan.first, line__isnull=False)
    measured = rows.order_by().values_list("line_id", flat=True).distinct()
    return {id_ for id_ in measured if id_ is not None} | set(
        BandwidthRollup.objects.order_by().values_list("line_id", flat=True)
    )


def _rollups(ids: Sequence[int], plan: _Plan) -> Iterator[BandwidthRollup]:
    slots = _history(ids, plan)
    percentiles, covered = percentile_95(slots[:, plan.window])
    profiles = _profiles(slots, plan.hour_of_week)
    hours = _means(slots[:, plan.hours].reshape(len(ids), HOURS_A_WEEK, SLOTS_AN_HOUR))
    for place, id_ in enumerate(ids):
        yield BandwidthRollup(
            line_id=id_,
            p95_mbps=float(percentiles[place]) if covered[place] else None,
            window_seconds=int(settings.BANDWIDTH_WINDOW.total_seconds()),
            covered_slots=int(covered[place]),
            busy_profile=stored(profiles[place]),
            hours=stored(hours[place]),
            hours_until=plan.hours_until,
            computed_at=plan.now,
        )


def _history(ids: Sequence[int], plan: _Plan) -> Values:
    """One row a line, one column a slot."""
    rows = SampleDay.objects.filter(metric__code=BANDWIDTH, line_id__in=ids, day__gte=plan.first).order_by()
    days: dict[int, list[tuple[date, bytes | memoryview]]] = defaultdict(list)
    for line, day, values in rows.values_list("line_id", "day", "values"):
        days[line or 0].append((day, values))
    return np.stack([stretch(days[id_], plan.first, plan.days) for id_ in ids])


def _save(rollups: Sequence[BandwidthRollup]) -> None:
    BandwidthRollup.objects.bulk_create(
        rollups, update_conflicts=True, unique_fields=["line"], update_fields=FIELDS, batch_size=BATCH
    )


def _hours_of_week(
    start: datetime, slots: int, *, since: datetime, until: datetime, zone: ZoneInfo
) -> npt.NDArray[np.intp]:
    """For each slot its hour of the week in the zone, from Monday 00:00; −1 outside of `since`..`until`."""
    found = np.full(slots, -1, dtype=np.intp)
    for place in range(slots_between(start, since), min(slots, slots_between(start, until))):
        local = (start + place * SLOT).astimezone(zone)
        found[place] = local.weekday() * 24 + local.hour
    return found


def _profiles(slots: Values, hour_of_week: npt.NDArray[np.intp]) -> Values:
    """Each row's mean by hour of the week."""
    chosen = np.flatnonzero(hour_of_week >= 0)
    place = np.zeros((chosen.size, HOURS_A_WEEK), dtype=np.float32)
    place[np.arange(chosen.size), hour_of_week[chosen]] = 1.0
    values = slots[:, chosen]
    known = ~np.isnan(values)
    sums, counts = np.where(known, values, 0.0) @ place, known.astype(np.float32) @ place
    return _quotient(sums, counts)


def _means(values: Values) -> Values:
    """The mean over the last axis; NaN where there is no value at all."""
    known = ~np.isnan(values)
    return _quotient(np.where(known, values, 0.0).sum(axis=-1, dtype=np.float64), known.sum(axis=-1))


def _quotient(sums: npt.NDArray[np.floating[Any]], counts: npt.NDArray[np.number[Any]]) -> Values:
    found: Values = np.full(sums.shape, np.nan, dtype=np.float32)
    np.divide(sums, counts, out=found, where=counts > 0, casting="same_kind")
    return found
