"""Beat's schedules follow the sources: one periodic task a source, in the tables that beat reads."""

import json
import logging
from datetime import timedelta
from typing import Any

from celery import current_app
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask
from kombu.exceptions import OperationalError

from metrics_ingest.models import Source
from metrics_ingest.sources.schedules import Cron, Every, parse_schedule

__all__ = [
    "COLLECT_QUEUE",
    "RUN_TASK",
    "is_of_source",
    "schedule_drop",
    "schedule_follow",
    "schedules_reconcile",
    "source_hint",
]

logger = logging.getLogger(__name__)

RUN_TASK = "metrics_ingest.tasks.source_run"
COLLECT_QUEUE = "collect"
PREFIX = "source:"
HINT_SECONDS = 60
"""A hint that nobody has taken up by then is made anew by the sweep, if need be."""
HOUR = int(timedelta(hours=1).total_seconds())


def is_of_source(name: str) -> bool:
    """Whether the periodic task of that name is one of these."""
    return name.startswith(PREFIX)


def schedule_follow(source: Source) -> None:
    """Make beat's task say what the source's row says."""
    schedule = parse_schedule(source.schedule)
    PeriodicTask.objects.update_or_create(
        name=PREFIX + source.code,
        defaults={
            "task": RUN_TASK,
            "args": json.dumps([source.pk]),
            "queue": COLLECT_QUEUE,
            "enabled": source.enabled,
            "expire_seconds": schedule.seconds if isinstance(schedule, Every) else HOUR,
            **_when(schedule),
        },
    )


def schedule_drop(code: str) -> None:
    """The source is gone, or has another name now."""
    PeriodicTask.objects.filter(name=PREFIX + code).delete()


def schedules_reconcile() -> None:
    """Mend what somebody else did to beat's tables: for beat, when it starts."""
    sources = {PREFIX + source.code: source for source in Source.objects.all()}
    for task in PeriodicTask.objects.filter(name__startswith=PREFIX):
        if task.name not in sources:
            task.delete()
    for source in sources.values():
        schedule_follow(source)


def _when(schedule: Every | Cron) -> dict[str, Any]:
    if isinstance(schedule, Every):
        every, _ = IntervalSchedule.objects.get_or_create(every=schedule.seconds, period=IntervalSchedule.SECONDS)
        return {"interval": every, "crontab": None}
    minute, hour, day, month, weekday = schedule.text.split()
    fields = {"minute": minute, "hour": hour, "day_of_month": day, "month_of_year": month, "day_of_week": weekday}
    cron = CrontabSchedule.objects.filter(**fields, timezone=schedule.zone).first()
    return {"interval": None, "crontab": cron or CrontabSchedule.objects.create(**fields, timezone=schedule.zone)}


def source_hint(source_id: int) -> bool:
    """Tell the workers that a source may be due; False where the broker is away: the sweep will tell them again."""
    try:
        current_app.send_task(
            RUN_TASK, args=[source_id], queue=COLLECT_QUEUE, expires=HINT_SECONDS, retry=False, ignore_result=True
        )
    except OperationalError as error:
        logger.warning("source %d can't be announced: %s", source_id, error)
        return False
    return True
