"""`cost`: the IDC's cost index as it is; less is better."""

from typing import Any

import pytest

from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import Value, decide_for, profile, world

LISTED = profile(("cost", "cost", {"weight": 1}))


def normalized(values: dict[str, Value], **fact: Any) -> dict[str, float | None]:
    known = world(
        {code: {"metrics": {"cost_index": value}} for code, value in values.items()},
        metrics=[MetricFact(code="cost_index", **fact)],
    )
    return {idc: score.normalized for idc, score in decide_for(known, LISTED).scores("cost").items()}


def test_it_works() -> None:
    assert normalized({"a": 2, "b": 8}) == {"a": 75.0, "b": 0.0}


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        pytest.param({}, {"a": 75, "b": 0}, id="without a range: max_ratio"),
        pytest.param({"low": 0, "high": 10}, {"a": 80, "b": 20}, id="with one: fixed on it"),
        pytest.param({"high": 10}, {"a": 75, "b": 0}, id="half a range is none"),
        pytest.param({"direction": "higher", "low": 0, "high": 10}, {"a": 80, "b": 20}, id="less is better, always"),
    ],
)
def test_scale(fact: dict[str, Any], expected: dict[str, float]) -> None:
    assert normalized({"a": 2, "b": 8}, **fact) == expected


def test_missing_is_neutral() -> None:
    assert normalized({"a": 2, "b": 8, "c": 6, "d": None}) == {"a": 75, "c": 25, "d": 25, "b": 0}


def test_nobody_knows() -> None:
    assert decide_for(world({"a": {}}), LISTED).scores("cost")["a"].missing == "left_out"
