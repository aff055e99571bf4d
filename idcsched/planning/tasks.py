"""Celery tasks of backtests and advice. Each task calls a service and returns its counts."""

from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from . import services

__all__ = ["advise", "backtest_run", "backtests_sweep"]

KEPT = timedelta(days=90)


@shared_task(ignore_result=True)
def advise(run_id: int | None = None) -> dict[str, int]:
    """Compute advice on what stands now."""
    found = services.advice_run() if run_id is None else services.advice_run_asked(run_id=run_id)
    return {"moves": len(found.moves) if found else 0}


@shared_task(ignore_result=True, soft_time_limit=3300, time_limit=3360)
def backtest_run(backtest_id: str) -> dict[str, int]:
    """Run a backtest."""
    return services.backtest_run(backtest_id=UUID(backtest_id))


@shared_task(ignore_result=True)
def backtests_sweep() -> dict[str, int]:
    """Announce backtests and advice that no worker has, and delete old backtests."""
    now = timezone.now()
    backtests = services.backtests_resume(now=now) | services.backtests_prune(before=now - KEPT)
    return backtests | services.advice_runs_sweep(now=now)
