"""`status/` and `/metrics` say how the work behind the answers is doing."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.inventory.services import idc_create, region_create
from idcsched.jobs.models import Heartbeat, NightlyJob, ProcessKind
from idcsched.jobs.services import heartbeat_forget, heartbeat_note
from idcsched.placement.provider_models import Provider
from metrics_ingest.models import Source
from metrics_ingest.services import source_create
from metrics_ingest.sources.collecting import source_collect
from tests.api.conftest import Api, causes
from tests.outbound.peers import json_reply, loopback_allowed, peer, raw_reply


@pytest.fixture
def viewer(api: Callable[..., Api]) -> Api:
    return api("viewer")


@pytest.fixture
def source(db: None, settings: Any) -> Iterator[Source]:
    """A source that has just brought a value; from now on its server answers 404."""
    region_create(code="A")
    idc_create(code="gz-01", region="A")
    with loopback_allowed(settings), peer(json_reply([{"site": "gz-01", "cpu": 0.5}])) as server:
        mapping = {"idc": "site", "values": {"cpu_load": "cpu"}}
        made = source_create(code="loads", kind="http_json", schedule="60", config={"url": server.url}, mapping=mapping)
        source_collect(source_id=made.pk, clock=timezone.now)
        server.behave = raw_reply(b"", 404)
        yield made


def test_it_works(viewer: Api, source: Source) -> None:
    heartbeat_note(trade=ProcessKind.WORKER, name="worker@a", now=timezone.now())
    status = viewer.get("/status/")["background"]
    (process,) = status["processes"]
    assert (process["trade"], process["name"], process["alive"]) == ("worker", "worker@a", True)
    assert set(status["queues"]) == {"idcsched", "collect", "provide", "deliver"}
    (found,) = status["sources"]
    assert (found["code"], found["failures"], found["failing"], found["late"]) == ("loads", 0, False, False)
    assert found["age_seconds"] < 600
    assert not causes(viewer)


def test_a_source_that_keeps_failing_is_shown(viewer: Api, source: Source) -> None:
    for turn in range(3):
        Source.objects.update(due_at=timezone.now())
        assert not causes(viewer), turn
        source_collect(source_id=source.pk, clock=timezone.now)
    assert viewer.get("/status/")["background"]["sources"][0]["failing"]
    assert causes(viewer) == ["source_failing: loads"]


def test_a_source_that_nobody_asks_is_late(viewer: Api, source: Source) -> None:
    Source.objects.update(due_at=timezone.now() - timedelta(minutes=3))
    assert viewer.get("/status/")["background"]["sources"][0]["late"]
    assert causes(viewer) == ["source_late: loads"]
    Source.objects.update(enabled=False)
    assert not causes(viewer)


@pytest.mark.parametrize("enabled", [True, False])
def test_a_source_whose_collector_is_gone_is_named(viewer: Api, source: Source, enabled: bool) -> None:
    Source.objects.update(kind="sun", enabled=enabled)
    assert causes(viewer) == (["collector_missing: loads"] if enabled else [])


def test_a_provider_whose_driver_is_gone_is_named(viewer: Api) -> None:
    Provider.objects.create(code="vm", kind="sun")
    assert causes(viewer) == ["driver_missing: vm"]


def test_a_worker_that_was_killed_is_missing_until_it_is_forgotten(viewer: Api) -> None:
    now = timezone.now()
    heartbeat_note(trade=ProcessKind.WORKER, name="worker@a", now=now - timedelta(minutes=59))
    heartbeat_note(trade=ProcessKind.BEAT, name="beat@a", now=now)
    status = viewer.get("/status/")
    assert [process["alive"] for process in status["background"]["processes"]] == [True, False]
    assert causes(viewer) == ["process_missing: worker@a"]
    heartbeat_note(trade=ProcessKind.BEAT, name="beat@a", now=now + timedelta(minutes=2))
    assert [row.name for row in Heartbeat.objects.all()] == ["beat@a"]
    heartbeat_forget(trade=ProcessKind.BEAT, name="beat@a")
    assert not Heartbeat.objects.exists()


def test_a_broker_that_is_away_is_said(viewer: Api, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    status = viewer.get("/status/")
    assert status["background"]["queues"] == dict.fromkeys(("idcsched", "collect", "provide", "deliver"))
    assert causes(viewer) == ["broker_away"]


def test_a_broker_that_takes_no_messages_is_said(viewer: Api, settings: Any, full_redis: str) -> None:
    settings.REDIS_URL = full_redis
    assert causes(viewer) == ["broker_away"]
    assert "idcsched_broker_up 0.0" in Client(SERVER_NAME="localhost").get("/metrics").content.decode()


def test_a_nightly_job_that_fails_is_said_and_one_that_is_not_done(viewer: Api) -> None:
    now = timezone.now()
    days_ago = now - timedelta(days=9)
    job = NightlyJob.objects.create(name="shapes_learn", known_since=days_ago, begun_at=now, succeeded_at=now)
    assert not causes(viewer)
    NightlyJob.objects.update(error="ValueError: no such column")
    assert causes(viewer) == ["nightly_failing: shapes_learn"]
    assert viewer.get("/status/")["background"]["nightly"][0]["error"] == "ValueError: no such column"
    NightlyJob.objects.update(error="", succeeded_at=days_ago)
    assert causes(viewer) == ["nightly_late: shapes_learn"]
    told = Client(SERVER_NAME="localhost").get("/metrics").content.decode()
    assert 'idcsched_nightly_failing{name="shapes_learn"} 0.0' in told
    age = float(told.partition('idcsched_nightly_age_seconds{name="shapes_learn"} ')[2].split()[0])
    assert timedelta(seconds=age) >= now - days_ago
    job.delete()
    assert not causes(viewer)


def test_prometheus_is_told(source: Source) -> None:
    heartbeat_note(trade=ProcessKind.WORKER, name="worker@a", now=timezone.now())
    told = Client(SERVER_NAME="localhost").get("/metrics").content.decode()
    for line in (
        'idcsched_source_runs_total{source="loads"} 1.0',
        'idcsched_source_samples_stored_total{source="loads"} 1.0',
        'idcsched_source_failures{source="loads"} 0.0',
        'idcsched_source_age_seconds{source="loads"}',
        'idcsched_process_heartbeat_age_seconds{name="worker@a",trade="worker"}',
        'idcsched_queue_depth{queue="collect"}',
    ):
        assert line in told
