"""The work that is done once a night: when it is due, whether it is late, and doing it.

A job is due from its hour on until it has succeeded, so that a night without workers is made up for by the first
worker that runs again. A job that fails, or whose worker is killed, is begun again an hour later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from celery import current_app
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from idcsched.audit.writing import write
from idcsched.jobs.announcing import announce
from idcsched.jobs.models import NightlyJob

__all__ = ["JOBS", "JobHealth", "nightly_announce", "nightly_health", "nightly_run"]

JOBS: Final[Mapping[str, int]] = {"idcsched.placement.tasks.shapes_learn": 4, "idcsched.planning.tasks.advise": 5}
"""Each job's task, and the hour of the billing zone from which on it is due."""
AGAIN_AFTER: Final = timedelta(hours=1)
LATE_AFTER: Final = timedelta(hours=3)
ANNOUNCED_FOR: Final = timedelta(minutes=5)
"""How long a message is worth reading: until the next sweep sends another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHealth:
    """How a job stands: `failing` if the last time it ended was with `error`, `late` if it should have succeeded."""

    name: str
    begun_at: datetime | None
    succeeded_at: datetime | None
    error: str
    late: bool

    @property
    def failing(self) -> bool:
        return bool(self.error)


def nightly_announce(*, now: datetime) -> list[str]:
    """Announce to the workers the jobs that are due; return their tasks."""
    due = [task for task in JOBS if not NightlyJob.objects.filter(~_due(task, now), name=_name(task)).exists()]
    for task in due:
        announce("idcsched.jobs.tasks.nightly_run", task, expires=ANNOUNCED_FOR.total_seconds())
    return due


def nightly_run(task: str) -> None:
    """Do a job unless it is not due, or another worker has begun it; note how it ends. Raises what the job raises."""
    if not _begin(task, now=timezone.now()):
        return
    try:
        current_app.tasks[task]()
    except Exception as error:
        _end(task, {"error": f"{type(error).__name__}: {error}"})
        raise
    _end(task, {"error": "", "succeeded_at": timezone.now()})


def nightly_health(*, now: datetime) -> list[JobHealth]:
    """Return how each job stands that was begun once; one that was never begun has no worker yet."""
    rows = {row.name: row for row in NightlyJob.objects.all()}
    return [
        JobHealth(
            name=row.name,
            begun_at=row.begun_at,
            succeeded_at=row.succeeded_at,
            error=row.error,
            late=_late(row, task, now - LATE_AFTER),
        )
        for task in JOBS
        if (row := rows.get(_name(task))) is not None
    ]


def _late(row: NightlyJob, task: str, then: datetime) -> bool:
    """Return whether the job has not succeeded since the last time that it was due before `then`."""
    done = row.succeeded_at is not None and row.succeeded_at >= _last_due(task, then)
    return not done and row.known_since < then


@write()
def _begin(task: str, *, now: datetime) -> bool:
    """Take the job for this worker; return whether it was due."""
    NightlyJob.objects.bulk_create([NightlyJob(name=_name(task), known_since=now)], ignore_conflicts=True)
    return bool(NightlyJob.objects.filter(_due(task, now), name=_name(task)).update(begun_at=now))


@write()
def _end(task: str, changes: Mapping[str, str | datetime]) -> None:
    NightlyJob.objects.filter(name=_name(task)).update(**changes)


def _due(task: str, now: datetime) -> Q:
    """Match a job that has not succeeded since its hour, and was not begun since then, or an hour ago at the latest."""
    since = _last_due(task, now)
    undone = Q(succeeded_at=None) | Q(succeeded_at__lt=since)
    return undone & (Q(begun_at=None) | Q(begun_at__lt=max(since, now - AGAIN_AFTER)))


def _last_due(task: str, now: datetime) -> datetime:
    """Return when the job's hour last struck in the billing zone."""
    local = now.astimezone(ZoneInfo(settings.BILLING_ZONE))
    today = local.replace(hour=JOBS[task], minute=0, second=0, microsecond=0)
    return (today if today <= local else today - timedelta(days=1)).astimezone(UTC)


def _name(task: str) -> str:
    return task.rpartition(".")[2]
