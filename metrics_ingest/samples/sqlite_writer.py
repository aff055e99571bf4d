"""Writes a batch on SQLite, by multi-row statements.

A day's values are one packed column, so it is read, changed and written back.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date
from typing import Any, Final

import numpy as np
from django.db import connection
from django.db.models import Model

from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.samples.batch import Batch, Days, Integers, Runs, microseconds, moment
from metrics_ingest.samples.slots import EMPTY_DAY, SLOTS_A_DAY, STORED, day_date, day_number, packed, unpacked

__all__ = ["days_read", "days_write", "latest_write"]

LATEST_BATCH: Final = 1000
DAY_BATCH: Final = 250

LATEST_SQL: Final = """
    INSERT INTO {table} (metric_id, idc_id, line_id, value, at) VALUES {rows}
    ON CONFLICT {target} DO UPDATE SET value = excluded.value, at = excluded.at
    WHERE excluded.at > {table}.at OR (excluded.at = {table}.at AND excluded.value <> {table}.value)
"""
DAY_SQL: Final = """
    INSERT INTO {table} (metric_id, idc_id, line_id, day, "values") VALUES {rows}
    ON CONFLICT {target} DO UPDATE SET "values" = excluded."values"
"""
LATEST_TARGETS: Final = (
    "(metric_id, line_id) WHERE line_id IS NOT NULL",
    "(metric_id, idc_id) WHERE line_id IS NULL",
)
DAY_TARGETS: Final = (
    "(metric_id, line_id, day) WHERE line_id IS NOT NULL",
    "(metric_id, idc_id, day) WHERE line_id IS NULL",
)

DayKey = tuple[int, int, int | None, date]


def latest_write(batch: Batch) -> Integers:
    """Store the one value of each subject, unless a newer one is stored; return the times of the stored values."""
    adapt = connection.ops.adapt_datetimefield_value
    columns = (batch.metric, batch.idc, batch.line, batch.value, batch.at)
    rows = [
        (metric, idc, line or None, value, adapt(moment(at)))
        for metric, idc, line, value, at in zip(*(column.tolist() for column in columns), strict=True)
    ]
    _upsert(Latest, LATEST_SQL, LATEST_TARGETS, rows, LATEST_BATCH)
    times = _latest_times(batch)
    return np.array([times[row[:3]] for row in rows], dtype=np.int64)


def _latest_times(batch: Batch) -> dict[tuple[int, int, int | None], int]:
    """Return the times of the latest values of the batch's subjects, and perhaps of others."""
    times: dict[tuple[int, int, int | None], int] = {}
    rows = Latest.objects.order_by().filter(metric_id__in=np.unique(batch.metric).tolist())
    idcs = np.unique(batch.idc).tolist()
    for chunk in _chunks(idcs, LATEST_BATCH):
        held = rows.filter(idc_id__in=chunk).values_list("metric_id", "idc_id", "line_id", "at")
        times |= {(metric, idc, line): microseconds(at.astimezone(UTC)) for metric, idc, line, at in held}
    return times


def days_write(runs: Runs) -> None:
    """Overwrite the slots of the runs (see `batch`) in the stored days."""
    runs_by_day: dict[DayKey, list[int]] = {}
    for run, (metric, idc, line) in enumerate(
        zip(runs.metric.tolist(), runs.idc.tolist(), runs.line.tolist(), strict=True)
    ):
        runs_by_day.setdefault((metric, idc, line or None, day_date(int(runs.day[run]))), []).append(run)
    for keys in _chunks(list(runs_by_day), DAY_BATCH):
        columns = _stored_days(keys)
        rows = [(*key, _merged(columns.get(key, EMPTY_DAY), runs, runs_by_day[key])) for key in keys]
        _upsert(SampleDay, DAY_SQL, DAY_TARGETS, rows, DAY_BATCH)


def days_read(metric: int, lines: Integers, first_day: int, until_day: int) -> Days:
    """Read the lines' days from `first_day` up to, not including, `until_day`, counted from 1970; in no order."""
    rows = SampleDay.objects.order_by().filter(
        metric_id=metric, line_id__in=lines.tolist(), day__gte=day_date(first_day), day__lt=day_date(until_day)
    )
    days = list(rows.values_list("line_id", "day", "values"))
    return (
        np.array([line for line, _, _ in days], dtype=np.int64),
        np.array([day_number(day) for _, day, _ in days], dtype=np.int64),
        np.array([unpacked(values) for _, _, values in days], dtype=STORED).reshape(-1, SLOTS_A_DAY),
    )


def _merged(column: bytes | memoryview, runs: Runs, chosen: Sequence[int]) -> bytes:
    """Return the day's column with the values of the chosen runs in their slots."""
    values = unpacked(column).copy()
    for run in chosen:
        slot, start, length = int(runs.slot[run]), int(runs.start[run]), int(runs.length[run])
        values[slot : slot + length] = runs.values[start : start + length]
    return packed(values)


def _stored_days(keys: Sequence[DayKey]) -> dict[DayKey, bytes | memoryview]:
    rows = SampleDay.objects.order_by().filter(
        metric_id__in={metric for metric, _, _, _ in keys},
        idc_id__in={idc for _, idc, _, _ in keys},
        day__in={day for _, _, _, day in keys},
    )
    return {
        (metric, idc, line, day): column
        for metric, idc, line, day, column in rows.values_list("metric_id", "idc_id", "line_id", "day", "values")
    }


def _upsert(
    model: type[Model], sql: str, targets: tuple[str, str], rows: Sequence[tuple[Any, ...]], batch: int
) -> None:
    """Run the statement over the rows, whose third column is the line: those with one first, then those without."""
    table = connection.ops.quote_name(model._meta.db_table)
    of_lines = [row for row in rows if row[2] is not None]
    of_idcs = [row for row in rows if row[2] is None]
    with connection.cursor() as cursor:
        for target, chosen in zip(targets, (of_lines, of_idcs), strict=True):
            for chunk in _chunks(chosen, batch):
                placeholders = ", ".join(["(" + ", ".join(["%s"] * len(chunk[0])) + ")"] * len(chunk))
                params = [value for row in chunk for value in row]
                cursor.execute(sql.format(table=table, rows=placeholders, target=target), params)


def _chunks(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
