"""The latest values of metrics as columns, as the server writes them: no Python object is made of each."""

from collections.abc import Collection, Iterator
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection

from idcsched.framework.facts import Ints
from idcsched.framework.normalize import Floats
from metrics_ingest.models import Latest

__all__ = ["NO_LINE", "Column", "Table", "latest_values", "values_moved"]

COPIED = """
    COPY (
        SELECT metric_id::int8, idc_id::int8, COALESCE(line_id, 0)::int8, value::float8, at
        FROM {latest} AS latest WHERE {where}
    ) TO STDOUT (FORMAT BINARY)
"""
TABLE_OF_ALL = "metrics_ingest_latest"
OF_IDCS = """
    unnest({idcs}::int8[]) AS wanted (idc)
    CROSS JOIN LATERAL (SELECT * FROM metrics_ingest_latest AS held WHERE held.idc_id = wanted.idc OFFSET 0)
"""
"""By the index for each of them, whatever the server believes of a table that it has not looked at lately."""
SINCE = "age(latest.xmin) <= (SELECT age('{since:d}'::xid))"
HEADER, TRAILER = 19, 2
TABLE = np.dtype([("metric", "i8"), ("idc", "i8"), ("line", "i8"), ("value", "f8"), ("at", "f8")])
ROW = np.dtype(
    [("fields", ">i2")]
    + [part for name in TABLE.names or () for part in ((f"{name}_length", ">i4"),
       (name, ">f8" if name == "value" else ">i8"))]
)  # fmt: skip
"""A row in PostgreSQL's binary format: how many fields, and each with its length before it; times are whole numbers."""
MICROSECONDS, YEAR_2000 = 1_000_000, 946_684_800_000_000
NO_LINE = 0

Table = npt.NDArray[Any]


class Column(NamedTuple):
    """Where each value stands among the IDCs or lines, the value, and when it was measured, in seconds."""

    subjects: Ints
    values: Floats
    at: Floats


def latest_values(metric: int, *, idcs: Ints, lines: Ints) -> Column:
    """The metric's; `idcs` and `lines` are the primary keys in ascending order, and a subject is its place there."""
    rows = values_moved([metric])
    of_lines = rows["line"] != NO_LINE
    subjects = np.where(of_lines, np.searchsorted(lines, rows["line"]), np.searchsorted(idcs, rows["idc"]))
    return Column(subjects.astype(np.int64), rows["value"].copy(), rows["at"].copy())


def values_moved(metrics: Collection[int], *, idcs: Collection[int] | None = None, since: int | None = None) -> Table:
    """These metrics' values with their primary keys, in one look at the table; NO_LINE: the value is the IDC's.

    Only those of `idcs`, where these are named; and of all, or, as far as the database can tell, no more than was
    written by transactions that were not over when `since` was the oldest of such.
    """
    if not metrics:
        return np.empty(0, dtype=TABLE)
    return _copied(metrics, idcs, since) if connection.vendor == "postgresql" else _selected(metrics, idcs)


def _copied(metrics: Collection[int], idcs: Collection[int] | None, since: int | None) -> Table:
    """Ten times as fast as making a Python object of each value."""
    latest = TABLE_OF_ALL if idcs is None else OF_IDCS.format(idcs=_array(idcs))
    where = [f"metric_id = ANY ({_array(metrics)})"]
    if idcs is None and since is not None:
        where.append(SINCE.format(since=since % 2**32))
    held = BytesIO()
    with connection.cursor() as cursor:
        cursor.copy_expert(COPIED.format(latest=latest, where=" AND ".join(where)), held)
    count = (held.getbuffer().nbytes - HEADER - TRAILER) // ROW.itemsize
    rows = np.frombuffer(held.getbuffer(), dtype=ROW, count=count, offset=HEADER)
    found = np.empty(count, dtype=TABLE)
    for name in ("metric", "idc", "line", "value"):
        found[name] = rows[name]
    found["at"] = (rows["at"] + YEAR_2000) / MICROSECONDS  # rounded as `datetime.timestamp` rounds
    return found


def _array(keys: Collection[int]) -> str:
    """COPY takes no parameters; these are whole numbers."""
    return f"'{{{','.join(f'{key:d}' for key in keys)}}}'"


def _selected(metrics: Collection[int], idcs: Collection[int] | None) -> Table:
    chosen = Latest.objects.filter(metric_id__in=metrics)
    rows = list(_rows_of(chosen if idcs is None else chosen.filter(idc_id__in=idcs)))
    return np.array(rows, dtype=TABLE)


def _rows_of(chosen: Any) -> Iterator[tuple[int, int, int, float, float]]:
    found = chosen.order_by().values_list("metric_id", "idc_id", "line_id", "value", "at")
    for metric, idc, line, value, at in found.iterator(chunk_size=10_000):
        yield metric, idc, line or NO_LINE, value, at.timestamp()
