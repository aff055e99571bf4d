"""`available`: only what is online takes anything new."""

import pytest

from idcsched.framework.testing import decide_for, profile, world

LISTED = profile("available")


def test_it_works() -> None:
    outcome = decide_for(world({"a": {}, "b": {"status": "offline"}}), LISTED)
    assert set(outcome.totals) == {"a"}
    (rejected,) = outcome.answer.rejected
    assert (rejected.plugin, rejected.code) == ("available", "not_online")
    assert rejected.reason == "its status is offline"
    assert outcome.answer.summary == "1/2 IDCs fit: 1 offline"


@pytest.mark.parametrize(
    ("status", "fits"), [("online", True), ("offline", False), ("draining", False), ("retired", False)]
)
def test_status(status: str, *, fits: bool) -> None:
    assert decide_for(world({"a": {"status": status}}), LISTED).decision.scheduled is fits


def test_each_idc_is_told_its_own_status_wherever_its_region_stands() -> None:
    known = world(
        {"a": {"region": "A", "status": "offline"}, "b": {"region": "B"}, "c": {"region": "C", "status": "draining"}}
    )
    told = {
        rejected.idc: rejected.detail["status"]
        for rejected in decide_for(known, LISTED, region=["B", "C"]).answer.rejected
    }
    assert told == {"c": "draining"}


def test_each_status_is_counted_by_its_name() -> None:
    known = world({"a": {}, **{code: {"status": code[:-1]} for code in ("draining1", "draining2", "retired1")}})
    answer = decide_for(known, LISTED).answer
    assert answer.summary == "1/4 IDCs fit: 2 draining, 1 retired"
    assert [(each.code, each.count) for each in answer.rejected_counts] == [("draining", 2), ("retired", 1)]


def test_not_listed_it_does_nothing() -> None:
    assert decide_for(world({"a": {"status": "retired"}})).decision.scheduled
