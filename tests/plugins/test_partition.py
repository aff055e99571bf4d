"""`partition`: keeps IDCs of the operator's own partition that the request names."""

from idcsched.framework.testing import decide_for, world

KNOWN = world({"a": {"partition": "own"}, "b": {"partition": "partner"}, "c": {}})


def test_it_works() -> None:
    outcome = decide_for(KNOWN, partition="own")
    assert set(outcome.totals) == {"a"}
    assert {rejected.idc: rejected.reason for rejected in outcome.answer.rejected} == {
        "b": "its partition is partner, not own",
        "c": "its partition is –, not own",
    }
    assert set(outcome.rejections.values()) == {"other_partition"}


def test_none_named_keeps_all() -> None:
    assert set(decide_for(KNOWN).totals) == {"a", "b", "c"}


def test_nobody_is_in_an_unheard_of_partition() -> None:
    assert decide_for(KNOWN, partition="elsewhere").answer.result == "unschedulable"
