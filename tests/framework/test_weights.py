"""Weights: the total, what a request may override, and weights that follow a metric."""

from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import Outcome, Value, decide_for, profile, world

PLAIN = {"normalizer": {"kind": "none"}}
KNOWN = world({"a": {"metrics": {"x": 1, "y": 9}}, "b": {"metrics": {"x": 5, "y": 2}}})


def scorer(name: str, weight: float | None, **more: Any) -> tuple[str, str, dict[str, Any]]:
    """A profile's entry that scores by the metric of that name, without normalising it."""
    return name, "metric", {"weight": weight, "args": {"metric": name}, **PLAIN, **more}


def test_it_works() -> None:
    outcome = decide_for(KNOWN, profile(scorer("x", 10), scorer("y", 100)))
    assert outcome.totals == {"a": 910.0, "b": 250.0}
    assert {name: score.contribution for name, score in outcome.answer.candidates[0].scores.items()} == {
        "x": 10.0,
        "y": 900.0,
    }


def test_the_mean_is_the_total_by_the_sum_of_weights() -> None:
    assert decide_for(KNOWN, profile(scorer("x", 10), scorer("y", 30))).answer.score_mean == 7.0


def test_no_scorer_at_all_scores_nothing() -> None:
    answer = decide_for(KNOWN).answer
    assert (answer.score, answer.score_mean) == (0.0, 0.0)
    assert [candidate.scores for candidate in answer.candidates] == [{}, {}]


@pytest.mark.parametrize("weight", [0, None])
def test_a_weight_of_0_is_out_of_the_sum_and_not_shown(weight: float | None) -> None:
    outcome = decide_for(KNOWN, profile(scorer("x", weight), scorer("y", 1)))
    assert outcome.totals == {"a": 9.0, "b": 2.0}
    assert outcome.scores("x") == {}


def test_totals_are_rounded_to_six_decimals() -> None:
    known = world({"a": {"metrics": {"x": 0.1}}, "b": {"metrics": {"x": 0.3}}})
    assert decide_for(known, profile(scorer("x", 3))).totals == {"b": 0.9, "a": 0.3}


@pytest.mark.parametrize(
    ("weights", "totals"),
    [
        pytest.param({"x": 20}, {"b": 102, "a": 29}, id="up"),
        pytest.param({"x": 0}, {"a": 9, "b": 2}, id="to 0: out of the sum"),
        pytest.param({"x": 10_000, "y": 0}, {"b": 50_000, "a": 10_000}, id="several"),
    ],
)
def test_a_request_may_override(weights: dict[str, float], totals: dict[str, float]) -> None:
    assert decide_for(KNOWN, profile(scorer("x", 1), scorer("y", 1)), weights=weights).totals == totals


def test_overriding_shows_the_weight_in_force() -> None:
    score = decide_for(KNOWN, profile(scorer("x", 1)), weights={"x": 7}).scores("x")["a"]
    assert (score.weight, score.nominal_weight) == (7.0, 7.0)


@pytest.mark.parametrize(
    ("overridable", "weights", "refused"),
    [
        pytest.param(None, {"x": 2, "y": 2}, None, id="by default all"),
        pytest.param(["*"], {"x": 2, "y": 2}, None, id="a star means all"),
        pytest.param(["x"], {"x": 2}, None, id="listed"),
        pytest.param(["x"], {"y": 2}, ("not_overridable", "/weights/y"), id="not listed"),
        pytest.param([], {"x": 2}, ("not_overridable", "/weights/x"), id="none"),
        pytest.param(None, {"z": 2}, ("unknown_scorer", "/weights/z"), id="no such scorer"),
        pytest.param(None, {"a/b": 2}, ("unknown_scorer", "/weights/a~1b"), id="pointers are escaped"),
        pytest.param(None, {"available": 2}, ("unknown_scorer", "/weights/available"), id="no scorer"),
    ],
)
def test_overridable(overridable: list[str] | None, weights: dict[str, float], refused: tuple[str, str] | None) -> None:
    policy = profile(scorer("x", 1), scorer("y", 1), "available", overridable=overridable)
    if refused is None:
        decide_for(KNOWN, policy, weights=weights)
        return
    with pytest.raises(Invalid) as refusal:
        decide_for(KNOWN, policy, weights=weights)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == refused


def dynamic(
    values: dict[str, Value], *, weight: float = 10, fields: dict[str, Any] | None = None, **rule: Any
) -> Outcome:
    known = world(
        {code: {"metrics": {"x": 1, "load": load}} for code, load in values.items()},
        metrics=[MetricFact(code="load", max_age=600)],
    )
    full = {"metric": "load", "reference": 0.5, "factor": 1, **rule}
    return decide_for(known, profile(scorer("x", weight, dynamic_weight=full)), **(fields or {}))


@pytest.mark.parametrize(
    ("values", "rule", "weight"),
    [
        pytest.param({"a": 0.5}, {}, 10, id="at the reference: w"),
        pytest.param({"a": 0.75}, {}, 15, id="half above: half more"),
        pytest.param({"a": 0.25}, {}, 5, id="half below: half less"),
        pytest.param({"a": 0.75}, {"factor": 2}, 20, id="factor 2: twice as fast"),
        pytest.param({"a": 0.75}, {"factor": -1}, 5, id="a negative factor: the other way"),
        pytest.param({"a": 0.75}, {"factor": 0}, 10, id="factor 0: w"),
        pytest.param({"a": 0.75}, {"reference": -0.5}, 0, id="below 0 it is clamped to the least weight"),
        pytest.param({"a": 1.0}, {"max": 12}, 12, id="max"),
        pytest.param({"a": 0.0}, {"min": 4}, 4, id="min"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {"aggregate": "mean"}, 12, id="mean"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {}, 12, id="mean is the default"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {"aggregate": "median"}, 15, id="median"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {"aggregate": "min"}, 5, id="min of them"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {"aggregate": "max"}, 16, id="max of them"),
        pytest.param({"a": 0.25, "b": 0.75, "c": 0.8}, {"aggregate": "sum"}, 36, id="sum"),
        pytest.param({"a": 0.75, "b": None}, {}, 15, id="the known are aggregated"),
        pytest.param({"a": 0.75, "b": (9.0, 601)}, {}, 15, id="the stale are not"),
        pytest.param({"a": None}, {}, 10, id="nobody known: w"),
        pytest.param({"a": 0.75}, {"metric": "unheard"}, 10, id="a metric that nobody reports: w"),
    ],
)
def test_dynamic_weight(values: dict[str, Value], rule: dict[str, Any], weight: float) -> None:
    outcome = dynamic(values, **rule)
    if weight == 0:
        assert outcome.scores("x") == {}
        return
    score = outcome.scores("x")["a"]
    assert (score.weight, score.nominal_weight) == (pytest.approx(weight), 10.0)
    assert score.contribution == pytest.approx(weight)


def test_dynamic_weight_looks_at_the_survivors_only() -> None:
    score = dynamic({"a": 0.75, "b": 0.1}, fields={"exclude": ["b"]}).scores("x")["a"]
    assert score.weight == 15.0


def test_an_override_is_what_moves() -> None:
    score = dynamic({"a": 0.75}, fields={"weights": {"x": 20}}).scores("x")["a"]
    assert (score.weight, score.nominal_weight) == (30.0, 20.0)


@pytest.mark.parametrize(
    ("rule", "code", "pointer"),
    [
        ({"reference": 0}, "zero_reference", "/plugins/0/dynamic_weight/reference"),
        ({"min": 5, "max": 4}, "empty_range", "/plugins/0/dynamic_weight/min"),
        ({"aggregate": "mode"}, "invalid_choice", "/plugins/0/dynamic_weight/aggregate"),
        ({"max": 10_001}, "out_of_range", "/plugins/0/dynamic_weight/max"),
    ],
)
def test_dynamic_weights_that_mean_nothing_are_refused(rule: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        dynamic({"a": 1}, **rule)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == (code, pointer)
