"""Idempotency keys: a request is worked on once, however often it is sent.

A request's work and its kept answer are one transaction: when a process is killed, either both are there or neither.
The transaction holds the key by an advisory lock (PostgreSQL), so that the same request sent meanwhile is refused as
Busy; on SQLite, which has one writer at a time, the second request waits and finds the answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from django.db import connection, transaction

from idcsched.accounts.models import IdempotencyKey
from idcsched.framework.errors import Conflict
from idcsched.framework.messages import _

__all__ = ["Busy", "KeptAnswer", "KeyReused", "idempotency_answer", "idempotency_prune"]

KEPT_FOR: Final = timedelta(hours=24)


class KeyReused(Conflict):
    """The key belongs to another request."""


class Busy(Conflict):
    """The first request with the key has no answer yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer as it is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def idempotency_answer(
    *, user_id: int, key: str, fingerprint: str, now: datetime, work: Callable[[], KeptAnswer | None]
) -> KeptAnswer | None:
    """Return the answer kept under the key; where there is none do the work, keep what it returns, and return None.

    Work that returns None has failed: all that it wrote is undone, and the next request with the key does it anew.
    Raises KeyReused, Busy.
    """
    with transaction.atomic():
        row = _locked(user_id, key)
        if row is not None and row.created_at > now - KEPT_FOR:
            if row.fingerprint != fingerprint:
                raise KeyReused("idempotency_key_reused", _("this key was used for another request"))
            return KeptAnswer(status=row.status, headers=row.headers, body=bytes(row.body))
        if row is not None:
            row.delete()
        if (answer := work()) is None or connection.needs_rollback:
            transaction.set_rollback(True)
            return None
        kept = {"status": answer.status, "headers": dict(answer.headers), "body": answer.body}
        row = IdempotencyKey(user_id=user_id, key=key, fingerprint=fingerprint, created_at=now, **kept)
        IdempotencyKey.objects.bulk_create([row])
        return None


def idempotency_prune(*, now: datetime, batch: int = 1000) -> int:
    """Delete the answers that are older than KEPT_FOR, a batch at a time, and return their number."""
    deleted = 0
    old = IdempotencyKey.objects.filter(created_at__lte=now - KEPT_FOR)
    while ids := list(old.values_list("pk", flat=True)[:batch]):
        deleted += IdempotencyKey.objects.filter(pk__in=ids, created_at__lte=now - KEPT_FOR).delete()[0]
    return deleted


def _locked(user_id: int, key: str) -> IdempotencyKey | None:
    """Lock the key until the transaction ends, and return its row, if there is one. Raises Busy."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            digest = blake2b(f"{user_id} {key}".encode(), digest_size=8, person=b"idempotency").digest()
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int.from_bytes(digest, signed=True)])
            if not cursor.fetchone()[0]:
                raise Busy("idempotency_key_busy", _("the request with this key is still being worked on"))
        # A query of the ORM that finds nothing would cost an order a tenth of its time.
        cursor.execute("SELECT id FROM accounts_idempotencykey WHERE user_id = %s AND key = %s", [user_id, key])
        row = cursor.fetchone()
    return IdempotencyKey.objects.get(pk=row[0]) if row else None
