"""Which of an IDC's lines is chosen: one choice per decision, among the eligible lines that carry what is needed."""

from typing import Any

import pytest
from msgspec import UNSET

from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import LineSpec, Outcome, decide_for, profile, world


def line(room: float, **more: Any) -> LineSpec:
    """A line of 1,000 Mbps with `room` Mbps left."""
    return {"purchased_mbps": 1000, "max_level": 1.0, "used_mbps": 1000 - room, **more}


def outcome(lines: dict[str, LineSpec], need: float = 100, *, policy: Any = None, **fields: Any) -> Outcome:
    """The decision about one IDC with these lines, whose bandwidth goes stale after ten minutes."""
    bandwidth = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
    known = world({"a": {"lines": lines}}, metrics=[bandwidth])
    return decide_for(known, policy or profile("network_flow"), machines=[{"bandwidth_mbps": need}], **fields)


def chosen(*args: Any, **more: Any) -> list[str] | None:
    """The lines taken; None where the IDC does not fit."""
    answer = outcome(*args, **more).answer
    return [use.line for use in answer.lines] if answer.idc else None


CHEAPEST = profile("network_flow", line_choice="cheapest")
LEAST_BILLED = profile("network_flow", line_choice="least_billed")
SUBSTITUTES = profile("network_flow", bgp_substitutes=True)


def test_it_works() -> None:
    answer = outcome({"ct": line(300), "cu": line(500)}, 120).answer
    (use,) = answer.lines
    assert (use.line, use.isp, use.bandwidth_mbps) == ("cu", "cu", 120)
    assert answer.candidates[0].lines == answer.lines


@pytest.mark.parametrize(
    ("lines", "fields", "expected"),
    [
        pytest.param({"ct": line(300), "cu": line(500)}, {}, ["cu"], id="no ISP wanted: every line is eligible"),
        pytest.param({"ct": line(300), "cu": line(500)}, {"isp": "ct"}, ["ct"], id="the wanted ISP's only"),
        pytest.param({"ct": line(300), "cu": line(500)}, {"isp": "telecom"}, ["ct"], id="by an alias"),
        pytest.param(
            {"ct": line(300), "cu": line(500), "cm": line(900)}, {"isp": ["ct", "cu"]}, ["cu"], id="any of several"
        ),
        pytest.param({"b": line(300), "a": line(300), "c": line(300)}, {}, ["a"], id="equal room: by line code"),
        pytest.param(
            {"2": line(500, isp="ct"), "1": line(500, isp="cu")}, {"isp": ["cu", "ct"]}, ["1"], id="… across ISPs too"
        ),
        pytest.param(
            {"big": line(300, purchased_mbps=9000, used_mbps=8700), "small": line(400)},
            {},
            ["small"],
            id="Mbps left count, not size",
        ),
        pytest.param({"ct": line(99.9)}, {}, None, id="too little room is too little"),
        pytest.param({"ct": line(100)}, {}, ["ct"], id="just enough is enough"),
        pytest.param(
            {"1": line(60, isp="ct"), "2": line(60, isp="ct")}, {"isp": "ct"}, None, id="the need is never split"
        ),
        pytest.param({"1": line(60), "2": line(60)}, {}, None, id="… nor without an ISP"),
        pytest.param({"ct": line(500, pending_mbps=450), "cu": line(200)}, {}, ["cu"], id="what is pending is taken"),
        pytest.param({"ct": line(-20), "cu": line(-10)}, {"need": 0}, ["cu"], id="no need: the roomiest even so"),
    ],
)
def test_roomiest(lines: dict[str, LineSpec], fields: dict[str, Any], expected: list[str] | None) -> None:
    assert chosen(lines, **fields) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            {"ct": line(900, price_per_mbps=20), "cu": line(100, price_per_mbps=12)}, ["cu"], id="the lowest price"
        ),
        pytest.param(
            {"ct": line(900, price_per_mbps=20), "cu": line(99, price_per_mbps=12)}, ["ct"], id="of those that carry it"
        ),
        pytest.param({"ct": line(100, price_per_mbps=20), "cu": line(900)}, ["ct"], id="an unknown price comes last"),
        pytest.param(
            {
                "ct": line(100, price_per_mbps=20),
                "cu": line(900, price_per_mbps=0.7, charge_type="daily_peak"),
            },
            ["ct"],
            id="daily prices count for a month",
        ),
        pytest.param(
            {"ct": line(100, price_per_mbps=20), "cu": line(200, price_per_mbps=20)}, ["cu"], id="equal: the roomier"
        ),
        pytest.param(
            {"b": line(100, price_per_mbps=20), "a": line(100, price_per_mbps=20)}, ["a"], id="… then the line code"
        ),
        pytest.param({"b": line(100), "a": line(200)}, ["a"], id="no price at all: the roomiest"),
    ],
)
def test_cheapest(lines: dict[str, LineSpec], expected: list[str]) -> None:
    assert chosen(lines, policy=CHEAPEST) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            {"ct": line(900, price_per_mbps=12), "cu": line(500, price_per_mbps=20, commit_mbps=900)},
            ["cu"],
            id="dear, but far below its commit: 20 × 0.25 × (501 ÷ 900)² = 1.55",
        ),
        pytest.param(
            {"ct": line(900, price_per_mbps=12), "cu": line(500, price_per_mbps=20, commit_mbps=300)},
            ["ct"],
            id="above its commit the list price counts",
        ),
        pytest.param(
            {"ct": line(100, price_per_mbps=12), "cu": line(500, price_per_mbps=20)},
            ["cu"],
            id="the last room is dear: 12 × (1 + 0.75 × 1.005²)",
        ),
        pytest.param(
            {"ct": line(500, price_per_mbps=12), "cu": line(500, price_per_mbps=20, charge_type="fixed")},
            ["cu"],
            id="on a flat-rate line nothing is billed",
        ),
        pytest.param({"ct": line(100, price_per_mbps=20), "cu": line(900)}, ["ct"], id="an unknown price comes last"),
        pytest.param({"b": line(100), "a": line(200)}, ["a"], id="no price at all: the roomiest"),
    ],
)
def test_least_billed(lines: dict[str, LineSpec], expected: list[str]) -> None:
    assert chosen(lines, policy=LEAST_BILLED) == expected


@pytest.mark.parametrize(
    ("lines", "policy", "note"),
    [
        pytest.param(
            {"ct": line(900, price_per_mbps=12), "cu": line(500, price_per_mbps=20, commit_mbps=900)},
            LEAST_BILLED,
            "ct has more room (900 Mbps, here 500), but there one Mbps more would count as 12.00 CNY a month, with the "
            "commit and the room that it takes up, and as 1.55 here",
            id="by its bill",
        ),
        pytest.param(
            {"ct": line(900, price_per_mbps=20), "cu": line(500, price_per_mbps=12)},
            CHEAPEST,
            "ct has more room (900 Mbps, here 500), but a Mbps costs 20.00 CNY a month there, and 12.00 here",
            id="by its list price",
        ),
        pytest.param(
            {"ct": line(900), "cu": line(500, price_per_mbps=12)},
            LEAST_BILLED,
            "ct has more room (900 Mbps, here 500), but what its bandwidth costs is not known",
            id="no price",
        ),
        pytest.param(
            {"ct": line(500, price_per_mbps=20), "cu": line(900, price_per_mbps=12)}, LEAST_BILLED, None, id="roomiest"
        ),
        pytest.param({"ct": line(99), "cu": line(500)}, CHEAPEST, None, id="the only one that carries the order"),
        pytest.param(
            {"a": line(500, price_per_mbps=20), "b": line(500, price_per_mbps=12)}, CHEAPEST, None, id="equal room"
        ),
    ],
)
def test_why_not_the_roomiest(lines: dict[str, LineSpec], policy: Any, note: str | None) -> None:
    answer = outcome(lines, policy=policy).answer
    assert [use.note or None for use in answer.lines] == [note]
    assert answer.candidates[0].lines == answer.lines
    assert [use.note for use in outcome(lines, policy=policy, explain="none").answer.lines] == [UNSET]


def test_why_not_the_roomiest_of_each_isp() -> None:
    """Two lines are chosen. The note on `ct2` says why not `ct1`, which has more room; `cu1` is the only line of its
    ISP, and has no note.
    """
    lines = {
        "ct1": line(900, isp="ct", price_per_mbps=20),
        "ct2": line(500, isp="ct", price_per_mbps=12),
        "cu1": line(400, isp="cu", price_per_mbps=12),
    }
    uses = outcome(lines, policy=CHEAPEST, isp=["ct", "cu"], isp_match="all").answer.lines
    assert [(use.line, (use.note or "")[:18]) for use in uses] == [("ct2", "ct1 has more room "), ("cu1", "")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param({"ct": line(300), "cu": line(200)}, ["ct", "cu"], id="a line of each"),
        pytest.param({"ct": line(300), "cu": line(99)}, None, id="each must carry the whole need"),
        pytest.param({"ct": line(300)}, None, id="each must be there"),
        pytest.param(
            {"1": line(150, isp="ct"), "2": line(300, isp="ct"), "3": line(120, isp="cu")},
            ["2", "3"],
            id="the roomiest of each",
        ),
        pytest.param({"ct": line(300), "bgp": line(900)}, None, id="BGP stands for nobody unless the profile says so"),
    ],
)
def test_all_of_several_isps(lines: dict[str, LineSpec], expected: list[str] | None) -> None:
    assert chosen(lines, isp=["ct", "cu"], isp_match="all") == expected


def test_all_rejections_say_whether_a_line_or_room_is_missing() -> None:
    no_line = outcome({"ct": line(300)}, isp=["ct", "cu"], isp_match="all")
    assert no_line.rejections == {"a": "no_isp_line"}
    no_room = outcome({"ct": line(300), "cu": line(99)}, isp=["ct", "cu"], isp_match="all")
    assert no_room.rejections == {"a": "not_enough_bandwidth"}
    assert no_room.answer.rejected[0].reason == "needs 100 Mbps on cu, 99 left"


@pytest.mark.parametrize(
    ("lines", "fields", "expected"),
    [
        pytest.param({"bgp": line(300)}, {"isp": "ct"}, ["bgp"], id="BGP stands in for an ISP that is not there"),
        pytest.param({"ct": line(100), "bgp": line(900)}, {"isp": "ct"}, ["ct"], id="own lines first"),
        pytest.param({"ct": line(99), "bgp": line(100)}, {"isp": "ct"}, ["bgp"], id="… as long as they carry it"),
        pytest.param({"ct": line(99), "bgp": line(99)}, {"isp": "ct"}, None, id="neither carries it"),
        pytest.param(
            {"cm": line(100), "bgp": line(900)}, {"isp": ["ct", "cm"]}, ["cm"], id="any: after the lines of all wanted"
        ),
        pytest.param(
            {"1": line(100, isp="bgp"), "2": line(200, isp="bgp")}, {"isp": "ct"}, ["2"], id="the roomiest BGP line"
        ),
        pytest.param({"ct": line(900), "bgp": line(100)}, {"isp": "bgp"}, ["bgp"], id="nothing stands in for BGP"),
        pytest.param({"ct": line(900), "bgp": line(300)}, {}, ["ct"], id="no ISP wanted: a line like any"),
        pytest.param(
            {"bgp": line(100)}, {"isp": ["ct", "cu"], "isp_match": "all"}, ["bgp"], id="all: for several, counted once"
        ),
        pytest.param(
            {"ct": line(300), "bgp": line(100)},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            ["ct", "bgp"],
            id="all: for the one that is missing",
        ),
        pytest.param(
            {"ct": line(300), "cu": line(50), "bgp": line(100)},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            ["ct", "bgp"],
            id="all: for the one that is full",
        ),
        pytest.param(
            {"bgp": line(300)}, {"isp": ["ct", "bgp"], "isp_match": "all"}, ["bgp"], id="all: BGP for itself and others"
        ),
        pytest.param({"ct": line(300)}, {"isp": ["ct", "cu"], "isp_match": "all"}, None, id="all: nobody stands in"),
    ],
)
def test_bgp_substitutes(lines: dict[str, LineSpec], fields: dict[str, Any], expected: list[str] | None) -> None:
    assert chosen(lines, policy=SUBSTITUTES, **fields) == expected


def test_where_nothing_carries_it_the_idcs_own_line_is_told() -> None:
    told = outcome({"ct": line(99), "bgp": line(98)}, policy=SUBSTITUTES, isp="ct").answer.rejected[0]
    assert told.reason == "needs 100 Mbps on ct, 99 left"


OWN_AND_SHARED = {"ct": line(99), "cu": line(70), "bgp": line(80)}
BOTH_ISPS = {"isp": ["ct", "cu"], "isp_match": "all"}


@pytest.mark.parametrize(
    ("lines", "policy", "fields", "told"),
    [
        *(
            pytest.param(
                {"ct": line(60, price_per_mbps=9), "cu": line(90, price_per_mbps=20)}, policy, {}, "cu, 90", id=name
            )
            for policy, name in ((CHEAPEST, "not the cheapest"), (LEAST_BILLED, "not the one that is billed least"))
        ),
        pytest.param({"b": line(60), "a": line(60)}, CHEAPEST, {}, "a, 60", id="equal: by line code"),
        pytest.param({"ct": line(60), "cu": line(90, used_mbps=(10, 900))}, CHEAPEST, {}, "ct, 60", id="known first"),
        pytest.param(
            {"ct": line(60), "cu": line(0, used_mbps=(910, 900))},
            profile(("flow", "network_flow", {"on_missing": "last"}), line_choice="cheapest"),
            {},
            "cu, 90",
            id="unless stale values count",
        ),
        pytest.param(
            {"ct": line(60), "cu": line(90)},
            CHEAPEST,
            {"planned": {"idc": "a", "lines": ["ct"]}},
            "cu, 90",
            id="not the planned one",
        ),
        pytest.param(
            {"ct": line(60), "bgp": line(90)}, SUBSTITUTES, {"isp": "ct"}, "bgp, 90", id="a BGP line that lacks less"
        ),
        pytest.param(
            {"ct": line(90), "bgp": line(90)}, SUBSTITUTES, {"isp": "ct"}, "ct, 90", id="… but own lines first"
        ),
        pytest.param(OWN_AND_SHARED, SUBSTITUTES, BOTH_ISPS, "bgp, 80", id="all: a BGP line serves both"),
    ],
)
def test_where_nothing_carries_it_the_line_that_lacks_least_is_told(
    lines: dict[str, LineSpec], policy: Any, fields: dict[str, Any], told: str
) -> None:
    answer = outcome(lines, policy=policy, **fields).answer
    assert answer.rejected[0].reason == f"needs 100 Mbps on {told} left"
    assert answer.near_misses[0].reason == answer.rejected[0].reason
    assert answer.near_misses[0].detail == answer.rejected[0].detail


def test_where_nothing_carries_it_and_nothing_filters_that_line_is_taken() -> None:
    lines = {"ct": line(60, price_per_mbps=9), "cu": line(90, price_per_mbps=20)}
    assert chosen(lines, policy=profile("available", line_choice="cheapest")) == ["cu"]


@pytest.mark.parametrize(
    ("lines", "on_missing", "expected"),
    [
        pytest.param({"ct": line(300), "cu": {}}, "reject", ["ct"], id="reject: an unknown line carries nothing"),
        pytest.param({"cu": {}}, "reject", None, id="reject: nor does it alone"),
        pytest.param({"ct": line(100), "cu": {}}, "pass", ["ct"], id="pass: known before unknown"),
        pytest.param({"ct": line(99), "cu": {}}, "pass", ["cu"], id="pass: unknown before too small"),
        pytest.param(
            {"ct": line(100), "cu": line(0, used_mbps=(10, 900))}, "last", ["ct"], id="last: known before stale"
        ),
        pytest.param(
            {"ct": line(99), "cu": line(0, used_mbps=(10, 900))}, "last", ["cu"], id="last: stale before too small"
        ),
        pytest.param({"cu": line(0, used_mbps=(950, 900))}, "last", None, id="last: the stale value is too small"),
        pytest.param({"cu": {}}, "last", None, id="last: none at all carries nothing"),
    ],
)
def test_unknown_use(lines: dict[str, LineSpec], on_missing: str, expected: list[str] | None) -> None:
    policy = profile(("flow", "network_flow", {"on_missing": on_missing}))
    assert chosen(lines, policy=policy) == expected


def test_an_idc_without_lines_has_none() -> None:
    answer = decide_for(world({"a": {}, "b": {"lines": {"ct": {}}}}), only=["a"]).answer
    assert (answer.idc.code, answer.lines) == ("a", ())


def test_a_world_without_lines_has_none() -> None:
    assert decide_for(world({"a": {}})).answer.lines == ()
