"""The periodic background tasks, and how often each runs. What runs once a night is in `nightly`."""

from datetime import timedelta
from typing import Any

__all__ = ["housekeeping"]

TASKS = {
    "idcsched.feed.tasks.feed_prune": timedelta(hours=1),
    "metrics_ingest.tasks.rollups_refresh": timedelta(minutes=5),
    "metrics_ingest.tasks.history_prune": timedelta(hours=1),
    "metrics_ingest.tasks.sources_sweep": timedelta(seconds=20),
    "metrics_ingest.tasks.runs_prune": timedelta(hours=1),
    "idcsched.jobs.tasks.nightly_sweep": timedelta(minutes=5),
    "idcsched.accounts.tasks.idempotency_prune": timedelta(hours=1),
    "idcsched.accounts.tasks.sessions_prune": timedelta(hours=24),
    "idcsched.imports.tasks.imports_sweep": timedelta(seconds=30),
    "idcsched.planning.tasks.backtests_sweep": timedelta(seconds=30),
    "idcsched.scheduling.tasks.decisions_expire": timedelta(hours=1),
    "idcsched.placement.tasks.waiting_try": timedelta(seconds=5),
    "idcsched.provisioning.tasks.machines_sweep": timedelta(seconds=3),
    "idcsched.placement.tasks.callbacks_sweep": timedelta(seconds=10),
    "idcsched.placement.tasks.deliveries_prune": timedelta(hours=1),
    "idcsched.placement.tasks.claims_fade": timedelta(minutes=10),
    "idcsched.placement.tasks.ledger_audit": timedelta(hours=1),
}
LONGEST_WORTH_DOING = timedelta(hours=1)


def housekeeping() -> dict[str, dict[str, Any]]:
    """Return Celery beat's schedule; unread messages expire, so that none pile up without a worker."""
    return {
        task.rpartition(".")[2].replace("_", "-"): {
            "task": task,
            "schedule": every,
            "options": {"expires": min(every, LONGEST_WORTH_DOING).total_seconds()},
        }
        for task, every in TASKS.items()
    }
