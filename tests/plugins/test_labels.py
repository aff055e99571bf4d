"""`labels`: the request's `selector` is hard; its terms are ORed."""

from idcsched.framework.testing import decide_for, profile, world

KNOWN = world({"a": {"labels": {"disk": "ssd"}}, "b": {"labels": {"disk": "hdd"}}, "c": {}})


def test_it_works() -> None:
    outcome = decide_for(KNOWN, selector={"match_labels": {"disk": "ssd"}})
    assert set(outcome.totals) == {"a"}
    told = outcome.answer.rejected[0]
    assert (told.idc, told.plugin, told.code) == ("b", "labels", "selector_mismatch")
    assert told.reason == "the request's selector does not match its labels"


def test_terms_are_ored() -> None:
    either = [{"match_labels": {"disk": "ssd"}}, {"match_expressions": [{"key": "disk", "operator": "DoesNotExist"}]}]
    assert set(decide_for(KNOWN, selector=either).totals) == {"a", "c"}


def test_no_selector_keeps_all() -> None:
    assert set(decide_for(KNOWN).totals) == {"a", "b", "c"}


def test_it_holds_listed_or_not() -> None:
    outcome = decide_for(KNOWN, profile("taint", ("mine", "labels")), selector={"match_labels": {"disk": "ssd"}})
    assert set(outcome.totals) == {"a"}
    assert {rejected.plugin for rejected in outcome.answer.rejected} == {"mine"}
