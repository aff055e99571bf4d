"""The periodic tasks of sources, one per source, in the tables that Celery beat reads."""

import json
from datetime import timedelta
from typing import Any

from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from idcsched.jobs.announcing import announce
from metrics_ingest.models import Source
from metrics_ingest.sources.schedules import Cron, Every, parse_schedule

__all__ = [
    "COLLECT_QUEUE",
    "RUN_TASK",
    "is_of_source",
    "periodic_task_delete",
    "periodic_task_save",
    "periodic_tasks_restore",
    "source_announce",
]

RUN_TASK = "metrics_ingest.tasks.source_run"
COLLECT_QUEUE = "collect"
PREFIX = "source:"
ANNOUNCEMENT_SECONDS = 60
"""How long a message of `source_announce` waits for a worker; until one comes, `sources_sweep` sends more."""
HOUR = int(timedelta(hours=1).total_seconds())


def is_of_source(name: str) -> bool:
    """Return whether the periodic task of that name belongs to a source."""
    return name.startswith(PREFIX)


def periodic_task_save(source: Source) -> None:
    """Create the source's periodic task, or update it to the source's schedule and `enabled`."""
    schedule = parse_schedule(source.schedule)
    PeriodicTask.objects.update_or_create(
        name=PREFIX + source.code,
        defaults={
            "task": RUN_TASK,
            "args": json.dumps([source.pk]),
            "queue": COLLECT_QUEUE,
            "enabled": source.enabled,
            "expire_seconds": schedule.seconds if isinstance(schedule, Every) else HOUR,
            **_timing(schedule),
        },
    )


def periodic_task_delete(code: str) -> None:
    """Delete the periodic task of a source that is gone or has been renamed."""
    PeriodicTask.objects.filter(name=PREFIX + code).delete()


def periodic_tasks_restore() -> None:
    """Restore the periodic tasks of all sources; run at the start of beat, since others may have edited its tables."""
    sources = {PREFIX + source.code: source for source in Source.objects.all()}
    for task in PeriodicTask.objects.filter(name__startswith=PREFIX):
        if task.name not in sources:
            task.delete()
    for source in sources.values():
        periodic_task_save(source)


def _timing(schedule: Every | Cron) -> dict[str, Any]:
    if isinstance(schedule, Every):
        every, _ = IntervalSchedule.objects.get_or_create(every=schedule.seconds, period=IntervalSchedule.SECONDS)
        return {"interval": every, "crontab": None}
    minute, hour, day, month, weekday = schedule.text.split()
    fields = {"minute": minute, "hour": hour, "day_of_month": day, "month_of_year": month, "day_of_week": weekday}
    cron = CrontabSchedule.objects.filter(**fields, timezone=schedule.zone).first()
    return {"interval": None, "crontab": cron or CrontabSchedule.objects.create(**fields, timezone=schedule.zone)}


def source_announce(source_id: int, *, by_hand: bool = False) -> None:
    """Have a worker ask the source if it is due; `by_hand` even where a circuit breaker is open."""
    announce(RUN_TASK, source_id, expires=ANNOUNCEMENT_SECONDS, **({"by_hand": True} if by_hand else {}))
