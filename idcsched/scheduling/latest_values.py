"""The latest values of every metric as columns, a metric at a time, so that what is in hand is never much."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from idcsched.framework.facts import Ints
from idcsched.framework.normalize import Floats
from metrics_ingest.models import Latest

__all__ = ["Column", "latest_values"]

COPIED = """
    COPY (
        SELECT idc_id::int8, COALESCE(line_id, 0)::int8, value::float8, EXTRACT(EPOCH FROM at)::float8
        FROM metrics_ingest_latest WHERE metric_id = {metric:d}
    ) TO STDOUT (FORMAT BINARY)
"""
HEADER, TRAILER = 19, 2
ROW = np.dtype(
    [("fields", ">i2")]
    + [part for name, kind in (("idc", ">i8"), ("line", ">i8"), ("value", ">f8"), ("at", ">f8"))
       for part in ((f"{name}_length", ">i4"), (name, kind))]
)  # fmt: skip
"""A row in PostgreSQL's binary format: how many fields, and each with its length before it."""
NO_LINE = 0


class Column(NamedTuple):
    """Where each value stands among the IDCs or lines, the value, and when it was measured, in seconds."""

    subjects: Ints
    values: Floats
    at: Floats


def latest_values(metric: int, *, idcs: Ints, lines: Ints) -> Column:
    """The metric's; `idcs` and `lines` are the primary keys in ascending order, and a subject is its place there."""
    idc, line, values, at = _copied(metric) if connection.vendor == "postgresql" else _selected(metric)
    of_lines = line != NO_LINE
    subjects = np.where(of_lines, np.searchsorted(lines, line), np.searchsorted(idcs, idc))
    return Column(subjects.astype(np.int64), values, at)


def _copied(metric: int) -> Iterator[Any]:
    """As the server writes it: ten times as fast as making a Python object of each value."""
    held = BytesIO()
    with connection.cursor() as cursor:
        cursor.cursor.copy_expert(COPIED.format(metric=metric), held)
    count = (held.getbuffer().nbytes - HEADER - TRAILER) // ROW.itemsize
    rows = np.frombuffer(held.getbuffer(), dtype=ROW, count=count, offset=HEADER)
    return (rows[name].astype(ROW[name].newbyteorder("=")) for name in ("idc", "line", "value", "at"))


def _selected(metric: int) -> Iterator[Any]:
    found = Latest.objects.filter(metric_id=metric).order_by().values_list("idc_id", "line_id", "value", "at")
    rows = [(idc, line or NO_LINE, value, at.timestamp()) for idc, line, value, at in found.iterator(chunk_size=10_000)]
    table = np.array(rows, dtype=[("idc", "i8"), ("line", "i8"), ("value", "f8"), ("at", "f8")])
    return (np.ascontiguousarray(table[name]) for name in ("idc", "line", "value", "at"))
