"""`spread`: the machines of one request split over IDCs in rank order, all or nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.cycle import decide
from idcsched.framework.errors import Invalid
from idcsched.framework.profile import Profile
from idcsched.framework.question import Question
from idcsched.framework.recording import inputs_of, pack, unpack
from idcsched.framework.spreading import Solution, solution_answer, solve
from idcsched.framework.testing import NOW, IdcSpec, profile, request, snapshot, world

ROOMY = profile("available", ("network_flow", "network_flow", {"weight": 1}), "resource")


def idc(room: float, **more: Any) -> IdcSpec:
    return {"lines": {"ct": {"used_mbps": 1000.0 - room, "max_level": 1.0}}, **more}  # type: ignore[typeddict-item]


FLEET: dict[str, IdcSpec] = {
    "a": idc(900, provider="own"),
    "b": idc(500, provider="own"),
    "c": idc(300, provider="cloud"),
    "d": idc(100, status="offline", provider="cloud"),
}


def spread(count: int, fleet: dict[str, IdcSpec] = FLEET, policy: Profile = ROOMY, **how: Any) -> Solution:
    picture = snapshot(world(fleet))
    asked = request(picture, machines=[{"count": count, "bandwidth_mbps": 100}], spread=how)
    return solve(Question(asked, picture, policy, now=NOW))


def shares(solution: Solution) -> list[tuple[str, int]]:
    return [(share.idc.code, share.request.machine_count) for share in solution.shares or ()]


@pytest.mark.parametrize(
    ("count", "how", "expected"),
    [
        pytest.param(4, {}, [("a", 4)], id="one IDC holds them all"),
        pytest.param(12, {}, [("a", 9), ("b", 3)], id="the first is filled first"),
        pytest.param(17, {}, [("a", 9), ("b", 5), ("c", 3)], id="exactly what there is"),
        pytest.param(18, {}, [], id="one more: nothing"),
        pytest.param(6, {"max_per_idc": 2}, [("a", 2), ("b", 2), ("c", 2)], id="so many in one at most"),
        pytest.param(7, {"max_per_idc": 2}, [], id="not more than that"),
        pytest.param(5, {"min_idcs": 2}, [("a", 4), ("b", 1)], id="so many IDCs at least"),
        pytest.param(3, {"min_idcs": 3}, [("a", 1), ("b", 1), ("c", 1)], id="one each"),
        pytest.param(4, {"min_idcs": 4}, [], id="there are not so many"),
        pytest.param(12, {"min_idcs": 3, "max_per_idc": 7}, [("a", 7), ("b", 4), ("c", 1)], id="both"),
        pytest.param(4, {"max_per_idc": 2, "by": "provider"}, [("a", 2), ("c", 2)], id="so many at one provider"),
        pytest.param(4, {"min_idcs": 2, "by": "provider"}, [("a", 3), ("c", 1)], id="two providers at least"),
    ],
)
def test_it_works(count: int, how: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    assert shares(spread(count, **how)) == expected


def test_regions_count_together() -> None:
    fleet = {"a1": idc(900, region="A1"), "a2": idc(800, region="A1"), "b1": idc(300, region="A2")}
    picture = snapshot(world(fleet, regions={"A": None, "A1": "A", "A2": "A"}))  # type: ignore[arg-type]
    machines = [{"count": 12, "bandwidth_mbps": 100}]
    asked = request(picture, region="A", machines=machines, spread={"max_per_idc": 10, "by": "region"})
    found = solve(Question(asked, picture, ROOMY, now=NOW))
    assert shares(found) == [("a1", 9), ("a2", 1), ("b1", 2)]


def test_the_answer() -> None:
    told = solution_answer(spread(12))
    assert told.idc is not None
    assert (told.result, told.idc.code, told.score) == ("scheduled", "a", told.candidates[0].score)  # type: ignore[index]
    assert [(each.idc, each.machine_count) for each in told.idcs] == [("a", 9), ("b", 3)]  # type: ignore[union-attr]
    assert [each.lines[0].bandwidth_mbps for each in told.idcs] == [900, 300]  # type: ignore[union-attr]


def test_the_answer_where_it_does_not_fit() -> None:
    told = solution_answer(spread(18))
    assert (told.result, told.reason_code, told.idc, told.score) == ("unschedulable", "none_feasible", None, None)
    assert told.summary == "3/4 IDCs fit: 1 offline; spread so they hold 17 of 18 machines"
    assert told.idcs == ()


def test_nobody_fits_at_all() -> None:
    told = solution_answer(spread(2, {"d": FLEET["d"]}))
    assert (told.summary, told.idcs) == ("0/1 IDCs fit: 1 offline", ())
    assert told.near_misses


def test_machines_of_several_shapes_keep_their_order() -> None:
    picture = snapshot(world(FLEET))
    machines = [{"count": 2, "bandwidth_mbps": 400}, {"count": 3, "bandwidth_mbps": 100, "name": "small"}]
    found = solve(Question(request(picture, machines=machines, spread={}), picture, ROOMY, now=NOW))
    told = [
        [(machine.count, machine.bandwidth_mbps) for machine in share.request.machines or ()]
        for share in found.shares or ()
    ]
    assert told == [[(2, 400), (1, 100)], [(2, 100)]]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        pytest.param({"spread": {"min_idcs": 3}, "machines": [{"count": 2}]}, "/spread/min_idcs", id="too few"),
        pytest.param({"spread": {}}, "/machines", id="no machines"),
        pytest.param({"spread": {"min_idcs": 3}, "machines": []}, "/machines", id="a list of none"),
        pytest.param({"spread": {"max_per_idc": 0}, "machines": [{}]}, "/spread/max_per_idc", id="none per IDC"),
        pytest.param({"spread": {"by": "rack"}, "machines": [{}]}, "/spread/by", id="by what is not known"),
        pytest.param({"spread": {"most": 1}, "machines": [{}]}, "/spread/most", id="an unknown field"),
    ],
)
def test_refusals(fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        request(snapshot(world(FLEET)), **fields)
    assert [error.pointer for error in refusal.value.errors] == [pointer]


@st.composite
def spreads(draw: st.DrawFn) -> tuple[dict[str, IdcSpec], int, dict[str, Any]]:
    rooms = draw(st.lists(st.integers(0, 10), min_size=1, max_size=6))
    providers = st.sampled_from(["own", "cloud"])
    fleet = {f"idc{number}": idc(100.0 * room, provider=draw(providers)) for number, room in enumerate(rooms)}
    how = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "max_per_idc": st.integers(1, 6),
                "min_idcs": st.integers(1, 4),
                "by": st.sampled_from(["idc", "provider"]),
            },
        )
    )
    return fleet, draw(st.integers(how.get("min_idcs", 1), 30)), how


@given(spreads())
@settings(max_examples=60, deadline=None)
def test_shares_fit_and_keep_the_limits(case: Any) -> None:
    """`decide` places each share in its IDC, the shares keep the request's limits, and a replay answers the same."""
    fleet, count, how = case
    picture = snapshot(world(fleet))
    asked = request(picture, machines=[{"count": count, "bandwidth_mbps": 100}], spread=how)
    found = solve(Question(asked, picture, ROOMY, now=NOW))
    by_domain: dict[str, int] = {}
    for share in found.shares or ():
        alone = msgspec.structs.replace(share.request, only=(share.idc.code,))
        assert decide(Question(alone, picture, ROOMY, now=NOW)).scheduled
        domain = share.idc.code if how.get("by", "idc") == "idc" else str(fleet[share.idc.code]["provider"])
        by_domain[domain] = by_domain.get(domain, 0) + share.request.machine_count
    if found.shares:
        assert sum(by_domain.values()) == count
        assert max(by_domain.values()) <= how.get("max_per_idc", count)
        assert len(by_domain) >= how.get("min_idcs", 1)
    again = unpack(pack(inputs_of(Question(asked, picture, profile(), now=NOW))))
    replayed = solve(Question(again.request, again.snapshot(), ROOMY, now=NOW))
    assert solution_answer(replayed, explain="full") == solution_answer(found, explain="full")


def test_an_idc_that_cannot_hold_the_next_machine_is_passed_over() -> None:
    """IDC b is next in the ranking after a, but has one core, and the second machine needs nine: it goes to c."""
    fleet = {"a": idc(900, stock={"cpu": 1.0}), "b": idc(500, stock={"cpu": 1.0}), "c": idc(300, stock={"cpu": 9.0})}
    picture = snapshot(world(fleet))
    machines = [{"bandwidth_mbps": 100, "cpu": 1}, {"bandwidth_mbps": 100, "cpu": 9}]
    found = solve(Question(request(picture, machines=machines, spread={"max_per_idc": 1}), picture, ROOMY, now=NOW))
    assert shares(found) == [("a", 1), ("c", 1)]
