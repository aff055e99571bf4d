"""Storing without us: COPY into temporary tables and INSERT … ON CONFLICT into the very tables that we write to.

No names are looked up and nothing is checked. The days are handed over whole, as if somebody knew what they hold;
everything is packed before the clock runs.
"""

import struct
import time
from collections.abc import Sequence
from datetime import date
from io import BytesIO
from typing import Any

import numpy as np

__all__ = ["LINES", "METRICS", "SLOTS", "CopyMerge", "whole_days"]

LINES, METRICS, SLOTS = 10_000, 10, 10
HEADER, TRAILER = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0), struct.pack(">h", -1)
IN_2000 = (date(2000, 1, 1) - date(1970, 1, 1)).days
STAGES = """
    CREATE TEMPORARY TABLE IF NOT EXISTS bare_latest (
        metric_id bigint, idc_id bigint, line_id bigint, value double precision, at timestamptz
    ) ON COMMIT DELETE ROWS;
    CREATE TEMPORARY TABLE IF NOT EXISTS bare_days (
        metric_id bigint, idc_id bigint, line_id bigint, day date, "values" bytea
    ) ON COMMIT DELETE ROWS
"""
MERGES = (
    """
    INSERT INTO metrics_ingest_latest AS held (metric_id, idc_id, line_id, value, at)
    SELECT metric_id, idc_id, line_id, value, at FROM bare_latest
    ON CONFLICT (metric_id, line_id) WHERE line_id IS NOT NULL DO UPDATE SET value = excluded.value, at = excluded.at
    WHERE excluded.at > held.at
    """,
    """
    INSERT INTO metrics_ingest_sampleday (metric_id, idc_id, line_id, day, "values")
    SELECT metric_id, idc_id, line_id, day, "values" FROM bare_days
    ON CONFLICT (metric_id, line_id, day) WHERE line_id IS NOT NULL DO UPDATE SET "values" = excluded."values"
    """,
)


def packed(columns: Sequence[np.ndarray[Any, Any]]) -> BytesIO:
    """The columns as COPY reads them in binary."""
    layout: list[tuple[str, Any]] = [("fields", ">i2")]
    for place, column in enumerate(columns):
        layout += [(f"size{place}", ">i4"), (f"value{place}", column.dtype.newbyteorder(">"))]
    rows = np.empty(len(columns[0]), dtype=layout)
    rows["fields"] = len(columns)
    for place, column in enumerate(columns):
        rows[f"size{place}"], rows[f"value{place}"] = column.itemsize, column
    return BytesIO(HEADER + rows.tobytes() + TRAILER)


def whole_days(cursor: Any, metric: int, ids: np.ndarray[Any, Any], day: int) -> None:
    """A day's values of all lines (rows of line and IDC), straight into the table; `day` counts from 1970."""
    values = np.random.default_rng(day).gamma(2.0, 100.0, (len(ids), 288)).astype("<f4")
    days = np.full(len(ids), day - IN_2000, dtype=np.int32)
    columns = [np.full(len(ids), metric), ids[:, 1], ids[:, 0], days, values.view("V1152")[:, 0]]
    table = 'metrics_ingest_sampleday (metric_id, idc_id, line_id, day, "values")'
    cursor.copy_expert(f"COPY {table} FROM STDIN (FORMAT binary)", packed(columns))


class CopyMerge:
    """Stores one value of every subject: each round a later slot of one day."""

    def __init__(self, connection: Any, metrics: Sequence[str], start: float) -> None:
        """`start` is the day's midnight, in seconds since 1970."""
        self._connection, self._start = connection, int(start)
        with connection, connection.cursor() as cursor:
            cursor.execute(
                "SELECT metric.id, line.idc_id, line.id FROM inventory_line AS line, metrics_ingest_metric AS metric"
                " WHERE metric.code = ANY (%s) ORDER BY metric.id, line.id",
                [list(metrics)],
            )
            self._subjects = list(np.array(cursor.fetchall(), dtype=np.int64).T)
        self._values = np.full((len(self._subjects[0]), 288), np.nan, dtype="<f4")

    def store(self, slot: int) -> float:
        """The seconds that it took."""
        latest, days = self._rows(slot)
        started = time.perf_counter()
        with self._connection, self._connection.cursor() as cursor:
            cursor.execute(STAGES)
            cursor.copy_expert("COPY bare_latest FROM STDIN (FORMAT binary)", latest)
            cursor.copy_expert("COPY bare_days FROM STDIN (FORMAT binary)", days)
            for merge in MERGES:
                cursor.execute(merge)
        return time.perf_counter() - started

    def _rows(self, slot: int) -> tuple[BytesIO, BytesIO]:
        count, day = len(self._values), self._start // 86_400 - IN_2000
        self._values[:, slot] = slot
        at = np.full(count, (self._start + slot * 300 - IN_2000 * 86_400) * 1_000_000, dtype=np.int64)
        latest = packed([*self._subjects, np.full(count, float(slot)), at])
        whole = self._values.view("V1152")[:, 0]
        return latest, packed([*self._subjects, np.full(count, day, dtype=np.int32), whole])
