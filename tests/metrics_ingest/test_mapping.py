"""From records to samples: which thing a record is about, what it says of it, and what can't be made of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from metrics_ingest.samples.names import Names
from metrics_ingest.sources.mapping import Mapped, compile_mapping

NOW = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
NAMES = Names(
    lines={"gz-01": frozenset({"ct", "cu"}), "sh-01": frozenset()},
    aliases={"ct": "ct", "telecom": "ct", "cu": "cu"},
    about_lines=frozenset({"bandwidth_mbps"}),
)
LOAD = {"idc": "site", "values": {"cpu_load": "cpu"}}
FLOW = {"idc": "site", "line": "isp", "values": {"bandwidth_mbps": "mbps"}}


def mapped(mapping: dict[str, Any], *records: dict[str, Any]) -> Mapped:
    return compile_mapping(mapping).samples(records, NAMES, now=NOW)


def found(mapping: dict[str, Any], *records: dict[str, Any]) -> list[tuple[Any, ...]]:
    result = mapped(mapping, *records)
    assert not result.refused
    assert not result.unmatched
    return [(sample.idc, sample.line, sample.metric, sample.value) for sample in result.samples]


def refused(mapping: dict[str, Any], *records: dict[str, Any]) -> list[str]:
    result = mapped(mapping, *records)
    assert not result.samples
    return [each.reason.code for each in result.refused]


def test_it_works() -> None:
    assert found(LOAD, {"site": "gz-01", "cpu": 0.5}) == [("gz-01", None, "cpu_load", 0.5)]
    assert found(FLOW, {"site": "gz-01", "isp": "ct", "mbps": 12}) == [("gz-01", "ct", "bandwidth_mbps", 12.0)]
    assert mapped(LOAD, {"site": "gz-01", "cpu": 0.5}).samples[0].at == NOW


def test_units_are_converted() -> None:
    rule = {**FLOW, "values": {"bandwidth_mbps": {"value": "max([in, out])", "scale": 8e-6, "offset": 1}}}
    assert found(rule, {"site": "gz-01", "isp": "ct", "in": 1e8, "out": 125e6}) == [
        ("gz-01", "ct", "bandwidth_mbps", 1001.0)
    ]


def test_names_are_translated_and_isps_known_by_their_aliases() -> None:
    rule = {**FLOW, "idcs": {"Guangzhou": "gz-01"}, "lines": {"blue": "cu"}}
    records = [{"site": "Guangzhou", "isp": isp, "mbps": 1} for isp in ("blue", "Telecom")]
    assert [line for _, line, _, _ in found(rule, *records)] == ["cu", "ct"]


def test_a_record_may_hold_many_metrics_and_not_all_of_them() -> None:
    rule = {"idc": "site", "values": {"cpu_load": "cpu", "memory_load": "memory"}}
    records = ({"site": "gz-01", "cpu": "0.5", "memory": 0.25}, {"site": "sh-01", "cpu": None})
    assert [(idc, metric) for idc, _, metric, _ in found(rule, *records)] == [
        ("gz-01", "cpu_load"),
        ("gz-01", "memory_load"),
    ]


def test_a_record_may_name_its_metric() -> None:
    rule = {"idc": "site", "metric": "what", "value": "amount", "metrics": {"cpu": "cpu_load"}}
    records = ({"site": "gz-01", "what": "cpu", "amount": 1}, {"site": "gz-01", "what": "disk_load", "amount": 0})
    assert [metric for _, _, metric, _ in found(rule, *records)] == ["cpu_load", "disk_load"]


def test_records_that_are_not_meant_are_passed_over() -> None:
    rule = {**LOAD, "where": "state == 'up'"}
    records = ({"site": "gz-01", "cpu": 1, "state": "up"}, {"site": "nowhere", "cpu": "x", "state": "down"})
    assert len(found(rule, *records)) == 1


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (1_936_000_000, datetime.fromtimestamp(1_936_000_000, UTC)),
        (1_936_000_000.5, datetime.fromtimestamp(1_936_000_000.5, UTC)),
        (1_936_000_000_000, datetime.fromtimestamp(1_936_000_000, UTC)),
        ("1936000000", datetime.fromtimestamp(1_936_000_000, UTC)),
        ("2031-05-07T20:00:00+08:00", datetime(2031, 5, 7, 12, tzinfo=UTC)),
        ("2031-05-07T12:00:00Z", datetime(2031, 5, 7, 12, tzinfo=UTC)),
        (datetime(2031, 5, 7, 12, tzinfo=UTC), datetime(2031, 5, 7, 12, tzinfo=UTC)),
    ],
)
def test_times_are_understood(said: Any, meant: datetime) -> None:
    assert mapped({**LOAD, "at": "t"}, {"site": "gz-01", "cpu": 1, "t": said}).samples[0].at == meant


def test_a_time_without_a_zone_needs_one() -> None:
    record = {"site": "gz-01", "cpu": 1, "t": "2031-05-07 20:00:00"}
    assert refused({**LOAD, "at": "t"}, record) == ["zone_required"]
    at = mapped({**LOAD, "at": "t", "zone": "Asia/Shanghai"}, record).samples[0].at
    assert at - datetime(2031, 5, 7, 12, tzinfo=UTC) == timedelta(0)


@pytest.mark.parametrize("said", [None, "yesterday", True, [], 1e300, "nan", {"a": 1}])
def test_what_is_no_time_is_refused(said: Any) -> None:
    assert refused({**LOAD, "at": "t"}, {"site": "gz-01", "cpu": 1, "t": said}) == ["not_a_time"]


@pytest.mark.parametrize("said", ["12 Mbps", "", True, [], {}, "0x10", "1_0x"])
def test_what_is_no_number_is_refused(said: Any) -> None:
    assert refused(LOAD, {"site": "gz-01", "cpu": said}) == ["not_a_number"]


def test_an_expression_that_does_not_fit_is_refused_and_the_rest_kept() -> None:
    rule = {"idc": "site", "values": {"cpu_load": "max([a, b])", "disk_load": "disk"}}
    result = mapped(rule, {"site": "gz-01", "a": "x", "b": 1, "disk": 0.5})
    assert [each.reason.code for each in result.refused] == ["expression_failed"]
    assert [sample.metric for sample in result.samples] == ["disk_load"]
    assert result.fetched == 2


@pytest.mark.parametrize(
    "record",
    [
        {"site": "nowhere", "isp": "ct", "mbps": 1},
        {"site": "sh-01", "isp": "ct", "mbps": 1},
        {"site": "gz-01", "isp": "cm", "mbps": 1},
        {"site": "gz-01", "mbps": 1},
        {"isp": "ct", "mbps": 1},
        {"site": ["gz-01"], "isp": "ct", "mbps": 1},
    ],
)
def test_names_that_nobody_knows_are_counted(record: dict[str, Any]) -> None:
    result = mapped(FLOW, record, record)
    assert list(result.unmatched.values()) == [2]
    assert result.fetched == 2
    assert not result.samples


def test_several_values_of_one_thing_at_one_time_are_all_refused() -> None:
    """Two interfaces report for one line, and the mapping does not add them up: to store either would be a guess."""
    records = [{"site": "gz-01", "isp": "ct", "mbps": value} for value in (1, 2, 1)]
    assert refused(FLOW, *records) == ["ambiguous"] * 3
    assert len(found(FLOW, records[0], records[2])) == 2


@pytest.mark.parametrize(
    ("mapping", "pointer", "code"),
    [
        ({}, "/mapping/idc", "required"),
        ({"idc": "site"}, "/mapping/values", "values_or_metric"),
        ({**LOAD, "metric": "what", "value": "v"}, "/mapping/values", "values_or_metric"),
        ({"idc": "site", "metric": "what"}, "/mapping/value", "values_or_metric"),
        ({**LOAD, "idc": "site["}, "/mapping/idc", "invalid_expression"),
        ({**LOAD, "idc": "nonsense(@)"}, "/mapping/idc", "invalid_expression"),
        ({**LOAD, "line": "|"}, "/mapping/line", "invalid_expression"),
        ({"idc": "site", "values": {"x": {"value": "]"}}}, "/mapping/values/x/value", "invalid_expression"),
        ({"idc": "site", "values": {"x": {"scale": 2}}}, "/mapping/values/x/value", "required"),
        ({**LOAD, "zone": "Mars/Olympus"}, "/mapping/zone", "unknown_zone"),
        ({**LOAD, "lnie": "isp"}, "/mapping/lnie", "unknown_field"),
        ({**LOAD, "idc": "x" * 1001}, "/mapping/idc", "out_of_range"),
    ],
)
def test_a_mapping_that_can_not_be_meant_is_refused(mapping: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping(mapping)
    assert (caught.value.code, caught.value.errors[0].pointer) == (code, pointer)


def test_too_much_is_refused() -> None:
    records = ({"site": "gz-01", "cpu": 1} for _ in range(100_001))
    with pytest.raises(Invalid) as caught:
        mapped(LOAD, *records)
    assert caught.value.code == "too_many"
