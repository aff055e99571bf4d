"""Bulk storage of latest values and of days of samples.

A writer of a subject's days writes its latest value first, in the same transaction: the lock on that row keeps two
writers of one subject apart. All writers write in the same order, so that they can't deadlock.
"""

from datetime import date
from types import ModuleType

import numpy as np
from django.db import connection

from metrics_ingest.samples import postgresql_writer, sqlite_writer
from metrics_ingest.samples.batch import Batch, Integers, slots_since_1970
from metrics_ingest.samples.slots import SLOTS_A_DAY, Values, day_number

__all__ = ["batch_store", "history_read"]


def batch_store(batch: Batch) -> None:
    """Store the values, latest and history, in the caller's transaction.

    An older value never replaces a newer latest one. A slot holds, while it is the newest, the newest of its values; a
    value that arrives once the slot is over replaces the stored one.
    """
    if not len(batch):
        return
    writer = _by_database()
    newest = writer.latest_write(batch.newest())
    last = newest[batch.subject]
    too_late = (batch.at < last) & (batch.slot == slots_since_1970(last))
    writer.days_write(batch.taken(~too_late).runs())


def history_read(metric: int, lines: Integers, first: date, days: int) -> Values:
    """Read a row for each of the lines, whose keys must ascend, a column for each slot of the UTC days; NaN in gaps."""
    start = day_number(first)
    line, day, values = _by_database().days_read(metric, lines, start, start + days)
    history = np.full((len(lines), days, SLOTS_A_DAY), np.nan, dtype=np.float32)
    history[np.searchsorted(lines, line), day - start] = values
    return history.reshape(len(lines), days * SLOTS_A_DAY)


def _by_database() -> ModuleType:
    return postgresql_writer if connection.vendor == "postgresql" else sqlite_writer
