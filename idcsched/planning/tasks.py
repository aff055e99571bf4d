"""Celery tasks of backtests and advice. Each task calls a service and returns its counts."""

from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["advise", "backtest_run", "backtests_sweep"]

KEPT = timedelta(days=90)


@shared_task(ignore_result=True)
def advise() -> dict[str, int]:
    """Compute advice on what stands now."""
    return {"moves": len(services.advice_run().moves)}


@shared_task(ignore_result=True, soft_time_limit=3300, time_limit=3360)
def backtest_run(backtest_id: str) -> dict[str, int]:
    """Run a backtest."""
    return services.backtest_run(backtest_id=UUID(backtest_id))


@shared_task(ignore_result=True)
def backtests_sweep() -> dict[str, int]:
    """Announce backtests that no worker has, and delete old ones."""
    now = timezone.now()
    return services.backtests_resume(now=now) | services.backtests_prune(before=now - KEPT)
