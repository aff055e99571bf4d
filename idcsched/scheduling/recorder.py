"""The recorder of decisions: answers hand their records in without waiting, and a thread writes them in batches.

Records that find no room, since the database is away or too slow, are counted and dropped. The thread starts with the
first record, and writes the remaining records when its process ends.
"""

import logging
import threading
import time
from collections import deque
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from prometheus_client import Counter, Gauge

from idcsched.jobs.background import Background

from .models import Decision
from .records import DecisionRecord
from .services import decisions_record

__all__ = ["Recorder", "recorder"]

logger = logging.getLogger(__name__)

ROOM = 60_000
"""The most IDCs in all waiting records: some ten thousand summaries, or thirty full explanations of 2,000 IDCs."""
BATCH = 200
FLUSH_EVERY = 0.1
AWAITED_FOR = 2.0
"""Seconds after a decision during which a reader of the decision is made to wait for its record."""
LOOK_AGAIN = 0.05
AWAY = (OperationalError, InterfaceError)

recorded = Counter("idcsched_decisions_recorded", "Decisions that were put on record.")
dropped = Counter("idcsched_decisions_dropped", "Decisions that could not be put on record.")
waiting = Gauge("idcsched_decisions_waiting", "Decisions that wait to be put on record.", multiprocess_mode="livesum")


class Recorder:
    """Queues records from any thread and writes them in the order in which they came."""

    def __init__(self, *, room: int = ROOM) -> None:
        self._room = room
        self._queue: deque[DecisionRecord] = deque()
        self._used_room = 0
        self._writing = threading.Lock()
        self._thread = Background("recording decisions", self.flush, seconds=FLUSH_EVERY, last=self.flush)
        self.dropped = 0

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def stop(self) -> None:
        """End the thread, after it has written the waiting records, as far as the database lets it."""
        self._thread.stop()

    def hand_in(self, record: DecisionRecord) -> None:
        """Queue the record, or drop it where there is no room; raises nothing."""
        if not self._thread.running:
            self._thread.start()
        if self._used_room + record.size <= self._room:
            self._used_room += record.size
            self._queue.append(record)
        else:
            self._drop("no room")

    def flush(self) -> None:
        """Write all waiting records; raises a database error while the database is away."""
        with self._writing:
            try:
                for _ in range(-(-len(self._queue) // BATCH)):
                    self._write([self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))])
            finally:
                waiting.set(len(self._queue))

    def settle(self, decision_id: str | None = None) -> None:
        """Write the records that wait in this process; wait up to two seconds for the record of a young `decision_id`.

        Do not call it inside a transaction: on SQLite the recorder's thread would wait for the end of that transaction.
        """
        self.flush()
        if decision_id is not None:
            made_at = _made_at(decision_id)
            while abs(time.time() - made_at) < AWAITED_FOR and not Decision.objects.filter(pk=decision_id).exists():
                time.sleep(LOOK_AGAIN)

    def _write(self, batch: list[DecisionRecord]) -> None:
        size = sum(record.size for record in batch)
        self._used_room -= size
        try:
            recorded.inc(decisions_record(records=batch))
        except AWAY:
            self._used_room += size
            self._queue.extendleft(reversed(batch))
            connection.close()
            raise
        except Exception:
            if len(batch) == 1:
                logger.exception("decision %s cannot be recorded", batch[0].scheduled.decision_id)
                self._drop("unrecordable")
            else:  # write one by one, to drop only the bad record
                for record in batch:
                    self._used_room += record.size
                    self._write([record])

    def _drop(self, why: str) -> None:
        if self.dropped == 0:
            logger.error("a decision was not recorded: %s; further ones are counted", why)
        self.dropped += 1
        dropped.inc()


def _made_at(decision_id: str) -> float:
    """Return when a decision was made: its id, a UUIDv7, begins with the time in milliseconds."""
    return (UUID(decision_id).int >> 80) / 1e3


recorder = Recorder()
