"""Answering a request once, however often it is sent.

The row is the truth. A request first claims its key, in a transaction of its own, so that its twins see it. Its work
and its answer are committed together, and only if the claim is still its own: when a process is killed, either both
are there or neither, and of a slow one and the one that took its claim over, just one commits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet

from idcsched.accounts.models import IdempotencyKey
from idcsched.framework.errors import Conflict

__all__ = [
    "Busy",
    "KeptAnswer",
    "KeyReused",
    "idempotency_answer",
    "idempotency_claim",
    "idempotency_prune",
    "idempotency_release",
]

KEPT_FOR: Final = timedelta(hours=24)
ABANDONED_AFTER: Final = timedelta(seconds=60)
"""A claim this old is anybody's. Long enough for any answer, short enough for a client to go on trying."""


class KeyReused(Conflict):
    """The key belongs to another request."""


class Busy(Conflict):
    """Somebody else works on the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def idempotency_claim(*, user_id: int, key: str, fingerprint: str, now: datetime) -> UUID | KeptAnswer:
    """The claim under which the caller may work, or the answer that is there already; raises KeyReused, Busy."""
    claim = uuid4()
    fresh = {"fingerprint": fingerprint, "claim": claim, "claimed_at": now, "created_at": now}
    with transaction.atomic():
        new = IdempotencyKey(user_id=user_id, key=key, **fresh)
        IdempotencyKey.objects.bulk_create([new], ignore_conflicts=True)
        row = IdempotencyKey.objects.select_for_update().get(user_id=user_id, key=key)
        if row.claim == claim:
            return claim
        if row.created_at <= now - KEPT_FOR:
            _taken(row, {**fresh, "status": None, "headers": {}, "body": b""})
            return claim
        if row.fingerprint != fingerprint:
            raise KeyReused("idempotency_key_reused", "this key was used for another request")
        if row.status is not None:
            return KeptAnswer(status=row.status, headers=row.headers, body=bytes(row.body))
        if row.claimed_at > now - ABANDONED_AFTER:
            raise Busy("idempotency_key_busy", "the request with this key is still being worked on")
        _taken(row, {"claim": claim, "claimed_at": now})
        return claim


def idempotency_answer(*, user_id: int, key: str, claim: UUID, answer: KeptAnswer) -> None:
    """Keep what is answered; call it in the transaction of the work. Raises Busy where the claim was taken over."""
    kept = _claimed(user_id, key, claim).update(status=answer.status, headers=dict(answer.headers), body=answer.body)
    if kept != 1:
        raise Busy("idempotency_key_busy", "the request with this key is still being worked on")


def idempotency_release(*, user_id: int, key: str, claim: UUID) -> None:
    """Let the next one try: there is no answer that could be kept."""
    _claimed(user_id, key, claim).delete()


def idempotency_prune(*, now: datetime, batch: int = 1000) -> int:
    """Forget what nobody may ask for any more, a batch at a time; says how much."""
    gone = 0
    old = IdempotencyKey.objects.filter(created_at__lte=now - KEPT_FOR)
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        gone += IdempotencyKey.objects.filter(pk__in=ids, created_at__lte=now - KEPT_FOR).delete()[0]
    return gone


def _taken(row: IdempotencyKey, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))


def _claimed(user_id: int, key: str, claim: UUID) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(user_id=user_id, key=key, claim=claim, status__isnull=True)
