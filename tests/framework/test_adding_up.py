"""An explanation adds up, so that a person can check it by hand: contributions to the score, counts to the lists."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given

from idcsched.framework.answer import Answer
from idcsched.framework.facts import World
from idcsched.framework.plugin import Plugin, Reason, Rejection
from idcsched.framework.profile import Profile
from idcsched.framework.testing import IdcSpec, decide_for, profile, world

from .fleets import questions

Question = tuple[World, Profile, dict[str, Any]]
ROUNDED = 1e-5  # of several figures of six decimals each

FLEET: dict[str, IdcSpec] = {
    "a": {"metrics": {"x": 4, "load": 0.75}},
    "b": {"metrics": {"x": 1, "load": 0.75}},
    "c": {"taints": ["k:NoSchedule"]},
    "d": {"labels": {"whose": "partner"}},
}
OURS_FIRST = [
    {"match_expressions": [{"key": "whose", "operator": "DoesNotExist"}]},
    {"match_labels": {"whose": "partner"}},
]
MOVING = {"metric": "load", "reference": 0.5, "factor": 1}
X = ("x", "metric", {"weight": 10, "args": {"metric": "x"}, "normalizer": {"kind": "none"}, "dynamic_weight": MOVING})
MOVED: Question = (world(FLEET), profile("taint", X, fallback=OURS_FIRST), {})


def told(question: Question) -> Answer:
    known, policy, asked = question
    return decide_for(known, policy, **asked).answer


def test_it_works() -> None:
    answer = told(MOVED)
    assert [(candidate.idc, candidate.score) for candidate in answer.candidates or ()] == [("a", 60.0), ("b", 15.0)]
    assert (answer.evaluated, answer.feasible, len(answer.rejected or ()), answer.not_visited) == (4, 2, 1, 1)


def contributions_sum_to_the_score(answer: Answer) -> None:
    """Each contribution is weight × normalised score, and each candidate's contributions add up to its score."""
    for candidate in answer.candidates or ():
        assert candidate.score == pytest.approx(sum(s.contribution for s in candidate.scores.values()), abs=ROUNDED)
        for score in candidate.scores.values():
            assert score.contribution == pytest.approx(score.weight * (score.normalized or 0.0), abs=ROUNDED)


def the_mean_is_the_score_by_the_weights_in_force(answer: Answer) -> None:
    if answer.idc is None or answer.score_mean is None or answer.score is None:
        assert answer.idc is answer.score is answer.score_mean is None
        return
    taken = next(candidate for candidate in answer.candidates or () if candidate.idc == answer.idc.code)
    weights = sum(score.weight for score in taken.scores.values())
    assert answer.score == taken.score
    assert answer.score_mean * weights == pytest.approx(answer.score, abs=max(weights, 1.0) * ROUNDED)


def every_idc_is_counted_once(answer: Answer) -> None:
    told_of = [each.idc for each in (*(answer.candidates or ()), *(answer.rejected or ()))]
    assert answer.evaluated == answer.feasible + len(answer.rejected or ()) + answer.not_visited
    assert answer.feasible == len(answer.candidates or ())
    assert len(told_of) == len(set(told_of)) == answer.evaluated - answer.not_visited


def rejections_are_counted_as_they_are_listed(answer: Answer) -> None:
    counts = {(count.plugin, count.code): count.count for count in answer.rejected_counts or ()}
    assert counts == Counter((rejected.plugin, rejected.code) for rejected in answer.rejected or ())
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert all(rejected.plugin not in rejected.also for rejected in answer.rejected or ())


def the_ranking_descends_and_the_margin_is_to_the_next_behind(answer: Answer) -> None:
    candidates = answer.candidates or ()
    assert [candidate.rank for candidate in candidates] == list(range(1, answer.feasible + 1))
    assert all(first.score >= second.score for first, second in pairwise(candidates))
    chosen = next((candidate for candidate in candidates if answer.idc and candidate.idc == answer.idc.code), None)
    behind = next((candidate for candidate in candidates if chosen and candidate.rank == chosen.rank + 1), None)
    assert (answer.margin is None) == (behind is None), "the chosen one may be the last"
    if answer.margin is not None and chosen is not None and behind is not None:
        assert answer.margin.runner_up == behind.idc
        assert answer.margin.score == pytest.approx(chosen.score - behind.score, abs=ROUNDED)


LAWS = (
    contributions_sum_to_the_score,
    the_mean_is_the_score_by_the_weights_in_force,
    every_idc_is_counted_once,
    rejections_are_counted_as_they_are_listed,
    the_ranking_descends_and_the_margin_is_to_the_next_behind,
)


@given(questions())
@example(MOVED)
def test_whatever_is_asked(question: Question) -> None:
    answer = told(question)
    for law in LAWS:
        law(answer)


class Picky(Plugin):
    """A plugin that judges one IDC at a time, and keeps every third."""

    name = "picky"

    def filter_one(self, ctx: Any, idc: Any) -> Rejection | None:
        return Rejection(Reason("picky", "picky", "picky")) if int(idc.code.removeprefix("idc")) % 3 else None


@pytest.mark.parametrize(
    ("size", "percent", "feasible", "not_visited"),
    [
        pytest.param(99, None, 33, 0, id="few: all are visited"),
        pytest.param(600, 5, 100, 302, id="many: as soon as 100 are found the others are not visited"),
    ],
)
def test_those_who_were_not_visited_make_it_whole(
    size: int, percent: float | None, feasible: int, not_visited: int
) -> None:
    """The feasible, the rejected and the not visited IDCs add up to all that were evaluated."""
    fleet: dict[str, IdcSpec] = {f"idc{number}": {"metrics": {"x": size - number}} for number in range(size)}
    policy = profile(
        "taint",
        "picky",
        ("x", "metric", {"weight": 1, "args": {"metric": "x"}}),
        plugins=[Picky],
        candidates_percent=percent,
    )
    answer = decide_for(world(fleet), policy).answer
    assert (answer.feasible, answer.not_visited) == (feasible, not_visited)
    assert answer.evaluated == size == answer.feasible + len(answer.rejected or ()) + answer.not_visited
