"""Celery's clock: what the settings schedule, and each source's own schedule, in the tables that beat reads.

Reservations expire here, in a thread: a message a second to the workers would cost more, and could wait behind others.
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
from idcsched.jobs.models import Trade
from idcsched.placement.services import placements_expire
from metrics_ingest.sources.periodic import is_of_source, schedules_reconcile

__all__ = ["Scheduler"]

EXPIRE_EVERY = 1.0
"""Seconds between looks for placements whose time is up: one query by index, where there are none."""
TABLES_EVERY = 5.0
"""Seconds between looks at the tables for edited schedules: looking at every tick is most of what beat would do."""


class Scheduler(DatabaseScheduler):
    """Nothing but what the settings and the sources say is scheduled, whatever stood in the tables before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pulse, self._name = Heartbeat(Trade.BEAT), f"beat@{gethostname()}"
        self._expiry = Background("expiring placements", _expire, seconds=EXPIRE_EVERY)
        self._next_look = 0.0
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        environment_required()  # the first thing that beat does, before it has said that it is there
        for task in PeriodicTask.objects.exclude(name__in=self.app.conf.beat_schedule):
            if not is_of_source(task.name):
                task.delete()
        schedules_reconcile()
        super().setup_schedule()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._pulse.beat(self._name)
        self._expiry.start()
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def schedule_changed(self) -> bool:
        if monotonic() < self._next_look:
            return False
        self._next_look = monotonic() + TABLES_EVERY
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
    """Celery's own word for it is `expires`, that of the tables `expire_seconds`."""
    options = dict(entry.get("options", {}))
    if "expires" in options:
        options["expire_seconds"] = int(options.pop("expires"))
    return {**entry, "options": options}
