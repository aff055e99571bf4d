"""Filters that judge by how much is left are not asked for each question: the answers are the same, byte for byte."""

from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework.context import Cycle
from idcsched.framework.cycle import decide
from idcsched.framework.decision import Decision
from idcsched.framework.explain import answer
from idcsched.framework.facts import MetricFact
from idcsched.framework.plugin import Plugin, Verdict
from idcsched.framework.profile import Profile
from idcsched.framework.testing import NOW, IdcSpec, check_plugin, profile, request, snapshot, world
from plugins.network_flow import NetworkFlow
from plugins.resource import NOT_ENOUGH, OVERLOADED, Resource

from .fleets import profiles, requests, worlds

FLEET: dict[str, IdcSpec] = {
    "small": {"stock": {"cpu": 10.0}, "lines": {"ct": {"purchased_mbps": 1000, "used_mbps": 100}}},
    "large": {"stock": {"cpu": 100.0}, "lines": {"ct": {"purchased_mbps": 9000, "used_mbps": 100}}},
    "unlimited": {"lines": {"ct": {"purchased_mbps": 5000, "used_mbps": 100}}},
    "silent": {"lines": {"ct": {"purchased_mbps": 5000}}},
    "bare": {},
}
SIZES = (8, 20, 200)


class Watched:
    """Two filters that are asked by need, and how often they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Flow(NetworkFlow):
            def pre_filter(self, ctx: Cycle) -> Any:
                asked.append("flow")
                return super().pre_filter(ctx)

        class Stock(Resource):
            def filter(self, ctx: Cycle) -> Any:
                asked.append("stock")
                return super().filter(ctx)

        self.profile = profile(
            ("network_flow", "network_flow", {"weight": 1}),
            ("resource", "resource", {"weight": 1}),
            plugins=[Flow, Stock],
        )


@pytest.fixture
def watched() -> Watched:
    return Watched()


def machines(cpu: float, **more: Any) -> dict[str, Any]:
    return {"machines": [{"cpu": cpu, "bandwidth_mbps": 100 * cpu, **more}]}


def told(decision: Decision) -> bytes:
    return msgspec.json.encode(answer(decision, explain="full"))


def test_it_works(watched: Watched) -> None:
    picture = snapshot(world(FLEET))
    for size in SIZES:
        decide(request(picture, **machines(size)), picture, watched.profile, now=NOW)
    watched.asked.clear()
    for size in (1, 8, 15, 20, 40):
        asked = request(picture, **machines(size))
        found = answer(decide(asked, picture, watched.profile, now=NOW))
        assert watched.asked == []
        fresh = snapshot(world(FLEET))
        assert found == answer(decide(asked, fresh, watched.profile, now=NOW))
        watched.asked.clear()


def test_where_nothing_fits_they_say_who_nearly_does(watched: Watched) -> None:
    picture = snapshot(world(FLEET))
    for _ in range(3):
        watched.asked.clear()
        found = answer(decide(request(picture, **machines(200)), picture, watched.profile, now=NOW))
        assert (found.result, watched.asked) == ("unschedulable", ["flow", "stock"])
        assert found.near_misses


@pytest.mark.parametrize("named", [{"explain": "full"}, {"only": ["large"]}, {"exclude": ["large"]}])
def test_they_are_asked_for_what_else_is_to_be_told(watched: Watched, named: dict[str, Any]) -> None:
    picture = snapshot(world(FLEET))
    for _ in range(3):
        decide(request(picture, **machines(8)), picture, watched.profile, now=NOW)
    watched.asked.clear()
    decide(request(picture, **machines(8), **named), picture, watched.profile, now=NOW)
    assert watched.asked == ["flow", "stock"]


def test_they_are_asked_when_something_else_is_needed(watched: Watched) -> None:
    picture = snapshot(world(FLEET))
    for _ in range(3):
        decide(request(picture, **machines(8)), picture, watched.profile, now=NOW)
    watched.asked.clear()
    more = request(picture, **machines(8, memory_gib=1))
    decide(more, picture, watched.profile, now=NOW)
    assert watched.asked == ["flow", "stock"]


def test_what_they_would_have_said_can_be_had_afterwards(watched: Watched) -> None:
    picture = snapshot(world(FLEET))
    asked = request(picture, **machines(15))
    for _ in range(3):
        decide(asked, picture, watched.profile, now=NOW)
    watched.asked.clear()
    known, fresh = (
        decide(asked, now_known, watched.profile, now=NOW) for now_known in (picture, snapshot(world(FLEET)))
    )
    assert watched.asked == ["flow", "stock"], "those of the fresh picture"
    assert [judgement.keep.tolist() for judgement in known.judgements] == [
        judgement.keep.tolist() for judgement in fresh.judgements
    ]
    assert told(known) == told(fresh)


@pytest.mark.parametrize(
    ("missing", "question"),
    [
        pytest.param("pass", {"isp": ["ct", "cu"]}, id="the need has a say in which line is chosen"),
        pytest.param("reject", {"isp": ["ct", "cu"], "isp_match": "all"}, id="several lines are"),
    ],
)
def test_they_are_asked_where_more_than_one_line_is_at_stake(missing: str, question: dict[str, Any]) -> None:
    lines: dict[str, Any] = {code: {"purchased_mbps": 1000, "used_mbps": 100} for code in ("ct", "cu")}
    picture, asked = snapshot(world({"a": {"lines": lines}, "b": {"lines": lines}})), list[int]()

    class Flow(NetworkFlow):
        def pre_filter(self, ctx: Cycle) -> Any:
            asked.append(ctx.size)
            return super().pre_filter(ctx)

    policy = profile(("network_flow", "network_flow", {"weight": 1, "on_missing": {"filter": missing}}), plugins=[Flow])
    for _ in range(4):
        assert decide(request(picture, **machines(1), **question), picture, policy, now=NOW).scheduled
    assert len(asked) == 4


def test_a_value_that_grows_stale_is_noticed(watched: Watched) -> None:
    used = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
    picture = snapshot(world(FLEET, metrics=[used]))
    asked = request(picture, **machines(8))
    for _ in range(3):
        assert decide(asked, picture, watched.profile, now=NOW).scheduled
    assert not decide(asked, picture, watched.profile, now=NOW + 601).scheduled


class Choosy(Plugin):
    """Keeps who has enough processors left, and besides only those of the tier that is wanted."""

    name = "choosy"
    asked: ClassVar[list[str]] = []

    def filter(self, ctx: Cycle) -> Verdict:
        self.asked.append(str(ctx.request.tier))
        return Verdict(ctx.take(ctx.snapshot.idcs.left["cpu"]) >= ctx.request.need("cpu"), NOT_ENOUGH)

    def needs(self, ctx: Cycle) -> list[tuple[str, float]]:
        return [("cpu", ctx.request.need("cpu"))]


def times_asked(plugin: type[Plugin], policy: Profile) -> int:
    picture = snapshot(world(FLEET))
    plugin.asked.clear()  # type: ignore[attr-defined]
    for size in (1, 2, 3, 4):
        decide(request(picture, machines=[{"cpu": size}]), picture, policy, now=NOW)
    return len(plugin.asked)  # type: ignore[attr-defined]


def test_who_does_not_say_what_else_it_reads_is_asked_each_time() -> None:
    assert times_asked(Choosy, profile("choosy", plugins=[Choosy])) == 4


def test_who_says_it_is_asked_twice() -> None:
    class Saying(Choosy):
        reads = {"needs": ()}

    assert times_asked(Saying, profile("choosy", plugins=[Saying])) == 2


def test_who_can_not_say_what_is_needed_is_asked_each_time() -> None:
    class Failing(Choosy):
        reads = {"needs": ()}

        def needs(self, ctx: Cycle) -> Any:
            return None

    assert times_asked(Failing, profile("choosy", plugins=[Failing])) == 4


def test_two_that_need_the_same_are_asked_each_time() -> None:
    class Saying(Choosy):
        reads = {"needs": ()}

    twice = profile(("one", "choosy", {}), ("two", "choosy", {}), plugins=[Saying])
    assert times_asked(Saying, twice) == 8


def test_a_filter_that_reads_what_it_does_not_name_is_caught() -> None:
    class Sly(Resource):
        """Reads the tier, and does not say so."""

        def filter(self, ctx: Cycle) -> Any:
            keep = np.full(ctx.size, ctx.request.tier != "edge")
            return (Verdict(keep, OVERLOADED), *super().filter(ctx))

    with pytest.raises(AssertionError, match="needs reads of the request: tier"):
        check_plugin(Sly)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Any, Profile, dict[str, Any], list[dict[str, Any]]]:
    """A world, a profile, a question, and other machines that are asked for beside its own."""
    known, policy = draw(worlds(least=2)), draw(profiles())
    amounts = st.fixed_dictionaries(
        {"count": st.integers(1, 3)},
        optional={
            "bandwidth_mbps": st.sampled_from([1, 100, 400, 900]),
            "cpu": st.sampled_from([1, 8, 64]),
            "memory_gib": st.sampled_from([1, 64]),
            "disk_gib": st.sampled_from([1, 500]),
        },
    )
    needs = draw(st.lists(amounts, min_size=1, max_size=3))
    return known, policy, draw(requests(known)), needs


def check_needs(known: Any, policy: Profile, fields: dict[str, Any], needs: list[dict[str, Any]]) -> None:
    picture = snapshot(known)
    for size in needs * 3:
        asked = request(picture, **{**fields, "machines": [size]})
        fresh = snapshot(known)
        assert told(decide(asked, picture, policy, now=NOW)) == told(decide(asked, fresh, policy, now=NOW))


@given(questions())
@settings(max_examples=30, deadline=None)
def test_other_machines_make_no_difference(drawn: Any) -> None:
    check_needs(*drawn)


@pytest.mark.long
@given(questions())
@settings(max_examples=1500, deadline=None)
def test_other_machines_make_no_difference_a_thousand_times(drawn: Any) -> None:
    check_needs(*drawn)
