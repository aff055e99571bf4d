import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

import numpy as np

from idcsched.accounts.roles import Principal
from idcsched.audit.models import Topic
from idcsched.audit.services import feed_append
from idcsched.audit.writing import write
from idcsched.columns import ENORMOUS
from idcsched.framework.errors import FieldError, Invalid
from idcsched.inventory.models import Idc, Line
from idcsched.inventory.scope import scope_check_many
from metrics_ingest.models import Metric, Scope
from metrics_ingest.slots import SLOTS_A_DAY, Values, slot_floor, slot_of_day
from metrics_ingest.storage import Subject, days_merge, latest_times, latest_upsert

__all__ = ["MAX_SAMPLES", "Sample", "samples_store"]

MAX_SAMPLES: Final = 10_000
MAX_AHEAD: Final = timedelta(minutes=5)
KEPT: Final = timedelta(days=40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value as it is handed in, by the codes of what it is about."""

    idc: str
    metric: str
    value: float
    at: datetime
    line: str | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """What the samples' codes stand for."""

    metrics: Mapping[str, Metric]
    idcs: Mapping[str, Idc]
    lines: Mapping[tuple[int, str], int]

    @classmethod
    def read(cls, samples: Sequence[Sample]) -> "_Known":
        idcs = list(Idc.objects.filter(code__in={sample.idc for sample in samples}).select_related("region"))
        lines = Line.objects.filter(idc__in=[idc.pk for idc in idcs]).order_by()
        return cls(
            metrics={metric.code: metric for metric in Metric.objects.all()},
            idcs={idc.code: idc for idc in idcs},
            lines={(idc, code): id_ for id_, idc, code in lines.values_list("id", "idc_id", "code")},
        )


@dataclass(frozen=True, slots=True)
class _Value:
    """A sample that was found to be sound."""

    subject: Subject
    at: datetime
    value: float


@write()
def samples_store(*, samples: Sequence[Sample], now: datetime, principal: Principal | None = None) -> int:
    """Store the samples, latest values and history, all or none; says how many came in.

    Idempotent, and in any order: an older sample never takes the place of a newer latest value, nor of the newer
    ones in the same call. With a principal, only within its regions. Raises Invalid, with every bad sample named
    by its index, and Forbidden.
    """
    if len(samples) > MAX_SAMPLES:
        raise Invalid("too_many", "at most {limit} samples at once", limit=MAX_SAMPLES)
    known = _Known.read(samples)
    values = _checked(samples, known, now)
    if principal is not None:
        scope_check_many(principal, known.idcs.values())
    if values:
        _store(values)
        for code in sorted({sample.metric for sample in samples}):
            feed_append(topic=Topic.METRICS, key=code)
    return len(samples)


def _checked(samples: Sequence[Sample], known: _Known, now: datetime) -> list[_Value]:
    """The samples by what they are about, oldest first; raises Invalid."""
    values: list[_Value] = []
    errors: list[FieldError] = []
    for place, sample in enumerate(samples):
        found = list(_faults(sample, known, now))
        if found:
            errors += (FieldError(f"/{place}{item.pointer}", item.code, item.detail, item.params) for item in found)
        else:
            idc = known.idcs[sample.idc].pk
            line = None if sample.line is None else known.lines[idc, sample.line]
            values.append(_Value(Subject.of(known.metrics[sample.metric].pk, idc, line), sample.at, sample.value))
    if errors:
        raise Invalid.of(errors)
    return sorted(values, key=lambda value: value.at)


def _faults(sample: Sample, known: _Known, now: datetime) -> Iterator[FieldError]:
    metric, idc = known.metrics.get(sample.metric), known.idcs.get(sample.idc)
    if idc is None:
        yield FieldError("/idc", "unknown_idc", "there is no IDC {name}", {"name": sample.idc})
    if metric is None:
        yield FieldError("/metric", "unknown_metric", "there is no metric {name}", {"name": sample.metric})
    else:
        yield from _value_faults(sample.value, metric)
        yield from _line_faults(sample, metric, known)
    yield from _time_faults(sample.at, now)


def _value_faults(value: float, metric: Metric) -> Iterator[FieldError]:
    if not math.isfinite(value):
        yield FieldError("/value", "not_finite", "this must be a finite number")
        return
    low = -ENORMOUS if metric.low is None else metric.low
    high = ENORMOUS if metric.high is None else metric.high
    if not low <= value <= high:
        params = {"low": low, "high": high}
        yield FieldError("/value", "out_of_range", "this must lie between {low:g} and {high:g}", params)


def _line_faults(sample: Sample, metric: Metric, known: _Known) -> Iterator[FieldError]:
    idc = known.idcs.get(sample.idc)
    if metric.scope == Scope.IDC:
        if sample.line is not None:
            yield FieldError("/line", "line_not_allowed", "{name} is about IDCs, not lines", {"name": metric.code})
    elif sample.line is None:
        yield FieldError("/line", "line_required", "{name} is about lines: name one", {"name": metric.code})
    elif idc is not None and (idc.pk, sample.line) not in known.lines:
        yield FieldError("/line", "unknown_line", "the IDC has no line {name}", {"name": sample.line})


def _time_faults(at: datetime, now: datetime) -> Iterator[FieldError]:
    if at.tzinfo is None:
        yield FieldError("/at", "zone_required", "a time needs its time zone")
    elif at > now + MAX_AHEAD:
        yield FieldError("/at", "in_the_future", "this lies more than five minutes in the future")
    elif at < now - KEPT:
        yield FieldError("/at", "too_old", "this is older than the 40 days that are kept")


def _store(values: Sequence[_Value]) -> None:
    """Latest values first: they hold the locks, and say which samples come too late for their slot."""
    latest_upsert({value.subject: (value.at, value.value) for value in values})
    newest = latest_times(value.subject for value in values)
    days: dict[tuple[Subject, date], Values] = {}
    for value in values:
        last = newest[value.subject]
        if value.at < last and slot_floor(value.at) == slot_floor(last):
            continue  # the newer one is in this slot, or about to be
        day, slot = slot_of_day(value.at)
        key = (value.subject, day)
        if key not in days:
            days[key] = np.full(SLOTS_A_DAY, np.nan, dtype=np.float32)
        days[key][slot] = value.value
    days_merge(days)
