"""`region`: a request is about the IDCs of its regions, sub-regions included, and counts no others."""

from typing import Any

import pytest

from idcsched.framework.errors import Invalid
from idcsched.framework.testing import decide_for, profile, world

KNOWN = world(
    {
        code: {"region": region}
        for code, region in {
            "c": "country",
            "n": "north",
            "n1": "north-1",
            "n2": "north-2",
            "s": "south",
            "x": "abroad",
        }.items()
    },
    regions={
        "abroad": None,
        "country": None,
        "south": "country",
        "north-2": "north",
        "north": "country",
        "north-1": "north",
        "nowhere": "abroad",
    },
)


def test_it_works() -> None:
    answer = decide_for(KNOWN, region="north").answer
    assert {candidate.idc for candidate in answer.candidates} == {"n", "n1", "n2"}
    assert (answer.evaluated, answer.feasible, answer.rejected) == (3, 3, ())


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        pytest.param("north-1", {"n1"}, id="a leaf"),
        pytest.param("north", {"n", "n1", "n2"}, id="with its sub-regions"),
        pytest.param("country", {"c", "n", "n1", "n2", "s"}, id="with theirs"),
        pytest.param("abroad", {"x"}, id="another root"),
        pytest.param("nowhere", set(), id="an empty region"),
        pytest.param(["north-1", "south"], {"n1", "s"}, id="several"),
        pytest.param(["north", "north-1"], {"n", "n1", "n2"}, id="one within another is counted once"),
        pytest.param(["south", "south"], {"s"}, id="the same twice is counted once"),
        pytest.param(["abroad", "nowhere"], {"x"}, id="an empty one adds nobody"),
    ],
)
def test_universe(region: Any, expected: set[str]) -> None:
    outcome = decide_for(KNOWN, region=region)
    assert set(outcome.totals) == expected
    assert outcome.answer.evaluated == len(expected)


def test_an_empty_region_is_unschedulable_for_a_reason_of_its_own() -> None:
    answer = decide_for(KNOWN, region="nowhere").answer
    assert (answer.result, answer.reason_code, answer.evaluated) == ("unschedulable", "no_idc_in_region", 0)
    assert answer.summary == "no IDC in the region"


@pytest.mark.parametrize(
    ("region", "pointer"),
    [
        pytest.param("mars", "/region", id="a name"),
        pytest.param(["north", "mars"], "/region/1", id="a name in a list"),
    ],
)
def test_unknown_regions_are_refused(region: Any, pointer: str) -> None:
    with pytest.raises(Invalid, match="there is no region mars") as refusal:
        decide_for(KNOWN, region=region)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == ("unknown_region", pointer)


def test_without_a_region_the_only_list_is_the_universe() -> None:
    answer = decide_for(KNOWN, only=["x", "n1"]).answer
    assert (answer.evaluated, answer.feasible) == (2, 2)


@pytest.mark.parametrize("listed", [profile(), profile("taint", "region")], ids=["implied", "listed"])
def test_it_holds_listed_or_not(listed: Any) -> None:
    assert set(decide_for(KNOWN, listed, region="south").totals) == {"s"}
