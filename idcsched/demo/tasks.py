"""The demo's monitoring, while `make run` runs."""

from celery import shared_task
from django.utils import timezone

from .measuring import measurements_store
from .source import slot_start
from .traffic import slot_of

__all__ = ["demo_measure"]


@shared_task(ignore_result=True)
def demo_measure() -> dict[str, int]:
    """Report the five minutes that have begun, and whatever was missed while nothing ran."""
    now = timezone.now()
    return measurements_store(at=slot_start(slot_of(now.timestamp())), now=now)
