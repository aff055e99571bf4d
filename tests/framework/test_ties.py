"""Ties: named keys in the profile's order, then a hash that is stable for one request and fair over many."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from idcsched.framework.explain import answer
from idcsched.framework.facts import MetricFact
from idcsched.framework.ranking import hash_keys
from idcsched.framework.testing import IdcSpec, Outcome, affinity, decide_for, profile, world

STALE = 601.0


def decided(idcs: dict[str, IdcSpec], *entries: Any, affinities: Any = (), body: Any = None, **fields: Any) -> Outcome:
    metrics = [MetricFact(code="bandwidth_mbps", scope="line", max_age=600), MetricFact(code="x", max_age=600)]
    known = world(idcs, affinities=affinities, metrics=metrics)
    return decide_for(known, profile(*entries, **(body or {})), **fields)


def lines(used: float, age: float = 0.0) -> IdcSpec:
    return {"lines": {"ct": {"used_mbps": (used, age)}}}


def test_it_works() -> None:
    outcome = decided({"b": {}, "d": {}, "z": {}}, "affinity", affinities=[affinity("prefer", "d", weight=1)])
    assert outcome.winner == "d"
    tie = outcome.answer.tie
    assert set(tie.between) == {"b", "d", "z"}
    assert (tie.between[0], tie.broken_by) == ("d", "affinity")
    assert tie.values == {"d": 1.0, "b": 0.0, "z": 0.0}
    assert tie.others is msgspec.UNSET


@pytest.mark.parametrize(("top", "listed"), [(1, 2), (2, 2), (7, 7)])
def test_it_lists_no_more_than_candidates_are_shown(top: int, listed: int) -> None:
    tie = answer(decided({f"n{number}": {} for number in range(300)}, "affinity").decision, top=top).tie
    assert (len(tie.between), len(tie.values), tie.others) == (listed, listed, 300 - listed)


def test_no_tie_is_told_where_nobody_stands_level_with_the_first() -> None:
    entry = ("x", "metric", {"weight": 1, "args": {"metric": "x"}})
    known: dict[str, IdcSpec] = {"a": {"metrics": {"x": 3}}, "b": {"metrics": {"x": 1}}, "c": {"metrics": {"x": 1}}}
    assert decided(known, entry).answer.tie is None
    assert decided({"a": {}}).answer.tie is None


def test_affinity_comes_before_headroom() -> None:
    idcs: dict[str, IdcSpec] = {"roomy": lines(0), "liked": lines(500)}
    outcome = decided(idcs, "affinity", affinities=[affinity("prefer", "liked", weight=1)])
    assert (outcome.winner, outcome.answer.tie.broken_by) == ("liked", "affinity")


def test_headroom_is_second() -> None:
    outcome = decided({"a": lines(500), "b": lines(100), "c": lines(300)}, "affinity")
    assert list(outcome.totals) == ["b", "c", "a"]
    assert outcome.answer.tie.broken_by == "headroom"
    assert outcome.answer.tie.values == {"b": 0.8, "c": 0.6, "a": 0.4}


def test_headroom_is_what_is_left_after_placing_whatever_plugins_are_listed() -> None:
    outcome = decided({"a": lines(500), "b": lines(100)}, machines=[{"bandwidth_mbps": 200}])
    assert outcome.answer.tie.values == {"b": 0.6, "a": 0.2}


def test_a_stand_in_loses_every_tie() -> None:
    """Both IDCs score 10, one by a measured value and one by a stand-in for a missing one. The measured one wins,
    though the other has more room.
    """
    known: dict[str, IdcSpec] = {
        "known": {"metrics": {"x": 10}, "lines": {"ct": {"used_mbps": 900}}},
        "unknown": {"lines": {"ct": {"used_mbps": 0}}},
    }
    entry = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}})
    tie = decided(known, entry).answer.tie
    assert (tie.between, tie.broken_by, tie.values) == (("known", "unknown"), "known", {"known": 1.0, "unknown": 0.0})


def test_a_scorer_that_knows_nobody_breaks_no_tie() -> None:
    entry = ("x", "metric", {"weight": 1, "args": {"metric": "x"}})
    assert decided({"a": lines(500), "b": lines(0)}, entry).answer.tie.broken_by == "headroom"


@pytest.mark.parametrize(
    "unknown", [{}, {"lines": {"ct": {}}}, lines(0, STALE)], ids=["no line", "never measured", "stale"]
)
def test_unknown_headroom_sorts_last(unknown: IdcSpec) -> None:
    outcome = decided({"full": lines(1500), "unknown": unknown, "half": lines(500)})
    assert list(outcome.totals) == ["half", "full", "unknown"]
    assert outcome.answer.tie.values == {"half": 0.4, "full": -0.6, "unknown": None}


@pytest.mark.parametrize(("better", "winner"), [("more", "hi"), ("less", "lo")])
def test_any_scorer_may_break_ties_though_its_weight_is_0(better: str, winner: str) -> None:
    entry = ("x", "metric", {"args": {"metric": "x", "better": better}})
    idcs: dict[str, IdcSpec] = {
        "lo": {"metrics": {"x": 1}},
        "hi": {"metrics": {"x": 2}},
        "old": {"metrics": {"x": (9 if better == "more" else 0, STALE)}},
        "none": {},
    }
    outcome = decided(idcs, entry, body={"tie_breakers": ["x"]})
    assert (outcome.winner, outcome.answer.tie.broken_by) == (winner, "x")
    assert set(list(outcome.totals)[2:]) == {"old", "none"}


def test_a_tie_breaker_that_is_in_the_sum_too_is_read_once() -> None:
    entry = (
        "x",
        "metric",
        {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "fixed", "low": 0, "high": 1}},
    )
    idcs: dict[str, IdcSpec] = {"a": {"metrics": {"x": 2}}, "b": {"metrics": {"x": 3}}}
    outcome = decided(idcs, entry, body={"tie_breakers": ["x"]})
    assert outcome.answer.tie.values == {"b": 3.0, "a": 2.0}


def test_later_tie_breakers_count_where_earlier_ones_are_level() -> None:
    entries = [(name, "metric", {"args": {"metric": name}}) for name in ("x", "y", "z")]
    values = {"a": (1, 1, 1), "b": (1, 2, 1), "c": (1, 2, 2), "d": (0, 9, 9)}
    idcs: dict[str, IdcSpec] = {code: {"metrics": dict(zip("xyz", row, strict=True))} for code, row in values.items()}
    outcome = decided(idcs, *entries, body={"tie_breakers": ["x", "y", "z"]})
    assert list(outcome.totals) == ["c", "b", "a", "d"]
    assert outcome.answer.tie.broken_by == "z"


def test_only_the_tied_are_reordered() -> None:
    entry = ("x", "metric", {"weight": 1, "args": {"metric": "x"}, "normalizer": {"kind": "none"}})
    idcs: dict[str, IdcSpec] = {"a": {"metrics": {"x": 3}}, "b": {"metrics": {"x": 2}}, "c": {"metrics": {"x": 2}}}
    outcome = decided(idcs, entry, "affinity", affinities=[affinity("prefer", "c", weight=9)])
    assert list(outcome.totals) == ["a", "c", "b"]


def test_the_hash_is_last_and_stable_for_one_request() -> None:
    answers = [decided({"b": {}, "d": {}}, request_id="order-8812").answer for _ in range(3)]
    assert len({answer.idc.code for answer in answers}) == 1
    tie = answers[0].tie
    assert tie.broken_by == "hash"
    assert tie.values[tie.between[0]] < tie.values[tie.between[1]]
    assert all(0 <= value < 1 for value in tie.values.values())


def test_the_hash_does_not_depend_on_who_else_is_there() -> None:
    small = decided({"b": {}, "d": {}}, request_id="order-1").answer.tie.values
    large = decided({"a": {}, "b": {}, "c": {}, "d": {}}, request_id="order-1").answer.tie.values
    assert small.items() <= large.items()


def test_the_hash_is_fair_over_many_requests() -> None:
    known = world({"b": {}, "d": {}})
    winners = Counter(decide_for(known, request_id=f"order-{number}").winner for number in range(1000))
    assert 400 <= winners["b"] <= 600
    assert winners["b"] + winners["d"] == 1000


def test_the_hash_is_never_the_alphabet() -> None:
    codes = [f"idc-{number:02}" for number in range(30)]
    order = list(decided(dict.fromkeys(codes, IdcSpec()), request_id="1").totals)
    assert order not in (codes, codes[::-1])


def test_without_a_request_id_the_reference_seeds_the_hash() -> None:
    known = world({code: {} for code in "abcdefgh"})
    by_reference = [list(decide_for(known, reference=reference).totals) for reference in ("r1", "r1", "r2")]
    assert by_reference[0] == by_reference[1] != by_reference[2]
    with_id = [list(decide_for(known, request_id="o1", reference=reference).totals) for reference in ("r1", "r2")]
    assert with_id[0] == with_id[1]
    assert list(decide_for(known, request_id="r1").totals) == by_reference[0]


def test_hashes_are_the_same_on_every_machine_and_in_every_version() -> None:
    survivors = decided({"a": {}, "b": {}}).decision.survivors
    assert survivors.snapshot.idcs.hashes.tolist() == [3405396810240292928, 8453121595177857668]
    assert hash_keys(survivors, "order-8812").tolist() == [2297801976749096828, 1843769284790571494]


def test_a_profile_may_leave_it_all_to_the_hash() -> None:
    outcome = decided({"a": lines(0), "b": lines(900)}, body={"tie_breakers": []}, request_id="1")
    assert outcome.answer.tie.broken_by == "hash"
