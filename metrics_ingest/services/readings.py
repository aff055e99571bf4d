from datetime import datetime

import msgspec

from idcsched.audit.writing import write
from metrics_ingest.models import CounterReadings
from metrics_ingest.selectors import rates_since_stored
from metrics_ingest.sources.mapping import Mapped

__all__ = ["readings_to_rates"]


@write()
def readings_to_rates(*, source_id: int, mapped: Mapped, rules: str, now: datetime) -> Mapped:
    """Turn the counter readings that a run has brought into samples, and store the readings for the next run.

    The caller must hold the lock on the source's row: of two calls at once, one would miss the other's readings.
    """
    if not mapped.readings:
        return mapped
    counted = rates_since_stored(source_id=source_id, readings=mapped.readings, rules=rules, now=now)
    packed = msgspec.msgpack.encode(list(counted.held.values()))
    CounterReadings.objects.update_or_create(source_id=source_id, defaults={"rules": rules, "held": packed})
    return mapped.with_rates(counted)
