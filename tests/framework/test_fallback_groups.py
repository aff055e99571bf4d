"""Fallback groups: own IDCs first, then partners', then the cloud; the first group with a survivor wins."""

from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.testing import IdcSpec, Outcome, decide_for, profile, world


def group(partition: str) -> dict[str, Any]:
    return {"match_labels": {"idc/partition": partition}}


OWN_PARTNER_CLOUD = [group("own"), group("partner"), group("cloud")]
X = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "min_max"}})

FLEET: dict[str, IdcSpec] = {
    "own-1": {"partition": "own", "metrics": {"x": 1}},
    "own-2": {"partition": "own", "metrics": {"x": 2}},
    "partner-1": {"partition": "partner", "metrics": {"x": 50}},
    "partner-2": {"partition": "partner", "metrics": {"x": 60}},
    "cloud-1": {"partition": "cloud", "metrics": {"x": 100}},
    "stray": {"metrics": {"x": 1000}},
}


def decided(*tainted: str, fallback: Any = OWN_PARTNER_CLOUD, body: Any = None, **fields: Any) -> Outcome:
    fleet: dict[str, IdcSpec] = {
        code: {**spec, "taints": ["k:NoSchedule"] if code in tainted else []} for code, spec in FLEET.items()
    }
    if fallback is not None:
        fields["fallback"] = fallback
    return decide_for(world(fleet), profile("taint", X, **(body or {})), **fields)


def test_it_works() -> None:
    outcome = decided()
    assert outcome.totals == {"own-2": 100.0, "own-1": 0.0}
    answer = outcome.answer
    assert (answer.evaluated, answer.feasible, answer.not_visited) == (6, 2, 3)
    assert outcome.rejections == {"stray": "no_group"}
    assert (answer.fallback_group.index, answer.fallback_group.earlier) == (0, ())
    assert answer.summary == "2/6 IDCs fit: 1 in no fallback group, 3 not visited"


def test_the_first_group_with_a_survivor_wins_before_any_score_is_compared() -> None:
    outcome = decided("own-1", "own-2", "partner-2")
    assert outcome.totals == {"partner-1": 100.0}
    answer = outcome.answer
    assert (answer.evaluated, answer.feasible, answer.not_visited) == (6, 1, 1)
    assert answer.fallback_group.index == 1
    (earlier,) = answer.fallback_group.earlier
    assert earlier.index == 0
    assert [(count.plugin, count.code, count.count) for count in earlier.rejected_counts] == [
        ("taint", "untolerated_taint", 2)
    ]


def test_normalising_is_over_the_winning_group() -> None:
    outcome = decided("own-1", "own-2")
    assert {idc: score.normalized for idc, score in outcome.scores("x").items()} == {"partner-2": 100, "partner-1": 0}


def test_alternates_come_from_the_winning_group() -> None:
    assert set(decided().totals) == {"own-1", "own-2"}


def test_nothing_fits_in_any_group() -> None:
    outcome = decided("own-1", "own-2", "partner-1", "partner-2", "cloud-1")
    answer = outcome.answer
    assert (answer.result, answer.feasible, answer.not_visited) == ("unschedulable", 0, 0)
    assert answer.fallback_group.index is None
    assert [earlier.index for earlier in answer.fallback_group.earlier] == [0, 1, 2]
    assert answer.summary == "0/6 IDCs fit: 5 untolerated taint, 1 in no fallback group"


def test_an_idc_belongs_to_the_first_group_that_takes_it() -> None:
    everybody = {"match_expressions": [{"key": "idc/code", "operator": "Exists"}]}
    outcome = decided(fallback=[group("partner"), everybody])
    assert set(outcome.totals) == {"partner-1", "partner-2"}
    assert outcome.answer.not_visited == 4


def test_a_group_without_idcs_is_empty() -> None:
    outcome = decided(fallback=[group("nowhere"), group("own")])
    assert set(outcome.totals) == {"own-1", "own-2"}
    fallen = outcome.answer.fallback_group
    assert (fallen.index, fallen.earlier[0].index, fallen.earlier[0].rejected_counts) == (1, 0, ())


def test_groups_without_idcs_at_the_end_are_told_too() -> None:
    outcome = decided("own-1", "own-2", fallback=[group("own"), group("nowhere")])
    assert [earlier.index for earlier in outcome.answer.fallback_group.earlier] == [0, 1]


def test_who_is_not_visited_is_not_rejected() -> None:
    outcome = decided("cloud-1", "partner-1")
    assert outcome.rejections == {"stray": "no_group"}
    assert outcome.answer.not_visited == 3


def test_excluded_comes_before_no_group() -> None:
    outcome = decided(exclude=["stray", "own-1"])
    assert outcome.rejections == {"stray": "excluded", "own-1": "excluded"}


def test_a_profile_may_name_them() -> None:
    outcome = decided(fallback=None, body={"fallback": OWN_PARTNER_CLOUD})
    assert set(outcome.totals) == {"own-1", "own-2"}


def test_a_request_names_them_instead_of_the_profile() -> None:
    outcome = decided(fallback=[group("cloud")], body={"fallback": OWN_PARTNER_CLOUD})
    assert outcome.winner == "cloud-1"
    assert outcome.answer.fallback_group.index == 0


def test_without_groups_none_is_told() -> None:
    outcome = decided(fallback=None)
    assert outcome.winner == "stray"
    assert outcome.answer.fallback_group is None


def test_an_empty_universe_falls_nowhere() -> None:
    known = world({"a": {}}, regions={"A": None, "B": None})
    answer = decide_for(known, region="B", fallback=[group("own")]).answer
    assert (answer.reason_code, answer.fallback_group.index) == ("no_idc_in_region", None)


@pytest.mark.parametrize(("fallback", "pointer"), [([], "/fallback"), ([group("own"), {}], "/fallback/1")])
def test_empty_selectors_are_refused(fallback: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as by_request:
        decided(fallback=fallback)
    with pytest.raises(Invalid) as by_profile:
        decided(fallback=None, body={"fallback": fallback})
    for refusal in (by_request, by_profile):
        assert (refusal.value.code, refusal.value.errors[0].pointer) == ("empty_selector", pointer)
