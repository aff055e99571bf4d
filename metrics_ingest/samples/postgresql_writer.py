"""Writes a batch on PostgreSQL: binary COPY into temporary tables, then one statement for each table.

The temporary tables live as long as the session and are empty between transactions. The planner's statistics may be
old, from when a table was nearly empty, and mislead it. So the queries for stored rows allow only one plan: a look-up
of each row in the unique index.
"""

import struct
from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Model

from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.samples.batch import Batch, Days, Integers, Runs
from metrics_ingest.samples.slots import EMPTY_DAY, SLOTS_A_DAY, STORED

__all__ = ["days_read", "days_write", "latest_write"]

Column = npt.NDArray[Any]

COPY_HEADER: Final = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
COPY_TRAILER: Final = struct.pack(">h", -1)
DAYS_TO_2000: Final = 10_957
MICROSECONDS_TO_2000: Final = DAYS_TO_2000 * 86_400_000_000
VALUE_SIZE: Final = STORED.itemsize


DAY_ROW: Final = np.dtype(
    [
        ("fields", ">i2"),
        ("size0", ">i4"),
        ("line", ">i8"),
        ("size1", ">i4"),
        ("day", ">i4"),
        ("size2", ">i4"),
        ("values", STORED, SLOTS_A_DAY),
    ]
)
"""A row of binary COPY: the number of its fields, then the size and the bytes of each field."""


class Scope(NamedTuple):
    """The SQL by which subjects of one kind are found: lines, or, where `lines` is false, whole IDCs."""

    lines: bool
    key: str
    where: str


SCOPES: Final = (
    Scope(lines=True, key="line_id", where="WHERE line_id IS NOT NULL"),
    Scope(lines=False, key="idc_id", where="WHERE line_id IS NULL"),
)

USE_INDEX: Final = "SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off; SET LOCAL jit = off;"
"""Forces the unique index: a look-up is ordered by its columns, and with sorting off only that index gives the order.

For equality look-ups write BETWEEN: a column compared by `=` is constant, so the planner drops it from the ORDER BY.
"""
RESET_PLANNER: Final = (
    "SET LOCAL enable_sort = DEFAULT; SET LOCAL enable_incremental_sort = DEFAULT; SET LOCAL jit = DEFAULT"
)

STAGED: Final = {
    "staged_latest": "batch_row, metric_id, idc_id, value, at",
    "staged_runs": "metric_id, idc_id, day, first_byte, run_bytes",
}
STAGES_SQL: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS staged_latest (
        batch_row integer, metric_id bigint, idc_id bigint, value double precision, at timestamptz, line_id bigint
    ) ON COMMIT DELETE ROWS;
    CREATE TEMPORARY TABLE IF NOT EXISTS staged_runs (
        metric_id bigint, idc_id bigint, day date, first_byte integer, run_bytes bytea, line_id bigint
    ) ON COMMIT DELETE ROWS
"""
LATEST_SQL: Final = """
    INSERT INTO {table} AS held (metric_id, idc_id, line_id, value, at)
    SELECT metric_id, idc_id, line_id, value, at FROM staged_latest ORDER BY metric_id, idc_id, line_id
    ON CONFLICT (metric_id, {key}) {where} DO UPDATE SET value = excluded.value, at = excluded.at
    WHERE excluded.at > held.at OR (excluded.at = held.at AND excluded.value <> held.value)
"""
NEWER_SQL: Final = """
    SELECT batch_row, (extract(epoch FROM held_at) * 1000000)::bigint
    FROM (
        SELECT staged.batch_row, staged.at, (
            SELECT held.at FROM {table} AS held {where}
            AND held.metric_id BETWEEN staged.metric_id AND staged.metric_id
            AND held.{key} BETWEEN staged.{key} AND staged.{key}
            ORDER BY held.metric_id, held.{key} LIMIT 1
        ) AS held_at
        FROM staged_latest AS staged OFFSET 0 -- so that the subquery is run once per row
    ) AS compared
    WHERE held_at > at
"""
DAYS_SQL: Final = """
    INSERT INTO {table} (metric_id, idc_id, line_id, day, "values")
    SELECT staged.metric_id, staged.idc_id, staged.line_id, staged.day, overlay(
        coalesce((
            SELECT held."values" FROM {table} AS held {where}
            AND held.metric_id = staged.metric_id
            AND held.{key} BETWEEN staged.{key} AND staged.{key}
            AND held.day BETWEEN staged.day AND staged.day
            ORDER BY held.{key}, held.day LIMIT 1
        ), %s)
        PLACING staged.run_bytes FROM staged.first_byte
    )
    FROM staged_runs AS staged
    ON CONFLICT (metric_id, {key}, day) {where} DO UPDATE SET "values" = excluded."values"
"""
"""Writes runs into their days.

Here `=` will do for metric_id, as no other index orders by key and day, and it lets a look-up of a day that is not
stored yet end with its line or IDC. With BETWEEN it would read on to the end of the metric; NEWER_SQL never does, since
all the rows that it looks up are stored.
"""


def latest_write(batch: Batch) -> Integers:
    """Store the one value of each subject, unless a newer one is stored; return the times of the stored values."""
    newest = batch.at.copy()
    with connection.cursor() as cursor:
        cursor.execute(STAGES_SQL)
        for scope in SCOPES:
            rows = np.flatnonzero((batch.line != 0) == scope.lines)
            if rows.size:
                _copy(cursor, "staged_latest", [_latest_rows(batch, rows, scope)], scope)
                cursor.execute(_sql(LATEST_SQL, Latest, scope))
                if cursor.rowcount < rows.size:  # some rows were not written, perhaps because newer ones are stored
                    cursor.execute(USE_INDEX + _sql(NEWER_SQL, Latest, scope))
                    for batch_row, at in cursor.fetchall():
                        newest[batch_row] = at
                    cursor.execute(RESET_PLANNER)
    return newest


def days_write(runs: Runs) -> None:
    """Overwrite the slots of the runs (see `batch`) in the stored days.

    The caller must have called `latest_write` for these subjects in the same transaction: it locks their rows, so that
    nobody else writes their days meanwhile.
    """
    with connection.cursor() as cursor:
        for scope in SCOPES:
            in_scope = (runs.line != 0) == scope.lines
            # One statement can't write a row twice: a day's second run waits for the second turn.
            for turn in range(int(runs.turn[in_scope].max(initial=-1)) + 1):
                rows = np.flatnonzero(in_scope & (runs.turn == turn))
                _copy(cursor, "staged_runs", _run_rows(runs, rows, scope), scope)
                cursor.execute(f"{USE_INDEX}{_sql(DAYS_SQL, SampleDay, scope)};{RESET_PLANNER}", [EMPTY_DAY])


def days_read(metric: int, lines: Integers, first_day: int, until_day: int) -> Days:
    """Read the lines' days from `first_day` up to, not including, `until_day`, counted from 1970; in no order."""
    query = f"""
        SELECT line_id, day, "values" FROM {connection.ops.quote_name(SampleDay._meta.db_table)}
        WHERE metric_id = {metric:d} AND line_id = ANY ('{{{",".join(map(str, lines.tolist()))}}}')
        AND day >= {_sql_day(first_day)} AND day < {_sql_day(until_day)}
    """  # noqa: S608  # COPY takes no parameters; these are whole numbers
    buffer = BytesIO()
    with connection.cursor() as cursor:
        cursor.copy_expert(f"COPY ({query}) TO STDOUT (FORMAT binary)", buffer)
    count = (len(buffer.getbuffer()) - len(COPY_HEADER) - len(COPY_TRAILER)) // DAY_ROW.itemsize
    rows = np.frombuffer(buffer.getbuffer(), DAY_ROW, count, offset=len(COPY_HEADER))
    return rows["line"].astype(np.int64), rows["day"].astype(np.int64) + DAYS_TO_2000, rows["values"]


def _sql_day(day: int) -> str:
    return f"date '1970-01-01' + {day:d}"


def _latest_rows(batch: Batch, rows: Integers, scope: Scope) -> bytes:
    at = batch.at[rows] - MICROSECONDS_TO_2000
    columns: list[Column] = [rows.astype(np.int32), batch.metric[rows], batch.idc[rows], batch.value[rows], at]
    return _binary([*columns, batch.line[rows]] if scope.lines else columns)


def _run_rows(runs: Runs, rows: Integers, scope: Scope) -> list[bytes]:
    """Encode the runs for COPY, those of one length together, since they share one layout."""
    encoded = []
    for length in np.unique(runs.length[rows]):
        group = rows[runs.length[rows] == length]
        values = runs.values[runs.start[group][:, None] + np.arange(length)]
        columns: list[Column] = [runs.metric[group], runs.idc[group], (runs.day[group] - DAYS_TO_2000).astype(np.int32)]
        columns.append((runs.slot[group] * VALUE_SIZE + 1).astype(np.int32))
        columns.append(values.view(f"V{length * VALUE_SIZE}")[:, 0])
        encoded.append(_binary([*columns, runs.line[group]] if scope.lines else columns))
    return encoded


def _binary(columns: Sequence[Column]) -> bytes:
    """Encode the columns' rows for COPY: the number of fields, then the size and big-endian bytes of each field."""
    layout: list[tuple[str, Any]] = [("fields", ">i2")]
    for number, column in enumerate(columns):
        layout += [(f"size{number}", ">i4"), (f"value{number}", column.dtype.newbyteorder(">"))]
    rows = np.empty(len(columns[0]), dtype=layout)
    rows["fields"] = len(columns)
    for number, column in enumerate(columns):
        rows[f"size{number}"] = column.itemsize
        rows[f"value{number}"] = column
    return rows.tobytes()


def _copy(cursor: Any, table: str, rows: Sequence[bytes], scope: Scope) -> None:
    """Fill the temporary table with these rows, in place of those of an earlier call in this transaction."""
    columns = STAGED[table] + (", line_id" if scope.lines else "")
    cursor.execute(f"DELETE FROM {table}")  # noqa: S608  # `table` is a key of STAGED
    cursor.copy_expert(
        f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)", BytesIO(b"".join((COPY_HEADER, *rows, COPY_TRAILER)))
    )


def _sql(sql: str, model: type[Model], scope: Scope) -> str:
    table = connection.ops.quote_name(model._meta.db_table)
    return sql.format(table=table, key=scope.key, where=scope.where)
