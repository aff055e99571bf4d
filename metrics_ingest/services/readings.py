from datetime import datetime

import msgspec

from idcsched.audit.writing import write
from metrics_ingest.models import CounterReadings
from metrics_ingest.selectors import rates_found
from metrics_ingest.sources.mapping import Mapped

__all__ = ["readings_take"]


@write()
def readings_take(*, source_id: int, mapped: Mapped, rules: str, now: datetime) -> Mapped:
    """Make samples of the readings of counters that a run has brought, and keep them for the next one.

    Whoever calls this holds the source: of two at once, one would miss what the other has read.
    """
    if not mapped.readings:
        return mapped
    counted = rates_found(source_id=source_id, readings=mapped.readings, rules=rules, now=now)
    packed = msgspec.msgpack.encode(list(counted.held.values()))
    CounterReadings.objects.update_or_create(source_id=source_id, defaults={"rules": rules, "held": packed})
    return mapped.with_rates(counted)
