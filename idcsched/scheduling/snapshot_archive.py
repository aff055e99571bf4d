"""The archive of snapshots: decisions that used the same part of a snapshot share one packed picture of it.

The lines' history has pictures of its own, since it moves once a day and measurements every minute.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.framework.facts import History
from idcsched.framework.recording import columns_seen_by, history_seen_by, idcs_named, pack
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.scheduling.models import Decision, Picture

__all__ = ["SnapshotArchive", "pictures", "pictures_expire"]

KEPT = 32
"""The most pictures in the cache: of the newest snapshots, for each combination of regions that is asked for."""
UNUSED_FOR = timedelta(days=2)
"""The age from which unused pictures may go: new decisions use new ones, since the day is a part of the id."""

Key = tuple["weakref.ref[Snapshot | History]", tuple[str, ...], tuple[str, ...], date]


class SnapshotArchive:
    """An LRU cache of the pictures of this process's latest decisions."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, Picture] = OrderedDict()
        self._stored: set[UUID] = set()

    def of(self, request: Request, snapshot: Snapshot) -> Picture:
        """Return the picture of what the request saw of the snapshot; the row may not be stored yet."""
        return self._once(request, snapshot, lambda: pack(columns_seen_by(request, snapshot)))

    def of_history(self, request: Request, snapshot: Snapshot) -> Picture | None:
        """Return the picture of the history that the request saw, if it saw one; the row may not be stored yet."""
        if snapshot.history is None or not request.bandwidth:
            return None
        return self._once(request, snapshot.history, lambda: pack(history_seen_by(request, snapshot)))

    def _once(self, request: Request, part: Snapshot | History, packed: Callable[[], bytes]) -> Picture:
        """Return the picture of what the request saw of the part; `packed` returns its content."""
        day = timezone.now().date()
        # The object and not its id, which snapshots share that differ in what is laid over them.
        key = (weakref.ref(part), tuple(request.regions), tuple(idcs_named(request)), day)
        with self._lock:
            if (picture := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return picture
        picture = _picture(packed(), day)
        with self._lock:
            self._known[key] = picture
            while len(self._known) > self._kept:
                self._stored.discard(self._known.popitem(last=False)[1].pk)
        return picture

    def store(self, decisions: Iterable[Decision]) -> None:
        """Insert the decisions' pictures that are not stored yet; once that is committed, remember them as stored."""
        pictures = [picture for row in decisions for picture in (row.picture, row.history) if picture]
        if fresh := {picture.pk: picture for picture in pictures if picture.pk not in self._stored}:
            ordered = [fresh[key] for key in sorted(fresh)]  # in one order: no deadlocks
            Picture.objects.bulk_create(ordered, ignore_conflicts=True)
            transaction.on_commit(lambda: self._note(fresh))

    def _note(self, stored: Iterable[UUID]) -> None:
        """Remember which pictures are stored."""
        with self._lock:
            self._stored.update(stored)

    def forget(self) -> None:
        """Forget which pictures are stored."""
        with self._lock:
            self._stored.clear()


def _picture(data: bytes, day: date) -> Picture:
    digest = blake2b(data, digest_size=16, key=day.isoformat().encode()).digest()
    return Picture(id=UUID(bytes=digest), created_at=timezone.now(), data=data)


def pictures_expire(*, now: datetime, batch: int = 100) -> int:
    """Delete the pictures that no decision names any more, a batch at a time; returns how many."""
    deleted = 0
    unused = Picture.objects.filter(created_at__lt=now - UNUSED_FOR, decisions=None, decisions_by_history=None)
    while ids := list(unused.values_list("pk", flat=True)[:batch]):
        deleted += Picture.objects.filter(pk__in=ids).delete()[0]
    return deleted


pictures = SnapshotArchive()
