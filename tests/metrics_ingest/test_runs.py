"""Runs: claimed by one worker, ended with what they stored, recorded whatever happens."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from idcsched.audit.models import Change
from metrics_ingest import services
from metrics_ingest.models import Latest, Run, RunState, Source
from metrics_ingest.selectors import sources_overdue
from metrics_ingest.services import RunOver, run_begin, run_store, runs_lose, runs_prune, source_update
from metrics_ingest.sources.collecting import source_collect
from metrics_ingest.sources.mapping import Mapped
from tests.database import somebody_waits_for_a_lock
from tests.e2e.installation import wait_for
from tests.outbound.peers import in_turn, json_reply, peer, raw_reply, silent

MakeSource = Callable[..., Source]
TWO_SECONDS = timedelta(seconds=2)
GOOD = json_reply([{"site": "gz-01", "cpu": 0.5}])


def collected(source: Source, *, after: float = 0) -> Run:
    """Run the source as a worker does, so many seconds from now; return the run."""
    source.refresh_from_db()
    run = source_collect(source_id=source.pk, clock=lambda: timezone.now() + timedelta(seconds=after))
    assert run is not None
    return Run.objects.get(pk=run.pk)


def test_it_works(make_source: MakeSource) -> None:
    with peer(GOOD) as server:
        source = make_source(server.url)
        run = collected(source)
    assert (run.state, run.fetched, run.stored, run.error) == (RunState.SUCCEEDED, 1, 1, None)
    assert Latest.objects.get().value == 0.5
    source.refresh_from_db()
    assert (source.claim, source.failures, source.runs_total, source.samples_stored) == (None, 0, 1, 1)
    assert source.succeeded_at == run.finished_at
    assert source.due_at - run.started_at == timedelta(seconds=60)


def test_bad_values_are_counted_with_examples_and_the_rest_stored(make_source: MakeSource) -> None:
    values = [*({"site": "gz-01", "cpu": value} for value in ("x", 7)), {"site": "moon", "cpu": 1}]
    with peer(json_reply([*values, {"site": "gz-01", "disk": 0.25, "cpu": 8}])) as server:
        mapping = {"idc": "site", "values": {"cpu_load": "cpu", "disk_load": "disk"}}
        run = collected(make_source(server.url, mapping=mapping))
    assert (run.state, run.fetched, run.stored, run.refused, run.unmatched) == (RunState.SUCCEEDED, 5, 1, 3, 1)
    assert {each["code"]: each["count"] for each in run.refusals} == {"ambiguous": 2, "not_a_number": 1}
    assert run.unmatched_names == [{"idc": "moon", "line": None, "count": 1}]
    assert Latest.objects.get().value == 0.25


def test_out_of_range_is_refused_by_the_metrics_own_range(make_source: MakeSource) -> None:
    with peer(json_reply([{"site": "gz-01", "cpu": 7}])) as server:
        run = collected(make_source(server.url))
    assert (run.state, run.error["code"]) == (RunState.FAILED, "nothing_stored")
    assert run.refusals[0]["code"] == "out_of_range"
    assert run.refusals[0]["examples"][0]["value"] == "7.0"


def test_a_failed_run_leaves_the_last_good_values(make_source: MakeSource) -> None:
    with peer(in_turn(GOOD, raw_reply(b"<html>", 200))) as server:
        source = make_source(server.url)
        collected(source)
        run = collected(source, after=60)
    assert (run.state, run.error["code"], run.fetched) == (RunState.FAILED, "bad_reply", 0)
    assert Latest.objects.get().value == 0.5


def test_nothing_is_a_failure_unless_it_is_allowed(make_source: MakeSource) -> None:
    with peer(json_reply([])) as server:
        source = make_source(server.url)
        assert collected(source).error["code"] == "nothing_found"
        source_update(source=source, changes={"config": {**source.config, "allow_empty": True}})
        assert collected(source).state == RunState.SUCCEEDED


def test_a_hint_for_a_source_that_is_not_due_does_nothing(make_source: MakeSource) -> None:
    with peer(GOOD) as server:
        source = make_source(server.url)
        collected(source)
        assert source_collect(source_id=source.pk, clock=timezone.now) is None
        assert source_collect(source_id=source.pk + 1, clock=timezone.now) is None
        collected(source, after=31)  # beat's rhythm is its own: half a period early is not too early
    assert len(server.calls) == 2


def test_one_that_is_off_is_not_asked(make_source: MakeSource) -> None:
    source = make_source(enabled=False)
    assert source_collect(source_id=source.pk, clock=timezone.now) is None
    assert not sources_overdue(now=timezone.now() + timedelta(days=1))


def test_an_hour_without_beat_is_made_up_for_by_one_run(make_source: MakeSource) -> None:
    with peer(GOOD) as server:
        source = make_source(server.url)
        collected(source)
        late = timezone.now() + timedelta(hours=1)
        for _ in range(3):
            source_collect(source_id=source.pk, clock=lambda: late)
    assert len(server.calls) == 2


def test_a_source_is_asked_by_one_at_a_time(make_source: MakeSource) -> None:
    source = make_source()
    now = timezone.now()
    assert run_begin(source_id=source.pk, clock=lambda: now, lasting=TWO_SECONDS)
    assert run_begin(source_id=source.pk, clock=lambda: now + timedelta(minutes=5), lasting=TWO_SECONDS) is None
    assert Run.objects.count() == 1


@pytest.mark.postgresql
def test_a_run_reads_the_clock_while_no_other_can_begin(make_source: MakeSource) -> None:
    """The clock is read under the lock, so that no run starts before the end of the run before it."""
    source = make_source()

    def clock() -> datetime:
        others.append(pool.submit(_begin_and_close, source))
        wait_for(somebody_waits_for_a_lock, "the other worker to wait")
        return timezone.now()

    others: list[Future[Run | None]] = []
    with ThreadPoolExecutor(1) as pool:
        assert run_begin(source_id=source.pk, clock=clock, lasting=TWO_SECONDS)
        assert [other.result(100) for other in others] == [None]


def _begin_and_close(source: Source) -> Run | None:
    try:
        return run_begin(source_id=source.pk, clock=timezone.now, lasting=TWO_SECONDS)
    finally:
        connections.close_all()


def test_a_run_whose_worker_died_is_lost_and_made_anew(make_source: MakeSource) -> None:
    with peer(GOOD) as server:
        source = make_source(server.url)
        now = timezone.now()
        run_begin(source_id=source.pk, clock=lambda: now, lasting=TWO_SECONDS)
        assert runs_lose(now=now + timedelta(seconds=31)) == 0
        later = now + timedelta(seconds=33)
        assert (runs_lose(now=later), runs_lose(now=later)) == (1, 0)
        assert sources_overdue(now=later + timedelta(seconds=10)) == [source.pk]
        assert source_collect(source_id=source.pk, clock=lambda: later)
    states = list(Run.objects.order_by("pk").values_list("state", flat=True))
    assert states == [RunState.LOST, RunState.SUCCEEDED]
    assert Run.objects.get(state=RunState.LOST).error["code"] == "run_lost"


def test_a_run_that_was_given_up_stores_nothing(make_source: MakeSource, idc: Any) -> None:
    """A run that was declared lost still goes on. It must store nothing, since another run may have begun meanwhile."""
    source = make_source()
    now = timezone.now()
    run = run_begin(source_id=source.pk, clock=lambda: now, lasting=TWO_SECONDS)
    assert run
    runs_lose(now=now + timedelta(minutes=5))
    sample = services.Sample(idc="gz-01", metric="cpu_load", value=0.5, at=now)
    with pytest.raises(RunOver):
        run_store(run=run, mapped=Mapped(samples=[sample]), now=now)
    assert not Latest.objects.exists()
    assert Run.objects.get().state == RunState.LOST


def test_failing_three_times_in_a_row_is_said_once(make_source: MakeSource, caplog: Any) -> None:
    caplog.set_level(logging.INFO)
    with peer(in_turn(*[raw_reply(b"", 404)] * 4, GOOD)) as server:
        source = make_source(server.url)
        for turn in range(5):
            collected(source, after=60 * turn)
    changes = list(Change.objects.filter(kind="source").order_by("pk").values_list("after", flat=True))
    assert changes[1:] == [{"state": "failing"}, {"state": "answering"}]
    assert [line for line in caplog.messages if "is failing" in line] == ["source loads is failing: bad_status"]
    source.refresh_from_db()
    assert (source.failures, source.runs_total, source.runs_failed) == (0, 5, 4)


def test_the_secret_is_sent_and_told_to_nobody(
    make_source: MakeSource, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("SOURCE_TOKEN", "hunter2")
    with peer(json_reply({"message": "hunter2 is no token of ours"})) as server:
        config = {"url": server.url, "items": "message"}
        source = make_source(config=config, secret_ref="env:SOURCE_TOKEN")
        run = collected(source)
    assert server.seen_headers[0]["Authorization"] == "Bearer hunter2"
    said = [str(run.error), *caplog.messages, *(str(change.after) for change in Change.objects.all())]
    assert not [text for text in said if "hunter2" in text]


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"kind": "basic", "username": "me"}, "Authorization", "Basic bWU6aHVudGVyMg=="),
        ({"kind": "header", "name": "X-Auth-Token"}, "X-Auth-Token", "hunter2"),
    ],
)
def test_the_secret_is_shown_as_the_source_wants_it(
    make_source: MakeSource, monkeypatch: pytest.MonkeyPatch, auth: dict[str, str], header: str, value: str
) -> None:
    monkeypatch.setenv("SOURCE_TOKEN", "hunter2")
    with peer(GOOD) as server:
        collected(make_source(config={"url": server.url, "auth": auth}, secret_ref="env:SOURCE_TOKEN"))
    assert server.seen_headers[0][header] == value


def test_the_secret_may_be_a_parameter(make_source: MakeSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_TOKEN", "hun&ter2")
    with peer(GOOD) as server:
        config = {"url": server.url, "auth": {"kind": "parameter", "name": "appid"}}
        collected(make_source(config=config, secret_ref="env:SOURCE_TOKEN"))
    assert server.calls == ["/judge?site=secret&appid=hun%26ter2"]


def test_a_secret_that_is_gone_fails_the_run(make_source: MakeSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_TOKEN", raising=False)
    run = collected(make_source(secret_ref="env:SOURCE_TOKEN"))
    assert run.error["code"] == "secret_missing"


def test_a_row_that_can_not_be_used_fails_its_run(make_source: MakeSource) -> None:
    """The source's kind is not installed any more: it came from another package."""
    source = make_source()
    Source.objects.update(kind="carrier_pigeon")
    assert collected(source).error["code"] == "unknown_kind"


def test_text_that_no_database_takes_is_no_obstacle(make_source: MakeSource) -> None:
    body = b'[{"site":"\\u0000moon","cpu":1},{"site":"gz-01","cpu":"\\u0000"},{"site":"gz-01","cpu":0.5}]'
    with peer(raw_reply(body)) as server:
        run = collected(make_source(server.url))
    assert (run.fetched, run.stored, run.refused, run.unmatched) == (3, 1, 1, 1)


def test_old_runs_are_forgotten(make_source: MakeSource, now: datetime) -> None:
    with peer(GOOD) as server:
        collected(make_source(server.url))
    assert runs_prune(before=timezone.now() - timedelta(days=14)) == 0
    assert runs_prune(before=timezone.now() + timedelta(days=1)) == 1
    assert Latest.objects.exists()


def test_the_server_is_asked_as_long_as_the_source_allows(make_source: MakeSource) -> None:
    with peer(silent) as server:
        run = collected(make_source(config={"url": server.url, "timeout_seconds": 0.5}))
    assert run.error["code"] == "too_slow"
