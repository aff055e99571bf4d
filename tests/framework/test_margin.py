"""The margin: how far the winner is ahead, and at which weight the runner-up would draw level."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from idcsched.framework.testing import Outcome, decide_for, profile, world


def decided(values: dict[str, tuple[float, ...]], by: tuple[float, ...], /, **fields: Any) -> Outcome:
    """Decide between IDCs with these values of the metrics x, y and z, weighted by `by` and not normalised."""
    known = world({code: {"metrics": dict(zip("xyz", row, strict=False))} for code, row in values.items()})
    entries = [
        (name, "metric", {"weight": weight, "args": {"metric": name}, "normalizer": {"kind": "none"}})
        for name, weight in zip("xyz", by, strict=False)
    ]
    return decide_for(known, profile(*entries), request_id="margin", **fields)


def flips(outcome: Outcome) -> dict[str, float | None]:
    return {flip.scorer: flip.weight for flip in outcome.answer.margin.flips}


def test_it_works() -> None:
    outcome = decided({"a": (10, 0), "b": (0, 8), "c": (1, 1)}, (2, 1))
    margin = outcome.answer.margin
    assert (outcome.winner, margin.runner_up, margin.score) == ("a", "b", 12.0)
    assert flips(outcome) == {"x": 0.8, "y": 2.5}


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        pytest.param({"a": (10, 5), "b": (5, 5)}, (1, 1), {"x": 0.0, "y": None}, id="level there: no weight flips it"),
        pytest.param({"a": (10, 6), "b": (5, 5)}, (1, 1), {"x": None, "y": None}, id="ahead everywhere: none does"),
        pytest.param({"a": (10, 0), "b": (0, 1)}, (1, 1), {"x": 0.1, "y": 10.0}, id="one up or the other down"),
        pytest.param({"a": (10, 0), "b": (0, 0.001)}, (1, 1), {"x": 0.0001, "y": 10_000.0}, id="just within 10,000"),
        pytest.param({"a": (10, 0), "b": (0, 0.0009)}, (1, 1), {"x": 0.00009, "y": None}, id="beyond 10,000: none"),
        pytest.param({"a": (1, 2), "b": (2, 1)}, (3, 3), {"x": 3.0, "y": 3.0}, id="level already: the weight it has"),
        pytest.param({"a": (5,), "b": (5,)}, (3,), {"x": None}, id="alike: none"),
    ],
)
def test_flips(values: dict[str, tuple[float, ...]], weights: tuple[float, ...], expected: dict[str, float]) -> None:
    assert flips(decided(values, weights)) == pytest.approx(expected, abs=1e-6)


def test_scorers_out_of_the_sum_do_not_flip() -> None:
    outcome = decided({"a": (10, 0), "b": (0, 8)}, (2, 0))
    assert set(flips(outcome)) == {"x"}


def test_with_fewer_than_two_survivors_there_is_none() -> None:
    assert decided({"a": (1,)}, (1,)).answer.margin is None


def test_the_runner_up_is_the_best_other() -> None:
    margin = decided({"a": (9,), "b": (7,), "c": (8,)}, (1,)).answer.margin
    assert (margin.runner_up, margin.score) == ("c", 1.0)


scores = st.integers(-20, 20).map(float)
weights = st.integers(1, 50).map(float)


@given(
    st.dictionaries(st.sampled_from("abcd"), st.tuples(scores, scores, scores), min_size=2, max_size=4),
    st.tuples(weights, weights, weights),
    st.sampled_from("xyz"),
)
def test_at_the_flip_the_runner_up_draws_level(
    values: dict[str, tuple[float, ...]], by: tuple[float, ...], scorer: str
) -> None:
    outcome = decided(values, by)
    flip = flips(outcome)[scorer]
    assume(flip is not None)
    totals = decided(values, by, weights={scorer: flip}).totals
    assert totals[outcome.winner] == pytest.approx(totals[outcome.answer.margin.runner_up], abs=1e-4)


@given(
    st.dictionaries(st.sampled_from("abcd"), st.tuples(scores, scores, scores), min_size=2, max_size=4),
    st.tuples(weights, weights, weights),
    st.sampled_from("xyz"),
    st.floats(0, 10_000),
)
def test_where_no_flip_is_named_the_runner_up_never_overtakes(
    values: dict[str, tuple[float, ...]], by: tuple[float, ...], scorer: str, weight: float
) -> None:
    outcome = decided(values, by)
    assume(flips(outcome)[scorer] is None)
    totals = decided(values, by, weights={scorer: weight}).totals
    assert totals[outcome.winner] >= totals[outcome.answer.margin.runner_up]
