"""The traffic of all lines by the hour, as far back as samples are kept."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings

from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.figures import hour_means
from metrics_ingest.builtin import BANDWIDTH
from metrics_ingest.models import Latest, Metric
from metrics_ingest.samples.batch import Integers
from metrics_ingest.samples.checking import KEPT
from metrics_ingest.samples.slots import SLOTS_AN_HOUR, Values, slot_floor, utc_midnight
from metrics_ingest.samples.storage import history_read

__all__ = ["HourlyTraffic", "hourly_traffic"]

BATCH: Final = 100
"""The lines read together: 10 MB of samples for 90 days."""
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyTraffic:
    """Mean Mbps of each line in each hour from `start` on, the beginning of a billing day; NaN for a gap.

    `lines` are the lines' primary keys, ascending; `hours_of_week` has the hour of the week, in the billing zone, of
    each column of `mbps`.
    """

    start: datetime
    lines: Integers
    hours_of_week: Integers
    mbps: Values

    @property
    def end(self) -> datetime:
        return self.start + len(self.hours_of_week) * HOUR

    def hour(self, at: datetime) -> float:
        """Return how many hours after the start the moment is."""
        return (at - self.start) / HOUR


def hourly_traffic(*, now: datetime, history: timedelta = KEPT) -> HourlyTraffic:
    """Read the whole hours of the billing days of that time, of all lines that were ever measured."""
    zone = ZoneInfo(settings.BILLING_ZONE)
    end = slot_floor(now.astimezone(zone).replace(minute=0, second=0, microsecond=0))
    first = (end - history).date()
    calendar = Calendar.of(start=utc_midnight(first), end=end, zone=zone)
    hours = (calendar.end - int(calendar.bounds[0])) // SLOTS_AN_HOUR
    slots = slice(int(calendar.bounds[0]), int(calendar.bounds[0]) + hours * SLOTS_AN_HOUR)
    metric = Metric.objects.values_list("pk", flat=True).get(code=BANDWIDTH)
    measured = Latest.objects.filter(metric_id=metric, line__isnull=False).order_by("line_id")
    lines = np.fromiter(measured.values_list("line_id", flat=True), dtype=np.int64)
    mbps = np.empty((lines.size, hours), dtype=np.float32)
    for batch in range(0, lines.size, BATCH):
        ids = lines[batch : batch + BATCH]
        mbps[batch : batch + BATCH] = hour_means(
            history_read(metric, ids, first, (end.date() - first).days + 1)[:, slots]
        )
    return HourlyTraffic(
        start=utc_midnight(first) + slots.start * (HOUR / SLOTS_AN_HOUR),
        lines=lines,
        hours_of_week=calendar.hours_of_week(slots)[::SLOTS_AN_HOUR],
        mbps=mbps,
    )
