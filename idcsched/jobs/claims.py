"""Claims of workers on rows: a row is one worker's for a limited time, and then another's if that one has died.

Whoever has a claim works outside of any transaction, and writes the outcome only if the row is still claimed by it.
"""

from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from django.db.models import Q, QuerySet

from idcsched.jobs.models import Claimable

__all__ = ["claim", "claim_end", "unclaimed"]

Row = TypeVar("Row", bound=Claimable)


def unclaimed(now: datetime) -> Q:
    """Return the condition for rows that no worker has, or whose worker's time is up."""
    return Q(claimed_until__isnull=True) | Q(claimed_until__lte=now)


def claim(due: QuerySet[Row], *, until: datetime, **changes: Any) -> QuerySet[Row]:
    """Claim and change the rows that are `due`; return those that could be had.

    One statement, which succeeds for one caller only if the condition of `due` says that they are unclaimed.
    """
    key = uuid4()
    due.update(claim=key, claimed_until=until, **changes)
    rows: QuerySet[Row] = due.model._default_manager.filter(claim=key)
    return rows


def claim_end(row: Claimable, **changes: Any) -> bool:
    """Write what came of it, and give the row free; False where another worker has claimed it since."""
    own = type(row)._default_manager.filter(pk=row.pk, claim=row.claim)
    return own.update(claim=None, claimed_until=None, **changes) == 1
