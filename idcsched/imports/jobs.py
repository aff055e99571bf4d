"""Claims of workers on imports: one worker at a time, whose claim lapses without signs of life."""

import logging
from collections.abc import Mapping
from datetime import timedelta
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from django.db import DatabaseError, connection
from django.db.models import F, Q
from django.utils import timezone

from .models import Import, State

__all__ = ["DEAD", "ClaimHeartbeat", "claimable", "claimed"]

logger = logging.getLogger(__name__)

DEAD: Final = timedelta(seconds=60)
"""After so long without a sign of life, the worker counts as gone."""
INTERVAL: Final = 1.0
WORK: Final[Mapping[State, State]] = {State.QUEUED: State.CHECKING, State.CONFIRMED: State.APPLYING}


def claimable() -> Q:
    """Return the condition for imports that wait for a worker, or whose worker is gone."""
    return Q(state__in=WORK.keys()) | Q(state__in=WORK.values(), beat_at__lt=timezone.now() - DEAD)


def claimed(import_id: int) -> Import | None:
    """Claim the import and return it, else None; a single UPDATE, which succeeds for one caller only."""
    claim = uuid4()
    for before, during in WORK.items():
        waiting = Import.objects.filter(claimable(), pk=import_id, state__in=[before, during])
        values = {"state": during, "claim": claim, "beat_at": timezone.now(), "done": 0, "total": 0}
        if waiting.update(**values, moved_at=timezone.now(), attempts=F("attempts") + 1) == 1:
            return Import.objects.select_related("user__tenant").filter(claim=claim).first()
    return None


class ClaimHeartbeat:
    """A thread that saves the import's progress and a sign of life once a second, outside of the import's transaction.

    Not on SQLite, where the import's transaction keeps all others from writing, workers that would take over included.
    """

    def __init__(self, job: Import) -> None:
        self._own = Import.objects.filter(pk=job.pk, claim=job.claim)
        self._done = self._total = 0
        self._over = Event()
        self._thread = Thread(target=self._run, name="import-beat", daemon=True)

    def progress(self, done: int, total: int) -> None:
        self._done, self._total = done, total

    def __enter__(self) -> Self:
        if connection.vendor != "sqlite":
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(INTERVAL):
                self._write()
        finally:
            connection.close()  # this thread's own

    def _write(self) -> None:
        try:
            self._own.update(done=self._done, total=self._total, beat_at=timezone.now())
        except DatabaseError as error:
            logger.warning("an import could not show how far it is: %s", error)
            connection.close()
