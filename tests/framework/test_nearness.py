"""The IDC that a request would fit first, if only enough were given back."""

from typing import Any

import pytest

from idcsched.framework.nearness import all_of, nearest
from idcsched.framework.overlaying import laid_over
from idcsched.framework.testing import IdcSpec, decide_for, profile, snapshot, world

BOTH = profile("available", "network_flow", "resource", "taint")
FLEET: dict[str, IdcSpec] = {
    "a": {"lines": {"ct": {"used_mbps": 100, "pending_mbps": 700}}},
    "b": {"lines": {"ct": {"used_mbps": 100, "pending_mbps": 500}}},
    "c": {"lines": {"ct": {"used_mbps": 800}}},
    "d": {"lines": {"ct": {"used_mbps": 100, "pending_mbps": 450}}, "taints": ["k:NoSchedule"]},
    "e": {"lines": {"ct": {"used_mbps": 0}}, "stock": {"cpu": 8}, "taken": {"cpu": 7}},
}


@pytest.mark.parametrize(
    ("mbps", "cpu", "expected"),
    [
        pytest.param(500, 4, "b", id="the least is lacking"),
        pytest.param(850, 4, "e", id="stock that others hold"),
        pytest.param(750, 16, "a", id="more stock than there is"),
        pytest.param(5000, 4, None, id="more than others hold anywhere"),
    ],
)
def test_it_works(mbps: float, cpu: float, expected: str | None) -> None:
    fleet: dict[str, Any] = {code: {"stock": {"cpu": 64}, **spec} for code, spec in FLEET.items() if code != "b"}
    if expected == "b":
        fleet["b"] = FLEET["b"]
    decision = decide_for(world(fleet), BOTH, machines=[{"bandwidth_mbps": mbps, "cpu": cpu}]).decision
    assert not decision.scheduled
    assert nearest(decision) == expected


def test_all_that_is_left() -> None:
    picture = snapshot(world(FLEET))
    over = laid_over(picture, [all_of(picture, "e"), all_of(picture, "a")])
    assert [over.lines.room[0], over.lines.room[4]] == [0, 0]
    assert over.idcs.taken["cpu"][4] == 8
