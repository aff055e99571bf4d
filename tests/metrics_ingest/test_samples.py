"""Samples: all or nothing, idempotent, in any order."""

import dataclasses
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from msgspec.structs import replace

from idcsched.accounts.roles import Principal, Role
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Forbidden, Invalid
from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import region_create
from metrics_ingest.models import Latest, Metric, SampleDay
from metrics_ingest.samples.slots import slot_of_day, unpacked
from metrics_ingest.services import MAX_SAMPLES, Sample, metric_create, samples_store

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def sample(line: Line, now: datetime) -> Sample:
    return Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=250.5, at=now)


def latest(code: str = "bandwidth_mbps") -> list[tuple[float, datetime]]:
    return list(Latest.objects.filter(metric__code=code).values_list("value", "at"))


def history(at: datetime, code: str = "bandwidth_mbps") -> float:
    """Return the value of the slot of that moment."""
    day, slot = slot_of_day(at)
    return float(unpacked(SampleDay.objects.get(metric__code=code, day=day).values)[slot])


def test_it_works(sample, now):
    FeedEntry.objects.all().delete()
    load = Sample(idc="gz-01", metric="cpu_load", value=0.5, at=now)
    assert samples_store(samples=[sample, load], now=now) == 2
    assert latest() == [(250.5, now)]
    assert latest("cpu_load") == [(0.5, now)]
    assert (history(now), history(now, "cpu_load")) == (250.5, 0.5)
    assert set(FeedEntry.objects.values_list("topic", "key")) == {
        ("metrics", "bandwidth_mbps"),
        ("metrics", "cpu_load"),
    }


def test_none_are_none(now, db):
    FeedEntry.objects.all().delete()
    assert samples_store(samples=[], now=now) == 0
    assert not FeedEntry.objects.exists()


def test_the_same_twice_is_one(sample, now):
    for _ in range(2):
        samples_store(samples=[sample, sample], now=now)
    assert latest() == [(250.5, now)]
    assert SampleDay.objects.count() == 1
    assert np.count_nonzero(~np.isnan(unpacked(SampleDay.objects.get().values))) == 1


@pytest.mark.both
def test_an_older_one_never_takes_the_place_of_a_newer(sample, now):
    samples_store(samples=[sample], now=now)
    samples_store(samples=[replace(sample, at=now - timedelta(seconds=30), value=1)], now=now)
    assert latest() == [(250.5, now)]
    assert history(now) == 250.5, "nor in its slot"


def test_an_older_one_still_makes_history(sample, now):
    samples_store(samples=[sample], now=now)
    earlier = now - timedelta(hours=30)
    samples_store(samples=[replace(sample, at=earlier, value=1)], now=now)
    assert latest() == [(250.5, now)]
    assert (history(now), history(earlier)) == (250.5, 1)


def test_a_slot_holds_the_last_of_its_samples_in_whatever_order_they_come(sample, now):
    times = [now, now - timedelta(seconds=20), now - timedelta(seconds=40)]
    samples_store(samples=[replace(sample, at=at, value=place) for place, at in enumerate(times)], now=now)
    assert latest() == [(0, now)]
    assert history(now) == 0


def test_what_comes_for_a_slot_that_is_over_replaces_what_it_held(sample, now):
    samples_store(samples=[sample, replace(sample, at=now - timedelta(hours=1), value=1)], now=now)
    samples_store(samples=[replace(sample, at=now - timedelta(hours=1, seconds=20), value=2)], now=now)
    assert history(now - timedelta(hours=1)) == 2
    assert latest() == [(250.5, now)]


def test_of_two_of_the_same_time_the_later_one_corrects(sample, now):
    samples_store(samples=[sample], now=now)
    samples_store(samples=[replace(sample, value=7)], now=now)
    assert latest() == [(7, now)]
    assert history(now) == 7


@pytest.mark.both
def test_times_are_moments_in_whatever_zone(sample, now):
    samples_store(samples=[replace(sample, at=now.astimezone(timezone(timedelta(hours=8))))], now=now)
    assert latest() == [(250.5, now)]


def test_lines_of_one_code_are_kept_apart_by_idc(sample, now, idc):
    other = Idc.objects.create(code="gz-02", region=idc.region)
    Line.objects.create(idc=other, code="ct", isp=idc.lines.get(code="ct").isp, purchased_mbps=1)
    samples_store(samples=[sample, replace(sample, idc="gz-02", value=1)], now=now)
    assert dict(Latest.objects.values_list("line__idc__code", "value")) == {"gz-01": 250.5, "gz-02": 1}


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"idc": "nowhere"}, "/idc", "unknown_idc", id="an unknown IDC"),
        pytest.param({"line": "cm"}, "/line", "unknown_line", id="a line the IDC has not"),
        pytest.param({"line": None}, "/line", "line_required", id="no line where there must be one"),
        pytest.param({"metric": "mood"}, "/metric", "unknown_metric", id="an unknown metric"),
        pytest.param({"metric": "cpu_load", "value": 0}, "/line", "line_not_allowed", id="a line where there is none"),
        pytest.param({"value": float("nan")}, "/value", "not_finite", id="no number"),
        pytest.param({"value": float("inf")}, "/value", "not_finite", id="no end"),
        pytest.param({"value": -0.1}, "/value", "out_of_range", id="below its range"),
        pytest.param({"value": 1e10}, "/value", "out_of_range", id="above its range"),
        pytest.param({"metric": "free", "value": 1e13}, "/value", "out_of_range", id="beyond everything"),
    ],
)
def test_a_sample_is_refused_by_its_place(sample, now, fields, pointer, code):
    metric_create(code="free", direction="higher", scope="line")
    with pytest.raises(Invalid) as caught:
        samples_store(samples=[sample, replace(sample, **fields)], now=now)
    assert [(item.pointer, item.code) for item in caught.value.errors] == [(f"/1{pointer}", code)]
    assert not Latest.objects.exists()
    assert not SampleDay.objects.exists()


@pytest.mark.parametrize(
    ("ahead", "code"),
    [
        pytest.param(timedelta(minutes=1), None, id="a minute ahead"),
        pytest.param(timedelta(minutes=1, microseconds=1), "in_the_future", id="more than a minute ahead"),
        pytest.param(-timedelta(days=40), None, id="forty days ago"),
        pytest.param(-timedelta(days=40, microseconds=1), "too_old", id="more than forty days ago"),
    ],
)
def test_a_sample_has_its_time(sample, now, ahead, code):
    moved = replace(sample, at=now + ahead)
    if code is None:
        assert samples_store(samples=[moved], now=now) == 1
        return
    with pytest.raises(Invalid) as caught:
        samples_store(samples=[moved], now=now)
    assert (caught.value.code, caught.value.errors[0].pointer) == (code, "/0/at")


def test_a_sample_that_lies_ahead_is_taken_at_its_arrival(sample, now):
    """Samples from the future are stored as of now, and the latest counts; one of a second later replaces it."""
    ahead = [replace(sample, value=float(seconds), at=now + timedelta(seconds=seconds)) for seconds in (50, 20)]
    samples_store(samples=ahead, now=now)
    assert Latest.objects.values_list("value", "at").get() == (50.0, now)
    later = now + timedelta(seconds=1)
    samples_store(samples=[replace(sample, value=7.0, at=later)], now=later)
    assert Latest.objects.values_list("value", "at").get() == (7.0, later)


def test_a_time_without_a_zone_is_no_time(sample, now):
    with pytest.raises(Invalid) as caught:
        samples_store(samples=[replace(sample, at=now.replace(tzinfo=None))], now=now)
    assert (caught.value.code, caught.value.errors[0].pointer) == ("zone_required", "/0/at")


def test_every_bad_one_is_named(sample, now):
    bad = replace(sample, idc="nowhere", metric="mood")
    with pytest.raises(Invalid) as caught:
        samples_store(samples=[bad, sample, bad], now=now)
    assert [item.pointer for item in caught.value.errors] == ["/0/idc", "/0/metric", "/2/idc", "/2/metric"]


def test_too_many_at_once(sample, now):
    with pytest.raises(Invalid) as caught:
        samples_store(samples=[sample] * (MAX_SAMPLES + 1), now=now)
    assert caught.value.code == "too_many"


def test_only_within_ones_regions(sample, now):
    region_create(code="B")
    someone = Principal(user_id=1, username="olga", role=Role.OPERATOR, regions=("B",))
    with pytest.raises(Forbidden):
        samples_store(samples=[sample], now=now, principal=someone)
    assert not Latest.objects.exists()
    assert samples_store(samples=[sample], now=now, principal=dataclasses.replace(someone, regions=("A",))) == 1


def test_thousands_take_few_statements(idc, now, django_assert_max_num_queries):
    isp = idc.lines.get(code="ct").isp
    idcs = Idc.objects.bulk_create(Idc(code=f"i-{number}", region=idc.region) for number in range(1000))
    Line.objects.bulk_create(
        Line(idc=one, code=code, isp=isp, purchased_mbps=1) for one in idcs for code in ("ct", "cu")
    )
    samples = [
        Sample(idc=one.code, line=code, metric="bandwidth_mbps", value=number, at=now)
        for number, one in enumerate(idcs)
        for code in ("ct", "cu")
    ]
    with django_assert_max_num_queries(120):
        assert samples_store(samples=samples, now=now) == 2000
    assert Latest.objects.count() == SampleDay.objects.count() == 2000


def test_lines_are_looked_up_only_where_samples_name_some(sample, now, idc):
    of_idc = Sample(idc=idc.code, metric="cpu_load", value=0.5, at=now)
    for samples, expected in (([of_idc, sample], 1), ([of_idc], 0)):
        with CaptureQueriesContext(connection) as queries:
            samples_store(samples=samples, now=now)
        assert sum('FROM "inventory_line"' in query["sql"] for query in queries) == expected


def test_values_say_what_they_are_about(sample, now):
    samples_store(samples=[sample], now=now)
    assert str(Latest.objects.get()) == "gz-01/ct bandwidth_mbps 250.5"
    assert str(SampleDay.objects.get()) == "gz-01/ct bandwidth_mbps 2031-05-07"
    assert str(Metric.objects.get(code="cpu_load")) == "cpu_load CPU load"
