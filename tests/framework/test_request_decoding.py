"""A request's body: what is refused, with which code and pointer, and what the rest means."""

import json
from math import inf, nan
from typing import Any

import msgspec
import pytest

from idcsched.framework.decoding import convert, decode_json
from idcsched.framework.errors import Invalid
from idcsched.framework.request import Request
from idcsched.framework.testing import decide_for, world

TERM = {"match_labels": {"a": "b"}}


def refused(body: bytes | str | dict[str, Any]) -> tuple[str, str]:
    """The (pointer, code) of the one error in a body; a dict without `region` gets one."""
    if isinstance(body, dict):
        body = json.dumps({"region": "A", **body})
    with pytest.raises(Invalid) as refusal:
        decode_json(body, Request)
    (error,) = refusal.value.errors
    assert error.code == refusal.value.code
    return error.pointer, error.code


def test_it_works() -> None:
    asked = decode_json(
        b"""{"region": "A", "isp": ["ct", "cu"], "machines": [{"count": 3, "bandwidth_mbps": 100, "cpu": 4},
             {"bandwidth_mbps": 50}], "selector": {"match_labels": {"disk": "ssd"}}}""",
        Request,
    )
    assert (asked.regions, asked.wanted_isps) == (("A",), ("ct", "cu"))
    assert (asked.bandwidth, asked.need("cpu"), asked.need("gpu")) == (350.0, 12.0, 0.0)
    assert asked.terms[0].match_labels == {"disk": "ssd"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"", ("", "malformed_json"), id="nothing"),
        pytest.param(b"nope", ("", "malformed_json"), id="no JSON"),
        pytest.param(b'{"region": "A"} x', ("", "malformed_json"), id="more than JSON"),
        pytest.param(b'{"region": "\xff"}', ("", "malformed_json"), id="no UTF-8"),
        pytest.param(b'{"region": "A", "ttl_seconds": NaN}', ("", "malformed_json"), id="NaN is no JSON"),
        pytest.param(b"[]", ("", "wrong_type"), id="a list"),
        pytest.param(b"null", ("", "wrong_type"), id="null"),
        pytest.param(b"{}", ("/region", "region_required"), id="neither region nor only"),
        pytest.param(b'{"region": null}', ("/region", "region_required"), id="null is absent"),
        pytest.param(
            b'{"region": "A", "machines": [{"params": ' + b'{"a":' * 100_000, ("", "too_deep"), id="deep nesting"
        ),
    ],
)
def test_not_a_request(body: bytes, expected: tuple[str, str]) -> None:
    assert refused(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"colour": 1}, ("/colour", "unknown_field"), id="an unknown field"),
        pytest.param({"a/b~c": 1}, ("/a~1b~0c", "unknown_field"), id="pointers are escaped"),
        pytest.param({"machines": [{}, {"colour": 1}]}, ("/machines/1/colour", "unknown_field"), id="… within a list"),
        pytest.param({"region": 5}, ("/region", "wrong_type"), id="a region is a name"),
        pytest.param({"region": []}, ("/region", "out_of_range"), id="no region"),
        pytest.param({"region": ""}, ("/region", "out_of_range"), id="an empty region"),
        pytest.param({"region": ["A", 5]}, ("/region/1", "wrong_type"), id="a region in a list"),
        pytest.param({"only": []}, ("/only", "out_of_range"), id="only nobody"),
        pytest.param({"only": "a"}, ("/only", "wrong_type"), id="only is a list"),
        pytest.param({"isp": []}, ("/isp", "out_of_range"), id="no ISP"),
        pytest.param({"isp_match": "some"}, ("/isp_match", "invalid_choice"), id="isp_match"),
        pytest.param({"tier": "core"}, ("/tier", "invalid_choice"), id="tier"),
        pytest.param({"action": "buy"}, ("/action", "invalid_choice"), id="action"),
        pytest.param({"explain": "all"}, ("/explain", "invalid_choice"), id="explain"),
        pytest.param({"top": 0}, ("/top", "out_of_range"), id="top"),
        pytest.param({"selector": {}}, ("/selector", "empty_selector"), id="an empty term"),
        pytest.param({"selector": []}, ("/selector", "empty_selector"), id="an empty list of terms"),
        pytest.param({"selector": [TERM, {}]}, ("/selector/1", "empty_selector"), id="an empty term in a list"),
        pytest.param({"selector": "a=b"}, ("/selector", "wrong_type"), id="a selector is an object"),
        pytest.param(
            {"selector": {"match_expressions": [{"key": "a", "operator": "In"}]}},
            ("/selector/match_expressions/0/values", "values_required"),
            id="In without values",
        ),
        pytest.param({"fallback": []}, ("/fallback", "empty_selector"), id="no fallback groups"),
        pytest.param({"fallback": [{}]}, ("/fallback/0", "empty_selector"), id="an empty fallback group"),
        pytest.param({"prefer": [{"weight": 5}]}, ("/prefer/0", "empty_selector"), id="a preference for nobody"),
        pytest.param({"prefer": [TERM]}, ("/prefer/0/weight", "required"), id="a preference without weight"),
        pytest.param({"prefer": [{"weight": 0, **TERM}]}, ("/prefer/0/weight", "zero_weight"), id="weight 0"),
        pytest.param({"prefer": [{"weight": 101, **TERM}]}, ("/prefer/0/weight", "out_of_range"), id="weight 101"),
        pytest.param({"prefer": [{"weight": -101, **TERM}]}, ("/prefer/0/weight", "out_of_range"), id="weight −101"),
        pytest.param({"prefer": [{"weight": 1.5, **TERM}]}, ("/prefer/0/weight", "wrong_type"), id="weight 1.5"),
        pytest.param({"tolerations": [{}]}, ("/tolerations/0/operator", "exists_required"), id="an empty toleration"),
        pytest.param({"labels": {"a": 1}}, ("/labels/a", "wrong_type"), id="labels are texts"),
        pytest.param({"labels": {"a": "1", "b/c": 1, "d": 1}}, ("/labels/b~1c", "wrong_type"), id="the first of two"),
        pytest.param({"labels": {"": "x"}}, ("/labels/", "out_of_range"), id="labels have names"),
        pytest.param(
            {"labels": {str(number): number for number in range(2000)}},
            ("/labels", "wrong_type"),
            id="very many labels",
        ),
        pytest.param({"labels": {"tenant": "x"}}, ("/labels/tenant", "reserved_label"), id="the tenant is the token's"),
        pytest.param({"machines": {}}, ("/machines", "wrong_type"), id="machines are a list"),
        pytest.param({"machines": [{"count": 0}]}, ("/machines/0/count", "out_of_range"), id="no machine"),
        pytest.param({"machines": [{"count": 1.5}]}, ("/machines/0/count", "wrong_type"), id="half a machine"),
        pytest.param({"machines": [{"count": 10**30}]}, ("/machines/0/count", "out_of_range"), id="very many machines"),
        pytest.param(
            {"machines": [{"bandwidth_mbps": -1}]},
            ("/machines/0/bandwidth_mbps", "out_of_range"),
            id="less than nothing",
        ),
        pytest.param(
            {"machines": [{"bandwidth_mbps": "1"}]},
            ("/machines/0/bandwidth_mbps", "wrong_type"),
            id="a number is no text",
        ),
        pytest.param({"client": {"latitude": 1}}, ("/client", "incomplete_coordinates"), id="half a place"),
        pytest.param(
            {"client": {"latitude": 91, "longitude": 0}}, ("/client/latitude", "out_of_range"), id="off the globe"
        ),
        pytest.param({"shape": [0.5] * 23}, ("/shape", "invalid_shape"), id="23 hours"),
        pytest.param({"shape": [0.5] * 23 + [-1]}, ("/shape/23", "out_of_range"), id="less than nothing flows"),
        pytest.param({"shape": [0] * 24}, ("/shape", "invalid_shape"), id="nothing flows"),
        pytest.param({"weights": {"x": -1}}, ("/weights/x", "out_of_range"), id="a negative weight"),
        pytest.param({"weights": {"x": "1"}}, ("/weights/x", "wrong_type"), id="a weight is a number"),
        pytest.param({"ttl_seconds": 0}, ("/ttl_seconds", "out_of_range"), id="no time to live"),
        pytest.param({"wait_seconds": 86_401}, ("/wait_seconds", "out_of_range"), id="more than a day"),
        pytest.param(
            {"hypothetical": {"idcs": [{"code": "a", "metrics": {"x": None, "y": "1"}}]}},
            ("/hypothetical/idcs/0/metrics/y", "wrong_type"),
            id="a metric is a number",
        ),
        pytest.param(
            {"hypothetical": {"idcs": [{}]}}, ("/hypothetical/idcs/0/code", "required"), id="what if, of whom"
        ),
    ],
)
def test_refused(body: dict[str, Any], expected: tuple[str, str]) -> None:
    assert refused(body) == expected


def test_a_number_beyond_all_numbers() -> None:
    body = b'{"region": "A", "machines": [{"bandwidth_mbps": 1e999}]}'
    assert refused(body) == ("/machines/0/bandwidth_mbps", "invalid")


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_already_parsed_bodies_are_checked_alike(number: float) -> None:
    with pytest.raises(Invalid) as refusal:
        convert({"region": "A", "machines": [{"cpu": number}]}, Request, "/requests/3")
    assert refusal.value.errors[0].pointer == "/requests/3/machines/0/cpu"
    assert refusal.value.code == "out_of_range"


def test_the_shape_of_a_day_or_a_week() -> None:
    for hours in (24, 168):
        assert len(convert({"region": "A", "shape": [0.5] * hours}, Request).shape) == hours


def test_null_is_an_absent_field_everywhere() -> None:
    names = [field.name for field in msgspec.structs.fields(Request) if field.name != "region"]
    assert convert({"region": "A", **dict.fromkeys(names)}, Request) == Request(region="A")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"region": "mars"}, ("/region", "unknown_region"), id="a region"),
        pytest.param({"region": ["A", "mars"]}, ("/region/1", "unknown_region"), id="a region in a list"),
        pytest.param({"isp": "att"}, ("/isp", "unknown_isp"), id="an ISP"),
        pytest.param({"isp": ["ct", "att"]}, ("/isp/1", "unknown_isp"), id="an ISP in a list"),
        pytest.param({"only": ["a", "z"]}, ("/only/1", "unknown_idc"), id="an IDC"),
        pytest.param({"exclude": ["z"]}, ("/exclude/0", "unknown_idc"), id="an excluded IDC"),
        pytest.param({"client": {"region": "mars"}}, ("/client/region", "unknown_region"), id="the client's region"),
        pytest.param({"weights": {"z": 1}}, ("/weights/z", "unknown_scorer"), id="a scorer"),
    ],
)
def test_names_that_mean_nothing(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    with pytest.raises(Invalid) as refusal:
        decide_for(world({"a": {}}), **fields)
    assert (refusal.value.errors[0].pointer, refusal.value.code) == expected


class Inner(msgspec.Struct):
    scale: float


class Nested(msgspec.Struct):
    values: dict[str, dict[str, Inner]]


def test_the_keys_of_nested_maps_are_those_of_the_first_wrong_item() -> None:
    right, wrong = {"scale": 1}, {"scale": "x"}
    document = {"values": {"a": {"p": right}, "b": {"q": right, "r": wrong}, "c": {"s": wrong}}}
    with pytest.raises(Invalid) as refusal:
        convert(document, Nested)
    assert refusal.value.errors[0].pointer == "/values/b/r/scale"
