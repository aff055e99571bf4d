"""The live picture of this process: snapshot, compiled profiles and callers, with which requests are answered.

The picture is immutable and replaced by swapping one reference. In a web process a thread reads the change feed four
times a second and takes in what has moved, so that no question waits for a query; a change that this process itself
has committed is taken in by the thread that has, before it goes on, what it has taken for an order without a query. A
process that follows nothing, such as a command or a worker, asks the feed with every question instead. While the
database is away the last picture goes on serving, up to a set age.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from idcsched.accounts.known_tokens import TokenTable, tokens_known
from idcsched.accounts.models import Tenant
from idcsched.at_once import may_wait
from idcsched.audit.feed import (
    FeedReader,
    Moment,
    Moved,
    commits_begun,
    commits_here,
    heed_commits,
    heed_no_more,
)
from idcsched.background import Background
from idcsched.framework.building import build_snapshot
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.framework.overlaying import Tenancy, Words, laid_over, unmoved_words
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.snapshot import Snapshot
from idcsched.heap import freed_memory_returned
from idcsched.inventory.models import Idc
from idcsched.inventory.scope import scopes_known
from idcsched.ledger.keeping import Kept, kept_now

from .keys import KnownRows
from .models import ProfileRevision
from .plugins import registry
from .refreshing import REBUILT_FOR, Refreshing
from .world import load_world

__all__ = ["Live", "Picture", "live", "one_moment"]

logger = logging.getLogger(__name__)

WORLD_TOPICS = frozenset({"inventory", "taints", "affinities", "metrics", "metric_definitions", "ledger"})
LARGE_NEWS = REBUILT_FOR | {"metrics"}
POLICY_TOPICS = frozenset({"profiles", "tokens"})
CALLER_TOPICS = frozenset({"tokens", "inventory"})  # region scopes name regions
LOOK_EVERY = 0.25
LAGGING_AFTER = 3.0
"""Seconds without a complete look at the feed after which answers say that they are degraded."""
MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL jit = off"
"""Compiling takes longer than any of these queries, and is tried where the server has not looked at a table lately."""
FORGOTTEN_AFTER = 3600.0
"""Seconds without a look after which everything is read anew: the feed may have been pruned meanwhile."""
WAIT_FOR_LOOK = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What requests are answered with. `default_profiles` has every tenant's, "" where it has none; `broken_profiles`
    says why a profile cannot be used; `unmoved` is what is remembered for the profiles whatever is taken; `callers`
    are the tokens by digest, `idc_keys` the primary keys of the snapshot's IDCs, `rows` what is known of its rows
    besides; `kept` is room that orders which wait have before those that come now (see `kept.behind`).
    """

    snapshot: Snapshot
    idc_keys: Mapping[str, int]
    rows: KnownRows
    profiles: Mapping[str, Profile]
    broken_profiles: Mapping[str, str]
    unmoved: Words
    tenants: Mapping[str, Tenant]
    default_profiles: Mapping[str, str]
    callers: TokenTable
    kept: tuple[Kept, ...] = ()
    laid: "_Laid | None" = None

    @property
    def beneath(self) -> tuple[Snapshot, tuple[Tenancy, ...]]:
        """What makes the snapshot: one that was read, which many pictures share, and what is laid over it."""
        if self.laid is not None and self.laid.snapshot is self.snapshot:
            return self.laid.upon, self.laid.tenancies
        return self.snapshot, ()

    def showing(self, tenancies: tuple[Tenancy, ...]) -> "Picture":
        """With these taken, too; raises KeyError for an IDC that it does not hold, ValueError for a line."""
        upon, before = self.beneath
        snapshot = laid_over(self.snapshot, tenancies, keeping=self.unmoved)
        return replace(self, snapshot=snapshot, laid=_Laid(snapshot, upon, before + tenancies))


class _Laid(NamedTuple):
    """How a snapshot came about."""

    snapshot: Snapshot
    upon: Snapshot
    tenancies: tuple[Tenancy, ...]


class _Own(NamedTuple):
    """What this process has taken in the transaction of that mark."""

    mark: int
    tenancies: tuple[Tenancy, ...]


class Live:
    """Holds the current picture and replaces it when the feed says that something has moved.

    `_picture` is `_read`, as the database had it at `_moment`, with `_own` laid over: what this process took since.
    """

    _picture: Picture | None
    _own: tuple[_Own, ...]

    def __init__(self) -> None:
        self._following = False
        self._thread = Background("the live picture", self._look_around, seconds=LOOK_EVERY)
        self.forget()
        os.register_at_fork(after_in_child=self._unlock)

    def follow(self) -> None:
        """From now on a thread keeps the picture; for processes that answer many questions."""
        self._following = True
        heed_commits(self._take_in)
        self._thread.start()

    def stop(self) -> None:
        """Follow no more."""
        self._following = False
        heed_no_more(self._take_in)
        self._thread.stop()

    @property
    def following(self) -> bool:
        return self._following

    def current(self) -> Picture:
        """The picture as of now or, where a thread keeps it, as of a moment ago; raises Unavailable."""
        if not self._following:
            may_wait()
            with self._lock:
                return self._looked()
        if not self._thread.running:  # the first question after a fork
            self._thread.start()
        picture = self._picture
        if picture is None or self._behind:
            may_wait()
            picture = self._caught_up()
        if self.lag_seconds > settings.SNAPSHOT_MAX_AGE:
            raise Unavailable(
                "snapshot_too_old", "the database is away; what is known is {age} s old", age=round(self.lag_seconds)
            )
        return picture

    def took(self, mark: int, tenancies: Sequence[Tenancy]) -> None:
        """This process has taken these, in a transaction of that mark, which is through: the next question finds them
        in the picture, and nothing is read for that. Where no thread keeps the picture every question asks anyway.
        """
        if not self._following:
            return
        with self._swapping:
            if self._picture is None or self._moment is None or self._moment.holds(mark):
                return
            own = _Own(mark, tuple(tenancies))
            self._own = (*self._own, own)
            self._picture = self._with_own(self._picture, (own,))

    def catch_up(self) -> None:
        """Take in what everybody has committed, now: for who has learnt that the picture is behind."""
        self._wanted_at = time.monotonic()

    @property
    def known(self) -> Picture | None:
        """The latest picture, however old it is; asks nobody."""
        return self._picture

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
        self._picture = None
        self._read: Picture | None = None
        self._moment: Moment | None = None
        self._own = ()
        self._refreshing = Refreshing()
        self._moved: tuple[Moved, ...] = ()
        self._commits = -1
        self._seen_at = self._wanted_at = -float("inf")

    def _unlock(self) -> None:
        """`_lock` is held while the database is asked, `_swapping` only while the picture is replaced."""
        self._lock = threading.Lock()
        self._swapping = threading.Lock()

    @property
    def _behind(self) -> bool:
        """Whether there is something that the next question is to know, and the picture does not show."""
        return self._commits < commits_here() or self._seen_at <= self._wanted_at

    def _take_in(self, topic: str) -> None:
        """This thread has committed news, and its client waits for it alone: those who ask meanwhile go on with what
        they have. What takes long is left to the next question, so that many such changes in a row take it once.
        """
        if self._picture is not None and topic not in REBUILT_FOR:
            self._caught_up(commits_begun())

    def _caught_up(self, commits: int = 0) -> Picture:
        """With what this process has told of, and so many of its commits; without if the database fails meanwhile.

        Raises Unavailable.
        """
        if self._lock.acquire(timeout=WAIT_FOR_LOOK):
            try:  # whoever held the lock may have seen all that was to be seen
                behind = self._picture is None or self._behind or self._commits < commits
                return self._looked() if behind or self._picture is None else self._picture
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
        begun, commits = time.monotonic(), commits_begun()
        if begun - self._seen_at > FORGOTTEN_AFTER:
            self._reader = FeedReader()
        self._moved += self._reader.poll_entries()
        picture = self._picture
        if picture is None or self._moved:
            picture = self._read_again()
        if LARGE_NEWS & {entry.topic for entry in self._moved}:
            freed_memory_returned()  # what the picture before held, and what reading the news took
        self._moved, self._seen_at, self._commits = (), begun, commits
        return picture

    def _read_again(self) -> Picture:
        """The feed and what it is about are read as they were at one moment, so that it is known of every transaction
        whether the picture shows it. What this process has taken since is laid over."""
        through = len(self._own)  # all of it is committed, and will be read now
        with one_moment():
            self._moved += self._reader.poll_entries()
            read = self._first() if self._read is None else replace(self._read, **self._news(self._read))
        moment = self._reader.moment
        with self._swapping:
            self._read, self._moment = read, moment
            self._own = tuple(own for own in self._own[through:] if not moment.holds(own.mark))
            self._picture = self._with_own(read, self._own)
            return self._picture

    def _with_own(self, picture: Picture, taken: tuple[_Own, ...]) -> Picture:
        try:
            return picture.showing(tuple(tenancy for own in taken for tenancy in own.tenancies)) if taken else picture
        except (KeyError, ValueError):  # the IDC or line has been renamed: what it holds now is to be read
            self.catch_up()
            return picture

    def _first(self) -> Picture:
        callers, kept = tokens_known(scopes_known()), kept_now(at=timezone.now())
        return Picture(**self._built_anew(), **_policies(), callers=callers, kept=kept)

    def _news(self, old: Picture) -> dict[str, Any]:
        """The parts of the picture that have changed."""
        topics = {entry.topic for entry in self._moved}
        found: dict[str, Any] = {}
        if topics & WORLD_TOPICS:
            found |= self._world(old.snapshot, topics)
        if topics & POLICY_TOPICS:
            found |= _policies()
        if topics & CALLER_TOPICS:
            found["callers"] = tokens_known(scopes_known())
        if "kept_free" in topics:
            found["kept"] = kept_now(at=timezone.now())
        return found

    def _world(self, old: Snapshot, topics: set[str]) -> dict[str, Any]:
        """The old snapshot with what has moved; a new one where its rows would stand otherwise."""
        if not topics & REBUILT_FOR:
            try:
                snapshot = self._refreshing.refreshed(old, self._moved, oldest=self._reader.oldest, now=time.time())
            except (KeyError, ValueError):  # it is about an IDC, a line or a metric of which the feed says nothing
                logger.info("the picture is built anew: what has moved names what it does not hold")
            else:
                return {"snapshot": snapshot}
        return self._built_anew()

    def _built_anew(self) -> dict[str, Any]:
        now, world = time.time(), load_world()
        self._refreshing.rebuilt(self._reader.oldest)
        snapshot = build_snapshot(world, id=str(uuid7()), built_at=now)
        del world
        idc_keys = dict(Idc.objects.values_list("code", "pk"))
        return {"snapshot": snapshot, "idc_keys": idc_keys, "rows": KnownRows()}


@contextmanager
def one_moment() -> Iterator[None]:
    """All queries inside see the same state of the database."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(MOMENT)
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
    tenants = {tenant.code: tenant for tenant in Tenant.objects.all()}
    return {
        "profiles": found,
        "broken_profiles": broken,
        "unmoved": unmoved_words(found.values()),
        "tenants": tenants,
        "default_profiles": {code: tenant.default_profile for code, tenant in tenants.items()},
    }


live = Live()
