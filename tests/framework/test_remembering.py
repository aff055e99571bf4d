"""Warm = cold = replay, byte for byte: what the engine remembers never changes an answer."""

from dataclasses import replace
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcsched.framework import memory
from idcsched.framework.context import Cycle
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.facts import World
from idcsched.framework.memory import Moment
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import Profile
from idcsched.framework.recording import inputs_of, pack, unpack
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.framework.testing import NOW, affinity, check_plugin, profile, request, snapshot, world
from plugins.taint import Taint
from plugins.tier import Tier

from .fleets import profiles, requests, worlds

TIMES = (NOW, NOW + 1, NOW + 590, NOW + 700, NOW + 3)


def told(asked: Request, picture: Snapshot, policy: Profile, now: float) -> bytes:
    return msgspec.json.encode(answer(decide(asked, picture, policy, now=now), explain="full"))


def replayed(asked: Request, picture: Snapshot, policy: Profile, now: float) -> bytes:
    again = unpack(pack(inputs_of(asked, picture, now=now, reference="", labels=asked.labels or {})))
    return told(again.request, again.snapshot(), policy, now)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Profile], list[tuple[World, float, dict[str, Any]]]]:
    """Profiles, and questions in a row: the world is another one every now and then, and time goes on."""
    policies = [draw(profiles()) for _ in range(2)]
    known, questions = draw(worlds(least=2)), []
    for _ in range(draw(st.integers(2, 8))):
        if draw(st.integers(0, 3)) == 0:
            known = draw(worlds(least=2))
        questions.append((known, draw(st.sampled_from(TIMES)), draw(requests(known))))
    return policies, questions


def check_history(policies: list[Profile], questions: list[tuple[World, float, dict[str, Any]]]) -> None:
    warm: dict[int, Snapshot] = {}
    for number, (known, now, fields) in enumerate(questions):
        picture = warm.setdefault(id(known), snapshot(known))
        policy, asked = policies[number % len(policies)], request(picture, **fields)
        fresh = told(asked, snapshot(known), policy, now)
        for _ in range(3):  # once for itself, once to be remembered, once from memory
            assert told(asked, picture, policy, now) == fresh
        assert replayed(asked, picture, policy, now) == fresh


@given(histories())
@settings(max_examples=25, deadline=None)
def test_it_works(history: Any) -> None:
    check_history(*history)


@pytest.mark.long
@given(histories())
@settings(max_examples=1500, deadline=None)
def test_it_works_a_thousand_times(history: Any) -> None:
    check_history(*history)


def test_the_second_asks_no_plugin_that_says_what_it_reads() -> None:
    asked: list[str] = []

    class Counting(Tier):
        def pre_filter(self, ctx: Cycle) -> Any:
            asked.append(str(ctx.request.tier))
            return super().pre_filter(ctx)

    picture, policy = snapshot(world({"a": {"tier": "edge"}})), profile("tier", plugins=[Counting])
    for tier in ("edge", "edge", "center", "edge"):
        decide(request(picture, tier=tier), picture, policy, now=NOW)
    assert asked == ["edge", "center"]


def test_a_scorer_judges_the_survivors_first_and_everybody_when_it_is_asked_again() -> None:
    judged: list[int] = []

    class Counting(Taint):
        def score(self, ctx: Cycle) -> Any:
            judged.append(ctx.size)
            return super().score(ctx)

    fleet: dict[str, Any] = {"a": {}, "b": {}, "c": {"taints": ["k:NoSchedule"]}}
    picture, policy = snapshot(world(fleet)), profile(("taint", "taint", {"weight": 1}), plugins=[Counting])
    for _ in range(4):
        decide(request(picture), picture, policy, now=NOW)
    assert judged == [2, 3]


def test_what_was_asked_once_is_kept_in_mind_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_SHELVES", 2)
    moment = Moment(0.0, 1.0)
    assert [moment.asked_again(key) for key in "aab"] == [False, True, False]
    assert [moment.asked_again(key) for key in "cc"] == [False, True], "the others are forgotten"
    moment.remember("d", 1, size=1)
    assert moment.asked_again("d")


def test_what_was_asked_before_orders_took_something_was_asked_after_it_too() -> None:
    moment = Moment(0.0, 1.0)
    moment.asked_again(("a", "score", 1))
    kept = moment.only({("a", "score")})
    assert kept.asked_again(("a", "score", 1))
    assert not kept.asked_again(("b", "score", 1))


def test_a_taints_window_ends_the_moment() -> None:
    taint = {"key": "k", "effect": "NoSchedule", "starts_at": NOW + 5, "ends_at": NOW + 9}
    picture, policy = snapshot(world({"a": {"taints": [taint]}})), profile("taint")
    fits = [
        decide(request(picture), picture, policy, now=NOW + second).scheduled for second in (0, 4.99, 5, 8.99, 9, 0)
    ]
    assert fits == [True, True, False, False, True, True]


def test_an_affinitys_window_ends_the_moment() -> None:
    forbid = replace(affinity("forbid", "a"), starts_at=NOW + 5)
    picture, policy = snapshot(world({"a": {}}, affinities=[forbid])), profile("affinity")
    fits = [decide(request(picture), picture, policy, now=NOW + second).scheduled for second in (0, 5)]
    assert fits == [True, False]


def test_the_oldest_is_forgotten_first(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    moment = Moment(0.0, 1.0)
    for number in range(4):
        moment.remember(number, number, size=40)
    assert [moment.recall(number) for number in range(4)] == [None, None, 2, 3]


def test_what_somebody_wants_is_not_the_oldest(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    moment = Moment(0.0, 1.0)
    for number in range(4):
        moment.remember(number, number, size=40)
        moment.recall(0)
    assert [moment.recall(number) for number in range(4)] == [0, None, None, 3]


def columns(*names: str) -> dict[tuple[str, str], object]:
    return {(name, "score"): object() for name in names}


def test_a_shelf_loses_what_is_forgotten_and_nothing_else(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    moment, found = Moment(0.0, 1.0), columns("a", "b", "c")
    shelves = [moment.shelf(number) for number in range(2)]
    for word, column in found.items():
        moment.remember((*word, 0, 9), column, size=40)
        shelves[0][word] = column
    shelves[1]["a", "score"] = "another one's"
    moment.remember("more", 1, size=40)
    assert set(shelves[0]) == {("c", "score")}
    assert shelves[1] == {("a", "score"): "another one's"}


def test_columns_go_before_gists_do(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    moment = Moment(0.0, 1.0)
    shelf = moment.shelf("question")
    for number in range(4):
        moment.remember((number, "score"), number, size=30)
        moment.shelve(shelf, ("gist", number), number, size=20)
    assert list(shelf) == [("gist", 2), ("gist", 3)], "no more than half of the memory"
    assert [moment.recall((number, "score")) for number in range(4)] == [None, None, 2, 3]


def test_a_gist_that_is_written_anew_counts_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    moment = Moment(0.0, 1.0)
    shelf = moment.shelf("question")
    for number in range(4):
        moment.shelve(shelf, "gist", number, size=20)
    moment.shelve(shelf, "other", 1, size=30)
    assert shelf == {"gist": 3, "other": 1}


def test_what_failed_is_asked_again_and_named_again() -> None:
    class Broken(Plugin):
        """Fails."""

        name = "broken"
        reads = {"filter": ()}

        def filter(self, ctx: Cycle) -> Any:
            raise RuntimeError("no")

    picture = snapshot(world({"a": {}}))
    policy = profile(("broken", "broken", {"on_error": "skip_filter"}), plugins=[Broken])
    named = [[each.error for each in decide(request(picture), picture, policy, now=NOW).plugin_errors] for _ in "ab"]
    assert named == [["RuntimeError: no"]] * 2


def test_reading_what_was_not_declared_is_caught() -> None:
    class Forgetful(Taint):
        """Does not say that tolerations count."""

        reads = {"filter": ()}

    with pytest.raises(AssertionError, match="its `reads` name what filter reads of the request: tolerations"):
        check_plugin(Forgetful)


def test_a_score_that_hangs_on_the_hour_is_caught() -> None:
    class Ageing(Plugin):
        """Says another thing each time."""

        name = "ageing"
        reads = {"score": ()}

        def score(self, ctx: Cycle) -> Any:
            return np.full(ctx.size, ctx.now)

    with pytest.raises(AssertionError, match="what is remembered of it stays true"):
        check_plugin(Ageing)


def test_so_many_kinds_of_questions_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_SHELVES", 2)
    moment = Moment(0.0, 1.0)
    first = moment.shelf("a")
    assert moment.shelf("a") is first
    moment.shelf("b")
    moment.shelf("c")
    assert moment.shelf("a") is not first


def test_forgetting_at_once_with_another_thread() -> None:
    """It has taken the last one meanwhile."""
    moment = Moment(0.0, 1.0)
    moment.remember("a", 1, size=10)
    moment.shelve(moment.shelf("question"), "gist", 1, size=10)
    moment._held.clear()
    moment._gists.clear()
    moment._forget_oldest()
    moment._forget_gist()
    assert moment.remember("b", 2, size=10) == 2


class Curious(Plugin):
    """Remembers by a field that it does not say that it reads."""

    name = "curious"
    worked_out: ClassVar[list[int | None]] = []

    def filter(self, ctx: Cycle) -> None:
        ctx.remembered("told", ("priority",), lambda: self.worked_out.append(ctx.request.priority))


def test_a_part_is_remembered_by_whatever_it_reads() -> None:
    picture, policy = snapshot(world({"a": {}, "b": {}})), profile("curious", plugins=[Curious])
    for priority in (None, 5, None, 5):
        decide(request(picture, priority=priority), picture, policy, now=NOW)
    assert Curious.worked_out == [None, 5]


def test_before_it_is_known_whom_it_is_about_nothing_is_kept() -> None:
    picture, policy = snapshot(world({"a": {"lines": {"ct": {"used_mbps": 1}}}})), profile("network_flow")
    ctx = Cycle(request(picture), picture, policy, now=NOW, rows=slice(0, 1), labels={})
    ctx.shelve(None, "what", 1, size=1)
    assert ctx.at_hand(None, "what") is None
    assert [ctx.asked_again("what") for _ in range(2)] == [False, False]
    assert ctx.lines.of(0) == (0,)


def test_what_nobody_measures_is_missing_everywhere() -> None:
    picture, policy = snapshot(world({"a": {}})), profile("available")
    ctx = Cycle(request(picture), picture, policy, now=NOW, rows=slice(0, 1), labels={})
    reading = ctx.line_metric("nothing", np.array([0]))
    assert not reading.known.any()
    assert np.isnan(reading.values).all()
    assert np.isnan(ctx.line_times("nothing", np.array([0]))).all()


class Choosy(Plugin):
    """Can't judge whoever is offline, and need not."""

    name = "choosy"
    reads = {"score": ()}

    def score(self, ctx: Cycle) -> Any:
        if not ctx.take(ctx.snapshot.idcs.online).all():
            raise ZeroDivisionError
        return np.ones(ctx.size)


def test_who_fails_about_all_is_asked_about_the_survivors() -> None:
    picture = snapshot(world({"a": {}, "b": {"status": "offline"}}))
    policy = profile("available", ("choosy", "choosy", {"weight": 1}), plugins=[Choosy])
    for _ in range(3):
        decision = decide(request(picture), picture, policy, now=NOW)
        assert (decision.feasible, decision.plugin_errors) == (1, ())
