"""A process that follows the feed: its picture keeps up by itself, and a question costs no query."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import sleep
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, token_issue, token_revoke, user_create, user_update
from idcsched.feed.models import FeedEntry
from idcsched.feed.reading import FeedNews, commits_begun_here
from idcsched.feed.services import feed_append
from idcsched.framework.capacity import Claim
from idcsched.framework.errors import Unauthenticated, Unavailable
from idcsched.framework.overlay import Allocation
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import (
    idc_create,
    idc_update,
    isp_create,
    region_create,
    region_scope_create,
    taint_create,
)
from idcsched.ledger.taking import Entry, claims_take
from idcsched.scheduling import callers
from idcsched.scheduling.live import LOOK_EVERY, MOST_LAID, Live, LiveState
from metrics_ingest.services import Sample, samples_store
from tests.e2e.installation import wait_for

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def idc() -> Idc:
    isp_create(code="ct")
    region_create(code="A")
    return idc_create(code="a", region="A", lines=[{"isp": "ct", "purchased_mbps": 1000}])


@pytest.fixture
def live(idc: Idc) -> Iterator[Live]:
    found = Live()
    found.follow()
    found.current()
    yield found
    found.stop()


class Elsewhere:
    """A transaction of another process, on a connection of its own. This process learns of its commit only from the
    feed.
    """

    def __init__(self, write: Callable[[], object], *, fail: bool = False) -> None:
        self._written, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(write, fail))
        self._thread.start()
        assert self._written.wait(60)

    def _run(self, write: Callable[[], object], fail: bool) -> None:
        try:
            with transaction.atomic():
                write()
                connection.run_on_commit.clear()
                self._written.set()
                self._end.wait(120)
                transaction.set_rollback(fail)
        finally:
            connection.close()

    def finish(self) -> None:
        self._end.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


def soon(condition: Callable[[], Any]) -> None:
    wait_for(condition, "it to show in the picture", seconds=60)


@contextmanager
def looking(live: Live, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[LiveState]]:
    """Collect the pictures that the follower's looks at the feed end with, as long as the block runs."""
    found: list[LiveState] = []
    shown = live._feed_shown

    def look() -> LiveState:
        found.append(shown())
        return found[-1]

    with monkeypatch.context() as patched:
        patched.setattr(live, "_feed_shown", look)
        yield found


def taints(live: Live) -> int:
    return len(live.current().snapshot.taints.idc)


@pytest.mark.both
def test_it_works(live: Live, idc: Idc, django_assert_num_queries: Callable[[int], Any]) -> None:
    Elsewhere(lambda: taint_create(idc=idc, key="k")).finish()
    soon(lambda: taints(live) == 1)

    with django_assert_num_queries(0):
        assert taints(live) == 1


@pytest.mark.both
def test_what_this_process_commits_is_seen_by_its_next_question(live: Live, idc: Idc) -> None:
    for n in range(20):
        taint_create(idc=idc, key=f"k{n}")
        assert taints(live) == n + 1


def test_who_commits_takes_it_in_and_no_question_waits_for_it(
    live: Live, idc: Idc, django_assert_num_queries: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("idcsched.scheduling.live.WAIT_FOR_LOOK", 120.0)

    def write() -> None:
        taint_create(idc=idc, key="k")
        connection.close()

    writer = threading.Thread(target=write)
    with live._lock:  # somebody looks already, and takes his time
        writer.start()
        soon(lambda: commits_begun_here() > live._commits_shown)
        with django_assert_num_queries(0):
            assert taints(live) == 0, "the writer does not know yet that it is committed"
        assert writer.is_alive()
    writer.join(60)
    with django_assert_num_queries(0):
        assert taints(live) == 1


def test_changes_of_the_inventory_are_left_to_the_next_question(live: Live, idc: Idc) -> None:
    with live._lock:
        before = live.known
        for partition in ("p1", "p2"):
            idc = idc_update(idc=idc, changes={"partition": partition})
        assert live.known is before
    assert live.current() is not before


@pytest.mark.both
def test_what_this_process_rolls_back_is_never_seen(live: Live, idc: Idc, monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic():
        taint_create(idc=idc, key="k")
        transaction.set_rollback(True)
    before = live.current()
    with looking(live, monkeypatch) as pictures:
        soon(lambda: len(pictures) >= 2)
    assert taints(live) == 0
    assert live.current() is before


@pytest.mark.postgresql
def test_a_late_committer_is_seen_although_later_ones_were_seen_before(live: Live, idc: Idc) -> None:
    late = Elsewhere(lambda: taint_create(idc=idc, key="late"))
    Elsewhere(lambda: taint_create(idc=idc, key="early")).finish()
    soon(lambda: taints(live) == 1)
    sleep(0.6)  # some looks at the feed later
    late.finish()
    soon(lambda: taints(live) == 2)


@pytest.mark.postgresql
def test_a_long_transaction_hides_nobody_elses_changes(live: Live, idc: Idc) -> None:
    long = Elsewhere(lambda: taint_create(idc=idc, key="long"))
    for n in range(5):
        Elsewhere(lambda n=n: taint_create(idc=idc, key=f"k{n}")).finish()  # type: ignore[misc]
        soon(lambda n=n: taints(live) == n + 1)  # type: ignore[misc]
    long.finish()
    soon(lambda: taints(live) == 6)


@pytest.mark.postgresql
def test_a_transaction_that_is_rolled_back_elsewhere_invents_nothing(live: Live, idc: Idc) -> None:
    failing = Elsewhere(lambda: taint_create(idc=idc, key="never"), fail=True)
    Elsewhere(lambda: taint_create(idc=idc, key="k")).finish()
    soon(lambda: taints(live) == 1)
    failing.finish()
    sleep(0.6)
    assert taints(live) == Taint.objects.count() == 1


@pytest.mark.both
def test_a_change_elsewhere_is_in_force_within_half_a_second(
    live: Live, idc: Idc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at the feed may miss a change that is committed while it runs; the next one shows it, and two looks take
    at most half a second by their interval.
    """
    assert 2 * LOOK_EVERY <= 0.5
    for n in range(5):
        elsewhere = Elsewhere(lambda n=n: taint_create(idc=idc, key=f"k{n}"))  # type: ignore[misc]
        with looking(live, monkeypatch) as pictures:
            elsewhere.finish()
            before = len(pictures)
            soon(lambda since=before: len(pictures) >= since + 2)  # type: ignore[misc]
            assert len(pictures[before + 1].snapshot.taints.idc) == n + 1


class TestTaking:
    """What orders take is laid over the picture without a reading of the ledger, and is counted once."""

    def taken(self, live: Live) -> tuple[float, float, int]:
        snapshot = live.current().snapshot
        machines = sum(fact.machines for fact in snapshot.headcounts.facts)
        return float(snapshot.lines.pending[0]), float(snapshot.lines.room[0]), machines

    @pytest.fixture(autouse=True)
    def _seen(self, live: Live, idc: Idc) -> None:
        tenant_create(code="t")
        now = timezone.now()
        samples_store(samples=[Sample(idc="a", line="ct", metric="bandwidth_mbps", value=100, at=now)], now=now)
        live.current()

    def take(self, live: Live, amount: float) -> tuple[FeedNews, ...]:
        """Take capacity in the database without showing that to the live picture."""
        with transaction.atomic():
            return claims_take([self.entry(live, amount)], at=timezone.now())

    def entry(self, live: Live, amount: float) -> Entry:
        picture = live.known
        key = picture.idc_keys["a"]
        return Entry(
            placement=uuid4(), allocation=self.allocation(amount), idc_key=key,
            line_keys=picture.rows.lines(key), tenant_key=Tenant.objects.get().pk,
        )  # fmt: skip

    def allocation(self, amount: float) -> Allocation:
        claims = (Claim(resource="bandwidth_mbps", line="ct", amount=amount),)
        return Allocation(idc="a", claims=claims, tenant="t", machines=2)

    def test_it_works(self, live: Live, django_assert_num_queries: Callable[[int], Any]) -> None:
        live.stop()
        live._following = True  # nobody looks by himself
        for number in (1, 2, 3):
            orders = self.take(live, 50)
            with django_assert_num_queries(0):
                live.lay(orders)
                assert self.taken(live) == (50 * number, 800 - 50 * number, 2 * number)

    def test_what_was_read_meanwhile_is_not_counted_twice(self, live: Live) -> None:
        orders = self.take(live, 50)
        live.catch_up()
        assert self.taken(live) == (50, 750, 2)
        live.lay(orders)
        assert self.taken(live) == (50, 750, 2)

    @pytest.mark.both
    def test_what_is_shown_is_read_with_other_news_and_then_counted_once(self, live: Live) -> None:
        for number in range(1, 11):
            orders = self.take(live, 10)
            live.lay(orders)
            assert self.taken(live) == (10 * number, 800 - 10 * number, 2 * number)
            if number % 3 == 0:
                live.catch_up()
        feed_append(topic="metrics")
        soon(lambda: live._shown.moment.holds(orders[0].mark))
        assert self.taken(live) == (100, 700, 20)
        assert live._orders == ()

    @pytest.mark.both
    def test_what_others_take_meanwhile_stays_in_the_picture(self, live: Live) -> None:
        Elsewhere(lambda: claims_take([self.entry(live, 200)], at=timezone.now())).finish()
        live.lay(self.take(live, 50))
        soon(lambda: self.taken(live) == (250, 550, 4))

    @pytest.mark.both
    def test_what_others_take_is_laid_over_by_one_look_at_the_feed(
        self, live: Live, django_assert_num_queries: Callable[[int], Any]
    ) -> None:
        live.stop()
        for number in range(1, 4):
            Elsewhere(lambda: claims_take([self.entry(live, 10)], at=timezone.now())).finish()
            with django_assert_num_queries(1):
                live.catch_up()
            assert self.taken(live) == (10 * number, 800 - 10 * number, 2 * number)

    @pytest.mark.both
    def test_after_many_orders_the_ledger_is_read(self, live: Live) -> None:
        live.stop()
        for _number in range(MOST_LAID + 1):
            self.take(live, 1)
        live.catch_up()
        assert self.taken(live) == (MOST_LAID + 1, 800 - MOST_LAID - 1, 2 * MOST_LAID + 2)
        assert live._orders == ()

    @pytest.mark.postgresql
    def test_what_is_committed_while_a_transaction_reads_row_after_row_is_counted_once(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        live.stop()
        read = live._with_changes

        def late(old: LiveState) -> LiveState:
            Elsewhere(lambda: claims_take([self.entry(live, 50)], at=timezone.now())).finish()
            return read(old)

        feed_append(topic="ledger")
        with transaction.atomic(), monkeypatch.context() as patched:
            patched.setattr(live, "_with_changes", late)
            live.catch_up()
        for _number in range(2):
            live.catch_up()
            assert self.taken(live) == (50, 750, 2)

    @pytest.mark.both
    @pytest.mark.parametrize(("fail", "taken"), [(True, (0, 800, 0)), (False, (50, 750, 2))])
    def test_what_a_transaction_saw_of_itself_is_read_again_when_it_is_over(
        self, live: Live, fail: bool, taken: tuple[float, float, int]
    ) -> None:
        live.stop()
        with transaction.atomic():
            orders = claims_take([self.entry(live, 50)], at=timezone.now())
            live.catch_up()
            transaction.set_rollback(fail)
        if not fail:
            live.lay(orders)
        for _number in range(2):
            live.catch_up()
            assert self.taken(live) == taken

    @pytest.mark.both
    def test_a_process_of_an_older_version_tells_only_the_idc(self, live: Live) -> None:
        live.stop()
        self.take(live, 50)
        FeedEntry.objects.update(content="")
        live.catch_up()
        assert self.taken(live) == (50, 750, 2)

    def test_of_an_idc_that_has_another_name_now_the_database_is_asked(self, live: Live, idc: Idc) -> None:
        entry = self.entry(live, 50)
        idc_update(idc=idc, changes={"code": "b"})
        assert live.current().snapshot.idcs.codes == ("b",)
        with transaction.atomic():
            orders = claims_take([entry], at=timezone.now())
        live.lay(orders)
        assert self.taken(live) == (50, 750, 2)

    def test_a_process_that_follows_nothing_shows_what_it_is_told(self, live: Live) -> None:
        alone = Live()
        alone.current()
        alone.lay(self.take(alone, 50))
        assert self.taken(alone) == (50, 750, 2)


class TestCallers:
    """Tokens are checked without a query, and are refused as soon as they are revoked or expire."""

    @pytest.fixture(autouse=True)
    def _live(self, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(callers, "live", live)

    def asking(self, text: str, address: str = "192.0.2.1") -> Any:
        return callers.caller(text=text, address=address, now=timezone.now())

    def refused(self, text: str, **options: Any) -> str:
        with pytest.raises(Unauthenticated) as refusal:
            self.asking(text, **options)
        return refusal.value.code

    def test_it_works(self, live: Live, django_assert_num_queries: Callable[[int], Any]) -> None:
        operator = user_create(username="o", role="operator")
        region_scope_create(user=operator, region="A")
        text = token_issue(user=operator, name="t", allowed_networks=["192.0.2.0/24"]).text
        live.current()
        with django_assert_num_queries(0):
            who = self.asking(text)
        assert (who.username, who.role, who.regions, who.all_tenants) == ("o", "operator", ("A",), True)
        assert self.refused(text, address="198.51.100.1") == "address_not_allowed"

    def test_one_made_elsewhere_a_moment_ago_is_looked_up(self, live: Live) -> None:
        made: list[str] = []
        Elsewhere(
            lambda: made.append(token_issue(user=user_create(username="o", role="operator"), name="t").text)
        ).finish()
        assert self.asking(made[0]).username == "o"
        assert self.refused("idc_" + "x" * 40) == "token_invalid"

    @pytest.mark.both
    def test_one_revoked_elsewhere_is_refused_within_half_a_second(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        issued = token_issue(user=user_create(username="o", role="operator"), name="t")
        assert self.asking(issued.text).username == "o"
        elsewhere = Elsewhere(lambda: token_revoke(token=issued.token))
        with looking(live, monkeypatch) as pictures:
            elsewhere.finish()
            before = len(pictures)
            soon(lambda: len(pictures) >= before + 2)
        assert pictures[before + 1].callers[issued.token.digest].row.revoked_at
        assert self.refused(issued.text) == "token_revoked"

    def test_one_that_expires_is_refused_at_that_very_moment(self, live: Live) -> None:
        ends = timezone.now() + timedelta(seconds=30)
        text = token_issue(user=user_create(username="o", role="operator"), name="t", expires_at=ends).text
        assert callers.caller(text=text, address="", now=ends - timedelta(microseconds=1))
        with pytest.raises(Unauthenticated, match="expired"):
            callers.caller(text=text, address="", now=ends)

    def test_a_user_who_was_barred(self, live: Live) -> None:
        user_create(username="who-must-remain", role="admin")
        user = user_create(username="o", role="operator")
        text = token_issue(user=user, name="t").text
        assert self.asking(text).username == "o"
        user_update(user=user, changes={"is_active": False})
        assert self.refused(text) == "token_invalid"


@pytest.mark.postgresql
class TestDatabaseAway:
    """While the database is away, the last picture goes on serving, marked as lagging, until it is too old."""

    @pytest.fixture
    def outage(self, live: Live) -> Iterator[pytest.MonkeyPatch]:
        """Let every connection to the database fail, until the patch is undone."""
        live.current()
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(connection.settings_dict, "PORT", "1")
            connection.close()
            live._thread.stop()
            live.follow()
            yield patch

    def test_it_works(self, live: Live, outage: pytest.MonkeyPatch, settings: Any) -> None:
        before = live.current()
        soon(lambda: live.lagging)
        assert live.current() is before

        settings.SNAPSHOT_MAX_AGE = 1
        with pytest.raises(Unavailable, match="the database is away"):
            live.current()

    def test_it_recovers_by_itself(self, live: Live, idc: Idc, outage: pytest.MonkeyPatch) -> None:
        soon(lambda: live.lagging)
        outage.undo()
        taint_create(idc=idc, key="k")
        soon(lambda: not live.lagging and taints(live) == 1)


def test_a_change_that_could_not_be_taken_in_is_taken_in_later(live: Live, idc: Idc) -> None:
    """A change that the feed has reported but the picture does not hold yet is kept and taken in later, because the
    feed will not report it again.
    """
    with live._lock:  # nobody looks meanwhile
        live._reader.poll()
        live._unread = (FeedNews("taints", "a/k"),)
        Taint.objects.create(idc=idc, key="k", effect="NoSchedule")  # past the feed
    soon(lambda: taints(live) == 1)


@pytest.mark.postgresql
def test_a_process_that_never_reached_the_database_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable = Live()
    with monkeypatch.context() as outage:
        outage.setitem(connection.settings_dict, "PORT", "1")
        connection.close()
        unreachable.follow()
        try:
            with pytest.raises(Exception, match="refused"):
                unreachable.current()
        finally:
            unreachable.stop()


def test_feed_entries_of_nobodys_topic_change_nothing(live: Live) -> None:
    before = live.current()
    Elsewhere(lambda: feed_append(topic="ledger", key="")).finish()
    soon(lambda: live.current() is not before)
    assert live.current().profiles == before.profiles
