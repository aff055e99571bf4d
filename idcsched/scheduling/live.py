"""The live picture of this process: the snapshot and the compiled profiles that decisions are made on.

Each question asks the change feed, in one query, whether anything has moved since the picture was taken, and
takes a new one if so: whoever asks after a change was committed sees it, in every process. The picture is
immutable and replaced by swapping one reference.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection, transaction
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.audit.feed import FeedReader
from idcsched.framework.building import build_snapshot
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.snapshot import Snapshot

from .models import ProfileRevision
from .plugins import registry
from .world import load_world

__all__ = ["Live", "Picture", "live"]

logger = logging.getLogger(__name__)

WORLD_TOPICS = frozenset({"inventory", "taints", "affinities", "metrics", "metric_definitions", "ledger"})
POLICY_TOPICS = frozenset({"profiles", "tokens"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What decisions are made on. `default_profiles` has every tenant's, "" where it has none; `broken_profiles`
    says why a profile cannot be used.
    """

    snapshot: Snapshot
    profiles: Mapping[str, Profile]
    broken_profiles: Mapping[str, str]
    default_profiles: Mapping[str, str]


class Live:
    """Holds the current picture and replaces it when the feed says that something has moved."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reader = FeedReader()
        self._picture: Picture | None = None

    def current(self) -> Picture:
        """The picture as of now."""
        with self._lock:
            moved = self._reader.poll()
            if self._picture is None:
                self._picture = Picture(snapshot=_take_snapshot(), **_policies())
                return self._picture
            if moved & WORLD_TOPICS:
                self._picture = replace(self._picture, snapshot=_take_snapshot())
            if moved & POLICY_TOPICS:
                self._picture = replace(self._picture, **_policies())
            return self._picture

    def forget(self) -> None:
        """Start over: for tests, whose transactions roll back behind the feed."""
        with self._lock:
            self._reader = FeedReader()
            self._picture = None


def _take_snapshot() -> Snapshot:
    with _one_moment():
        world = load_world()
    return build_snapshot(world, id=str(uuid7()), built_at=time.time())


@contextmanager
def _one_moment() -> Iterator[None]:
    """All queries inside see the same state of the database."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:  # Django's own would wait for whoever writes
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("COMMIT")


def _policies() -> dict[str, Any]:
    """Every active revision that compiles; one that does not (its plugin is gone) is named in log and status."""
    found, broken = {}, {}
    for revision in ProfileRevision.objects.filter(active_of__isnull=False).select_related("profile"):
        try:
            body = convert(revision.body, ProfileBody)
            found[revision.profile.code] = compile_profile(
                body, registry(), code=revision.profile.code, revision=revision.number
            )
        except IdcschedError as error:
            logger.warning("profile %s cannot be used: %s", revision, error)
            broken[revision.profile.code] = str(error)
    defaults = dict(Tenant.objects.values_list("code", "default_profile"))
    return {"profiles": found, "broken_profiles": broken, "default_profiles": defaults}


live = Live()
