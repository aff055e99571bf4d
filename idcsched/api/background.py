"""What `status/` says of the work behind the answers: processes, queues, sources."""

from datetime import datetime

import msgspec
from django.utils import timezone

from idcsched.placement.driver_kinds import driver_kinds
from idcsched.work.selectors import processes, queue_depths
from metrics_ingest.kinds import kinds
from metrics_ingest.selectors import SourceHealth, sources_health

__all__ = ["Background", "background"]


class ProcessStatus(msgspec.Struct, frozen=True):
    """A worker or beat, and how long ago it gave a sign of life."""

    trade: str
    name: str
    age_seconds: float
    alive: bool


class SourceStatus(msgspec.Struct, frozen=True):
    """`failing`: several runs in a row have failed; `late`: it should have been asked by now."""

    code: str
    enabled: bool
    succeeded_at: datetime | None
    age_seconds: float | None
    due_at: datetime
    failures: int
    failing: bool
    late: bool


class Background(msgspec.Struct, frozen=True):
    """`queues` has how many messages wait in each, null where the broker does not say."""

    processes: list[ProcessStatus]
    queues: dict[str, int | None]
    sources: list[SourceStatus]
    broken_collectors: dict[str, str]
    broken_drivers: dict[str, str]
    degraded: bool


def background() -> Background:
    """As it is now. Degraded: a process has gone missing, the broker is away, a source is failing or late."""
    now = timezone.now()
    found, depths, sources = processes(now=now), dict(queue_depths()), sources_health(now=now)
    collectors, drivers = dict(kinds().broken), dict(driver_kinds().broken)
    troubled = any(source.failing or source.late for source in sources)
    missing = any(not process.alive for process in found)
    return Background(
        processes=[
            ProcessStatus(str(each.trade.value), each.name, round(each.age_seconds, 1), each.alive) for each in found
        ],
        queues=depths,
        sources=[_source(source) for source in sources],
        broken_collectors=collectors,
        broken_drivers=drivers,
        degraded=troubled or missing or bool(collectors or drivers) or None in depths.values(),
    )


def _source(source: SourceHealth) -> SourceStatus:
    return SourceStatus(
        code=source.code,
        enabled=source.enabled,
        succeeded_at=source.succeeded_at,
        age_seconds=None if source.age_seconds is None else round(source.age_seconds, 1),
        due_at=source.due_at,
        failures=source.failures,
        failing=source.failing,
        late=source.late,
    )
