"""Stores the demo's measurements as if a collector had run all the time."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from django.db import transaction

from idcsched.inventory.models import Idc, Line
from metrics_ingest.billing.calendar import midnight, month_start, next_month
from metrics_ingest.builtin import BANDWIDTH
from metrics_ingest.models import Latest, Metric
from metrics_ingest.services import Sample, history_prune, history_store, rollups_refresh, samples_store

from .ordered_traffic import ordered_traffic
from .source import LineKey, history, line_traffic, samples_at, slot_start
from .traffic import Floats, slot_of

__all__ = ["measurements_store"]

HISTORY: Final = timedelta(days=92)
"""The history begins with the billing month that was running then, so that it has three whole months."""


@transaction.atomic
def measurements_store(*, at: datetime, now: datetime) -> dict[str, int]:
    """Store what was measured up to `at` and is not stored yet: history of bandwidth, latest values, roll-ups.

    Of days that are older than samples are kept, the figures of days and months stay.
    Lines and IDCs of the demo that an operator has removed are skipped. Returns counts of what was stored.
    """
    current = slot_of(at.timestamp())
    due = {line: first for line, first in _unstored(current) if first <= current}
    if not due:
        return {"lines": 0, "values": 0, "samples": 0}
    earliest = min(due.values())
    ordered = ordered_traffic(first=earliest, until=current + 1)
    values = 0
    for line, first in due.items():
        on_line = ordered.get((line.idc.code, line.code))
        values += _fill(line, first, current, None if on_line is None else on_line[first - earliest : -1])
    samples = samples_store(samples=list(_samples(at, {key: mbps[-1:] for key, mbps in ordered.items()})), now=now)
    for month_end in _month_ends(earliest, current):
        rollups_refresh(lines=list(due), now=month_end)
    rollups_refresh(lines=list(due), now=now)
    history_prune(now=now)
    return {"lines": len(due), "values": values, "samples": samples}


def _unstored(current: int) -> Iterator[tuple[Line, int]]:
    """Yield the demo's lines, each with the first slot that is not stored yet."""
    traffic, last_slots = line_traffic(), _last_slots()
    zone = ZoneInfo(settings.BILLING_ZONE)
    begin = (slot_start(current) - HISTORY).astimezone(zone).date()
    earliest = slot_of(midnight(month_start(begin), zone).timestamp())
    for line in Line.objects.select_related("idc").filter(idc__code__in={idc for idc, _ in traffic}):
        if (line.idc.code, line.code) in traffic:
            yield line, max(last_slots.get(line.pk, 0) + 1, earliest)


def _month_ends(first: int, until: int) -> Iterator[datetime]:
    """Yield the last second of each billing month that ends between two slots."""
    zone = ZoneInfo(settings.BILLING_ZONE)
    month = next_month(slot_start(first).astimezone(zone).date())
    while (end := midnight(month, zone) - timedelta(seconds=1)) < slot_start(until):
        yield end
        month = next_month(month)


def _last_slots() -> Mapping[int, int]:
    rows = Latest.objects.filter(metric__code=BANDWIDTH, line__isnull=False).values_list("line_id", "at")
    return {line: slot_of(at.timestamp()) for line, at in rows if line is not None}


def _fill(line: Line, first: int, until: int, ordered: Floats | None) -> int:
    """Store the line's slots from `first` up to, not including, `until`; return how many values were stored."""
    if first >= until:
        return 0
    values = history((line.idc.code, line.code), first=first, until=until)
    if ordered is not None:
        values += ordered.astype(np.float32)
    metric = Metric.objects.get(code=BANDWIDTH)
    return history_store(metric=metric, idc=line.idc, line=line, start=slot_start(first), values=values)


def _samples(at: datetime, ordered: Mapping[LineKey, Floats]) -> Iterator[Sample]:
    """Yield the samples taken at that moment of IDCs and lines that still exist."""
    idcs = set(Idc.objects.values_list("code", flat=True))
    lines = set(Line.objects.values_list("idc__code", "code"))
    for sample in samples_at(at, ordered):
        if sample.idc in idcs if sample.line is None else (sample.idc, sample.line) in lines:
            yield sample
