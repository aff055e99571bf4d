"""Latest values and days of samples, written in bulk by the same statements on every database.

Both are keyed by their subject: metric and line, or, where the metric is about IDCs, metric and IDC. Whoever
writes a subject's days has written its latest value before, in the same transaction: the lock on that row keeps
two writers of one subject apart. All write in the same order, so that they don't wait for each other in a ring.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Model

from .models import Latest, SampleDay
from .slots import EMPTY_DAY, Values, stored, unpacked

__all__ = ["Subject", "days_merge", "latest_times", "latest_upsert"]

LATEST_BATCH: Final = 1000
DAY_BATCH: Final = 250

LATEST_SQL = """
    INSERT INTO {table} (metric_id, idc_id, line_id, value, at) VALUES {rows}
    ON CONFLICT {target} DO UPDATE SET value = excluded.value, at = excluded.at
    WHERE excluded.at > {table}.at OR (excluded.at = {table}.at AND excluded.value <> {table}.value)
"""
DAY_SQL = """
    INSERT INTO {table} (metric_id, idc_id, line_id, day, "values") VALUES {rows}
    ON CONFLICT {target} DO UPDATE SET "values" = excluded."values"
"""
LATEST_TARGETS = ("(metric_id, line_id)", "(metric_id, idc_id) WHERE line_id IS NULL")
DAY_TARGETS = ("(metric_id, line_id, day)", "(metric_id, idc_id, day) WHERE line_id IS NULL")


class Subject(NamedTuple):
    """What a value is about, by primary keys; `line` 0: the IDC as a whole."""

    metric: int
    idc: int
    line: int

    @classmethod
    def of(cls, metric: int, idc: int, line: int | None) -> "Subject":
        return cls(metric, idc, line or 0)


def latest_upsert(values: Mapping[Subject, tuple[datetime, float]]) -> None:
    """Keep each value unless a newer one is there. Of two of the same time the one that comes later counts."""
    adapted = connection.ops.adapt_datetimefield_value
    rows = [(*subject, value, adapted(at)) for subject, (at, value) in sorted(values.items())]
    _upsert(Latest, LATEST_SQL, LATEST_TARGETS, rows, LATEST_BATCH)


def latest_times(subjects: Iterable[Subject]) -> dict[Subject, datetime]:
    """When the latest values were taken, of these subjects at least."""
    wanted = set(subjects)
    rows = Latest.objects.order_by().filter(
        metric_id__in={subject.metric for subject in wanted}, idc_id__in={subject.idc for subject in wanted}
    )
    return {
        Subject.of(metric, idc, line): at
        for metric, idc, line, at in rows.values_list("metric_id", "idc_id", "line_id", "at")
    }


def days_merge(news: Mapping[tuple[Subject, date], Values]) -> None:
    """Put the values (288 a day) that are not NaN in the place of what the days hold."""
    pending = iter(sorted(news.items(), key=lambda item: item[0]))
    while batch := dict(islice(pending, DAY_BATCH)):
        held = _days(batch)
        rows = []
        for (subject, day), values in batch.items():
            merged = np.where(np.isnan(values), unpacked(held.get((subject, day), EMPTY_DAY)), values)
            rows.append((*subject, day, stored(merged)))
        _upsert(SampleDay, DAY_SQL, DAY_TARGETS, rows, DAY_BATCH)


def _days(wanted: Iterable[tuple[Subject, date]]) -> dict[tuple[Subject, date], bytes | memoryview]:
    keys = set(wanted)
    rows = SampleDay.objects.order_by().filter(
        metric_id__in={subject.metric for subject, _ in keys},
        idc_id__in={subject.idc for subject, _ in keys},
        day__in={day for _, day in keys},
    )
    return {
        (Subject.of(metric, idc, line), day): column
        for metric, idc, line, day, column in rows.values_list("metric_id", "idc_id", "line_id", "day", "values")
    }


def _upsert(
    model: type[Model], sql: str, targets: tuple[str, str], rows: Sequence[tuple[Any, ...]], batch: int
) -> None:
    """Run the statement over the rows, whose third column is the line: those with one first, then those without."""
    table = connection.ops.quote_name(model._meta.db_table)
    of_lines = [row for row in rows if row[2]]
    of_idcs = [(*row[:2], None, *row[3:]) for row in rows if not row[2]]
    with connection.cursor() as cursor:
        for target, chosen in zip(targets, (of_lines, of_idcs), strict=True):
            for chunk in _chunks(chosen, batch):
                places = ", ".join(["(" + ", ".join(["%s"] * len(chunk[0])) + ")"] * len(chunk))
                params = [value for row in chunk for value in row]
                cursor.execute(sql.format(table=table, rows=places, target=target), params)


def _chunks(rows: Sequence[tuple[Any, ...]], size: int) -> Iterator[Sequence[tuple[Any, ...]]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
