"""The scheduler of Celery beat: the settings' schedule and each source's own schedule, in the tables that beat reads.

Beat also expires reservations, in a thread: a message a second to the workers would cost more, and could wait behind
other messages.
"""

from socket import gethostname
from time import monotonic
from typing import Any

from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from idcsched.audit.context import origin_set
from idcsched.config.checks import environment_required
from idcsched.jobs.background import Background
from idcsched.jobs.heartbeat import Heartbeat
from idcsched.jobs.models import ProcessKind
from idcsched.placement.services import placements_expire
from metrics_ingest.sources.periodic import is_of_source, periodic_tasks_restore

__all__ = ["Scheduler"]

EXPIRE_EVERY = 1.0
"""Seconds between searches for placements whose time is up; a search that finds none is one query by index."""
TABLES_EVERY = 5.0
"""Seconds between checks of the tables for edited schedules; checking at every tick would be most of beat's work."""


class Scheduler(DatabaseScheduler):
    """Beat's scheduler, which deletes every task from its tables that neither the settings nor a source declares."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pulse, self._name = Heartbeat(ProcessKind.BEAT), f"beat@{gethostname()}"
        self._expiry = Background("expiring placements", _expire, seconds=EXPIRE_EVERY)
        self._next_check = 0.0
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        environment_required()  # before beat's first sign of life
        for task in PeriodicTask.objects.exclude(name__in=self.app.conf.beat_schedule):
            if not is_of_source(task.name):
                task.delete()
        periodic_tasks_restore()
        super().setup_schedule()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._pulse.beat(self._name)
        self._expiry.start()
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def schedule_changed(self) -> bool:
        if monotonic() < self._next_check:
            return False
        self._next_check = monotonic() + TABLES_EVERY
        return bool(super().schedule_changed())

    def close(self) -> None:
        super().close()
        self._expiry.stop()
        self._pulse.stop(self._name)

    def update_from_dict(self, mapping: dict[str, dict[str, Any]]) -> None:
        super().update_from_dict({name: _with_expiry(entry) for name, entry in mapping.items()})


def _expire() -> None:
    with origin_set(actor="system", via="task"):
        placements_expire(now=timezone.now())


def _with_expiry(entry: dict[str, Any]) -> dict[str, Any]:
    """Rename Celery's option `expires` to `expire_seconds`, its name in the tables."""
    options = dict(entry.get("options", {}))
    if "expires" in options:
        options["expire_seconds"] = int(options.pop("expires"))
    return {**entry, "options": options}
