"""The archive of snapshots: decisions that used the same part of a snapshot share one packed picture of it."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.framework.recording import columns_seen_by, idcs_named, pack
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.scheduling.models import Picture

__all__ = ["SnapshotArchive", "pictures", "pictures_expire"]

KEPT = 16
"""The most pictures in the cache: of the newest snapshots, for each combination of regions that is asked for."""
UNUSED_FOR = timedelta(days=2)
"""The age from which unused pictures may go: new decisions use new ones, since the day is a part of the id."""

Key = tuple["weakref.ref[Snapshot]", tuple[str, ...], tuple[str, ...], date]


class SnapshotArchive:
    """An LRU cache of the pictures of this process's latest decisions."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, Picture] = OrderedDict()
        self._stored: set[UUID] = set()

    def of(self, request: Request, snapshot: Snapshot) -> Picture:
        """Return the picture of what the request saw of the snapshot; the row may not be stored yet."""
        day = timezone.now().date()
        # The object and not its id, which snapshots share that differ in what is laid over them.
        key = (weakref.ref(snapshot), tuple(request.regions), tuple(idcs_named(request)), day)
        with self._lock:
            if (picture := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return picture
        picture = _picture(request, snapshot, day)
        with self._lock:
            self._known[key] = picture
            while len(self._known) > self._kept:
                self._stored.discard(self._known.popitem(last=False)[1].pk)
        return picture

    def store(self, pictures: Iterable[Picture]) -> None:
        """Insert the pictures that are not stored yet, and remember them as stored once the transaction commits."""
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


def _picture(request: Request, snapshot: Snapshot, day: date) -> Picture:
    data = pack(columns_seen_by(request, snapshot))
    digest = blake2b(data, digest_size=16, key=day.isoformat().encode()).digest()
    return Picture(id=UUID(bytes=digest), created_at=timezone.now(), data=data)


def pictures_expire(*, now: datetime, batch: int = 100) -> int:
    """Delete the pictures that no decision names any more, a batch at a time; returns how many."""
    deleted = 0
    unused = Picture.objects.filter(created_at__lt=now - UNUSED_FOR, decisions__isnull=True)
    while ids := list(unused.values_list("pk", flat=True)[:batch]):
        deleted += Picture.objects.filter(pk__in=ids).delete()[0]
    return deleted


pictures = SnapshotArchive()
