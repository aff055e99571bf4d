"""The periodic background tasks, and how often each runs."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from celery.schedules import crontab

__all__ = ["housekeeping"]

TASKS = {
    "idcsched.feed.tasks.feed_prune": timedelta(hours=1),
    "metrics_ingest.tasks.rollups_refresh": timedelta(minutes=5),
    "metrics_ingest.tasks.history_prune": timedelta(hours=1),
    "metrics_ingest.tasks.sources_sweep": timedelta(seconds=20),
    "metrics_ingest.tasks.runs_prune": timedelta(hours=1),
    "idcsched.accounts.tasks.idempotency_prune": timedelta(hours=1),
    "idcsched.accounts.tasks.sessions_prune": timedelta(hours=24),
    "idcsched.imports.tasks.imports_sweep": timedelta(seconds=30),
    "idcsched.planning.tasks.backtests_sweep": timedelta(seconds=30),
    "idcsched.scheduling.tasks.decisions_expire": timedelta(hours=1),
    "idcsched.placement.tasks.waiting_try": timedelta(seconds=5),
    "idcsched.placement.tasks.machines_sweep": timedelta(seconds=3),
    "idcsched.placement.tasks.callbacks_sweep": timedelta(seconds=10),
    "idcsched.placement.tasks.deliveries_prune": timedelta(hours=1),
    "idcsched.placement.tasks.claims_fade": timedelta(minutes=10),
    "idcsched.placement.tasks.ledger_audit": timedelta(hours=1),
}
NIGHTLY = {"idcsched.placement.tasks.shapes_learn": 4, "idcsched.planning.tasks.advise": 5}
"""What takes long and may wait for the night: the hour, in the billing zone."""
LONGEST_WORTH_DOING = timedelta(hours=1)


def housekeeping(zone: tzinfo = UTC) -> dict[str, dict[str, Any]]:
    """Return Celery beat's schedule; unread messages expire, so that none pile up without a worker."""
    schedules = {**TASKS, **{task: _at_night(hour, zone) for task, hour in NIGHTLY.items()}}
    return {
        task.rpartition(".")[2].replace("_", "-"): {
            "task": task,
            "schedule": schedule,
            "options": {"expires": min(TASKS.get(task, LONGEST_WORTH_DOING), LONGEST_WORTH_DOING).total_seconds()},
        }
        for task, schedule in schedules.items()
    }


def _at_night(hour: int, zone: tzinfo) -> crontab:
    """Return a daily schedule, which Celery reads in UTC; clocks set forward or back move it by an hour."""
    at = datetime.now(zone).replace(hour=hour, minute=0).astimezone(UTC)
    return crontab(minute=at.minute, hour=at.hour)
