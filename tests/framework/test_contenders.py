"""The best are found without scoring everybody, and are the very same, byte for byte."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.fleet import NOW, default_profile, profile_of, requests, snapshot_of
from idcsched.framework import contenders, memory
from idcsched.framework.context import Cycle
from idcsched.framework.cycle import decide
from idcsched.framework.explain import answer
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import Profile
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Reading, Snapshot
from idcsched.framework.testing import IdcSpec, check_plugin, profile, request, snapshot, world
from tests.framework import fleets

TOP = 2


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a handful of IDCs were many."""
    monkeypatch.setattr(contenders, "LEAST_ROWS", 2)
    monkeypatch.setattr(contenders, "FIRST_LOOK", 1)
    monkeypatch.setattr(contenders, "HEAD", TOP)


def forget_beyond(monkeypatch: pytest.MonkeyPatch, most_bytes: int) -> None:
    monkeypatch.setattr(memory, "MOST_BYTES", most_bytes)
    monkeypatch.setattr(memory, "MOST_BYTES_A_ROW", 0)


def told(asked: Request, picture: Snapshot, policy: Profile) -> bytes:
    return msgspec.json.encode(answer(decide(asked, picture, policy, now=NOW), top=TOP))


def told_of_all(asked: Request, picture: Snapshot, policy: Profile) -> bytes:
    decision = decide(msgspec.structs.replace(asked, explain="full"), picture, policy, now=NOW)
    assert decision.best.sure == decision.feasible
    return msgspec.json.encode(answer(decision, top=TOP))


def test_it_works() -> None:
    picture, policy, short = snapshot_of(1000), default_profile(), 0
    for asked in requests(60) * 2:
        decision = decide(asked, picture, policy, now=NOW)
        short += decision.best.sure < decision.feasible
        assert msgspec.json.encode(answer(decision, top=TOP)) == told_of_all(asked, picture, policy)
        ranking, everybody = decision.best.ranking, decision.everybody
        totals = ranking.totals[ranking.order][: decision.best.sure]
        assert totals.tolist() == everybody.ranking.totals[everybody.ranking.order][: decision.best.sure].tolist()
    assert short >= 60, "nearly all of the second time"


def test_more_kinds_of_questions_than_columns_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is known who can win, what everybody promises need not be worked out again."""
    promised, work_out = list[Request](), contenders._worked_out
    monkeypatch.setattr(contenders, "_worked_out", lambda ctx: (promised.append(ctx.request), work_out(ctx))[1])
    monkeypatch.setattr(contenders, "FIRST_LOOK", 8)
    forget_beyond(monkeypatch, 700_000)
    picture, policy, asked = replace(snapshot_of(1000), derived={}), default_profile(), requests(60)
    for one in asked * 3:
        decide(one, picture, policy, now=NOW)
    assert promised
    del promised[:]
    for one in asked:
        decide(one, picture, policy, now=NOW)
    assert not promised


@st.composite
def questions(draw: st.DrawFn) -> tuple[Snapshot, Profile, list[Request]]:
    known = draw(fleets.worlds(least=3))
    picture = snapshot(known)
    return picture, draw(fleets.profiles()), [request(picture, **draw(fleets.requests(known))) for _ in range(2)]


@given(questions(), st.sampled_from([memory.MOST_BYTES, 20_000, 0]))
@settings(max_examples=50, deadline=None)
def test_nobody_who_belongs_there_is_passed_over(given_: Any, most_bytes: int) -> None:
    picture, policy, asked = given_
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        forget_beyond(monkeypatch, most_bytes)
        for one in asked * 3:
            assert told(one, picture, policy) == told_of_all(one, picture, policy)


def promising(promised: tuple[float, ...], kept: tuple[float, ...]) -> type[Plugin]:
    """Gives each IDC, in the order of their codes, what is kept, having promised no less."""

    class Promising(Plugin):
        name = "promising"
        reads = {"promise": ()}

        def score(self, ctx: Cycle) -> Reading:
            return self._told(ctx, kept)

        def promise(self, ctx: Cycle) -> Reading:
            return self._told(ctx, promised)

        @staticmethod
        def _told(ctx: Cycle, values: tuple[float, ...]) -> Reading:
            found = np.array(values).take(ctx.row_numbers)
            return Reading(metric="x", values=found, known=np.ones(found.size, dtype=np.bool_))

    return Promising


NEAR = {"kind": "near_best", "epsilon": 0.5}
quarters = st.integers(0, 12).map(lambda number: number / 4)


@given(
    st.lists(st.tuples(quarters, quarters), min_size=8, max_size=20),
    st.sampled_from([None, NEAR]),
)
@example([(10, 5), (9.8, 5), (9.6, 0.6), (9.5, 0.6), *[(9.4, 0)] * 6], None)
@example([(10, 0), (9.9, 0), (9.8, 5), (9.7, 5), *[(9.6, 0)] * 6], NEAR)
@settings(max_examples=50, deadline=None)
def test_how_near_a_promise_comes_to_the_last_place_does_not_matter(
    rows: list[tuple[float, float]], pick: dict[str, Any] | None
) -> None:
    """Of rows that promise and keep nearly the same, or the very same, so that it hangs on a hair who is looked at."""
    promised = tuple(most for most, _ in rows)
    kept = tuple(most - less for most, less in rows)
    picture = snapshot(world({f"idc{number:02}": {} for number in range(len(rows))}))
    plain = {"weight": 1, "normalizer": {"kind": "none"}}
    policy = profile(("promising", "promising", plain), plugins=[promising(promised, kept)], pick=pick)
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        for reference in ("r1", "r2", "r3") * 2:
            asked = request(picture, request_id=reference)
            assert told(asked, picture, policy) == told_of_all(asked, picture, policy)


def twice(asked: Request, picture: Snapshot, policy: Profile) -> Any:
    decide(asked, picture, policy, now=NOW)
    return decide(asked, picture, policy, now=NOW)


@pytest.mark.parametrize(
    ("profile_fields", "request_fields"),
    [
        pytest.param({"line_choice": "cheapest"}, {}, id="the need has a say in the line"),
        pytest.param({}, {"weights": {"network_flow": 3}}, id="weights of the request's own"),
        pytest.param({}, {"only": ["idc-000001", "idc-000020"], "region": None}, id="a list of IDCs"),
        pytest.param({}, {"explain": "full"}, id="everybody is explained"),
    ],
)
def test_everybody_is_scored(profile_fields: dict[str, Any], request_fields: dict[str, Any]) -> None:
    plugins = [{"name": name, "plugin": name, "weight": 1} for name in ("network_flow", "billing_cost")]
    policy = profile_of({"plugins": plugins, **profile_fields})
    asked = request(snapshot_of(200), **{"region": "cn", **request_fields})
    decision = twice(asked, snapshot_of(200), policy)
    assert decision.best.sure == decision.feasible


class Sinking(Plugin):
    """The later in the snapshot the worse, and all worse than they promise where bandwidth is needed."""

    name = "sinking"
    reads = {"promise": ()}

    def score(self, ctx: Cycle) -> np.ndarray[Any, Any]:
        return 100.0 - ctx.row_numbers - (5.0 if ctx.need else 0.0)

    def promise(self, ctx: Cycle) -> Reading:
        return Reading(metric="x", values=100.0 - ctx.row_numbers, known=np.ones(ctx.size, dtype=np.bool_))


def test_who_looked_at_many_looks_at_fewer_again_when_fewer_have_done_for_a_while() -> None:
    picture = snapshot(world({f"idc{number:02}": {} for number in range(40)}))
    policy = profile(("sinking", "sinking", {"weight": 1, "normalizer": {"kind": "none"}}), plugins=[Sinking])
    easy, hard = request(picture), request(picture, machines=[{"bandwidth_mbps": 1}])

    def looked_at(asked: Request) -> int:
        return decide(asked, picture, policy, now=NOW).best.survivors.size

    assert [looked_at(one) for one in (easy, easy, hard)] == [40, TOP, 8]
    assert {looked_at(easy) for _ in range(contenders.EASY_LOOKS)} == {8}
    assert looked_at(easy) == 4


class Rare(Plugin):
    """Promises what it does not keep."""

    name = "rare"
    reads = {"promise": ()}

    def score(self, ctx: Cycle) -> Reading:
        values = ctx.row_numbers.astype(np.float64)
        return Reading(metric="x", values=values, known=values < 3)

    def promise(self, ctx: Cycle) -> Reading:
        return Reading(metric="x", values=np.full(ctx.size, 1.0), known=np.ones(ctx.size, dtype=np.bool_))


@pytest.fixture
def ten() -> Snapshot:
    return snapshot(world({f"idc{number}": {} for number in range(10)}))


def test_a_value_that_is_missing_all_the_same_makes_everybody_scored(ten: Snapshot) -> None:
    policy = profile(("rare", "rare", {"weight": 1, "normalizer": {"kind": "none"}}), plugins=[Rare])
    decision = twice(request(ten), ten, policy)
    assert decision.best.sure == decision.feasible == 10
    assert len(answer(decision).stale or ()) == 7


def test_a_promise_that_is_not_kept_is_caught() -> None:
    with pytest.raises(AssertionError, match=r"the values that it promises|promises no less than it gives"):
        check_plugin(Rare)


class Late(Rare):
    """Knows nothing of those that are looked at first."""

    name = "late"

    def score(self, ctx: Cycle) -> Reading:
        values = ctx.row_numbers.astype(np.float64)
        return Reading(metric="x", values=values, known=values >= 3)


class Moody(Rare):
    """Fails where an IDC is among those it is asked about that nothing may be placed in."""

    name = "moody"

    def score(self, ctx: Cycle) -> Reading:
        if 0 in ctx.row_numbers:
            raise ZeroDivisionError
        return Reading(metric="x", values=np.ones(ctx.size), known=np.ones(ctx.size, dtype=np.bool_))


class Unwilling(Late):
    """Fails to promise."""

    name = "unwilling"

    def promise(self, ctx: Cycle) -> Reading:
        raise ZeroDivisionError


class Headstrong(Late):
    """Has a scale of its own."""

    name = "headstrong"

    def normalize(self, ctx: Cycle, values: Any) -> Any:
        return np.full(values.shape, 50.0)


@pytest.mark.parametrize("kind", [Late, Moody, Unwilling, Headstrong])
def test_who_does_not_keep_to_it_makes_everybody_scored(kind: type[Plugin]) -> None:
    fleet: dict[str, IdcSpec] = {f"idc{number}": {"stock": {"cpu": float(number)}} for number in range(10)}
    picture = snapshot(world(fleet))
    entry = {"weight": 1, "normalizer": None if kind is Headstrong else {"kind": "none"}, "on_error": "fail"}
    policy = profile("resource", (kind.name, kind.name, entry), plugins=[kind])
    decision = twice(request(picture, machines=[{"cpu": 1}]), picture, policy)
    assert decision.best.sure == decision.feasible == 9
