"""The writes of this room. Nobody edits signs of life, so they have no history."""

from datetime import datetime, timedelta
from typing import Final

from idcsched.audit.writing import write

from .models import Heartbeat, Trade

__all__ = ["FORGOTTEN", "heartbeat_forget", "heartbeat_note"]

FORGOTTEN: Final = timedelta(hours=1)
"""So long a process that was killed is still reported as missing."""


@write()
def heartbeat_note(*, trade: Trade, name: str, now: datetime) -> None:
    """The process lives; those that have been missing for long are forgotten."""
    Heartbeat.objects.update_or_create(trade=trade, name=name, defaults={"at": now})
    Heartbeat.objects.filter(at__lt=now - FORGOTTEN).delete()


@write()
def heartbeat_forget(*, trade: Trade, name: str) -> None:
    """The process ends in order."""
    Heartbeat.objects.filter(trade=trade, name=name).delete()
