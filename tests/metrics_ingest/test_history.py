"""Loading history in bulk, and reading it back condensed."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Invalid
from metrics_ingest.billing.series import MAX_SPAN, series_read
from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.services import history_store

pytestmark = pytest.mark.usefixtures("db")

START = datetime(2031, 5, 5, 23, 0, tzinfo=UTC)
FIVE = timedelta(minutes=5)
NAN = float("nan")


def store(line, bandwidth, values, start=START):
    return history_store(
        metric=bandwidth, idc=line.idc, line=line, start=start, values=np.array(values, dtype=np.float32)
    )


def read(line, bandwidth, *, start=START, slots=24, **options):
    return series_read(metric=bandwidth, idc=line.idc, line=line, start=start, end=start + slots * FIVE, **options)


def test_it_works(line, bandwidth):
    FeedEntry.objects.all().delete()
    assert store(line, bandwidth, range(24)) == 24
    assert SampleDay.objects.count() == 2, "it goes over midnight"
    assert Latest.objects.values_list("value", "at").get() == (23, START + 23 * FIVE)
    assert list(read(line, bandwidth).points()) == [(START + slot * FIVE, float(slot)) for slot in range(24)]
    assert FeedEntry.objects.values_list("topic", "key").get() == ("metrics", "bandwidth_mbps")


@pytest.mark.both
def test_a_gap_leaves_what_is_there(line, bandwidth):
    store(line, bandwidth, [1, 2, 3])
    assert store(line, bandwidth, [NAN, 20, NAN]) == 1
    assert read(line, bandwidth, slots=4).values.tolist()[:3] == [1, 20, 3]
    assert Latest.objects.get().value == 3


def test_nothing_but_gaps_is_nothing(line, bandwidth):
    assert store(line, bandwidth, [NAN, NAN]) == 0
    assert store(line, bandwidth, []) == 0
    assert not SampleDay.objects.exists()


def test_an_idc_has_history_too(idc, cpu):
    history_store(metric=cpu, idc=idc, start=START, values=np.array([0.5], dtype=np.float32))
    found = series_read(metric=cpu, idc=idc, start=START, end=START + FIVE)
    assert found.values.tolist() == [0.5]


@pytest.mark.parametrize(
    ("agg", "expected"),
    [
        ("mean", [2.0, 5.0, None]),
        ("max", [3.0, 5.0, None]),
        ("min", [1.0, 5.0, None]),
        ("last", [2.0, 5.0, None]),
        ("p95", [3.0, 5.0, None]),
    ],
)
def test_steps_are_condensed_and_gaps_do_not_count(line, bandwidth, agg, expected):
    store(line, bandwidth, [1, 3, 2, NAN, 5, NAN])
    found = read(line, bandwidth, slots=8, step=3 * FIVE, agg=agg)
    assert [value for _, value in found.points()] == expected
    assert [at for at, _ in found.points()] == [START, START + 3 * FIVE, START + 6 * FIVE]


def test_reading_starts_with_the_slot_of_the_start_and_costs_one_query(line, bandwidth, django_assert_num_queries):
    store(line, bandwidth, [1, 2, 3])
    with django_assert_num_queries(1):
        found = series_read(
            metric=bandwidth,
            idc=line.idc,
            line=line,
            start=START + timedelta(minutes=7),
            end=START + timedelta(minutes=11),
        )
    assert list(found.points()) == [(START + FIVE, 2.0), (START + 2 * FIVE, 3.0)]


def test_the_end_is_left_out(line, bandwidth):
    store(line, bandwidth, [1, 2])
    assert read(line, bandwidth, slots=1).values.tolist() == [1]


@pytest.mark.parametrize(
    ("options", "pointer", "code"),
    [
        pytest.param({"agg": "median"}, "/agg", "invalid_choice", id="an unknown aggregate"),
        pytest.param({"step": timedelta(minutes=7)}, "/step", "invalid_step", id="no multiple of five minutes"),
        pytest.param({"step": timedelta()}, "/step", "invalid_step", id="no step at all"),
        pytest.param({"end": START}, "/to", "invalid_span", id="an end at the start"),
        pytest.param({"end": START + MAX_SPAN + FIVE}, "/to", "invalid_span", id="too long a span"),
        pytest.param({"line": None}, "/line", "line_mismatch", id="no line where there must be one"),
    ],
)
def test_a_series_is_refused(line, bandwidth, options, pointer, code):
    sound = {"metric": bandwidth, "idc": line.idc, "line": line, "start": START, "end": START + FIVE}
    with pytest.raises(Invalid) as caught:
        series_read(**(sound | options))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)


def test_an_idcs_metric_takes_no_line(line, cpu):
    with pytest.raises(Invalid):
        series_read(metric=cpu, idc=line.idc, line=line, start=START, end=START + FIVE)
    with pytest.raises(Invalid) as caught:
        history_store(metric=cpu, idc=line.idc, line=line, start=START, values=np.zeros(1))
    assert caught.value.code == "line_mismatch"


def test_history_starts_with_a_slot(line, bandwidth):
    with pytest.raises(Invalid) as caught:
        store(line, bandwidth, [1], start=START + timedelta(seconds=1))
    assert caught.value.code == "not_a_slot"
