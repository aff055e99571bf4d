"""One after the other on one picture: what is answered is what deciding each afresh would answer, byte for byte."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.fleet import default_profile, snapshot_of
from bench.fleet import requests as requests_of_bench
from idcsched.framework.capacity import Usage
from idcsched.framework.claiming import Claim
from idcsched.framework.facts import World
from idcsched.framework.overlaying import laid_over
from idcsched.framework.profile import Profile
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.spreading import solution_answer, solve, tenancies_of
from idcsched.framework.standing import Tenancy
from idcsched.framework.succession import Repeated, Succession, taken_by
from idcsched.framework.testing import NOW, profile, request, snapshot, world
from plugins.network_flow import NetworkFlow

from .fleets import profiles, requests, worlds

ORDER: dict[str, Any] = {
    "region": "A",
    "isp": "ct",
    "explain": "none",
    "machines": [{"bandwidth_mbps": 100, "cpu": 2}],
}
FLEET: dict[str, Any] = {
    "a": {"lines": {"ct": {"used_mbps": 100, "price_per_mbps": 20}}, "stock": {"cpu": 5}},
    "b": {"lines": {"ct": {"used_mbps": 400, "price_per_mbps": 21}}},
    "c": {"lines": {"ct": {"used_mbps": 0, "price_per_mbps": 60}, "cu": {"used_mbps": 0}}},
}
POLICY = (
    "available",
    ("network_flow", "network_flow", {"weight": 10}),
    ("resource", "resource", {"weight": 0}),
    ("billing_cost", "billing_cost", {"weight": 80}),
)


def in_one_go(picture: Snapshot, policy: Profile, asked: Sequence[Request]) -> tuple[list[bytes], int]:
    """The answers, and how many of them were of questions that had stayed open."""
    succession, answers, repeated = Succession(picture, [policy]), [], 0
    for number, each in enumerate(asked):
        solution = succession.solve(each, policy, now=NOW + number / 1000, reference="http")
        open_ = isinstance(solution, Repeated)
        told = solution.found.answer if isinstance(solution, Repeated) else solution_answer(solution, explain="none")
        succession.take(taken_by(solution, tenant="t", business="b"))
        answers.append(msgspec.json.encode(told))
        repeated += open_
    return answers, repeated


def afresh(picture: Snapshot, policy: Profile, asked: Sequence[Request]) -> list[bytes]:
    answers = []
    for number, each in enumerate(asked):
        solution = solve(each, picture, policy, now=NOW + number / 1000, reference="http")
        picture = laid_over(picture, tenancies_of(solution, tenant="t", business="b"))
        answers.append(msgspec.json.encode(solution_answer(solution, explain="none")))
    return answers


def times(count: int, *orders: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**order, "request_id": f"o-{number}"} for number in range(count) for order in orders]


def both(fleet: dict[str, Any], asked: Sequence[dict[str, Any]], *policy: Any, **extra: Any) -> int:
    """How many were answered of an open question, the answers being the same."""
    picture, plugins = snapshot(world(fleet)), profile(*(policy or POLICY), **extra)
    decoded = [request(picture, **each) for each in asked]
    answers, repeated = in_one_go(picture, plugins, decoded)
    assert answers == afresh(picture, plugins, decoded)
    return repeated


def test_it_works() -> None:
    assert both(FLEET, times(12, ORDER)) >= 8


def test_no_two_alike() -> None:
    """Each is decided on the picture of the beginning, on which everything is remembered, and brought up to date."""
    orders = [{**ORDER, "machines": [{"bandwidth_mbps": 20 + number, "cpu": 1}]} for number in range(12)]
    assert both(FLEET, times(1, *orders)) >= 8


def test_what_gives_back_is_decided_afresh() -> None:
    picture, policy = snapshot(world(FLEET)), profile(*POLICY)
    asked, succession = request(picture, **ORDER), Succession(picture, [policy])
    assert isinstance(succession.solve(asked, policy, now=NOW), Repeated)
    back = Tenancy(idc="b", claims=(Claim(resource="bandwidth_mbps", amount=-100, line="ct"),))
    succession.take([back])
    afterwards = succession.solve(asked, policy, now=NOW)
    assert not isinstance(afterwards, Repeated)
    assert afterwards.decision.cycle.snapshot.lines.pending.tolist() == [0, -100, 0, 0]


def test_several_kinds_of_orders_in_turns() -> None:
    small = {**ORDER, "machines": [{"bandwidth_mbps": 10, "cpu": 1}]}
    any_isp = {key: value for key, value in ORDER.items() if key != "isp"}
    assert both(FLEET, times(8, ORDER, small, any_isp)) >= 10


@pytest.mark.parametrize(
    ("order", "extra"),
    [
        pytest.param({"explain": "summary"}, {}, id="explained"),
        pytest.param({"only": ["a", "b"]}, {}, id="a list of IDCs"),
        pytest.param({"fallback": [{"match_labels": {"idc/code": "a"}}]}, {}, id="fallback groups"),
        pytest.param({"weights": {"network_flow": 3}}, {}, id="weights of its own"),
        pytest.param({"isp": ["ct", "cu"], "isp_match": "all"}, {}, id="several lines at once"),
        pytest.param({"shape": [0.5] * 24}, {}, id="a shape of the day"),
        pytest.param({}, {"pick": {"kind": "near_best", "epsilon": 5}}, id="picked by chance"),
        pytest.param({}, {"line_choice": "cheapest"}, id="the need chooses the line"),
        pytest.param({}, {"fallback": [{"match_labels": {"idc/code": "a"}}]}, id="a profile with fallback groups"),
    ],
)
def test_what_is_decided_afresh(order: dict[str, Any], extra: dict[str, Any]) -> None:
    assert both(FLEET, times(6, {**ORDER, **order}), **extra) <= 2


def test_a_relative_normaliser_is_decided_afresh() -> None:
    flow = ("network_flow", "network_flow", {"weight": 10, "normalizer": {"kind": "share"}})
    assert both(FLEET, times(6, ORDER), "available", flow) == 0


def test_level_ones_are_told_apart_by_the_whole_ranking() -> None:
    alike = {code: {"lines": {"ct": {"used_mbps": 100}}} for code in "abcd"}
    both(alike, times(8, ORDER))


@pytest.mark.parametrize(
    "used", [[100.0] * 80, [100.0, 100.001], [100.0] + [100.001] * 70 + [100.002] * 9, [100.0] + [100.001] * 9]
)
def test_many_stand_level_or_nearly_so(used: list[float]) -> None:
    """More than are looked at, nearer to each other than rounding tells apart."""
    lines = [{"ct": {"used_mbps": mbps, "price_per_mbps": 20}} for mbps in used]
    both({f"i-{number:02}": {"lines": line} for number, line in enumerate(lines)}, times(6, ORDER))


def test_two_isps_of_one_idc() -> None:
    """What is left of one line says nothing of the other."""
    fleet = {"c": {"lines": {"ct": {"used_mbps": 0, "price_per_mbps": 9}, "cu": {"used_mbps": 0, "price_per_mbps": 9}}}}
    both(fleet, times(12, ORDER, {**ORDER, "isp": "cu"}))


@pytest.mark.parametrize(
    "plugins",
    [
        pytest.param((("cost", "cost", {"weight": 5}),), id="a score that hangs on who else is there"),
        pytest.param((("one", "resource"), ("another", "resource")), id="two filters by the same need"),
    ],
)
def test_a_profile_of_which_single_idcs_tell_too_little(plugins: Sequence[Any]) -> None:
    fleet = {code: {**spec, "metrics": {"cost_index": 1}} for code, spec in FLEET.items()}
    assert both(fleet, times(4, ORDER), *POLICY[:2], *plugins) == 0


def test_idcs_of_which_some_have_no_line() -> None:
    """Where no bandwidth is needed they are as good as any; where it is, they are out."""
    fleet = {**FLEET, "d": {"stock": {"cpu": 40}}}
    small = {"region": "A", "explain": "none", "machines": [{"cpu": 2}]}
    both(fleet, times(8, small, {**ORDER, "isp": "cu"}))
    both({"d": {"stock": {"cpu": 9}}, "e": {}}, times(6, small))


def test_nobody_is_scored_by_what_orders_move() -> None:
    two = {"lines": {"ct": {"used_mbps": 0}, "cu": {"used_mbps": 50}}}
    any_isp = {"region": "A", "explain": "none", "machines": [{"bandwidth_mbps": 200}]}
    scored = ("cost", "cost", {"weight": 5, "normalizer": {"kind": "none"}})
    costs = {"a": {**two, "metrics": {"cost_index": 1}}, "b": {**two, "metrics": {"cost_index": 2}}}
    assert both(costs, times(8, any_isp), "network_flow", scored) == 8
    known: Any = {"a": {"lines": {"ct": {}}, "stock": {"cpu": 5}, "metrics": {"cost_index": 1}}, "b": {}}
    small = {"region": "A", "explain": "none", "machines": [{"cpu": 2}]}
    both(known, times(8, small), "available", "resource", ("cost", "cost", {"weight": 5}))


def test_who_lacks_one_thing_and_then_another() -> None:
    """An IDC is counted where it is rejected first, which may be earlier than before."""
    wide = {**ORDER, "machines": [{"bandwidth_mbps": 300}]}
    orders = [ORDER] * 4 + [wide] * 4 + [ORDER] * 4
    assert both(FLEET, [{**order, "request_id": f"o-{number}"} for number, order in enumerate(orders)]) >= 10


def test_filters_that_reject_nobody() -> None:
    fleet = {code: {**spec, "metrics": {"cpu_load": 0.2}} for code, spec in FLEET.items()}
    assert both(fleet, times(8, ORDER)) >= 6


def test_how_much_is_used_was_never_measured() -> None:
    fleet: Any = {"a": {"lines": {"ct": {}, "cu": {}}}, "b": {"lines": {"ct": {}}}}
    small = {"region": "A", "explain": "none", "machines": [{"cpu": 1}]}
    both(fleet, times(4, small))
    picture, policy = snapshot(replace(world(fleet), samples=())), profile(*POLICY)
    asked = [request(picture, **each) for each in times(4, small)]
    assert in_one_go(picture, policy, asked)[0] == afresh(picture, policy, asked)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"needs": lambda self, ctx: None}, id="what it needs"),
        pytest.param({"needs": lambda self, ctx: ctx.there}, id="what it needs without failing"),
        pytest.param({"score_again": lambda self, ctx, line: None}, id="what it scores"),
        pytest.param({"score_again": lambda self, ctx, line: 0.5}, id="what many score"),
        pytest.param({"score_again": lambda self, ctx, line: line.room[:1]}, id="what all of them score"),
        pytest.param({"score_again": lambda self, ctx, line: line.there}, id="anything without failing"),
    ],
)
def test_a_plugin_that_cannot_say(parts: dict[str, Any]) -> None:
    flow = type("Variant", (NetworkFlow,), {"__doc__": "A variant.", "name": "variant", **parts})
    policy = replace(profile(("variant", "variant", {"weight": 10}), plugins=[flow]), unknown_lines="reject")
    picture = snapshot(world(FLEET))
    asked = [request(picture, **each) for each in times(4, ORDER)]
    answers, repeated = in_one_go(picture, policy, asked)
    assert answers == afresh(picture, policy, asked)
    assert repeated == 0


def test_several_regions_at_once() -> None:
    fleet: Any = {**FLEET, "d": {"region": "B", "lines": {"ct": {"used_mbps": 0, "price_per_mbps": 20}}}}
    assert both(fleet, times(4, {**ORDER, "region": ["A", "B"]})) == 0
    assert both(fleet, times(4, {**ORDER, "region": "B"}, ORDER)) == 8


def test_what_is_known_grows_old_meanwhile() -> None:
    """What was told of the first ones holds no longer when samples are stale, or a window has opened."""
    fleet: Any = {**FLEET, "b": {**FLEET["b"], "taints": [{"key": "k", "effect": "NoSchedule", "ends_at": NOW + 50}]}}
    picture, policy = snapshot(world(fleet)), profile(*POLICY, "taint")
    succession, over = Succession(picture, [policy]), picture
    for number, later in enumerate([0, 1, 2, 60, 61, 62, 1e9, 1e9 + 1]):
        asked = request(picture, **ORDER, request_id=f"o-{number}")
        found = succession.solve(asked, policy, now=NOW + later)
        expected = solve(asked, over, policy, now=NOW + later)
        told = found.found.answer if isinstance(found, Repeated) else solution_answer(found, explain="none")
        assert msgspec.json.encode(told) == msgspec.json.encode(solution_answer(expected, explain="none"))
        taken = tenancies_of(expected, tenant="", business="")
        succession.take(taken)
        over = laid_over(over, taken)


def test_until_nothing_is_left() -> None:
    both({"a": {"lines": {"ct": {"used_mbps": 0}}}, "b": {"lines": {"ct": {"used_mbps": 300}}}}, times(20, ORDER))


def test_the_whole_decision_can_still_be_had() -> None:
    picture, policy = snapshot(world(FLEET)), profile(*POLICY)
    asked = request(picture, **ORDER)
    succession = Succession(picture, [policy])
    over = picture
    for _ in range(3):
        solution = succession.solve(asked, policy, now=NOW)
        expected = solve(asked, over, policy, now=NOW)
        succession.take(tenancies := tenancies_of(expected, tenant="", business=""))
        over = laid_over(over, tenancies)
    assert isinstance(solution, Repeated)
    assert solution_answer(expected) == solution_answer(solve(asked, solution.decision.cycle.snapshot, policy, now=NOW))
    assert solution.decision.ranking.totals.tolist() == expected.decision.ranking.totals.tolist()


_line = st.fixed_dictionaries(
    {
        "used_mbps": st.sampled_from([0.0, 100.0, 300.0, 333.333333]),
        "price_per_mbps": st.sampled_from([10.0, 10.0, 20.0, 33.3]),
    },
    optional={
        "commit_mbps": st.sampled_from([200.0, 600.0]),
        "charge_type": st.sampled_from(["p95_month", "fixed", "daily_peak"]),
        "pending_mbps": st.sampled_from([0.1, 50.0]),
    },
)
_lines = st.dictionaries(st.sampled_from(["ct", "cu"]), _line, min_size=1)
_idc = st.fixed_dictionaries(
    {"lines": _lines}, optional={"stock": st.sampled_from([{"cpu": 6}, {"cpu": 20.5, "memory_gib": 9}])}
)
_order = st.fixed_dictionaries(
    {"region": st.just("A"), "explain": st.just("none")},
    optional={
        "isp": st.sampled_from(["ct", "cu", ["ct", "cu"]]),
        "machines": st.builds(
            lambda mbps, cpu: [{"bandwidth_mbps": mbps, "cpu": cpu}],
            st.sampled_from([0.3, 40.0, 100.0, 123.456]),
            st.sampled_from([0.0, 1.0, 2.5]),
        ),
        "exclude": st.just(["a"]),
        "labels": st.sampled_from([{"business": "live"}, {"business": "cdn"}]),
    },
)
_usage = st.sampled_from([Usage(), Usage(count="ordered"), Usage(max_level=0.5)])


@st.composite
def known_batches(draw: st.DrawFn) -> tuple[World, list[dict[str, Any]]]:
    """Fleets of which everything is known, so that questions stay open, and orders that come again and again."""
    fleet = draw(st.dictionaries(st.sampled_from("abcdefghij"), _idc, min_size=1))
    kinds = draw(st.lists(_order, min_size=1, max_size=4))
    order = draw(st.lists(st.sampled_from(range(len(kinds))), min_size=4, max_size=40))
    asked = [{**kinds[kind], "request_id": f"o-{number}"} for number, kind in enumerate(order)]
    isps = {"ct": "ct", "cu": "cu"}
    asked = [{key: value for key, value in each.items() if key != "exclude" or "a" in fleet} for each in asked]
    return world(fleet, usage=draw(_usage), isps=isps), asked


@given(known_batches())
@settings(max_examples=60, deadline=None)
def test_open_questions_answer_as_afresh(batch: tuple[World, list[dict[str, Any]]]) -> None:
    known, asked = batch
    picture, policy = snapshot(known), profile(*POLICY)
    decoded = [request(picture, **each) for each in asked]
    assert in_one_go(picture, policy, decoded)[0] == afresh(picture, policy, decoded)


@st.composite
def batches(draw: st.DrawFn) -> tuple[World, Profile, list[dict[str, Any]]]:
    known = draw(worlds(least=1))
    kinds = draw(st.lists(requests(known), min_size=1, max_size=3))
    order = draw(st.lists(st.sampled_from(range(len(kinds))), min_size=2, max_size=12))
    asked = [{**kinds[kind], "request_id": f"o-{n}", "explain": "none"} for n, kind in enumerate(order)]
    return known, draw(profiles() | st.just(profile(*POLICY))), asked


@given(batches())
@settings(max_examples=60, deadline=None)
def test_it_is_what_one_after_the_other_would_be(batch: tuple[World, Profile, list[dict[str, Any]]]) -> None:
    known, policy, asked = batch
    picture = snapshot(known)
    decoded = [request(picture, **each) for each in asked]
    assert in_one_go(picture, policy, decoded)[0] == afresh(picture, policy, decoded)


def test_no_two_alike_until_nothing_is_left() -> None:
    orders = [{**ORDER, "machines": [{"bandwidth_mbps": 90 + number}]} for number in range(25)]
    both(FLEET, times(1, *orders))


@pytest.mark.parametrize("step", [1, 0], ids=["no two alike", "one again and again"])
def test_more_are_looked_at_when_the_best_are_used_up(step: int) -> None:
    """As soon as somebody has told who promises most, only those are scored."""
    picture, policy = snapshot_of(130 if step else 250), default_profile()
    large = [(12000.0 + number, number % 3) for number in range(110)] if step else [(8000.0, 0)] * 200
    asked = [
        request(picture, region="cn", isp="ct", explain="none", machines=[{"bandwidth_mbps": mbps, "cpu": cpu}])
        for mbps, cpu in large
    ]
    for each in asked[:3]:
        solve(each, picture, policy, now=NOW)
    answers, told = in_one_go(picture, policy, asked)
    assert answers == afresh(picture, policy, asked)
    assert told > 80


@pytest.mark.parametrize("kinds", [3, 60])
def test_a_fleet_of_which_only_the_front_is_scored(kinds: int) -> None:
    picture, policy = snapshot_of(400), default_profile()
    orders = islice(cycle(requests_of_bench(kinds)), 90)
    asked = [msgspec.structs.replace(order, explain="none", request_id=f"o-{n}") for n, order in enumerate(orders)]
    answers, repeated = in_one_go(picture, policy, asked)
    assert answers == afresh(picture, policy, asked)
    assert repeated > 80
