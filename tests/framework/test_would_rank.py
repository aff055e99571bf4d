"""The rank that an IDC would have if it fitted is the one that it has where nothing rejects it."""

from typing import Any

import pytest

from idcsched.framework.testing import IdcSpec, decide_for, profile, world
from idcsched.framework.would_rank import rank_if_it_fitted

X = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "min_max"}})
POLICY = profile("available", "taint", X)
VALUES = {"a": 40, "b": 30, "c": 20, "d": 10}


def fleet(tainted: str = "") -> dict[str, IdcSpec]:
    """Four IDCs, of which `a` has the most points and `d` the least."""
    return {
        code: {"metrics": {"x": value}, "taints": ["k:NoSchedule"] if code == tainted else []}
        for code, value in VALUES.items()
    }


@pytest.mark.parametrize("code", VALUES)
def test_it_works(code: str) -> None:
    """This holds for the best and the worst IDC, too, without which the others are scored on another range."""
    without = decide_for(world(fleet()), POLICY)
    ranks = {candidate.idc: candidate.rank for candidate in without.answer.candidates or ()}
    assert rank_if_it_fitted(decide_for(world(fleet(code)), POLICY).decision, code) == ranks[code]


def test_with_as_many_points_it_shares_the_better_rank() -> None:
    known: dict[str, IdcSpec] = {**fleet(), "e": {"metrics": {"x": 30}, "status": "offline"}}
    assert rank_if_it_fitted(decide_for(world(known), POLICY).decision, "e") == 2


def test_one_that_lacks_room_is_ranked_on_the_line_that_lacks_least() -> None:
    def lines(**used: float) -> IdcSpec:
        return {"lines": {isp: {"isp": isp, "purchased_mbps": 1000, "used_mbps": mbps} for isp, mbps in used.items()}}

    known = world({"roomy": lines(ct=100), "tight": lines(ct=990), "other": lines(cu=0)})
    decision = decide_for(
        known, profile(("network_flow", "network_flow", {"weight": 1})), isp="ct", machines=[{"bandwidth_mbps": 100}]
    ).decision
    assert rank_if_it_fitted(decision, "tight") == 2
    assert rank_if_it_fitted(decision, "other") is None, "it has no line that the order could use"


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        pytest.param("nowhere", {}, id="unknown"),
        pytest.param("b", {"only": ["a", "c"]}, id="not looked at"),
        pytest.param("b", {"only": ["b"]}, id="nothing fits"),
        pytest.param("b", {"fallback": [{"match_labels": {"idc/code": code}} for code in "ab"]}, id="of a later group"),
    ],
)
def test_where_it_can_t_be_compared(code: str, fields: dict[str, Any]) -> None:
    assert rank_if_it_fitted(decide_for(world(fleet("b")), POLICY, **fields).decision, code) is None
