"""The live picture of this process: snapshot, compiled profiles and callers, with which requests are answered.

The picture is immutable and replaced by swapping one reference. The picture always shows what this process itself has
committed, and after `catch_up`, which every write, command and task calls first, what all other processes have. What
orders take is told in the feed and laid over the picture, until the ledger is read again. In a web process a thread
reads the change feed four times a second, so that no recommendation waits for a query. While the database is away the
last picture stays in use, up to a set age.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone
from prometheus_client import Gauge
from uuid_utils.compat import uuid7

from idcsched.accounts.known_tokens import TokenTable, tokens_known
from idcsched.accounts.models import Tenant
from idcsched.feed.reading import (
    FeedNews,
    FeedReader,
    Moment,
    add_commit_listener,
    commits_begun_here,
    commits_ended_here,
    remove_commit_listener,
)
from idcsched.framework.building import build_snapshot
from idcsched.framework.decoding import convert
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.framework.messages import _
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.snapshot import Snapshot
from idcsched.inventory.models import Idc
from idcsched.inventory.scope import regions_by_user
from idcsched.jobs.background import Background
from idcsched.jobs.heap import freed_memory_returned
from idcsched.ledger.keeping import Kept, kept_now
from idcsched.ledger.taking import allocations_told

from .keys import KnownRows
from .models import ProfileRevision
from .plugins import registry
from .refreshing import REBUILT_FOR, Refreshing
from .world import load_world

__all__ = ["Held", "Live", "LiveState", "live", "one_moment"]

logger = logging.getLogger(__name__)

WORLD_TOPICS = frozenset({"inventory", "taints", "affinities", "shapes", "metrics", "metric_definitions", "ledger"})
"""The topics of the feed whose news change the snapshot."""
LARGE_NEWS = REBUILT_FOR | {"metrics"}
"""The topics whose reading takes so much memory that it is given back to the operating system afterwards."""
CALLER_TOPICS = frozenset({"tokens", "inventory"})  # region scopes name regions
LOOK_EVERY = 0.25
LAGGING_AFTER = 3.0
"""Seconds without a complete reading of the feed after which answers are marked as degraded."""
MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL jit = off"
"""No JIT: compiling takes longer than these queries, and PostgreSQL tries it where its statistics are out of date."""
FORGOTTEN_AFTER = 3600.0
"""Seconds without a reading of the feed after which all data is read anew: the feed may have been pruned meanwhile."""
WAIT_FOR_LOOK = 2.0
"""Seconds that a request waits for another thread's reading of the feed."""
MOST_LAID = 100
"""The most entries of the feed that are laid over the picture; with more of them the ledger is read again."""

updated_at = Gauge(
    "idcsched_snapshot_updated_timestamp_seconds",
    "When the snapshot was last brought up to date with the change feed, in the web process that lags most.",
    multiprocess_mode="livemin",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """The immutable picture that requests are answered with.

    `default_profiles` has the default profile of every tenant, "" for none; `broken_profiles` says why a profile cannot
    be used; `callers` are the tokens by digest; `idc_keys` are the primary keys of the snapshot's IDCs; `rows` caches
    further database rows; `kept` is the room that waiting orders have before new ones (`reserved_room.py`).
    """

    snapshot: Snapshot
    idc_keys: Mapping[str, int]
    rows: KnownRows
    profiles: Mapping[str, Profile]
    broken_profiles: Mapping[str, str]
    tenants: Mapping[str, Tenant]
    default_profiles: Mapping[str, str]
    callers: TokenTable
    kept: tuple[Kept, ...] = ()
    laid: "_Laid | None" = None

    @property
    def beneath(self) -> tuple[Snapshot, tuple[Allocation, ...]]:
        """The snapshot as it was read, which many pictures share, and the allocations that are laid over it."""
        if self.laid is not None and self.laid.snapshot is self.snapshot:
            return self.laid.upon, self.laid.allocations
        return self.snapshot, ()

    def showing(self, allocations: tuple[Allocation, ...]) -> "LiveState":
        """Return the picture with these allocations taken; raises KeyError, ValueError for an unknown IDC or line."""
        upon, before = self.beneath
        snapshot = with_allocations(self.snapshot, allocations)
        return replace(self, snapshot=snapshot, laid=_Laid(snapshot, upon, before + allocations))


class _Laid(NamedTuple):
    """How `snapshot` was made: by laying `allocations` over the snapshot `upon`."""

    snapshot: Snapshot
    upon: Snapshot
    allocations: tuple[Allocation, ...]


class _Shown(NamedTuple):
    """A picture, and how it was made: `stored`, the database at `moment`, with the `orders` since laid over.

    `moment` None: the rows were read one after the other, so that nobody knows which orders they show.
    """

    picture: LiveState
    stored: LiveState
    moment: Moment | None
    orders: tuple[FeedNews, ...]

    def laid_over(self, orders: Sequence[FeedNews]) -> "_Shown":
        """Return it with those orders laid over that it does not show yet.

        Raises ValueError where it may show them already, KeyError, ValueError where an IDC or line has been renamed.
        """
        if not orders:
            return self
        if (moment := self.moment) is None:
            raise ValueError("nobody knows whether the rows show the orders")
        laid = {order.number for order in self.orders}
        fresh = [order for order in orders if order.number not in laid and not moment.holds(order.mark)]
        if not fresh:
            return self
        allocations = tuple(each for order in fresh for each in allocations_told(order))
        return self._replace(picture=self.picture.showing(allocations), orders=(*self.orders, *fresh))


class Held(NamedTuple):
    """What `Live` can go on from: what it showed, and how far it had read."""

    shown: _Shown | None
    reader: FeedReader
    refreshing: Refreshing


class Live:
    """Holds the current picture and replaces it when the feed has news.

    `current` and `catch_up` end in `_feed_shown`, which reads the feed; where that has news, `_renewed` reads the rows.
    """

    _shown: _Shown | None

    def __init__(self) -> None:
        self._following = False
        self._thread = Background("the live picture", self._follow_feed, seconds=LOOK_EVERY)
        self.forget()
        os.register_at_fork(after_in_child=self._unlock)

    def follow(self) -> None:
        """Read the change feed in a thread from now on; for processes that answer many requests."""
        self._following = True
        add_commit_listener(self._show_commit)
        self._thread.start()

    def stop(self) -> None:
        """End the thread that reads the feed."""
        self._following = False
        remove_commit_listener(self._show_commit)
        self._thread.stop()

    def current(self) -> LiveState:
        """Return the picture with all that this process has committed; raises Unavailable."""
        if self._following and not self._thread.running:  # the first request after a fork
            self._thread.start()
        picture = self.known
        if picture is None or self._behind:
            picture = self._own_commits_shown()
        if self.lag_seconds > settings.SNAPSHOT_MAX_AGE:
            raise Unavailable(
                "snapshot_too_old", _("the database is away; what is known is {age} s old"), age=round(self.lag_seconds)
            )
        return picture

    def catch_up(self) -> LiveState:
        """Return the picture with all that any process has committed by now; raises Unavailable or a database error."""
        called_at = time.monotonic()
        if not self._lock.acquire(timeout=WAIT_FOR_LOOK):
            raise Unavailable("database_unavailable", _("the database is away"))
        try:
            picture = self.known
            return self._feed_shown() if picture is None or self._feed_read_at <= called_at else picture
        except Error:
            connection.close()
            raise
        finally:
            self._lock.release()

    def lay(self, orders: Sequence[FeedNews]) -> None:
        """Lay what committed orders take over the picture, without a query; each is laid once."""
        with self._swapping:
            if self._shown is None:
                return
            try:
                self._shown = self._shown.laid_over(orders)
            except (KeyError, ValueError):  # the next request reads the rows instead
                self._feed_wanted_at = time.monotonic()

    @property
    def known(self) -> LiveState | None:
        """The latest picture, however old it is; makes no query."""
        shown = self._shown
        return None if shown is None else shown.picture

    @property
    def lag_seconds(self) -> float:
        """Seconds since the picture was last brought up to date with the feed."""
        return time.monotonic() - self._feed_read_at

    @property
    def lagging(self) -> bool:
        """Whether the lag is longer than it should be: the database is away, or does not answer."""
        return self.lag_seconds > LAGGING_AFTER

    def held(self) -> Held:
        """Return what `resume` goes on from; for tests, right after `catch_up`."""
        return Held(self._shown, copy(self._reader), copy(self._refreshing))

    def resume(self, held: Held) -> None:
        """Go on as if nothing had happened since; for tests, which have written the same rows again."""
        self.forget()
        self._reader, self._refreshing = copy(held.reader), copy(held.refreshing)
        if (shown := held.shown) is not None:
            picture, stored = (replace(each, rows=KnownRows()) for each in (shown.picture, shown.stored))
            self._shown = shown._replace(picture=picture, stored=stored)
        self._feed_read_at, self._commits_shown = time.monotonic(), commits_ended_here()

    def forget(self) -> None:
        """Start over; for tests, which roll transactions back without an entry in the feed."""
        self._unlock()
        self._shown = None
        self._reader = FeedReader()
        self._refreshing = Refreshing()
        self._unread: tuple[FeedNews, ...] = ()  # news of the feed whose rows have not been read
        self._commits_shown = -1  # the picture shows this number of the process's commits
        self._feed_read_at = -float("inf")  # when the feed was last read
        self._feed_wanted_at = -float("inf")  # when it was found that the feed must be read again

    def _unlock(self) -> None:
        """Make new locks: `_lock` is held while the database is read, `_swapping` only for replacing `_shown`."""
        self._lock = threading.Lock()
        self._swapping = threading.Lock()

    @property
    def _behind(self) -> bool:
        """Whether the picture lacks something that the next request must see."""
        return self._commits_shown < commits_ended_here() or self._feed_read_at <= self._feed_wanted_at

    def _show_commit(self, topic: str) -> None:
        """Renew the picture by what this thread has just committed; other threads answer from the old one meanwhile.

        A rebuild, which takes long, is left to the next request, so that many such changes in a row cost one rebuild.
        """
        if self._shown is not None and topic not in REBUILT_FOR:
            self._own_commits_shown(commits_begun_here())

    def _own_commits_shown(self, commits: int = 0) -> LiveState:
        """Return the picture with all that this process has committed, which is its first `commits` commits at least.

        If the database fails, returns the previous picture; if there is none yet, raises Unavailable or the error.
        """
        if self._lock.acquire(timeout=WAIT_FOR_LOOK):
            try:  # the thread that held the lock before may have read the same news: so look again whether any are left
                picture, behind = self.known, self._behind or self._commits_shown < commits
                return self._feed_shown() if picture is None or behind else picture
            except Error as error:
                logger.warning("what this process committed could not be taken in: %s", error)
                connection.close()
                if self._shown is None:
                    raise
            finally:
                self._lock.release()
        if (picture := self.known) is None:
            raise Unavailable("starting", _("nothing is known yet; the database does not answer"))
        return picture

    def _follow_feed(self) -> None:
        with self._lock:
            self._feed_shown()

    def _feed_shown(self) -> LiveState:
        """Read the feed, and return the picture with every change that the feed names.

        A change that can't be read now is read the next time. Orders are laid over the picture, so that few of them
        alone cause no reading of the ledger.
        """
        begun, commits = time.monotonic(), commits_begun_here()
        if begun - self._feed_read_at > FORGOTTEN_AFTER:
            self._reader = FeedReader()
        news = self._reader.poll_entries()
        self._unread += news
        self.lay([entry for entry in news if entry.content and self._reader.is_over(entry)])
        picture = self.known
        if picture is None or self._news_must_be_read():
            picture = self._renewed()
            if LARGE_NEWS & {entry.topic for entry in self._unread}:
                freed_memory_returned()  # the memory of the old picture and of the reading
            self._unread = tuple(entry for entry in self._unread if not self._reader.is_over(entry))
        self._feed_read_at, self._commits_shown = begun, commits
        updated_at.set(time.time() - (time.monotonic() - begun))
        return picture

    def _news_must_be_read(self) -> bool:
        """Whether there is news that is not laid over the picture, or too many orders are."""
        laid = {order.number for order in self._orders}
        return len(laid) > MOST_LAID or any(entry.number not in laid for entry in self._unread)

    def _renewed(self) -> LiveState:
        """Read the feed and the changed rows, in one database snapshot unless a transaction is open already.

        Because of the one snapshot it is certain of every transaction whether the picture shows it. Orders that it does
        not show are in the news of the next look.
        """
        before, refreshing = self._shown, copy(self._refreshing)
        try:
            with one_moment() as at_once:
                self._unread += self._reader.poll_entries()
                stored = self._whole_picture() if before is None else self._with_changes(before.stored)
        except Exception:  # the readings that succeeded are not used either, so they are repeated
            self._refreshing = refreshing
            raise
        moment = self._reader.moment if at_once else None
        with self._swapping:
            if moment is None or not all(moment.holds(order.mark) for order in self._orders):
                self._feed_wanted_at = time.monotonic()
            self._shown = _Shown(stored, stored, moment, ())
            return stored

    @property
    def _orders(self) -> tuple[FeedNews, ...]:
        return () if self._shown is None else self._shown.orders

    def _whole_picture(self) -> LiveState:
        callers, kept = tokens_known(regions_by_user()), kept_now(at=timezone.now())
        return LiveState(**self._new_snapshot(), **_profiles(), **_tenants(), callers=callers, kept=kept)

    def _with_changes(self, old: LiveState) -> LiveState:
        """Return the picture with the parts that have changed read anew."""
        topics = {entry.topic for entry in self._unread}
        changed: dict[str, Any] = {}
        if topics & WORLD_TOPICS:
            changed |= self._changed_snapshot(old.snapshot, topics)
        if "profiles" in topics:
            changed |= _profiles()
        if "tokens" in topics:
            changed |= _tenants()
        if topics & CALLER_TOPICS:
            changed["callers"] = tokens_known(regions_by_user())
        if "kept_free" in topics:
            changed["kept"] = kept_now(at=timezone.now())
        return replace(old, **changed)

    def _changed_snapshot(self, old: Snapshot, topics: set[str]) -> dict[str, Any]:
        """Return the refreshed snapshot, or a new one if rows or columns were added, removed or reordered."""
        if not topics & REBUILT_FOR:
            try:
                snapshot = self._refreshing.refreshed(old, self._unread, oldest=self._reader.oldest, now=time.time())
            except (KeyError, ValueError):  # a row names an IDC, line or metric that the old snapshot lacks
                logger.info("the picture is built anew: what has moved names what it does not hold")
            else:
                return {"snapshot": snapshot}
        return self._new_snapshot()

    def _new_snapshot(self) -> dict[str, Any]:
        now, world = time.time(), load_world()
        self._refreshing.rebuilt(self._reader.oldest)
        snapshot = build_snapshot(world, id=str(uuid7()), built_at=now)
        del world
        idc_keys = dict(Idc.objects.values_list("code", "pk"))
        return {"snapshot": snapshot, "idc_keys": idc_keys, "rows": KnownRows()}


@contextmanager
def one_moment() -> Iterator[bool]:
    """Run all queries inside the block on the same state of the database, and yield True.

    Within a transaction that is open already it yields False: the queries see what others commit between them.
    """
    if connection.in_atomic_block:
        yield False
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(MOMENT)
            yield True
    else:  # SQLite: the transaction that Django begins would wait for a writer
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield True
            finally:
                cursor.execute("COMMIT")


def _profiles() -> dict[str, Any]:
    """Return every active revision that compiles; one that does not (its plugin is gone) is named in log and status."""
    compiled, broken = {}, {}
    for revision in ProfileRevision.objects.filter(active_of__isnull=False).select_related("profile"):
        try:
            body = convert(revision.body, ProfileBody)
            compiled[revision.profile.code] = compile_profile(
                body, registry(), code=revision.profile.code, revision=revision.number
            )
        except IdcschedError as error:
            logger.warning("profile %s cannot be used: %s", revision, error)
            broken[revision.profile.code] = str(error)
    return {"profiles": compiled, "broken_profiles": broken}


def _tenants() -> dict[str, Any]:
    tenants = {tenant.code: tenant for tenant in Tenant.objects.all()}
    return {
        "tenants": tenants,
        "default_profiles": {code: tenant.default_profile for code, tenant in tenants.items()},
    }


live = Live()
