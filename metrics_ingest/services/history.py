from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from idcsched.audit.writing import write
from idcsched.feed.models import Topic
from idcsched.feed.services import feed_extend
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Metric, Scope
from metrics_ingest.samples.batch import SLOT_MICROSECONDS, Batch, microseconds
from metrics_ingest.samples.slots import slot_floor
from metrics_ingest.samples.storage import batch_store

__all__ = ["history_store"]


@write()
def history_store(
    *, metric: Metric, idc: Idc, line: Line | None = None, start: datetime, values: npt.NDArray[np.floating[Any]]
) -> int:
    """Store one value for each five minutes from `start` on, NaN for a gap; return how many values there were.

    For loaders of past times: neither range nor age is checked. The last value becomes the latest one unless a newer
    one is stored. Raises Invalid.
    """
    if (line is None) == (metric.scope == Scope.LINE) or (line is not None and line.idc_id != idc.pk):
        raise Invalid("line_mismatch", _("a line of the IDC is needed where the metric is about lines, and only there"))
    if slot_floor(start) != start:
        raise Invalid("not_a_slot", _("history starts at a multiple of five minutes"), "/start")
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return 0
    zeros = np.zeros(known.size, dtype=np.int64)
    batch_store(
        Batch.of(
            metric=zeros + metric.pk,
            idc=zeros + idc.pk,
            line=zeros + (0 if line is None else line.pk),
            at=microseconds(start) + known * SLOT_MICROSECONDS,
            value=values[known].astype(np.float64),
        )
    )
    feed_extend(topic=Topic.METRICS, keys=[metric.code], idcs=[idc.pk])
    return int(known.size)
