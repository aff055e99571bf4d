"""`metric`: any named metric of the IDC, scored and limited as the profile says."""

from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import Outcome, Value, decide_for, profile, world

STALE = 601.0


def decided(values: dict[str, Value], fact: dict[str, Any] | None = None, **entry: Any) -> Outcome:
    args = {"metric": "x", **entry.pop("args", {})}
    known = world(
        {code: {"metrics": {"x": value}} for code, value in values.items()},
        metrics=[MetricFact(code="x", max_age=600, **(fact or {}))],
    )
    return decide_for(known, profile(("x", "metric", {"weight": 1, "args": args, **entry})))


def normalized(*args: Any, **more: Any) -> dict[str, float | None]:
    return {idc: score.normalized for idc, score in decided(*args, **more).scores("x").items()}


def test_it_works() -> None:
    outcome = decided({"a": 10, "b": 30}, {"low": 0, "high": 40})
    assert outcome.totals == {"b": 75.0, "a": 25.0}
    assert outcome.scores("x")["b"].raw == 30.0


@pytest.mark.parametrize(
    ("fact", "args", "expected"),
    [
        pytest.param({}, {}, {"a": 0, "b": 100}, id="without a range: min_max, more is better"),
        pytest.param({"direction": "lower"}, {}, {"a": 100, "b": 0}, id="the metric's own direction"),
        pytest.param({"direction": "lower"}, {"better": "more"}, {"a": 0, "b": 100}, id="the profile's before it"),
        pytest.param({}, {"better": "less"}, {"a": 100, "b": 0}, id="the profile may turn it round"),
        pytest.param({"low": 0, "high": 40}, {}, {"a": 25, "b": 75}, id="with a range: fixed on it"),
        pytest.param(
            {"low": 0, "high": 40, "direction": "lower"}, {}, {"a": 75, "b": 25}, id="with a range, less is better"
        ),
        pytest.param({"low": 0}, {}, {"a": 0, "b": 100}, id="half a range is none"),
    ],
)
def test_scale(fact: dict[str, Any], args: dict[str, Any], expected: dict[str, float]) -> None:
    assert normalized({"a": 10, "b": 30}, fact, args=args) == expected


def test_the_profiles_normalizer_comes_first() -> None:
    found = normalized({"a": 10, "b": 30}, {"low": 0, "high": 40}, normalizer={"kind": "fixed", "low": 10, "high": 50})
    assert found == {"a": 0, "b": 50}


def test_a_profile_may_have_it_many_times() -> None:
    known = world({"a": {"metrics": {"x": 1, "y": 4}}, "b": {"metrics": {"x": 2, "y": 3}}})
    entries = [
        (name, "metric", {"weight": 1, "args": {"metric": name}, "normalizer": {"kind": "none"}}) for name in ("x", "y")
    ]
    assert decide_for(known, profile(*entries)).totals == {"a": 5.0, "b": 5.0}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, {}, id="no limit"),
        pytest.param({"at_least": 20}, {"a": "x is 10, the limit is 20"}, id="at_least"),
        pytest.param({"at_least": 10}, {}, id="at_least lets the limit itself in"),
        pytest.param({"at_most": 20}, {"b": "x is 30, the limit is 20"}, id="at_most"),
        pytest.param({"at_most": 30}, {}, id="at_most lets the limit itself in"),
        pytest.param(
            {"at_least": 15, "at_most": 25},
            {"a": "x is 10, the limit is 15", "b": "x is 30, the limit is 25"},
            id="between two",
        ),
        pytest.param(
            {"at_least": 20, "at_most": 1e9}, {"a": "x is 10, the limit is 20"}, id="the broken limit is told"
        ),
    ],
)
def test_limits(args: dict[str, Any], expected: dict[str, str]) -> None:
    outcome = decided({"a": 10, "b": 30}, args=args)
    assert {rejected.idc: rejected.reason for rejected in outcome.answer.rejected} == expected
    assert set(outcome.rejections.values()) <= {"metric_limit"}


def test_a_limit_tells_how_far_off() -> None:
    (rejected,) = decided({"a": 10}, args={"at_least": 12.5}).answer.rejected
    assert rejected.detail == {"metric": "x", "value": 10.0, "limit": 12.5, "short_by": 2.5}


@pytest.mark.parametrize(
    ("on_missing", "expected", "used_as"),
    [
        pytest.param(None, {}, {("none", "pass"), ("stale", "pass")}, id="by default it passes"),
        pytest.param("pass", {}, {("none", "pass"), ("stale", "pass")}, id="pass"),
        pytest.param(
            "reject",
            {"none": "metric_unknown", "stale": "metric_unknown"},
            {("none", "reject"), ("stale", "reject")},
            id="reject",
        ),
        pytest.param(
            "last",
            {"none": "metric_unknown", "stale": "metric_limit"},
            {("none", "reject"), ("stale", "last")},
            id="last: the stale value is judged, none at all rejects",
        ),
    ],
)
def test_missing_data_at_the_filter(on_missing: Any, expected: dict[str, str], used_as: set[tuple[str, str]]) -> None:
    outcome = decided(
        {"fresh": 10, "none": None, "stale": (99, STALE)}, args={"at_most": 20}, on_missing=on_missing, weight=0
    )
    assert outcome.rejections == expected
    assert {(entry.idc, entry.used_as) for entry in outcome.answer.stale} == used_as


@pytest.mark.parametrize(("on_missing", "rejected"), [("reject", {"a": "metric_unknown"}), ("pass", {}), ("last", {})])
def test_without_limits_only_the_unknown_is_rejected(on_missing: str, rejected: dict[str, str]) -> None:
    assert decided({"a": None, "b": 3}, on_missing=on_missing, weight=0).rejections == rejected


def test_a_metric_that_nobody_reports_leaves_the_sum() -> None:
    outcome = decide_for(world({"a": {}}), profile(("x", "metric", {"weight": 5, "args": {"metric": "unheard"}})))
    score = outcome.scores("x")["a"]
    assert (score.raw, score.weight, score.missing) == (None, 0.0, "left_out")


LOSSY = MetricFact(code="loss", scope="line", direction="lower", max_age=600)


@pytest.mark.parametrize(
    ("asked", "raw"),
    [
        pytest.param({"isp": "ct"}, 5.0, id="of the line chosen"),
        pytest.param({"isp": "cu"}, 1.0, id="of the other"),
        pytest.param({"isp": ["ct", "cu"], "isp_match": "all"}, 5.0, id="of several the worst"),
        pytest.param({"isp": ["cu", "cm"], "isp_match": "all"}, None, id="unknown where one is"),
    ],
)
def test_a_metric_of_lines(asked: dict[str, Any], raw: float | None) -> None:
    lines = {"ct": {"metrics": {"loss": 5}}, "cu": {"metrics": {"loss": 1}}, "cm": {"metrics": {"loss": (9, STALE)}}}
    known = world({"a": {"lines": lines}}, metrics=[LOSSY])  # type: ignore[dict-item]
    outcome = decide_for(known, profile(("x", "metric", {"weight": 5, "args": {"metric": "loss"}})), **asked)
    score = outcome.scores("x")["a"]
    assert (score.raw if score.missing is None else None) == raw


def test_a_metric_of_lines_has_limits_too() -> None:
    known = world({"a": {"lines": {"ct": {"metrics": {"loss": 5}}}}}, metrics=[LOSSY])
    policy = profile(("x", "metric", {"args": {"metric": "loss", "at_most": 3}}))
    assert decide_for(known, policy, isp="ct").rejections == {"a": "metric_limit"}


@pytest.mark.parametrize(
    ("args", "code", "pointer"),
    [
        pytest.param({}, "required", "/plugins/0/args/metric", id="which metric must be said"),
        pytest.param({"metric": ""}, "out_of_range", "/plugins/0/args/metric", id="an empty name"),
        pytest.param({"metric": "x", "better": "worse"}, "invalid_choice", "/plugins/0/args/better", id="no such way"),
        pytest.param(
            {"metric": "x", "at_most": "9"}, "wrong_type", "/plugins/0/args/at_most", id="a limit is a number"
        ),
        pytest.param({"metric": "x", "limit": 9}, "unknown_field", "/plugins/0/args/limit", id="an unknown argument"),
        pytest.param(
            {"metric": "x", "at_least": 2, "at_most": 1}, "empty_range", "/plugins/0/args/at_least", id="no room"
        ),
    ],
)
def test_arguments_are_checked(args: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid, match="plugin metric: ") as refusal:
        profile(("x", "metric", {"args": args}))
    assert (refusal.value.code, refusal.value.errors[0].pointer) == (code, pointer)
