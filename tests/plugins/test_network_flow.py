"""`network_flow`: the chosen lines must carry Σ count × bandwidth; the more is left, the better."""

from typing import Any

import pytest

from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import IdcSpec, LineSpec, Outcome, decide_for, profile, world

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
STALE = 601.0


def decided(idcs: dict[str, dict[str, LineSpec]], need: float = 100, **fields: Any) -> Outcome:
    """The decision about IDCs with these lines; `on_missing` goes to the plugin."""
    entry = {"weight": 1, "on_missing": fields.pop("on_missing", None)}
    specs: dict[str, IdcSpec] = {code: {"lines": lines} for code, lines in idcs.items()}
    machines = fields.pop("machines", [{"bandwidth_mbps": need}])
    policy = profile(("flow", "network_flow", entry), bgp_substitutes=fields.pop("bgp_substitutes", False))
    return decide_for(world(specs, metrics=[BANDWIDTH]), policy, machines=machines, **fields)


def score(lines: dict[str, LineSpec], need: float = 100, **fields: Any) -> float | None:
    return decided({"a": lines}, need, **fields).scores("flow")["a"].raw


def test_it_works() -> None:
    outcome = decided({"a": {"ct": {"used_mbps": 300}}, "b": {"ct": {"used_mbps": 850}}}, 100)
    assert outcome.totals == {"a": 50.0}
    (rejected,) = outcome.answer.rejected
    assert (rejected.idc, rejected.plugin, rejected.code) == ("b", "flow", "not_enough_bandwidth")
    assert rejected.reason == "needs 100 Mbps on ct, 50 left"
    line = {"line": "ct", "isp": "ct", "free": 50.0, "short_by": 50.0, "purchase_mbps": 55.556, "chosen": True}
    assert rejected.detail == {"line": "ct", "need": 100.0, "free": 50.0, "short_by": 50.0, "lines": [line]}


TWO_CT_AND_BGP: dict[str, LineSpec] = {
    "ct1": {"isp": "ct", "used_mbps": 850},
    "ct2": {"isp": "ct", "used_mbps": 860},
    "cu": {"used_mbps": 880},
    "cm": {"used_mbps": 810},
    "bgp": {"used_mbps": (0, STALE)},
}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        pytest.param(
            {},
            {"cm": (10, True), "ct1": (50, False), "ct2": (60, False), "cu": (80, False), "bgp": (None, False)},
            id="all lines, the unknown last",
        ),
        pytest.param({"isp": "ct"}, {"ct1": (50, True), "ct2": (60, False)}, id="the ISP's own"),
        pytest.param(
            {"isp": "ct", "bgp_substitutes": True},
            {"ct1": (50, True), "ct2": (60, False), "bgp": (None, False)},
            id="and those that stand in for them",
        ),
        pytest.param(
            {"isp": ["ct", "cu"], "isp_match": "all"},
            {"ct1": (50, True), "ct2": (60, False), "cu": (80, True)},
            id="one is chosen for each ISP",
        ),
    ],
)
def test_what_each_line_lacks(fields: dict[str, Any], told: dict[str, tuple[float | None, bool]]) -> None:
    (rejected,) = decided({"a": TWO_CT_AND_BGP}, **fields).answer.rejected
    lines = rejected.detail["lines"]
    assert {line["line"]: (line["short_by"], line["chosen"]) for line in lines} == told
    assert [line["line"] for line in lines] == list(told)


@pytest.mark.parametrize(
    ("lines", "fields", "code", "reason"),
    [
        pytest.param({}, {}, "no_line", "has no line that could carry 100 Mbps", id="no line at all"),
        pytest.param(
            {"ct": {}},
            {},
            "bandwidth_unknown",
            "how much ct is used is not known, and 100 Mbps are needed",
            id="unknown",
        ),
        pytest.param(
            {"ct": {"used_mbps": (0, STALE)}},
            {},
            "bandwidth_unknown",
            "how much ct is used is not known, and 100 Mbps are needed",
            id="stale is unknown",
        ),
        pytest.param(
            {"ct": {"used_mbps": 990}}, {}, "not_enough_bandwidth", "needs 100 Mbps on ct, 0 left", id="above its level"
        ),
        pytest.param(
            {"ct": {"used_mbps": 850}, "cu": {"used_mbps": 840}},
            {},
            "not_enough_bandwidth",
            "needs 100 Mbps on cu, 60 left",
            id="the roomiest line is told",
        ),
        pytest.param(
            {"ct": {"used_mbps": 850}, "cu": {"used_mbps": 840}},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            "not_enough_bandwidth",
            "needs 100 Mbps on ct, 50 left",
            id="all: the tightest line is told",
        ),
        pytest.param(
            {"ct": {"used_mbps": 850}, "cu": {}},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            "bandwidth_unknown",
            "how much cu is used is not known, and 100 Mbps are needed",
            id="all: the unknown line is told",
        ),
        pytest.param(
            {"ct": {"used_mbps": 700}, "cu": {"used_mbps": (0, STALE)}},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            "bandwidth_unknown",
            "how much cu is used is not known, and 100 Mbps are needed",
            id="all: the stale line is told, however roomy it was",
        ),
        pytest.param(
            {"ct": {"used_mbps": 850}, "cu": {}},
            {},
            "not_enough_bandwidth",
            "needs 100 Mbps on ct, 50 left",
            id="any: a known line before an unknown one",
        ),
        pytest.param(
            {"ct": {"used_mbps": (850, STALE)}},
            {"on_missing": "last"},
            "not_enough_bandwidth",
            "needs 100 Mbps on ct, 50 left",
            id="last: the stale value says how much is left",
        ),
        pytest.param(
            {"ct": {"used_mbps": (0, STALE)}, "cu": {}},
            {"isp": ["ct", "cu"], "isp_match": "all", "on_missing": "last"},
            "bandwidth_unknown",
            "how much cu is used is not known, and 100 Mbps are needed",
            id="last: where there is none at all it is unknown",
        ),
        pytest.param(
            {"ct": {}, "cu": {"used_mbps": 850}},
            {"isp": ["ct", "cu"], "isp_match": "all", "on_missing": "pass"},
            "not_enough_bandwidth",
            "needs 100 Mbps on cu, 50 left",
            id="pass: a known line that is too small is still too small",
        ),
        pytest.param(
            {"ct": {"used_mbps": 0}},
            {"machines": [{"count": 2000, "bandwidth_mbps": 1000.5}]},
            "not_enough_bandwidth",
            "needs 2001000 Mbps on ct, 900 left",
            id="large needs are told in full",
        ),
    ],
)
def test_rejected(lines: dict[str, LineSpec], fields: dict[str, Any], code: str, reason: str) -> None:
    (rejected,) = decided({"a": lines}, **fields).answer.rejected
    assert (rejected.code, rejected.reason) == (code, reason)


@pytest.mark.parametrize(
    ("machines", "need"),
    [
        pytest.param([{"bandwidth_mbps": 100}], 100, id="one machine unless it says how many"),
        pytest.param([{"count": 3, "bandwidth_mbps": 100}], 300, id="count times bandwidth"),
        pytest.param(
            [{"count": 3, "bandwidth_mbps": 100}, {"count": 2, "bandwidth_mbps": 50}], 400, id="the sum of all"
        ),
        pytest.param([{"count": 3}, {"bandwidth_mbps": 7.5}], 7.5, id="entries without bandwidth need none"),
    ],
)
def test_the_need_is_count_times_bandwidth(machines: list[dict[str, Any]], need: float) -> None:
    outcome = decided({"a": {"ct": {"used_mbps": 0}}}, machines=machines)
    assert outcome.answer.lines[0].bandwidth_mbps == need
    assert outcome.scores("flow")["a"].raw == pytest.approx((900 - need) / 1000)


@pytest.mark.parametrize("lines", [{}, {"ct": {}}, {"ct": {"used_mbps": 1000}}], ids=["no line", "unknown", "full"])
@pytest.mark.parametrize("machines", [[], [{"count": 9, "cpu": 4}], [{"bandwidth_mbps": 0}]])
def test_a_request_without_bandwidth_is_not_filtered(
    lines: dict[str, LineSpec], machines: list[dict[str, Any]]
) -> None:
    assert decided({"a": lines}, machines=machines).winner == "a"


@pytest.mark.parametrize(
    ("lines", "fields", "raw"),
    [
        pytest.param({"ct": {"used_mbps": 0}}, {}, 0.8, id="what is left after placing, by what was purchased"),
        pytest.param({"ct": {"used_mbps": 0, "purchased_mbps": 200}}, {}, 0.4, id="… of a smaller line"),
        pytest.param({"ct": {"used_mbps": 800}}, {}, 0.0, id="filled to its level"),
        pytest.param({"ct": {"used_mbps": 0, "max_level": 1.0}}, {}, 0.9, id="a level of its own"),
        pytest.param({"ct": {"used_mbps": 0, "pending_mbps": 300}}, {}, 0.5, id="what is pending is taken"),
        pytest.param({"ct": {"used_mbps": 10, "percentile_mbps": 400}}, {}, 0.4, id="the percentile counts"),
        pytest.param(
            {"ct": {"used_mbps": 0}, "cu": {"used_mbps": 500}},
            {"isp": ["ct", "cu"], "isp_match": "all"},
            0.3,
            id="of several lines the least",
        ),
        pytest.param(
            {"bgp": {"used_mbps": 0}},
            {"isp": ["ct", "cu"], "isp_match": "all", "bgp_substitutes": True},
            0.8,
            id="a BGP line for several is filled once",
        ),
        pytest.param({"ct": {"used_mbps": 0}}, {"machines": []}, 0.9, id="no need: as it is"),
    ],
)
def test_raw_value(lines: dict[str, LineSpec], fields: dict[str, Any], raw: float) -> None:
    assert score(lines, **fields) == pytest.approx(raw)


def test_more_is_better_fixed_from_0_to_1() -> None:
    known = {
        "full": {"ct": LineSpec(used_mbps=1200)},
        "half": {"ct": LineSpec(used_mbps=400)},
        "empty": {"ct": LineSpec(used_mbps=0, max_level=1.0)},
    }
    scores = decided(known, machines=[]).scores("flow")
    assert {idc: score.normalized for idc, score in scores.items()} == {"empty": 100.0, "half": 50.0, "full": 0.0}


def test_an_idc_without_a_line_scores_the_worst_where_no_bandwidth_is_needed() -> None:
    scores = decided({"none": {}, "some": {"ct": {"used_mbps": 890}}}, machines=[]).scores("flow")
    assert (scores["none"].normalized, scores["none"].missing) == (0.0, "worst")
    assert scores["some"].normalized == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("on_missing", "fits", "normalized", "used_as"),
    [
        pytest.param(None, False, None, {"reject"}, id="by default the filter rejects"),
        pytest.param("reject", False, None, {"reject"}, id="reject"),
        pytest.param("pass", True, 0.0, {"pass", "worst"}, id="pass: through, but with the worst score"),
        pytest.param("last", True, 60.0, {"last"}, id="last: the stale value counts"),
        pytest.param({"filter": "pass", "score": "last"}, True, 60.0, {"pass", "last"}, id="each point on its own"),
    ],
)
def test_stale_bandwidth(on_missing: Any, normalized: float | None, used_as: set[str], *, fits: bool) -> None:
    known = {"a": {"ct": LineSpec(used_mbps=(200, STALE))}, "b": {"ct": LineSpec(used_mbps=0)}}
    outcome = decided(known, on_missing=on_missing)
    assert ("a" in outcome.totals) is fits
    if fits:
        assert outcome.scores("flow")["a"].normalized == normalized
    stale = outcome.answer.stale
    assert {(entry.idc, entry.line, entry.metric, entry.age_seconds) for entry in stale} == {
        ("a", "ct", "bandwidth_mbps", STALE)
    }
    assert {entry.used_as for entry in stale} == used_as


def test_last_with_no_value_at_all_is_put_on_record_as_rejected() -> None:
    outcome = decided({"a": {"ct": {}}}, on_missing="last")
    assert [(entry.line, entry.age_seconds, entry.used_as) for entry in outcome.answer.stale] == [
        ("ct", None, "reject")
    ]


def test_all_lists_only_the_lines_that_are_stale() -> None:
    known = {"a": {"ct": LineSpec(used_mbps=100), "cu": LineSpec(used_mbps=(100, STALE))}}
    outcome = decided(known, isp=["ct", "cu"], isp_match="all")
    assert [(entry.line, entry.used_as) for entry in outcome.answer.stale] == [("cu", "reject")]


def test_the_age_of_the_score_is_that_of_the_oldest_line() -> None:
    lines: dict[str, LineSpec] = {
        "ct": {"used_mbps": (0, 30)},
        "cu": {"used_mbps": (0, 90)},
        "cm": {"used_mbps": (0, 60)},
    }
    outcome = decided({"a": lines}, isp=["ct", "cu", "cm"], isp_match="all")
    assert outcome.scores("flow")["a"].age_seconds == 90.0


def test_not_listed_it_does_not_filter() -> None:
    known = world({"a": {"lines": {"ct": {"used_mbps": 1000}}}})
    assert decide_for(known, machines=[{"bandwidth_mbps": 500}]).winner == "a"
