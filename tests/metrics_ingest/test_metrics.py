"""Definitions of metrics."""

from datetime import date

import pytest
from django.apps.registry import Apps
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid
from idcsched.language import wording
from metrics_ingest.builtin import builtin_metrics_ensure, metric_title
from metrics_ingest.models import BandwidthRollup, Latest, Metric, SampleDay
from metrics_ingest.selectors import metric_named
from metrics_ingest.services import metric_create, metric_delete, metric_update

pytestmark = pytest.mark.usefixtures("db")


def test_it_works():
    metric = metric_create(code="x", direction="higher", scope="idc", unit="pts")
    metric = metric_update(metric=metric, changes={"max_age_seconds": 60, "low": 0, "high": 10, "scope": "line"})
    metric_delete(metric=metric)
    actions = Change.objects.filter(kind="metric").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create", "update", "delete"]
    assert FeedEntry.objects.filter(topic="metric_definitions", key="x").count() == 3


def test_the_built_in_ones_exist_from_the_start():
    found = Metric.objects.filter(builtin=True).values_list(
        "code", "scope", "direction", "max_age_seconds", "low", "high"
    )
    assert list(found) == [
        ("bandwidth_mbps", "line", "lower", 900, 0, 1e9),
        ("cost_index", "idc", "lower", None, 0, None),
        ("cpu_load", "idc", "lower", 900, 0, 1),
        ("disk_load", "idc", "lower", 900, 0, 1),
        ("memory_load", "idc", "lower", 900, 0, 1),
        ("rtt_ms", "idc", "lower", 3600, 0, 60_000),
    ]


def test_migrating_again_brings_back_what_is_missing_and_keeps_what_was_changed(cpu):
    metric_update(metric=cpu, changes={"name": "CPU", "max_age_seconds": 60})
    Metric.objects.filter(code="rtt_ms").delete()
    call_command("migrate", "metrics_ingest", verbosity=0)
    cpu.refresh_from_db()
    assert (cpu.name, cpu.max_age_seconds) == ("CPU", 60)
    assert Metric.objects.filter(code="rtt_ms", builtin=True).exists()


@pytest.mark.parametrize("changes", [{"scope": "line"}, {"direction": "higher"}, {"code": "cpu"}], ids=str)
def test_what_a_built_in_one_means_stays(cpu, changes):
    with pytest.raises(Conflict) as caught:
        metric_update(metric=cpu, changes=changes)
    assert caught.value.code == "builtin_metric"


def test_saying_again_what_a_built_in_one_means_is_no_change(cpu):
    assert metric_update(metric=cpu, changes={"scope": "idc", "code": "cpu_load", "high": 2}).high == 2


def test_a_built_in_one_is_not_deleted(cpu):
    with pytest.raises(Conflict) as caught:
        metric_delete(metric=cpu)
    assert caught.value.code == "builtin_metric"


def test_one_with_values_stays_and_is_about_the_same(idc):
    metric = metric_create(code="x", direction="higher", scope="idc")
    Latest.objects.create(metric=metric, idc=idc, value=1, at=timezone.now())
    for act in (lambda: metric_delete(metric=metric), lambda: metric_update(metric=metric, changes={"scope": "line"})):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.code == "in_use"
    assert metric_update(metric=metric, changes={"direction": "lower"}).direction == "lower"


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"code": "a b"}, "/code", "invalid_code", id="a blank in the code"),
        pytest.param({"direction": "up"}, "/direction", "invalid_choice", id="an unknown direction"),
        pytest.param({"scope": "rack"}, "/scope", "invalid_choice", id="an unknown scope"),
        pytest.param({"max_age_seconds": 0}, "/max_age_seconds", "out_of_range", id="stale at once"),
        pytest.param({"low": 1, "high": 1}, "/low", "range_order", id="an empty range"),
        pytest.param({"low": 2, "high": 1}, "/low", "range_order", id="a range turned round"),
        pytest.param({"high": float("inf")}, "/high", "not_finite", id="an endless range"),
    ],
)
def test_a_metric_is_refused(fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        metric_create(**({"code": "x", "direction": "higher", "scope": "idc"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)


def test_a_code_is_taken_once():
    with pytest.raises(Conflict) as caught:
        metric_create(code="cpu_load", direction="higher", scope="idc")
    assert caught.value.code == "already_exists"


@pytest.mark.parametrize(
    "fields",
    [
        {"direction": "up"},
        {"scope": "rack"},
        {"max_age_seconds": 0},
        {"low": 1, "high": 1},
        {"low": float("-inf")},
        {"high": float("inf")},
        {"code": "cpu_load"},
    ],
    ids=str,
)
def test_the_database_refuses_a_metric(fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        Metric.objects.create(**({"code": "x", "direction": "higher", "scope": "idc"} | fields))


def test_the_database_holds_one_value_of_each(line, bandwidth, cpu):
    day = {"day": date(2031, 5, 5), "values": b""}
    for subject in ({"metric": bandwidth, "idc": line.idc, "line": line}, {"metric": cpu, "idc": line.idc}):
        for model, fields in ((Latest, {"value": 1, "at": timezone.now()}), (SampleDay, day)):
            model.objects.create(**subject, **fields)
            with pytest.raises(IntegrityError), transaction.atomic():
                model.objects.create(**subject, **fields)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")], ids=str)
def test_the_database_refuses_what_is_no_number(line, bandwidth, value):
    with pytest.raises(IntegrityError), transaction.atomic():
        Latest.objects.create(metric=bandwidth, idc=line.idc, line=line, value=value, at=timezone.now())


@pytest.mark.parametrize(
    "fields", [{"p95_mbps": None}, {"covered_slots": 0}, {"p95_mbps": -1}, {"p95_mbps": float("inf")}], ids=str
)
def test_the_database_refuses_a_rollup(line, fields):
    sound = {"p95_mbps": 1, "covered_slots": 1, "window_seconds": 1, "hours_until": timezone.now()}
    with pytest.raises(IntegrityError), transaction.atomic():
        BandwidthRollup.objects.create(**(sound | {"line": line, "busy_profile": b"", "hours": b""} | fields))


def test_a_database_without_the_table_is_left_alone():
    builtin_metrics_ensure(using="default", apps=Apps())


def test_a_metric_is_found_by_its_code(cpu):
    assert metric_named("cpu_load") == cpu
    with pytest.raises(Invalid) as caught:
        metric_named("mood", "/metric")
    assert (caught.value.code, caught.value.errors[0].pointer) == ("unknown_metric", "/metric")


@pytest.mark.parametrize(
    ("code", "name", "title"),
    [
        pytest.param("cpu_load", "CPU load", "CPU LOAD", id="as it came"),
        pytest.param("cpu_load", "Processors", "Processors", id="renamed"),
        pytest.param("cpu_load", "", "cpu_load", id="its name taken away"),
        pytest.param("quality", "CPU load", "CPU load", id="another one of that name"),
    ],
)
def test_the_name_of_a_built_in_one_is_translated(
    code: str, name: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, "gettext", str.upper)
    assert metric_title(code, name) == title
