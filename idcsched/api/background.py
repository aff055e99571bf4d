"""The background work in `status/`: processes, queues, sources, nightly jobs."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from django.utils import timezone

from idcsched.jobs.nightly import JobHealth, nightly_health
from idcsched.jobs.selectors import Process, processes, queue_depths
from idcsched.placement.provider_models import Provider
from idcsched.provisioning.driver_kinds import driver_kinds
from metrics_ingest.selectors import SourceHealth, sources_health
from metrics_ingest.sources.kinds import kinds as collector_kinds

__all__ = ["Background", "background"]


class ProcessStatus(msgspec.Struct, frozen=True):
    """A worker or beat, and how long ago it gave a sign of life. `trade`: `worker` or `beat`."""

    trade: str
    name: str
    age_seconds: float
    alive: bool


class SourceStatus(msgspec.Struct, frozen=True):
    """A source and its runs.

    `age_seconds`: time since `succeeded_at`, the end of the last successful run; `failures`: failed runs in a row;
    `failing`: several runs in a row have failed; `late`: the next run is overdue.
    """

    code: str
    enabled: bool
    succeeded_at: datetime | None
    age_seconds: float | None
    due_at: datetime
    failures: int
    failing: bool
    late: bool


class NightlyJobStatus(msgspec.Struct, frozen=True):
    """Work that is done once a night: learning the shapes of traffic (`shapes_learn`), and the advice (`advise`).

    `begun_at`, `succeeded_at`: its last begin and its last success; `error`: what made it fail when it last ended, else
    empty; `late`: it should have succeeded three hours ago at the latest.
    """

    name: str
    begun_at: datetime | None
    succeeded_at: datetime | None
    error: str
    late: bool


class Background(msgspec.Struct, frozen=True):
    """The background work. `queues` has the number of messages that wait in each, null where the broker is away.

    `broken_collectors` and `broken_drivers` have the reason why each of them could not be loaded.
    """

    processes: list[ProcessStatus]
    queues: dict[str, int | None]
    sources: list[SourceStatus]
    nightly: list[NightlyJobStatus]
    broken_collectors: dict[str, str]
    broken_drivers: dict[str, str]
    degraded: bool
    degraded_because: list[str]


def background() -> Background:
    """Return how the background work stands now."""
    now = timezone.now()
    known, depths, sources = processes(now=now), dict(queue_depths()), sources_health(now=now)
    nightly = nightly_health(now=now)
    causes = [*_causes(known, depths, sources), *_nightly_causes(nightly)]
    return Background(
        processes=[
            ProcessStatus(str(process.trade.value), process.name, round(process.age_seconds, 1), process.alive)
            for process in known
        ],
        queues=depths,
        sources=[_source(source) for source in sources],
        nightly=[_nightly(job) for job in nightly],
        broken_collectors=dict(collector_kinds().broken),
        broken_drivers=dict(driver_kinds().broken),
        degraded=bool(causes),
        degraded_because=causes,
    )


def _causes(
    known: Sequence[Process], depths: Mapping[str, int | None], sources: Sequence[SourceHealth]
) -> Iterator[str]:
    """Yield a code for each fault, with the name of the process, source or provider concerned."""
    if None in depths.values():
        yield "broker_away"
    yield from (f"process_missing: {process.name}" for process in known if not process.alive)
    yield from (f"source_failing: {source.code}" for source in sources if source.failing)
    yield from (f"source_late: {source.code}" for source in sources if source.late)
    collectors = collector_kinds().classes
    yield from (
        f"collector_missing: {source.code}" for source in sources if source.enabled and source.kind not in collectors
    )
    for code in Provider.objects.exclude(kind__in=driver_kinds().classes).values_list("code", flat=True):
        yield f"driver_missing: {code}"


def _nightly_causes(jobs: Sequence[JobHealth]) -> Iterator[str]:
    yield from (f"nightly_failing: {job.name}" for job in jobs if job.failing)
    yield from (f"nightly_late: {job.name}" for job in jobs if job.late)


def _nightly(job: JobHealth) -> NightlyJobStatus:
    return NightlyJobStatus(
        name=job.name, begun_at=job.begun_at, succeeded_at=job.succeeded_at, error=job.error, late=job.late
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
