"""Celery's clock: what the settings schedule, and each source's own schedule, in the tables that beat reads."""

from socket import gethostname
from typing import Any

from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from idcsched.settings_checks import environment_required
from idcsched.work.models import Trade
from idcsched.work.pulse import Pulse
from metrics_ingest.periodic import is_of_source, schedules_reconcile

__all__ = ["Scheduler"]


class Scheduler(DatabaseScheduler):
    """Nothing but what the settings and the sources say is scheduled, whatever stood in the tables before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pulse, self._name = Pulse(Trade.BEAT), f"beat@{gethostname()}"
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
        seconds: float = super().tick(*args, **kwargs)
        return seconds

    def close(self) -> None:
        super().close()
        self._pulse.stop(self._name)

    def update_from_dict(self, mapping: dict[str, dict[str, Any]]) -> None:
        super().update_from_dict({name: _with_expiry(entry) for name, entry in mapping.items()})


def _with_expiry(entry: dict[str, Any]) -> dict[str, Any]:
    """Celery's own word for it is `expires`, that of the tables `expire_seconds`."""
    options = dict(entry.get("options", {}))
    if "expires" in options:
        options["expire_seconds"] = int(options.pop("expires"))
    return {**entry, "options": options}
