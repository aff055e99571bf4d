"""What decisions were made on, packed once and kept once for all that saw the same of a snapshot."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from idcsched.framework.recording import named, pack, seen_by
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.scheduling.models import Picture

__all__ = ["SnapshotArchive", "pictures", "pictures_expire"]

KEPT = 16
"""So many pictures are remembered: of the newest snapshots, and of the regions that are asked for."""
UNUSED_FOR = timedelta(days=2)
"""Older ones are not given to anybody any more: the day is a part of their name."""

Key = tuple["weakref.ref[Snapshot]", tuple[str, ...], tuple[str, ...], date]


class SnapshotArchive:
    """The pictures of this process's latest decisions."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, Picture] = OrderedDict()
        self._stored: set[UUID] = set()

    def of(self, request: Request, snapshot: Snapshot) -> Picture:
        """What the request saw of the snapshot; a row that may not be stored yet."""
        day = timezone.now().date()
        # This very snapshot: others that something was laid over have the same id.
        key = (weakref.ref(snapshot), tuple(request.regions), tuple(named(request)), day)
        with self._lock:
            if (found := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return found
        made = _picture(request, snapshot, day)
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._kept:
                self._stored.discard(self._known.popitem(last=False)[1].pk)
        return made

    def store(self, pictures: Iterable[Picture]) -> None:
        """Keep those that are not kept yet, once the transaction that this is part of commits."""
        if fresh := {picture.pk: picture for picture in pictures if picture.pk not in self._stored}:
            in_one_order_for_everybody = [fresh[key] for key in sorted(fresh)]
            Picture.objects.bulk_create(in_one_order_for_everybody, ignore_conflicts=True)
            transaction.on_commit(lambda: self._note(fresh))

    def _note(self, stored: Iterable[UUID]) -> None:
        """Remember the keys of pictures that are stored now."""
        with self._lock:
            self._stored.update(stored)

    def forget(self) -> None:
        """Take nothing for stored that was."""
        with self._lock:
            self._stored.clear()


def _picture(request: Request, snapshot: Snapshot, day: date) -> Picture:
    data = pack(seen_by(request, snapshot))
    digest = blake2b(data, digest_size=16, key=day.isoformat().encode()).digest()
    return Picture(id=UUID(bytes=digest), created_at=timezone.now(), data=data)


def pictures_expire(*, now: datetime, batch: int = 100) -> int:
    """Forget those that no decision names any more, a batch at a time; says how many."""
    gone = 0
    unused = Picture.objects.filter(created_at__lt=now - UNUSED_FOR, decisions__isnull=True)
    while ids := list(unused.values_list("pk", flat=True)[:batch]):
        gone += Picture.objects.filter(pk__in=ids).delete()[0]
    return gone


pictures = SnapshotArchive()
