"""Checks of samples: resolves their codes to primary keys, and finds the faults of those that can't be stored."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

import msgspec
import numpy as np
from django.db.models import QuerySet

from idcsched.db.fields import ENORMOUS
from idcsched.framework.errors import FieldError
from idcsched.framework.messages import Message, _
from idcsched.inventory.models import Idc, Line
from metrics_ingest.models import Metric, Scope
from metrics_ingest.samples.batch import Batch, Flags, Floats, Integers, microseconds

__all__ = ["KEPT", "MAX_AHEAD", "Checked", "Sample", "samples_check"]

MAX_AHEAD: Final = timedelta(minutes=1)
"""How far clocks may differ: a sample further ahead is refused, a nearer one counts as taken on arrival."""
KEPT: Final = timedelta(days=40)
UNKNOWN: Final = -1
WHOLE_IDC: Final = 0
MANY: Final = 0.2
"""If the samples name more than this share of all IDCs, reading every IDC is quicker than filtering by code."""


class Sample(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One value as clients and sources hand it in, with the codes of its subject.

    Left out of garbage collection: tens of thousands exist at once, and none can be part of a cycle.
    """

    idc: str
    metric: str
    value: float
    at: datetime
    line: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The sound samples as a batch, and the faults of each of the others by its place in the list."""

    sound: Batch
    faults: Mapping[int, Sequence[FieldError]]


def samples_check(samples: Sequence[Sample], now: datetime, within: Collection[int] | None = None) -> Checked:
    """Check the samples, with four queries at most; `within` are the IDCs of which samples may be stored."""
    known = _Known.read(samples)
    columns = _Columns.of(samples, known)
    faults: dict[int, list[FieldError]] = {}
    for rule in _rules(samples, columns, known, now, within):
        for place in np.flatnonzero(rule.broken).tolist():
            params = rule.params(place) if rule.params else None
            faults.setdefault(place, []).append(FieldError(rule.pointer, rule.code, rule.detail, params))
    return Checked(sound=columns.batch(known, without=faults, now=now), faults=dict(sorted(faults.items())))


@dataclass(frozen=True, slots=True)
class _Known:
    """The primary keys of the samples' codes, and what the checks need of each metric.

    `metrics` gives a metric's index in the four arrays. Their last element stands for unknown metrics: UNKNOWN, -1, is
    its index.
    """

    metrics: Mapping[str, int]
    idcs: Mapping[str, int]
    lines: Mapping[tuple[int, str], int]
    metric_ids: Integers
    about_lines: Flags
    low: Floats
    high: Floats

    @classmethod
    def read(cls, samples: Sequence[Sample]) -> Self:
        idcs, lines = _rows(samples)
        metrics = list(Metric.objects.values_list("code", "id", "scope", "low", "high"))
        return cls(
            metrics={row[0]: index for index, row in enumerate(metrics)},
            idcs=dict(idcs.values_list("code", "id")),
            lines={(idc, code): id_ for idc, code, id_ in lines.values_list("idc_id", "code", "id")},
            metric_ids=np.array([row[1] for row in metrics] + [UNKNOWN], dtype=np.int64),
            about_lines=np.array([row[2] == Scope.LINE for row in metrics] + [False]),
            # A metric without bounds has those of the column; an unknown metric has none, since it is a fault already.
            low=np.array([-ENORMOUS if row[3] is None else row[3] for row in metrics] + [-np.inf]),
            high=np.array([ENORMOUS if row[4] is None else row[4] for row in metrics] + [np.inf]),
        )


def _rows(samples: Sequence[Sample]) -> tuple[QuerySet[Idc], QuerySet[Line]]:
    """Return the IDCs that samples name, and all lines of each IDC of which some sample names a line.

    Where whole tables are quicker to read, all IDCs or all lines are returned.
    """
    idcs, lines = Idc.objects.order_by(), Line.objects.order_by()
    codes = {sample.idc for sample in samples}
    with_lines = {sample.idc for sample in samples if sample.line is not None}
    many = MANY * idcs.count()
    return (
        idcs if len(codes) > many else idcs.filter(code__in=codes),
        lines if len(with_lines) > many else lines.filter(idc__code__in=with_lines),
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The samples as columns; UNKNOWN stands for unknown codes.

    `metric` holds indexes into the arrays of `_Known`, `idc` and `line` hold primary keys, `at` holds microseconds
    since 1970, and 0 for a time without a zone.
    """

    metric: Integers
    idc: Integers
    line: Integers
    zoned: Flags
    at: Integers
    value: Floats

    @classmethod
    def of(cls, samples: Sequence[Sample], known: _Known) -> Self:
        zoned = [sample.at.tzinfo is not None for sample in samples]
        idc_of, line_of, metric_of = known.idcs.get, known.lines.get, known.metrics.get
        idcs = [idc_of(sample.idc, UNKNOWN) for sample in samples]
        lines = [
            WHOLE_IDC if sample.line is None else line_of((idc, sample.line), UNKNOWN)
            for idc, sample in zip(idcs, samples, strict=True)
        ]
        return cls(
            metric=np.array([metric_of(sample.metric, UNKNOWN) for sample in samples], dtype=np.int64),
            idc=np.array(idcs, dtype=np.int64),
            line=np.array(lines, dtype=np.int64),
            zoned=np.array(zoned, dtype=np.bool_),
            at=_times(samples, zoned),
            value=np.array([sample.value for sample in samples], dtype=np.float64),
        )

    def batch(self, known: _Known, *, without: Mapping[int, object], now: datetime) -> Batch:
        sound = np.ones(len(self.at), dtype=np.bool_)
        sound[list(without)] = False
        batch = Batch.of(
            metric=known.metric_ids[self.metric[sound]],
            idc=self.idc[sound],
            line=self.line[sound],
            at=self.at[sound],
            value=self.value[sound],
        )
        # Times ahead become now only after `Batch.of` has sorted by time, so that the latest of several stays the last.
        return replace(batch, at=np.minimum(batch.at, microseconds(now)))


def _times(samples: Sequence[Sample], zoned: Sequence[bool]) -> Integers:
    """Convert each distinct time once, since a push has few; times without a zone become 0."""
    distinct = {sample.at for sample, has_zone in zip(samples, zoned, strict=True) if has_zone}
    converted = {at: microseconds(at) for at in distinct}
    return np.array([converted.get(sample.at, 0) for sample in samples], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One rule: `broken` flags the samples that break it, `params` fills the fields of `detail` for one of them."""

    broken: Flags
    pointer: str
    code: str
    detail: Message
    params: Callable[[int], dict[str, Any]] | None = None


def _rules(
    samples: Sequence[Sample], columns: _Columns, known: _Known, now: datetime, within: Collection[int] | None
) -> Iterator[_Rule]:
    """Yield the rules, in the order in which a sample's faults are listed."""
    yield _Rule(
        broken=columns.idc == UNKNOWN,
        pointer="/idc",
        code="unknown_idc",
        detail=_("there is no IDC {name}"),
        params=lambda place: {"name": samples[place].idc},
    )
    if within is not None:
        yield _Rule(
            broken=(columns.idc != UNKNOWN) & ~np.isin(columns.idc, list(within)),
            pointer="/idc",
            code="region_not_allowed",
            detail=_("{name} lies outside of the source's regions"),
            params=lambda place: {"name": samples[place].idc},
        )
    yield _Rule(
        broken=columns.metric == UNKNOWN,
        pointer="/metric",
        code="unknown_metric",
        detail=_("there is no metric {name}"),
        params=lambda place: {"name": samples[place].metric},
    )
    yield from _value_rules(columns, known)
    yield from _line_rules(samples, columns, known)
    yield from _time_rules(columns, now)


def _value_rules(columns: _Columns, known: _Known) -> Iterator[_Rule]:
    low, high, finite = known.low[columns.metric], known.high[columns.metric], np.isfinite(columns.value)
    yield _Rule(broken=~finite, pointer="/value", code="not_finite", detail=_("this must be a finite number"))
    yield _Rule(
        broken=finite & ((columns.value < low) | (columns.value > high)),
        pointer="/value",
        code="out_of_range",
        detail=_("this must lie between {low:g} and {high:g}"),
        params=lambda place: {"low": float(low[place]), "high": float(high[place])},
    )


def _line_rules(samples: Sequence[Sample], columns: _Columns, known: _Known) -> Iterator[_Rule]:
    about_lines, named = known.about_lines[columns.metric], columns.line != WHOLE_IDC
    yield _Rule(
        broken=(columns.metric != UNKNOWN) & ~about_lines & named,
        pointer="/line",
        code="line_not_allowed",
        detail=_("{name} is about IDCs, not lines"),
        params=lambda place: {"name": samples[place].metric},
    )
    yield _Rule(
        broken=about_lines & ~named,
        pointer="/line",
        code="line_required",
        detail=_("{name} is about lines: name one"),
        params=lambda place: {"name": samples[place].metric},
    )
    yield _Rule(
        broken=about_lines & (columns.line == UNKNOWN) & (columns.idc != UNKNOWN),
        pointer="/line",
        code="unknown_line",
        detail=_("the IDC has no line {name}"),
        params=lambda place: {"name": samples[place].line},
    )


def _time_rules(columns: _Columns, now: datetime) -> Iterator[_Rule]:
    yield _Rule(broken=~columns.zoned, pointer="/at", code="zone_required", detail=_("a time needs its time zone"))
    yield _Rule(
        broken=columns.zoned & (columns.at > microseconds(now + MAX_AHEAD)),
        pointer="/at",
        code="in_the_future",
        detail=_("this lies more than a minute in the future"),
    )
    yield _Rule(
        broken=columns.zoned & (columns.at < microseconds(now - KEPT)),
        pointer="/at",
        code="too_old",
        detail=_("this is older than the 40 days that are kept"),
    )
