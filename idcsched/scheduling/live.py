"""The live picture of this process: snapshot, compiled profiles and callers, with which requests are answered.

The picture is immutable and replaced by swapping one reference. In a web process a thread reads the change feed four
times a second and takes in what has moved, so that no question waits for a query; a change that this process itself
has committed is taken in before its next question is answered. A process that follows nothing, such as a command or a
worker, asks the feed with every question instead. While the database is away the last picture goes on serving, up to
a set age.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from idcsched.accounts.known_tokens import TokenTable, tokens_known
from idcsched.accounts.models import Tenant
from idcsched.audit.feed import FeedReader, Moved, commits_here
from idcsched.background import Background
from idcsched.framework.building import build_snapshot
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.snapshot import Snapshot
from idcsched.heap import freed_memory_returned
from idcsched.inventory.scope import scopes_known
from idcsched.ledger.keeping import Kept, kept_now

from .models import ProfileRevision
from .plugins import registry
from .refreshing import REBUILT_FOR, Refreshing
from .world import load_world

__all__ = ["Live", "Picture", "live", "one_moment"]

logger = logging.getLogger(__name__)

WORLD_TOPICS = frozenset({"inventory", "taints", "affinities", "metrics", "metric_definitions", "ledger"})
POLICY_TOPICS = frozenset({"profiles", "tokens"})
CALLER_TOPICS = frozenset({"tokens", "inventory"})  # region scopes name regions
LOOK_EVERY = 0.25
LAGGING_AFTER = 3.0
"""Seconds without a complete look at the feed after which answers say that they are degraded."""
FORGOTTEN_AFTER = 3600.0
"""Seconds without a look after which everything is read anew: the feed may have been pruned meanwhile."""
WAIT_FOR_LOOK = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What requests are answered with. `default_profiles` has every tenant's, "" where it has none; `broken_profiles`
    says why a profile cannot be used; `callers` are the tokens by digest; `kept` is room that orders which wait have
    before those that come now (see `kept.behind`).
    """

    snapshot: Snapshot
    profiles: Mapping[str, Profile]
    broken_profiles: Mapping[str, str]
    default_profiles: Mapping[str, str]
    callers: TokenTable
    kept: tuple[Kept, ...] = ()


class Live:
    """Holds the current picture and replaces it when the feed says that something has moved."""

    def __init__(self) -> None:
        self._following = False
        self._thread = Background("the live picture", self._look_around, seconds=LOOK_EVERY)
        self.forget()
        os.register_at_fork(after_in_child=self._unlock)

    def follow(self) -> None:
        """From now on a thread keeps the picture; for processes that answer many questions."""
        self._following = True
        self._thread.start()

    def stop(self) -> None:
        """Follow no more."""
        self._following = False
        self._thread.stop()

    @property
    def following(self) -> bool:
        return self._following

    def current(self) -> Picture:
        """The picture as of now or, where a thread keeps it, as of a moment ago; raises Unavailable."""
        if not self._following:
            with self._lock:
                return self._looked()
        if not self._thread.running:  # the first question after a fork
            self._thread.start()
        picture = self._picture
        if picture is None or self._commits != commits_here():
            picture = self._caught_up()
        if self.lag_seconds > settings.SNAPSHOT_MAX_AGE:
            raise Unavailable(
                "snapshot_too_old", "the database is away; what is known is {age} s old", age=round(self.lag_seconds)
            )
        return picture

    def catch_up(self) -> None:
        """Take in what everybody has committed, now: for who has learnt that the picture is behind."""
        self._commits = -1

    @property
    def lag_seconds(self) -> float:
        """For how long nobody has made sure that the picture shows how things are."""
        return time.monotonic() - self._seen_at

    @property
    def lagging(self) -> bool:
        """Whether that is longer than it should be: the database is away, or does not answer."""
        return self.lag_seconds > LAGGING_AFTER

    def forget(self) -> None:
        """Start over: for tests, whose transactions roll back behind the feed."""
        self._unlock()
        self._reader = FeedReader()
        self._picture: Picture | None = None
        self._refreshing = Refreshing()
        self._moved: tuple[Moved, ...] = ()
        self._commits = -1
        self._seen_at = -float("inf")

    def _unlock(self) -> None:
        self._lock = threading.Lock()

    def _caught_up(self) -> Picture:
        """With what this process has committed; without it if the database fails meanwhile. Raises Unavailable."""
        if self._lock.acquire(timeout=WAIT_FOR_LOOK):
            try:
                return self._looked()
            except Error as error:
                logger.warning("what this process committed could not be taken in: %s", error)
                connection.close()
                if self._picture is None:
                    raise
            finally:
                self._lock.release()
        if self._picture is None:
            raise Unavailable("starting", "nothing is known yet; the database does not answer")
        return self._picture

    def _look_around(self) -> None:
        with self._lock:
            self._looked()

    def _looked(self) -> Picture:
        """What has moved is taken in; what could not be is still on the list the next time."""
        begun, commits = time.monotonic(), commits_here()
        if begun - self._seen_at > FORGOTTEN_AFTER:
            self._reader = FeedReader()
        self._moved += self._reader.poll_entries()
        if self._picture is None:
            snapshot = self._snapshot(None)
            callers, kept = tokens_known(scopes_known()), kept_now(at=timezone.now())
            self._picture = Picture(snapshot=snapshot, callers=callers, kept=kept, **_policies())
        elif self._moved:
            self._picture = replace(self._picture, **self._news(self._picture.snapshot))
        self._moved, self._seen_at, self._commits = (), begun, commits
        return self._picture

    def _news(self, old: Snapshot) -> dict[str, Any]:
        """The parts of the picture that have changed."""
        topics = {entry.topic for entry in self._moved}
        found: dict[str, Any] = {}
        if topics & WORLD_TOPICS:
            found["snapshot"] = self._snapshot(old)
        if topics & POLICY_TOPICS:
            found |= _policies()
        if topics & CALLER_TOPICS:
            found["callers"] = tokens_known(scopes_known())
        if "kept_free" in topics:
            found["kept"] = kept_now(at=timezone.now())
        return found

    def _snapshot(self, old: Snapshot | None) -> Snapshot:
        """The old one with what has moved; a new one where there is none, or where its rows would stand otherwise."""
        oldest, now = self._reader.oldest, time.time()
        if old is not None and not REBUILT_FOR & {entry.topic for entry in self._moved}:
            try:
                with one_moment():
                    return self._refreshing.refreshed(old, self._moved, oldest=oldest, now=now)
            except (KeyError, ValueError):  # it is about an IDC, a line or a metric that came after the last poll
                logger.info("the picture is built anew: what has moved names what it does not hold")
        with one_moment():
            world = load_world()
        self._refreshing.rebuilt(oldest)
        snapshot = build_snapshot(world, id=str(uuid7()), built_at=now)
        del world
        freed_memory_returned()
        return snapshot


@contextmanager
def one_moment() -> Iterator[None]:
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
