"""The state of a taint or an affinity: coming, in force, or over."""

from datetime import datetime

from django.db.models import Q, TextChoices
from django.utils.translation import gettext_lazy as _

from .models import Affinity, Taint

__all__ = ["TaintState", "in_state", "state_of"]


class TaintState(TextChoices):
    IN_FORCE = "in_force", _("in force")
    COMING = "coming", _("coming")
    OVER = "over", _("over")


def state_of(mark: Taint | Affinity, now: datetime) -> TaintState:
    """Return the state of a taint or an affinity: in force from its start on, until just before its end."""
    if mark.ends_at is not None and mark.ends_at <= now:
        return TaintState.OVER
    if mark.starts_at is not None and mark.starts_at > now:
        return TaintState.COMING
    return TaintState.IN_FORCE


def in_state(state: TaintState | str, now: datetime) -> Q:
    """Return the condition for rows in that state; the counterpart of `state_of` in SQL."""
    over, coming = Q(ends_at__lte=now), Q(starts_at__gt=now)
    return {
        TaintState.OVER: over,
        TaintState.COMING: coming & ~over,
        TaintState.IN_FORCE: (Q(ends_at__isnull=True) | Q(ends_at__gt=now))
        & (Q(starts_at__isnull=True) | Q(starts_at__lte=now)),
    }[TaintState(state)]
