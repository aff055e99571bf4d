"""Latest values and days of samples, written in bulk.

Whoever writes a subject's days has written its latest value before, in the same transaction: the lock on that row
keeps two writers of one subject apart. All write in the same order, so that they don't wait for each other in a
ring.
"""

from datetime import date
from types import ModuleType

import numpy as np
from django.db import connection

from metrics_ingest.samples import copying, rowwise
from metrics_ingest.samples.batch import Batch, Integers, slots_since_1970
from metrics_ingest.samples.slots import SLOTS_A_DAY, Values, day_number

__all__ = ["batch_store", "history_read"]


def batch_store(batch: Batch) -> None:
    """Store the values, latest and history, in one transaction of the caller's.

    An older value never takes the place of a newer latest one. A slot holds, while it is the newest, the newest of
    its values; what comes in for it once it is over replaces what it held.
    """
    if not len(batch):
        return
    writer = _by_database()
    newest = writer.latest_write(batch.newest())
    last = newest[batch.subject]
    too_late = (batch.at < last) & (batch.slot == slots_since_1970(last))
    writer.days_write(batch.taken(~too_late).runs())


def history_read(metric: int, lines: Integers, first: date, days: int) -> Values:
    """One row for each of the lines, whose numbers ascend, one column for each slot of the UTC days; NaN in gaps."""
    start = day_number(first)
    whose, day, values = _by_database().days_read(metric, lines, start, start + days)
    found = np.full((len(lines), days, SLOTS_A_DAY), np.nan, dtype=np.float32)
    found[np.searchsorted(lines, whose), day - start] = values
    return found.reshape(len(lines), days * SLOTS_A_DAY)


def _by_database() -> ModuleType:
    return copying if connection.vendor == "postgresql" else rowwise
