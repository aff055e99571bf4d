from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from idcsched.audit.models import Topic
from idcsched.audit.services import feed_append
from idcsched.audit.writing import write
from idcsched.framework.errors import Invalid
from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Metric, Scope
from metrics_ingest.slots import SLOT, SLOTS_A_DAY, Values, slot_floor, slot_of_day
from metrics_ingest.storage import Subject, days_merge, latest_upsert

__all__ = ["history_store"]


@write()
def history_store(
    *, metric: Metric, idc: Idc, line: Line | None = None, start: datetime, values: npt.NDArray[np.floating[Any]]
) -> int:
    """Store one value for each five minutes from `start` on, NaN for a gap; says how many there were.

    For loaders of past times: ranges and ages are not looked at. The last value becomes the latest one, unless
    a newer one is there. Raises Invalid.
    """
    if (line is None) == (metric.scope == Scope.LINE) or (line is not None and line.idc_id != idc.pk):
        raise Invalid("line_mismatch", "a line of the IDC is needed where the metric is about lines, and only there")
    if slot_floor(start) != start:
        raise Invalid("not_a_slot", "history starts at a multiple of five minutes", "/start")
    found = np.flatnonzero(np.isfinite(values))
    if not found.size:
        return 0
    subject = Subject.of(metric.pk, idc.pk, None if line is None else line.pk)
    last = int(found[-1])
    latest_upsert({subject: (start + last * SLOT, float(values[last]))})
    days_merge({(subject, day): part for day, part in _days(start, values)})
    feed_append(topic=Topic.METRICS, key=metric.code)
    return int(found.size)


def _days(start: datetime, values: npt.NDArray[np.floating[Any]]) -> list[tuple[date, Values]]:
    """The values cut at midnights, the first and the last day filled up with NaN."""
    day, lead = slot_of_day(start)
    count = -(-(lead + values.size) // SLOTS_A_DAY)
    padded = np.full(count * SLOTS_A_DAY, np.nan, dtype=np.float32)
    padded[lead : lead + values.size] = np.where(np.isfinite(values), values, np.nan)
    parts = padded.reshape(count, SLOTS_A_DAY)
    return [(date.fromordinal(day.toordinal() + place), part) for place, part in enumerate(parts)]
