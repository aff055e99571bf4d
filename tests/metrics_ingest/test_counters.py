"""Counters that only grow become rates; what does not follow from two readings is refused, with its reason."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.errors import Invalid
from metrics_ingest.models import CounterReadings, Latest, Run, RunState, Source
from metrics_ingest.services import source_delete, source_update
from metrics_ingest.sources.collecting import source_collect
from metrics_ingest.sources.counters import Counted, Reading, rates
from metrics_ingest.sources.trying import source_try
from tests.outbound.peers import Exchange, json_reply, peer

MakeSource = Callable[..., Source]
NOW = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
LARGEST = 2**64 - 1
MBPS = {"value": "[in, out]", "counter": True, "scale": 8e-6}
MAPPING = {"idc": "site", "line": "isp", "at": "at", "values": {"bandwidth_mbps": MBPS}}


def reading(seconds: float, *counters: float, idc: str = "gz-01") -> Reading:
    """Return a reading of a line's counters, so many seconds after noon."""
    return Reading(
        idc=idc,
        line="ct",
        metric="bandwidth_mbps",
        at=NOW + timedelta(seconds=seconds),
        counters=counters,
        scale=1.0,
        offset=0.0,
        max_gap=timedelta(minutes=15),
    )


def counted(*runs: Iterable[Reading], after: float = 180) -> Counted:
    """Return the result of the last of several runs, each of which knows the readings of those before it."""
    found = Counted({})
    for readings in runs:
        found = rates(readings, found.held, now=NOW + timedelta(seconds=after))
    return found


def values(found: Counted) -> list[float]:
    return [sample.value for sample in found.samples]


def reasons(found: Counted) -> list[str]:
    return [reason.code for _, reason in found.refused]


def test_it_works() -> None:
    found = counted([reading(0, 1000)], [reading(60, 7000)])
    assert (values(found), reasons(found)) == ([100.0], [])
    assert found.samples[0].at == NOW + timedelta(seconds=60)


def test_a_first_reading_gives_nothing() -> None:
    assert reasons(counted([reading(0, 1000)])) == ["first_reading"]


def test_a_counter_that_goes_back_gives_nothing_and_is_what_the_next_is_compared_with() -> None:
    runs = [[reading(0, 5000)], [reading(60, 100)], [reading(120, 700)]]
    assert reasons(counted(*runs[:2])) == ["counter_reset"]
    assert values(counted(*runs)) == [10.0]


def test_one_of_two_that_goes_back_spoils_the_pair() -> None:
    assert reasons(counted([reading(0, 5, 5)], [reading(60, 50, 4)])) == ["counter_reset"]


def test_of_several_the_fastest_counts() -> None:
    assert values(counted([reading(0, 0, 0)], [reading(10, 10, 70)])) == [7.0]


def test_after_a_long_silence_the_mean_is_not_told_as_if_it_were_now() -> None:
    assert values(counted([reading(0, 0)], [reading(900, 900)], after=900)) == [1.0]
    late = [[reading(0, 0)], [reading(901, 900)]]
    assert reasons(counted(*late, after=901)) == ["counter_gap"]
    assert values(counted(*late, [reading(961, 960)], after=961)) == [1.0]


def test_the_same_reading_twice_gives_the_same_sample_twice() -> None:
    once = counted([reading(0, 0)], [reading(60, 60)])
    again = counted([reading(0, 0)], [reading(60, 60)], [reading(60, 60)])
    assert once.samples == again.samples
    assert reasons(counted([reading(0, 0)], [reading(0, 0)])) == ["first_reading"]


def test_what_was_read_earlier_or_too_soon_changes_nothing() -> None:
    runs = [[reading(0, 0)], [reading(60, 60)]]
    assert reasons(counted(*runs, [reading(30, 30)])) == ["out_of_order"]
    assert reasons(counted(*runs, [reading(60.5, 61)])) == ["too_soon"]
    assert values(counted(*runs, [reading(30, 30), reading(60.5, 61)], [reading(120, 180)])) == [2.0]


def test_a_reading_of_the_future_is_not_what_others_are_compared_with() -> None:
    runs = [[reading(0, 0)], [reading(301, 1)]]
    assert reasons(counted(*runs)) == ["in_the_future"]
    assert values(counted(*runs, [reading(60, 60)])) == [1.0]


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("when", ["0001-01-01T00:00:00+08:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-08:00"])
def test_a_reading_of_another_age_harms_nothing(device: "Device", when: str) -> None:
    first = {"site": "gz-01", "isp": "ct", "at": when, "in": 1, "out": 1}
    run = device.asked(0, first, at(0, **{"in": 2, "out": 2}))
    code = "in_the_future" if when > "2031" else "too_old"
    assert {each["code"] for each in run.refusals} == {code, "first_reading"}
    assert device.asked(60, at(60, **{"in": 3, "out": 3})).stored == 1


def test_several_readings_of_one_run_follow_each_other_whatever_their_order() -> None:
    found = counted([reading(120, 240), reading(0, 0), reading(60, 60), reading(60, 5, idc="sh-01")])
    assert values(found) == [1.0, 3.0]
    assert reasons(found) == ["first_reading", "first_reading"]


def test_another_number_of_counters_is_a_first_reading() -> None:
    assert reasons(counted([reading(0, 0)], [reading(60, 60, 60)])) == ["first_reading"]


def test_a_counter_of_64_bits_loses_no_digit() -> None:
    found = counted([reading(0, LARGEST - 6)], [reading(60, LARGEST)])
    assert values(found) == [0.1]


def test_what_nobody_has_read_for_a_day_is_forgotten() -> None:
    assert counted([reading(0, 0)], [], after=86_399).held
    assert not counted([reading(0, 0)], [], after=86_400).held


@given(steps=st.lists(st.tuples(st.integers(1, 900), st.integers(0, 10**15)), min_size=1, max_size=20))
def test_no_growth_is_lost_or_counted_twice(steps: list[tuple[int, int]]) -> None:
    """However a counter is cut into readings and runs, the rates add up to what it has counted."""
    readings, at, count = [reading(0, 0)], 0, 0
    for seconds, growth in steps:
        at, count = at + seconds, count + growth
        readings.append(reading(at, count))
    in_one_run = rates(readings, {}, now=readings[-1].at)
    held, one_by_one = {}, []
    for each in readings:
        found = rates([each], held, now=each.at)
        held, one_by_one = found.held, one_by_one + found.samples
    assert one_by_one == in_one_run.samples
    total = sum(sample.value * seconds for sample, (seconds, _) in zip(one_by_one, steps, strict=True))
    assert total == pytest.approx(count)


def at(seconds: float, **counters: Any) -> dict[str, Any]:
    return {"site": "gz-01", "isp": "ct", "at": (NOW + timedelta(seconds=seconds)).timestamp(), **counters}


class Device:
    """A source whose answers and whose clock the test sets."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, [at(0, **{"in": 0, "out": 0})]

    def serve(self, exchange: Exchange) -> None:
        json_reply(self.records)(exchange)

    def asked(self, seconds: float, *records: dict[str, Any]) -> Run:
        self.records = list(records)
        run = source_collect(source_id=self.source.pk, clock=lambda: NOW + timedelta(seconds=seconds))
        assert run is not None
        return run


@pytest.fixture
def device(make_source: MakeSource) -> Iterable[Device]:
    made = Device(make_source(mapping=MAPPING))
    with peer(made.serve) as server:
        Source.objects.update(config={"url": server.url, "timeout_seconds": 60}, due_at=NOW)
        yield made


def said(run: Run) -> tuple[str, int, int, list[str]]:
    return run.state, run.fetched, run.stored, [each["code"] for each in run.refusals]


@pytest.mark.usefixtures("db")
def test_runs_keep_what_they_have_read(device: Device) -> None:
    first = device.asked(0, at(0, **{"in": "18446744073709551000", "out": 10**9}))
    second = device.asked(60, at(60, **{"in": 18446744073709551615, "out": 10**9 + 75 * 10**7}))
    assert said(first) == (RunState.SUCCEEDED, 1, 0, ["first_reading"])
    assert said(second) == (RunState.SUCCEEDED, 1, 1, [])
    assert Latest.objects.get().value == pytest.approx(100.0)
    assert Latest.objects.get().at == NOW + timedelta(seconds=60)


@pytest.mark.usefixtures("db")
def test_a_run_in_which_every_counter_went_back_says_so(device: Device) -> None:
    device.asked(0, at(0, **{"in": 10, "out": 10}))
    run = device.asked(60, at(60, **{"in": 1, "out": 1}))
    assert said(run) == (RunState.FAILED, 1, 0, ["counter_reset"])
    assert run.refusals[0]["examples"][0]["value"] == "1, 1"
    assert said(device.asked(120, at(120, **{"in": 2, "out": 2})))[:3] == (RunState.SUCCEEDED, 1, 1)


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize(
    ("counters", "code"),
    [
        ({"in": -1, "out": 1}, "not_a_counter"),
        ({"in": 2**64, "out": 1}, "not_a_counter"),
        ({"in": "NaN", "out": 1}, "not_a_counter"),
        ({"in": None, "out": 1}, "not_a_number"),
        ({"in": True, "out": 1}, "not_a_number"),
    ],
)
def test_what_is_no_counter_is_refused_and_not_kept(device: Device, counters: dict[str, Any], code: str) -> None:
    assert said(device.asked(0, at(0, **counters)))[3] == [code]
    assert not CounterReadings.objects.exists()


@pytest.mark.usefixtures("db")
def test_two_counters_under_one_name_are_not_guessed_about(device: Device) -> None:
    run = device.asked(0, at(0, **{"in": 1, "out": 1}), at(0, **{"in": 2, "out": 2}))
    assert said(run) == (RunState.FAILED, 2, 0, ["ambiguous"])


@pytest.mark.usefixtures("db")
def test_under_another_mapping_a_counter_is_another_one(device: Device) -> None:
    device.asked(0, at(0, **{"in": 10, "out": 10}))
    rule = {"bandwidth_mbps": MBPS | {"value": "in"}}
    source_update(source=device.source, changes={"mapping": MAPPING | {"values": rule}})
    Source.objects.update(due_at=NOW)
    assert said(device.asked(60, at(60, **{"in": 70, "out": 70})))[3] == ["first_reading"]


@pytest.mark.usefixtures("db")
def test_trying_compares_and_keeps_nothing(device: Device) -> None:
    device.asked(0, at(0, **{"in": 0, "out": 0}))
    before = CounterReadings.objects.get().held
    device.records = [at(60, **{"in": 0, "out": 75 * 10**7})]
    tried = source_try(source=Source.objects.get(), now=NOW + timedelta(seconds=60))
    assert [sample.value for sample in tried.samples] == pytest.approx([100.0])
    assert CounterReadings.objects.get().held == before


@pytest.mark.usefixtures("db")
def test_they_go_with_their_source(device: Device) -> None:
    device.asked(0, at(0, **{"in": 0, "out": 0}))
    source_delete(source=Source.objects.get())
    assert not CounterReadings.objects.exists()


@pytest.mark.parametrize(
    ("rule", "schedule", "code", "pointer"),
    [
        ({"value": "in", "max_gap_seconds": 60}, "30", "not_a_counter", "/max_gap_seconds"),
        ({"value": "in", "counter": True}, "900", "out_of_range", "/max_gap_seconds"),
        ({"value": "in", "counter": True}, "0 * * * *", "out_of_range", "/max_gap_seconds"),
    ],
)
def test_a_rule_that_could_never_give_a_rate_is_not_saved(
    make_source: MakeSource, rule: dict[str, Any], schedule: str, code: str, pointer: str
) -> None:
    mapping = MAPPING | {"values": {"bandwidth_mbps": rule}}
    with pytest.raises(Invalid) as refused:
        make_source(mapping=mapping, schedule=schedule)
    assert [(each.code, each.pointer) for each in refused.value.errors] == [
        (code, f"/mapping/values/bandwidth_mbps{pointer}")
    ]
