"""Sources are checked completely when they are saved, and beat's schedules follow them."""

from collections.abc import Callable
from typing import Any

import pytest
from django_celery_beat.models import PeriodicTask

from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Invalid
from metrics_ingest.models import Run, Source
from metrics_ingest.services import source_ask, source_create, source_delete, source_update
from metrics_ingest.sources.periodic import periodic_tasks_restore

MakeSource = Callable[..., Source]


def test_it_works(make_source: MakeSource) -> None:
    source = make_source(secret_ref="env:SOURCE_TOKEN")
    (task,) = PeriodicTask.objects.all()
    assert (task.name, task.task, task.queue) == ("source:loads", "metrics_ingest.tasks.source_run", "collect")
    assert (task.args, task.interval.every, task.expire_seconds) == (f"[{source.pk}]", 60, 60)
    assert source.due_at
    assert Change.objects.get(kind="source").after["secret_ref"] == "env:SOURCE_TOKEN"


WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a kind that nobody has": ({"kind": "carrier_pigeon"}, [("/kind", "unknown_kind")]),
    "a schedule": ({"schedule": "now and then"}, [("/schedule", "invalid_schedule")]),
    "no address": ({"config": {}}, [("/config/url", "required")]),
    "an unknown setting": ({"config": {"url": "http://a/", "ulr": 1}}, [("/config/ulr", "unknown_field")]),
    "no HTTP": ({"config": {"url": "file:///etc/passwd"}}, [("/config/url", "invalid_url")]),
    "a password in the address": ({"config": {"url": "http://u:p@a/"}}, [("/config/url", "invalid_url")]),
    "a token in the address": ({"config": {"url": "http://a/?token=x"}}, [("/config/url", "secret_in_config")]),
    "a secret header": (
        {"config": {"url": "http://a/", "headers": {"Authorization": "x"}}},
        [("/config/headers/Authorization", "secret_in_config")],
    ),
    "a header with a line break": (
        {"config": {"url": "http://a/", "headers": {"X-A": "x\r\nY: z"}}},
        [("/config/headers/X-A", "out_of_range")],
    ),
    "basic without a name": (
        {"config": {"url": "http://a/", "auth": {"kind": "basic"}}},
        [("/config/auth/username", "required")],
    ),
    "a body with GET": ({"config": {"url": "http://a/", "body": {}}}, [("/config/body", "body_needs_post")]),
    "items": ({"config": {"url": "http://a/", "items": "]"}}, [("/config/items", "invalid_expression")]),
    "a value that is scaled by a text": (
        {"mapping": {"idc": "x", "values": {"wind": "y", "rain": {"value": "y", "scale": "2"}}}},
        [("/mapping/values/rain/scale", "wrong_type")],
    ),
    "no metric": (
        {"mapping": {"idc": "x", "values": {"wind": "y"}}},
        [("/mapping/values/wind", "unknown_metric")],
    ),
    "a mapping of nothing": ({"mapping": {}}, [("/mapping/idc", "required")]),
    "a secret itself": ({"secret_ref": "hunter2"}, [("/secret_ref", "invalid_secret_ref")]),
    "a secret that is not listed": ({"secret_ref": "env:SECRET_KEY"}, [("/secret_ref", "secret_not_allowed")]),
    "everything at once": (
        {"config": {"url": ""}, "mapping": {"idc": "]", "values": {}}, "secret_ref": "x", "schedule": "1"},
        [
            ("/config/url", "out_of_range"),
            ("/mapping/values", "values_or_metric"),
            ("/secret_ref", "invalid_secret_ref"),
            ("/schedule", "out_of_range"),
        ],
    ),
}


@pytest.mark.parametrize(("fields", "expected"), WRONG.values(), ids=WRONG)
def test_what_can_not_be_meant_is_refused(
    make_source: MakeSource, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    with pytest.raises(Invalid) as caught:
        make_source(**fields)
    assert [(error.pointer, error.code) for error in caught.value.errors] == expected
    assert not Source.objects.exists()
    assert not PeriodicTask.objects.exists()


KINDS: dict[str, tuple[str, dict[str, Any], list[tuple[str, str]]]] = {
    "points without end": (
        "prometheus",
        {"url": "http://a/", "query": "up", "range": {"seconds": 86_400, "step_seconds": 1}},
        [("/config/range/step_seconds", "out_of_range")],
    ),
    "no query": ("prometheus", {"url": "http://a/"}, [("/config/query", "required")]),
    "both file and address": ("csv", {"url": "http://a/", "file": "x"}, [("/config/url", "url_or_file")]),
    "neither file nor address": ("csv", {}, [("/config/url", "url_or_file")]),
    "a way out": ("csv", {"file": "../../etc/passwd"}, [("/config/file", "outside_folder")]),
    "an absolute path": ("csv", {"file": "/etc/passwd"}, [("/config/file", "out_of_range")]),
    "two statements": (
        "sql",
        {"host": "db", "database": "d", "user": "u", "query": "SELECT 1; DROP TABLE x"},
        [("/config/query", "one_statement")],
    ),
    "a host that is none": (
        "sql",
        {"host": "db user=postgres", "database": "d", "user": "u", "query": "SELECT 1"},
        [("/config/host", "out_of_range")],
    ),
}


@pytest.mark.parametrize(("kind", "config", "expected"), KINDS.values(), ids=KINDS)
def test_each_kind_says_what_it_can_not_do(
    make_source: MakeSource, kind: str, config: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    with pytest.raises(Invalid) as caught:
        make_source(kind=kind, config=config)
    assert [(error.pointer, error.code) for error in caught.value.errors] == expected


def test_two_of_one_name_are_refused(make_source: MakeSource) -> None:
    make_source()
    with pytest.raises(Conflict):
        make_source()


def test_beats_schedule_follows(make_source: MakeSource, settings: Any) -> None:
    source = source_update(source=make_source(), changes={"schedule": "*/5 * * * *", "code": "cpu"})
    (task,) = PeriodicTask.objects.all()
    assert (task.name, task.interval, task.crontab.minute) == ("source:cpu", None, "*/5")
    assert str(task.crontab.timezone) == settings.BILLING_ZONE
    source = source_update(source=source, changes={"enabled": False})
    assert not PeriodicTask.objects.get().enabled
    source_delete(source=source)
    assert not PeriodicTask.objects.exists()


def test_a_change_that_is_refused_changes_nothing(make_source: MakeSource) -> None:
    source = make_source()
    for changes in ({"schedule": "1"}, {"config": {"url": "x"}}, {"due_at": None}, {"failures": 7}):
        with pytest.raises(Invalid):
            source_update(source=source, changes=changes)
    source.refresh_from_db()
    assert (source.schedule, PeriodicTask.objects.get().interval.every) == ("60", 60)


def test_a_changed_source_is_due_at_once(make_source: MakeSource) -> None:
    source = make_source()
    Source.objects.update(due_at="2040-01-01T00:00:00Z")
    assert source_update(source=source, changes={"code": "renamed"}).due_at.year == 2040
    assert source_update(source=source, changes={"schedule": "90"}).due_at.year < 2040


def test_what_beat_was_told_by_others_is_mended(make_source: MakeSource) -> None:
    make_source()
    PeriodicTask.objects.update(task="os.system", args="[]", enabled=False)
    PeriodicTask.objects.create(name="source:nobody", interval=PeriodicTask.objects.get().interval)
    periodic_tasks_restore()
    (task,) = PeriodicTask.objects.all()
    assert (task.name, task.task, task.enabled) == ("source:loads", "metrics_ingest.tasks.source_run", True)


def test_asking_one_that_is_off_or_busy_is_refused(make_source: MakeSource, now: Any) -> None:
    source = make_source(enabled=False)
    with pytest.raises(Conflict) as caught:
        source_ask(source=source, now=now)
    assert caught.value.code == "source_disabled"
    Source.objects.update(
        enabled=True, claim="0192f0c1-0000-7000-8000-000000000000", claimed_until="2040-01-01T00:00:00Z"
    )
    with pytest.raises(Conflict) as caught:
        source_ask(source=source, now=now)
    assert caught.value.code == "already_running"


def test_its_runs_go_with_it(make_source: MakeSource, now: Any) -> None:
    source = make_source()
    Run.objects.create(source=source, claim="0192f0c1-0000-7000-8000-000000000000", started_at=now)
    source_delete(source=source)
    assert not Run.objects.exists()


def test_a_source_needs_no_more_than_its_kind_asks_for(idc: Any) -> None:
    source = source_create(
        code="prom",
        kind="prometheus",
        schedule="300",
        config={"url": "http://prometheus:9090", "query": "up"},
        mapping={"idc": "labels.idc", "values": {"cpu_load": "value"}},
    )
    assert source.mapping == {"idc": "labels.idc", "values": {"cpu_load": "value"}}
