"""Nothing fits: an answer that says why in one sentence, as counts, and by the near misses."""

from typing import Any

import pytest

from idcsched.framework.testing import IdcSpec, Outcome, decide_for, profile, world

LISTED = ("available", "network_flow", "taint")


def full(used: float) -> IdcSpec:
    return {"lines": {"ct": {"used_mbps": used}}}


def decided(idcs: dict[str, IdcSpec], *, listed: Any = LISTED, need: float = 400, **fields: Any) -> Outcome:
    return decide_for(world(idcs), profile(*listed), machines=[{"bandwidth_mbps": need}], **fields)


def test_it_works() -> None:
    answer = decided(
        {
            "a": full(580),
            "b": full(700),
            "c": {**full(0), "taints": ["k:NoSchedule"]},
            "d": {**full(0), "status": "offline"},
        }
    ).answer
    assert (answer.result, answer.reason_code) == ("unschedulable", "none_feasible")
    assert answer.summary == "0/4 IDCs fit: 2 not enough bandwidth, 1 offline, 1 untolerated taint"
    assert (answer.idc, answer.lines, answer.score, answer.score_mean) == (None, (), None, None)
    assert (answer.candidates, answer.tie, answer.margin) == ((), None, None)
    first = answer.near_misses[0]
    assert (first.idc, first.plugin, first.code) == ("a", "network_flow", "not_enough_bandwidth")
    assert (first.need, first.free, first.short_by) == (400.0, 320.0, 80.0)
    assert first.reason == "needs 400 Mbps on ct, 320 left"


@pytest.mark.parametrize(
    ("idcs", "summary"),
    [
        pytest.param({"a": full(0)}, "1/1 IDCs fit", id="everything fits"),
        pytest.param({"a": full(0), "b": full(900)}, "1/2 IDCs fit: 1 not enough bandwidth", id="some do"),
        pytest.param({"a": {}}, "0/1 IDCs fit: 1 no line", id="nothing does"),
    ],
)
def test_summary(idcs: dict[str, IdcSpec], summary: str) -> None:
    assert decided(idcs).answer.summary == summary


def test_near_misses_are_looked_for_only_when_nothing_fits() -> None:
    assert decided({"a": full(0), "b": full(900)}).answer.near_misses == ()


def test_near_misses_failed_a_single_filter() -> None:
    answer = decided(
        {
            "one": full(600),
            "two": {**full(600), "taints": ["k:NoSchedule"]},
            "twice": {**full(0), "taints": ["k:NoSchedule", "l:NoExecute"]},
        }
    ).answer
    assert [miss.idc for miss in answer.near_misses] == ["one", "twice"]


def test_the_nearest_come_first_those_without_numbers_last() -> None:
    answer = decided(
        {"far": full(880), "near": full(501), "tainted": {**full(0), "taints": ["k:NoSchedule"]}, "middle": full(700)}
    ).answer
    assert [miss.idc for miss in answer.near_misses] == ["near", "middle", "far", "tainted"]
    last = answer.near_misses[-1]
    assert (last.need, last.free, last.short_by, last.reason) == (None, None, None, "untolerated taint k:NoSchedule")


def test_they_say_which_change_may_help() -> None:
    answer = decided(
        {"a": full(501), "b": {**full(0), "taints": ["k:NoSchedule"]}, "c": {**full(0), "status": "offline"}}
    )
    assert {miss.idc: miss.cures for miss in answer.answer.near_misses} == {
        "a": ("metrics", "ledger", "lines"),
        "b": ("taints",),
        "c": ("status",),
    }


def test_an_idc_that_no_change_helps_is_no_near_miss() -> None:
    answer = decided({"a": {**full(0), "tier": "edge"}, "b": {**full(501), "tier": "center"}}, tier="center").answer
    assert [miss.idc for miss in answer.near_misses] == ["b"]


def test_nearness_is_by_share_of_the_need() -> None:
    answer = decide_for(
        world({"cpu": {"stock": {"cpu": 10}, **full(0)}, "mbps": full(560)}),
        profile("network_flow", "resource"),
        machines=[{"bandwidth_mbps": 400, "cpu": 20}],
        only=["cpu", "mbps"],
    ).answer
    assert [(miss.idc, miss.short_by) for miss in answer.near_misses] == [("mbps", 60.0), ("cpu", 10.0)]


def test_what_the_request_itself_excludes_is_no_near_miss() -> None:
    answer = decided({"a": full(0), "b": full(600)}, exclude=["a"]).answer
    assert [miss.idc for miss in answer.near_misses] == ["b"]


@pytest.mark.parametrize(
    ("explain", "shown"), [("full", 8), ("summary", 3), ("none", None)], ids=["all", "as many as `top`", "none"]
)
def test_how_many_near_misses_are_shown(explain: str, shown: int | None) -> None:
    idcs = {f"idc{number}": full(600 + number) for number in range(8)}
    near = decided(idcs, explain=explain, top=3).answer.near_misses
    assert (None if near is None else len(near)) == shown


def test_no_idc_in_the_region_is_another_matter() -> None:
    known = world({"a": {}}, regions={"A": None, "B": None})
    answer = decide_for(known, region="B").answer
    assert (answer.result, answer.reason_code) == ("unschedulable", "no_idc_in_region")
    assert answer.summary == "no IDC in the region"
    assert (answer.evaluated, answer.rejected_counts, answer.near_misses) == (0, (), ())
