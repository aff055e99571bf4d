"""Reads a stretch of a metric's history, condensed to steps."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.inventory.models import Idc, Line
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.models import Metric, SampleDay, Scope
from metrics_ingest.samples.slots import SLOT, Values, as_measured, slot_floor, slots_between, stretch, utc_midnight

__all__ = ["AGGREGATES", "MAX_SPAN", "Series", "series_read"]

Floats = npt.NDArray[np.float64]

MAX_SPAN: Final = timedelta(days=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One value for each step from `start` on; NaN where nothing is known."""

    start: datetime
    step: timedelta
    values: Floats

    def points(self) -> Iterator[tuple[datetime, float | None]]:
        """Yield each step's start and value."""
        for place, value in enumerate(self.values.tolist()):
            yield self.start + place * self.step, None if math.isnan(value) else value


def _mean(steps: Floats) -> Floats:
    known = ~np.isnan(steps)
    return np.where(known, steps, 0.0).sum(axis=-1) / known.sum(axis=-1)


def _last(steps: Floats) -> Floats:
    known = ~np.isnan(steps)
    place = steps.shape[-1] - 1 - np.argmax(known[:, ::-1], axis=-1)
    return np.take_along_axis(steps, place[:, None], axis=-1)[:, 0]


AGGREGATES: Final = MappingProxyType[str, Callable[[Floats], Floats]](
    {
        "mean": _mean,
        "max": lambda steps: np.nanmax(steps, axis=-1),
        "min": lambda steps: np.nanmin(steps, axis=-1),
        "last": _last,
        "p95": lambda steps: percentile_95(steps.astype(np.float32))[0],
    }
)
"""Functions that reduce each step's values to one; every step that they are given has at least one value."""


def series_read(
    *,
    metric: Metric,
    idc: Idc,
    line: Line | None = None,
    start: datetime,
    end: datetime,
    step: timedelta = SLOT,
    agg: str = "mean",
) -> Series:
    """Read the values from the slot of `start` up to `end`, condensed to steps by `agg`; one query. Raises Invalid."""
    if agg not in AGGREGATES:
        raise Invalid("invalid_choice", _("one of {choices}"), "/agg", choices=", ".join(AGGREGATES))
    if step < SLOT or step % SLOT:
        raise Invalid("invalid_step", _("a step is a multiple of five minutes"), "/step")
    if not start < end <= start + MAX_SPAN:
        raise Invalid("invalid_span", _("the end lies after the start, at most {days} days"), "/to", days=MAX_SPAN.days)
    if (line is None) == (metric.scope == Scope.LINE):
        raise Invalid("line_mismatch", _("a line is needed where the metric is about lines, and only there"), "/line")
    start, width = slot_floor(start), step // SLOT
    slots = _slots(metric, idc, line, start, end)
    count = -(-slots.size // width)
    padded = np.full(count * width, np.nan)
    padded[: slots.size] = as_measured(slots)
    return Series(start=start, step=step, values=_condensed(padded.reshape(count, width), AGGREGATES[agg]))


def _slots(metric: Metric, idc: Idc, line: Line | None, start: datetime, end: datetime) -> Values:
    first, last = start.date(), slot_floor(end - timedelta(microseconds=1)).date()
    days = SampleDay.objects.filter(metric=metric, idc=idc, line=line, day__range=(first, last))
    values = stretch(days.order_by().values_list("day", "values"), first, (last - first).days + 1)
    offset = slots_between(utc_midnight(first), start)
    return values[offset : offset + math.ceil((end - start) / SLOT)]


def _condensed(steps: Floats, aggregate: Callable[[Floats], Floats]) -> Floats:
    condensed = np.full(len(steps), np.nan)
    known = np.flatnonzero(~np.isnan(steps).all(axis=-1))
    if known.size:
        condensed[known] = aggregate(steps[known])
    return condensed
