"""`tier`: keeps IDCs of the tier that the request names."""

from idcsched.framework.testing import decide_for, world

KNOWN = world({"e": {"tier": "edge"}, "c": {"tier": "center"}})


def test_it_works() -> None:
    outcome = decide_for(KNOWN, tier="center")
    assert set(outcome.totals) == {"c"}
    (rejected,) = outcome.answer.rejected
    assert (rejected.plugin, rejected.code) == ("tier", "other_tier")
    assert rejected.reason == "its tier is edge, not center"


def test_the_other_way_round() -> None:
    assert set(decide_for(KNOWN, tier="edge").totals) == {"e"}


def test_none_named_keeps_all() -> None:
    assert set(decide_for(KNOWN).totals) == {"e", "c"}
