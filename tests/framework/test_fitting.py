"""`count_fitting`: if it says `n`, `decide` places `n` more, and not one more."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.cycle import decide
from idcsched.framework.fitting import FittingCount, count_fitting
from idcsched.framework.plugin import Plugin, Reason, Rejection
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.request import Machine, Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import NOW, IdcSpec, profile, request, snapshot, world

from .fleets import profiles, worlds

ROOMY = profile("available", ("network_flow", "network_flow", {"weight": 1}), "resource", "taint")
MACHINE = Machine(bandwidth_mbps=100, cpu=4)
FLEET: dict[str, IdcSpec] = {
    "a": {"lines": {"ct": {"used_mbps": 100, "max_level": 1.0}}},
    "b": {"lines": {"ct": {"used_mbps": 100, "max_level": 1.0}}, "stock": {"cpu": 10}},
    "c": {"lines": {"ct": {"used_mbps": 950, "max_level": 1.0}}},
    "d": {"lines": {"ct": {"used_mbps": 0, "max_level": 1.0}}, "taints": ["k:NoSchedule"]},
}


def fits(fleet: dict[str, IdcSpec] = FLEET, policy: Profile = ROOMY, **asked: Any) -> dict[str, tuple[int, str | None]]:
    machine, at_most = asked.pop("machine", MACHINE), asked.pop("at_most", 1000)
    picture = snapshot(world(fleet))
    found = count_fitting(
        Question(request(picture, **asked), picture, policy, now=NOW), machine=machine, at_most=at_most
    )
    return {picture.idcs.codes[each.row]: (each.count, each.limit.code if each.limit else None) for each in found}


def test_it_works() -> None:
    assert fits() == {
        "a": (9, "not_enough_bandwidth"),
        "b": (2, "not_enough_stock"),
        "c": (0, "not_enough_bandwidth"),
        "d": (0, "untolerated_taint"),
    }


def test_it_says_how_far_the_next_is_off() -> None:
    picture = snapshot(world(FLEET))
    found = count_fitting(Question(request(picture), picture, ROOMY, now=NOW), machine=MACHINE, at_most=1000)
    assert found[0].limit is not None
    assert found[0].limit.reason == "needs 1000 Mbps on ct, 900 left"
    assert found[0].limit.detail["short_by"] == 100


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param({"at_most": 5}, (5, None), id="nobody counts further"),
        pytest.param({"at_most": 9}, (9, None), id="exactly so far"),
        pytest.param({"at_most": 10}, (9, "not_enough_bandwidth"), id="one further"),
        pytest.param({"at_most": 1}, (1, None), id="is there one at all"),
        pytest.param({"machine": Machine()}, (1000, None), id="a machine that needs nothing"),
        pytest.param({"isp": "cu"}, (0, "no_isp_line"), id="no such line"),
        pytest.param({"exclude": ["a"]}, (0, "excluded"), id="excluded"),
    ],
)
def test_of_one_idc(asked: dict[str, Any], expected: tuple[int, str | None]) -> None:
    assert fits(**asked)["a"] == expected


def test_every_fallback_group_counts() -> None:
    groups = [{"match_labels": {"idc/code": "b"}}, {"match_labels": {"idc/code": "a"}}]
    assert fits(policy=profile("network_flow", "resource", fallback=groups)) == {
        "a": (9, "not_enough_bandwidth"),
        "b": (2, "not_enough_stock"),
        "c": (0, "no_group"),
        "d": (0, "no_group"),
    }


def test_one_at_a_time() -> None:
    class Odd(Plugin):
        """A plugin that rejects requests for more than three machines."""

        name = "odd"

        def filter_one(self, ctx: Any, idc: Any) -> Rejection | None:
            return Rejection(Reason("odd", "odd", "odd")) if ctx.request.machine_count > 3 else None

    fleet: dict[str, IdcSpec] = {f"idc{number}": {} for number in range(150)}
    found = fits(fleet, profile("odd", plugins=[Odd]))
    assert set(found.values()) == {(3, "odd")}
    assert len(found) == 150


def alone(asked: Request, row: FittingCount, picture: Snapshot, policy: Profile, count: int) -> bool:
    machines = (msgspec.structs.replace(MACHINE, count=count),)
    only = msgspec.structs.replace(asked, only=(picture.idcs.codes[row.row],), machines=machines)
    return decide(Question(only, picture, policy, now=NOW)).scheduled


@given(worlds(least=1), profiles(), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_so_many_fit_and_not_one_more(known: Any, policy: Profile, at_most: int) -> None:
    picture = snapshot(known)
    asked = request(picture, region=["A", "B"])
    found = count_fitting(Question(asked, picture, policy, now=NOW), machine=MACHINE, at_most=at_most)
    assert [each.row for each in found] == list(range(picture.size))
    for each in found:
        assert each.count == 0 or alone(asked, each, picture, policy, each.count)
        assert (each.limit is None) == (each.count == at_most)
        assert each.limit is None or not alone(asked, each, picture, policy, each.count + 1)


def test_everybody_is_counted_however_few_the_profile_would_look_at() -> None:
    class Roomy(Plugin):
        """A plugin that keeps every IDC, whatever the request needs."""

        name = "roomy"

        def filter_one(self, ctx: Any, idc: Any) -> Rejection | None:
            return None

    fleet: dict[str, IdcSpec] = {f"idc{number}": {} for number in range(150)}
    found = fits(fleet, profile("roomy", plugins=[Roomy], candidates_percent=10), at_most=3)
    assert set(found.values()) == {(3, None)}
