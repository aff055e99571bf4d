"""Where a request would fit, if only enough were given back, and what it would need there."""

from typing import Any

import pytest

from idcsched.framework.capacity import Claim
from idcsched.framework.overlay import Allocation, with_allocations
from idcsched.framework.shortfall import free_part_of, idcs_awaited, nearest_claims
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
    found = nearest_claims(decision)
    assert (found and found.idc) == expected


def test_what_it_needs_there() -> None:
    """The claims name all that the request needs, not only what is lacking, but nothing that is unlimited."""
    fleet: dict[str, Any] = {"a": {**FLEET["a"], "stock": {"cpu": 64}}}
    machines = [{"count": 2, "bandwidth_mbps": 375, "cpu": 4, "memory_gib": 8}]
    found = nearest_claims(decide_for(world(fleet), BOTH, machines=machines).decision)
    assert found == Allocation(
        idc="a",
        claims=(Claim(resource="bandwidth_mbps", amount=750, line="ct"), Claim(resource="cpu", amount=8)),
    )


@pytest.mark.parametrize(
    ("mbps", "expected"),
    [
        pytest.param(550, ("b", "a"), id="others hold enough in two, one of which lacks less"),
        pytest.param(300, ("b", "a"), id="one would do as it is"),
        pytest.param(5000, (), id="others do not hold so much"),
    ],
)
def test_what_is_awaited(mbps: float, expected: tuple[str, ...]) -> None:
    fleet = {code: FLEET[code] for code in "abcd"}
    decision = decide_for(world(fleet), BOTH, machines=[{"bandwidth_mbps": mbps}]).decision
    assert idcs_awaited(decision) == expected
    assert idcs_awaited(decision, at_most=1) == expected[:1]


TWO_LINES: dict[str, Any] = {
    "free": {"isp": "ct", "used_mbps": 500},
    "held": {"isp": "ct", "used_mbps": 100, "pending_mbps": 600},
}


@pytest.mark.parametrize(
    ("mbps", "line"),
    [
        pytest.param(700, "held", id="others hold nothing of the line that lacks least"),
        pytest.param(450, "held", id="nor a part of it"),
        pytest.param(900, None, id="nor enough of the other one"),
    ],
)
def test_the_line_is_awaited_of_which_others_hold_enough(mbps: float, line: str | None) -> None:
    decision = decide_for(world({"a": {"lines": TWO_LINES}}), BOTH, machines=[{"bandwidth_mbps": mbps}]).decision
    assert idcs_awaited(decision) == (("a",) if line else ())
    found = nearest_claims(decision)
    assert (found and found.claims) == (line and (Claim(resource="bandwidth_mbps", amount=mbps, line=line),))


def test_all_lines_of_an_all_must_be_covered() -> None:
    lines: dict[str, Any] = {"ct": {"used_mbps": 0, "pending_mbps": 700}, "cu": {"used_mbps": 500}}
    asked = {"isp": ["ct", "cu"], "isp_match": "all", "machines": [{"bandwidth_mbps": 600}]}
    assert idcs_awaited(decide_for(world({"a": {"lines": lines}}), BOTH, **asked).decision) == ()


def test_what_is_left_of_it() -> None:
    """What is kept free is, of each claim, as much as the IDC has left, up to the amount of the claim."""
    picture = snapshot(world(FLEET))
    needs = (Claim(resource="bandwidth_mbps", amount=150, line="ct"), Claim(resource="cpu", amount=4))
    over = with_allocations(
        picture, [free_part_of(picture, Allocation(idc=idc, claims=needs)) for idc in ("e", "a", "c")]
    )
    assert (over.lines.room - picture.lines.room).tolist() == [-100, 0, -100, 0, -150]
    assert over.stock.taken["cpu"][4] == 8
