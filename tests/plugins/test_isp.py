"""`isp`: keeps IDCs that have an eligible line of the wanted ISPs, `any` of them or `all`."""

from typing import Any

import pytest

from idcsched.framework.testing import decide_for, profile, world

KNOWN = world(
    {
        "none": {},
        "ct": {"lines": {"ct": {}}},
        "cu": {"lines": {"cu": {}}},
        "both": {"lines": {"1": {"isp": "ct"}, "2": {"isp": "cu"}}},
        "bgp": {"lines": {"bgp": {}}},
    }
)
EVERYBODY = {"none", "ct", "cu", "both", "bgp"}


def test_it_works() -> None:
    outcome = decide_for(KNOWN, isp="ct")
    assert set(outcome.totals) == {"ct", "both"}
    reasons = {rejected.idc: rejected.reason for rejected in outcome.answer.rejected}
    assert reasons == {
        "none": "has no line of ct; it has –",
        "cu": "has no line of ct; it has cu",
        "bgp": "has no line of ct; it has bgp",
    }
    assert set(outcome.rejections.values()) == {"no_isp_line"}


@pytest.mark.parametrize(
    ("fields", "substitutes", "expected"),
    [
        pytest.param({}, False, EVERYBODY, id="none wanted: everybody, lines or not"),
        pytest.param({"isp_match": "all"}, False, EVERYBODY, id="all of none: everybody"),
        pytest.param({"isp": ["ct", "cu"]}, False, {"ct", "cu", "both"}, id="any is the default"),
        pytest.param({"isp": ["ct", "cu"], "isp_match": "any"}, False, {"ct", "cu", "both"}, id="any"),
        pytest.param({"isp": ["ct", "cu"], "isp_match": "all"}, False, {"both"}, id="all"),
        pytest.param(
            {"isp": ["ct", "telecom"], "isp_match": "all"}, False, {"ct", "both"}, id="an alias is the same ISP"
        ),
        pytest.param({"isp": "ct"}, True, {"ct", "both", "bgp"}, id="BGP stands in where the profile says so"),
        pytest.param({"isp": ["ct", "cu"], "isp_match": "all"}, True, {"both", "bgp"}, id="… for several at once"),
        pytest.param({"isp": "cm"}, False, set(), id="nobody has it"),
    ],
)
def test_who_fits(fields: dict[str, Any], expected: set[str], *, substitutes: bool) -> None:
    outcome = decide_for(KNOWN, profile(bgp_substitutes=substitutes), **fields)
    assert set(outcome.totals) == expected


def test_the_reason_says_how_many_are_wanted() -> None:
    reasons = {
        match: decide_for(KNOWN, isp=["cm", "cu"], isp_match=match, only=["ct"]).answer.rejected[0].reason
        for match in ("any", "all")
    }
    assert reasons == {
        "any": "has no line of cm, cu; it has ct",
        "all": "has no line of each of cm, cu; it has ct",
    }


def test_room_is_not_its_business() -> None:
    known = world({"a": {"lines": {"ct": {"used_mbps": 5000}}}})
    assert decide_for(known, isp="ct", machines=[{"bandwidth_mbps": 500}]).winner == "a"
