"""Latest values and days of samples, written in bulk.

Whoever writes a subject's days has written its latest value before, in the same transaction: the lock on that row
keeps two writers of one subject apart. All write in the same order, so that they don't wait for each other in a
ring.
"""

from django.db import connection

from . import copying, rowwise
from .batch import Batch, slots_since_1970

__all__ = ["batch_store"]


def batch_store(batch: Batch) -> None:
    """Store the values, latest and history, in one transaction of the caller's.

    An older value never takes the place of a newer latest one. A slot holds, while it is the newest, the newest of
    its values; what comes in for it once it is over replaces what it held.
    """
    if not len(batch):
        return
    writer = copying if connection.vendor == "postgresql" else rowwise
    newest = writer.latest_write(batch.newest())
    last = newest[batch.subject]
    too_late = (batch.at < last) & (batch.slot == slots_since_1970(last))
    writer.days_write(batch.taken(~too_late).runs())
