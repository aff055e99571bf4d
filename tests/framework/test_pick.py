"""`pick`: the best, or one of those near it, so that a stream of requests does not herd."""

from collections import Counter
from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.testing import Outcome, decide_for, profile, world

KNOWN = world({code: {"metrics": {"x": x}} for code, x in {"a": 50, "b": 49.5, "c": 49, "d": 48.9}.items()})
X = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}})


def decided(pick: dict[str, Any] | None, **fields: Any) -> Outcome:
    return decide_for(KNOWN, profile(X, pick=pick), **fields)


def winners(pick: dict[str, Any] | None) -> set[str | None]:
    return {decided(pick, request_id=str(number)).winner for number in range(60)}


def test_it_works() -> None:
    outcome = decided({"kind": "near_best"}, request_id="1")
    assert outcome.winner in {"a", "b", "c"}
    assert outcome.answer.picked == "near_best"
    assert [each.idc for each in outcome.answer.candidates if each.chosen is True] == [outcome.winner]


def test_where_the_best_is_taken_nothing_is_marked() -> None:
    assert not any(each.chosen is True for each in decided(None).answer.candidates)


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        pytest.param(None, {"a"}, id="best is the default"),
        pytest.param({"kind": "best", "epsilon": 5}, {"a"}, id="best: always"),
        pytest.param({"kind": "near_best"}, {"a", "b", "c"}, id="near_best: within 1.0, the bound included"),
        pytest.param({"kind": "near_best", "epsilon": 0.5}, {"a", "b"}, id="near_best: within epsilon"),
        pytest.param({"kind": "near_best", "epsilon": 0}, {"a"}, id="near_best: within nothing"),
        pytest.param({"kind": "near_best", "epsilon": 2}, {"a", "b", "c", "d"}, id="near_best: all of them"),
    ],
)
def test_who_may_be_picked(pick: dict[str, Any] | None, expected: set[str]) -> None:
    assert winners(pick) == expected


def test_one_request_gets_one_answer() -> None:
    assert len({decided({"kind": "near_best"}, request_id="same").winner for _ in range(5)}) == 1


def test_it_is_fair_over_many() -> None:
    near = {"kind": "near_best", "epsilon": 0.5}
    counted = Counter(decided(near, request_id=str(number)).winner for number in range(400))
    assert 160 <= counted["a"] <= 240


def test_the_ranking_stays_the_ranking() -> None:
    answer = next(
        outcome.answer
        for number in range(60)
        if (outcome := decided({"kind": "near_best"}, request_id=str(number))).winner == "c"
    )
    assert [candidate.idc for candidate in answer.candidates] == ["a", "b", "c", "d"]
    assert answer.score == 49.0
    assert (answer.margin.runner_up, answer.margin.score) == ("d", 0.1)


def test_nobody_behind_the_one_picked() -> None:
    wide = {"kind": "near_best", "epsilon": 2}
    answers = [decided(wide, request_id=str(number)).answer for number in range(60)]
    assert {answer.margin for answer in answers if answer.idc and answer.idc.code == "d"} == {None}
    assert all(answer.margin.score > 0 for answer in answers if answer.margin)


def test_nobody_to_pick() -> None:
    outcome = decided({"kind": "near_best"}, exclude=list("abcd"))
    assert (outcome.winner, outcome.answer.score, outcome.answer.score_mean) == (None, None, None)


def test_a_negative_epsilon_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        profile(X, pick={"kind": "near_best", "epsilon": -1})
    assert refusal.value.errors[0].pointer == "/pick/epsilon"
