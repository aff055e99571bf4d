"""The feed reports what was committed exactly once, and never what was rolled back."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from idcsched.feed.models import FeedEntry, Topic
from idcsched.feed.reading import (
    POSTGRESQL_NEWS,
    FeedReader,
    _rows,
    add_commit_listener,
    commits_begun_here,
    commits_ended_here,
    remove_commit_listener,
)
from idcsched.feed.services import IDCS_NAMED, feed_append, feed_extend, feed_prune


@pytest.fixture
def reader() -> FeedReader:
    """A reader that has read all entries so far."""
    reader = FeedReader()
    reader.poll()
    return reader


class Writer:
    """A transaction of its own, on a connection of its own, that ends when it is told to."""

    def __init__(self, topic: str, *, fail: bool = False) -> None:
        self._appended, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(topic, fail))
        self._thread.start()
        assert self._appended.wait(60)

    def _run(self, topic: str, fail: bool) -> None:
        try:
            with transaction.atomic():
                self.mark = feed_extend(topic=topic, keys=[""])[0].mark
                self._appended.set()
                self._end.wait(600)
                transaction.set_rollback(fail)
        finally:
            connection.close()

    def finish(self) -> None:
        self._end.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_it_works(reader):
    assert reader.poll() == frozenset()
    feed_append(topic="taints", key="gz-ct-01")
    feed_append(topic="inventory")
    assert [entry[:2] for entry in reader.poll_entries()] == [("taints", "gz-ct-01"), ("inventory", "")]
    assert reader.poll() == frozenset()


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(
    ("idcs", "reported"),
    [
        pytest.param([3, 1], (3, 1), id="of these"),
        pytest.param([], (), id="of none"),
        pytest.param(None, None, id="of any"),
        pytest.param(range(IDCS_NAMED // 2), tuple(range(IDCS_NAMED // 2)), id="of as many as can be named twice"),
        pytest.param(range(IDCS_NAMED // 2 + 1), None, id="of too many to be named"),
    ],
)
def test_of_which_idcs_it_moved(reader, idcs, reported):
    feed_extend(topic="metrics", keys=["x", "y"], idcs=idcs)
    assert [(entry.key, entry.idcs) for entry in reader.poll_entries()] == [("x", reported), ("y", reported)]


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_the_first_poll_reports_every_topic():
    assert FeedReader().poll() == frozenset(Topic.values)


@pytest.mark.usefixtures("db")
def test_an_unknown_topic_is_a_mistake():
    with pytest.raises(ValueError, match="weather"):
        feed_append(topic="weather")


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_two_readers_do_not_disturb_each_other(reader):
    feed_append(topic="taints")
    late = FeedReader()
    late.poll()
    assert reader.poll() == {"taints"}
    assert late.poll() <= {"taints"}


@pytest.mark.usefixtures("db")
def test_a_poll_is_one_query(reader, django_assert_num_queries):
    feed_append(topic="taints")
    with django_assert_num_queries(1):
        reader.poll()
    with django_assert_num_queries(1):
        FeedReader().poll()


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_what_was_rolled_back_is_not_reported(reader):
    with transaction.atomic():
        feed_append(topic="taints")
        transaction.set_rollback(True)
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_late_committer_is_not_skipped(reader):
    late = Writer("taints")
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}, "the later row is committed already"
    assert reader.poll() == frozenset(), "and is not reported again while the earlier one is open"
    late.finish()
    assert reader.poll() == {"taints"}
    assert reader.poll() == frozenset()


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_late_one_that_was_open_when_the_reader_began_is_not_skipped():
    late = Writer("taints")
    reader = FeedReader()
    reader.poll()
    late.finish()
    assert reader.poll() == {"taints"}


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_late_one_that_is_rolled_back_is_not_invented(reader):
    late = Writer("taints", fail=True)
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}
    late.finish()
    assert reader.poll() == frozenset()
    assert not FeedEntry.objects.filter(topic="taints").exists()


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_many_transactions_that_end_in_another_order_are_each_reported_once(reader):
    topics = Topic.values[:5]
    writers = {topic: Writer(topic, fail=topic == topics[3]) for topic in topics}
    found: list[str] = []
    for topic in (topics[4], topics[2], topics[3], topics[0], topics[1]):
        writers[topic].finish()
        found += sorted(reader.poll())
    assert found == [topics[4], topics[2], topics[0], topics[1]]


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_long_transaction_makes_no_poll_read_anything_twice(reader):
    late = Writer("taints")
    for _ in range(20):
        feed_append(topic="metrics")
        assert reader.poll() == {"metrics"}
    read_again = _rows(POSTGRESQL_NEWS, reader._moment.until, list(reader._moment.running))
    assert [row[2] for row in read_again] == [None], "nothing but the moment itself"
    late.finish()
    assert reader.poll() == {"taints"}


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_what_the_readers_own_open_transaction_writes_is_reported_once(reader):
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}
    assert reader.poll() == frozenset()
    feed_append(topic="taints")
    assert reader.poll() == {"taints"}


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_database_put_back_to_an_earlier_state_is_read_anew(reader):
    reader._moment = reader._moment._replace(until=reader._moment.until + 1_000_000)
    assert reader.poll() == frozenset(Topic.values)
    feed_append(topic="taints")
    assert reader.poll() == {"taints"}


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_commit_is_told_to_this_process_and_a_rollback_is_not():
    before = commits_ended_here()
    with transaction.atomic():
        feed_append(topic="taints")
        transaction.set_rollback(True)
    assert commits_ended_here() == before
    with transaction.atomic():
        feed_append(topic="taints")
        assert commits_ended_here() == before, "not before others could see it"
    assert commits_ended_here() == before + 1


@pytest.mark.usefixtures("db")
def test_who_heeds_commits_is_called_before_the_commit_is_told_once_for_each_topic():
    heard, before = [], commits_ended_here()

    def listener(topic):
        heard.append((topic, commits_ended_here() - before, commits_begun_here() - before))

    add_commit_listener(listener)
    add_commit_listener(listener)
    try:
        with transaction.atomic():
            for topic in ("taints", "taints", "metrics", "taints"):
                feed_append(topic=topic)
            assert heard == []
        assert heard == [("taints", 0, 1), ("metrics", 1, 2)]
    finally:
        remove_commit_listener(listener)
    feed_append(topic="taints")
    assert len(heard) == 2


@pytest.mark.usefixtures("db")
def test_a_listener_that_fails_keeps_nobody_from_knowing():
    def listener(topic):
        raise ValueError(topic)

    before = commits_ended_here()
    add_commit_listener(listener)
    try:
        feed_append(topic="taints")
    finally:
        remove_commit_listener(listener)
    assert commits_ended_here() == before + 1


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_reader_knows_which_transactions_it_has_seen(reader):
    before = reader.moment
    with transaction.atomic():
        (entry,) = feed_extend(topic="taints", keys=[""])
    assert not before.holds(entry.mark)
    assert reader.poll() == {"taints"}
    assert reader.moment.holds(entry.mark)
    assert not before.holds(entry.mark), "a moment never changes"


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_transaction_that_was_open_was_not_seen(reader):
    late = Writer("taints")
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}
    assert not reader.moment.holds(late.mark)
    late.finish()
    reader.poll()
    assert reader.moment.holds(late.mark)


@pytest.mark.usefixtures("db")
def test_pruning_leaves_what_is_young():
    feed_append(topic="taints")
    old = FeedEntry.objects.create(topic="metrics", at=timezone.now() - timedelta(days=8))
    assert feed_prune(before=timezone.now() - timedelta(days=7)) == 1
    assert not FeedEntry.objects.filter(pk=old.pk).exists()
    assert str(FeedEntry.objects.get()) == "taints"


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_reader_goes_on_after_pruning(reader):
    feed_append(topic="taints")
    reader.poll()
    feed_prune(before=timezone.now() + timedelta(days=1))
    feed_append(topic="metrics")
    assert reader.poll() == {"metrics"}
