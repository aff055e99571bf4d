"""Storing in bulk does what storing one value after the other, by the rule, would do: on every database."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.samples.slots import SLOTS_A_DAY, slot_floor, slot_of_day, unpacked
from metrics_ingest.services import Sample, metric_create, samples_store

NOW = datetime(2031, 5, 7, 0, 12, 30, tzinfo=UTC)
SUBJECTS = [("a", "ct", "bandwidth_mbps"), ("a", "cu", "bandwidth_mbps"), ("b", None, "cpu_load"), ("a", None, "mood")]
Key = tuple[str, str | None, str]

samples = st.builds(
    lambda subject, seconds, value: Sample(
        idc=subject[0], line=subject[1], metric=subject[2], at=NOW - timedelta(seconds=seconds), value=value
    ),
    st.sampled_from(SUBJECTS),
    st.one_of(st.integers(0, 900), st.integers(0, 4000)),  # over midnight, and often in one slot
    st.integers(0, 64).map(lambda number: number / 64),
)


class Expected:
    """A plain model of the rule by which samples are stored."""

    def __init__(self) -> None:
        self.latest: dict[Key, tuple[datetime, float]] = {}
        self.slots: dict[tuple[Key, date, int], float] = {}

    def push(self, pushed: Iterable[Sample]) -> None:
        """Store the samples in the order of their times; of two of the same time the later in the list counts."""
        ordered = sorted(pushed, key=lambda sample: sample.at)
        for sample in ordered:
            key = (sample.idc, sample.line, sample.metric)
            if key not in self.latest or sample.at >= self.latest[key][0]:
                self.latest[key] = (sample.at, sample.value)
        for sample in ordered:
            key = (sample.idc, sample.line, sample.metric)
            newest = self.latest[key][0]
            if sample.at == newest or slot_floor(sample.at) != slot_floor(newest):
                self.slots[(key, *slot_of_day(sample.at))] = sample.value


def held_slots() -> dict[tuple[Key, date, int], float]:
    found = {}
    for day in SampleDay.objects.select_related("metric", "idc", "line"):
        key = (day.idc.code, day.line.code if day.line else None, day.metric.code)
        values = unpacked(day.values)
        assert values.size == SLOTS_A_DAY
        found |= {(key, day.day, int(slot)): float(values[slot]) for slot in np.flatnonzero(~np.isnan(values))}
    return found


def held_latest() -> dict[Key, tuple[datetime, float]]:
    rows = Latest.objects.values_list("idc__code", "line__code", "metric__code", "at", "value")
    return {(idc, line, metric): (at, value) for idc, line, metric, at, value in rows}


@pytest.mark.both
class StoringTest(TestCase):
    def setUp(self) -> None:
        region_create(code="A")
        lines = [{"isp": isp_create(code=code), "purchased_mbps": 1000} for code in ("ct", "cu")]
        idc_create(code="a", region="A", lines=lines)
        idc_create(code="b", region="A")
        metric_create(code="mood", direction="higher", scope="idc")

    @given(st.lists(st.lists(samples, max_size=12), max_size=5))
    @settings(max_examples=60)
    def test_it_works(self, pushes: list[list[Sample]]) -> None:
        expected = Expected()
        for pushed in pushes:
            samples_store(samples=pushed, now=NOW)
            expected.push(pushed)
        assert held_latest() == expected.latest
        assert held_slots() == expected.slots


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_days_with_many_gaps_are_put_together(idc: Idc, now: datetime) -> None:
    """Every second slot of two days is overwritten, in one call with samples of another metric, which is about IDCs."""
    slots = [now - number * timedelta(minutes=5) for number in range(500)]
    every = [Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=1, at=at) for at in slots]
    second = [Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=2, at=at) for at in slots[1::2]]
    load = [Sample(idc="gz-01", metric="cpu_load", value=0.5, at=at) for at in slots[::3]]
    samples_store(samples=every, now=now)
    samples_store(samples=second + load, now=now)
    held = held_slots()
    traffic = {place[1:]: value for place, value in held.items() if place[0][2] == "bandwidth_mbps"}
    assert traffic == {slot_of_day(at): 1.0 + number % 2 for number, at in enumerate(slots)}
    assert sum(place[0][2] == "cpu_load" for place in held) == len(load)


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_two_calls_in_one_transaction_do_not_mix(line: Line, now: datetime) -> None:
    """The second call must not find samples of the first one in the temporary table through which both write."""
    other = Line.objects.exclude(pk=line.pk).get()
    for code, value in ((line.code, 1.0), (other.code, 2.0)):
        sample = Sample(idc="gz-01", line=code, metric="bandwidth_mbps", value=value, at=now)
        samples_store(samples=[sample], now=now)
        Latest.objects.update(value=7)
    assert set(Latest.objects.values_list("line__code", "value")) == {("ct", 7), ("cu", 7)}
    assert SampleDay.objects.count() == 2


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_time_is_kept_to_the_microsecond(line: Line, now: datetime) -> None:
    times = [now + timedelta(microseconds=number) for number in (1, 333_333, 999_999)]
    for at in times:
        samples_store(samples=[Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=1, at=at)], now=at)
        assert Latest.objects.get().at == at
