"""Celery tasks of placements, callbacks and the ledger. Each calls a service and returns its counts."""

import logging
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from idcsched.audit.context import origin_set
from idcsched.ledger import taking as ledger

from . import services
from .ledger_audit import ledger_differences

__all__ = [
    "callbacks_sweep",
    "claims_fade",
    "deliveries_prune",
    "ledger_audit",
    "placement_deliver",
    "shapes_learn",
    "waiting_try",
]

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def waiting_try() -> dict[str, int]:
    """Try the orders again that wait for capacity."""
    with origin_set(actor="system", via="task"):
        return {"placed": services.waiting_try(now=timezone.now())}


@shared_task(ignore_result=True)
def placement_deliver(placement_id: str) -> dict[str, int]:
    """Send the callbacks of one placement."""
    return {"delivered": services.placement_deliver(placement_id=UUID(placement_id))}


@shared_task(ignore_result=True)
def callbacks_sweep() -> dict[str, int]:
    """Find callbacks that no message announced, and those that are to be tried again."""
    return {"announced": services.callbacks_announce(now=timezone.now())}


@shared_task(ignore_result=True)
def deliveries_prune() -> dict[str, int]:
    """Delete old callbacks that have ended."""
    return {"pruned": services.deliveries_prune(now=timezone.now())}


@shared_task(ignore_result=True)
def claims_fade() -> dict[str, int]:
    """Lower the claims on bandwidth that monitoring sees by now."""
    fade = settings.BANDWIDTH_FADE.total_seconds()
    return {"faded": ledger.claims_fade(now=timezone.now(), over_seconds=fade)}


@shared_task(ignore_result=True)
def ledger_audit() -> dict[str, int]:
    """Compare the ledger with the placements; every difference is an error in the log."""
    differences = ledger_differences()
    for difference in differences:
        logger.error("the ledger is wrong: %s", difference)
    return {"differences": len(differences)}


@shared_task(ignore_result=True)
def shapes_learn() -> dict[str, int]:
    """Learn the traffic shapes of businesses, unless that is switched off."""
    run = services.shapes_learn(now=timezone.now()) if settings.LEARN_SHAPES else None
    return {} if run is None else {"businesses": len(run.learned), "left_out": run.left_out}
