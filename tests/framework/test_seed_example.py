"""The decision of docs/seed-example.md, and how it changes when one fact is changed."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from idcsched.framework.facts import AffinityFact, World
from idcsched.framework.testing import IdcSpec, Outcome, affinity, decide_for, profile, world

PLAIN = {"kind": "none"}
SEED = profile(
    "taint",
    "affinity",
    ("x", "metric", {"weight": 10, "args": {"metric": "x"}, "normalizer": PLAIN}),
    ("y", "metric", {"weight": 100, "args": {"metric": "y"}, "normalizer": PLAIN}),
)
D_IS_LIKED = (affinity("prefer", "d", weight=1),)


def known(*, tainted: bool = True, affinities: Sequence[AffinityFact] = D_IS_LIKED) -> World:
    values = {"a": 1, "b": 2, "c": 3, "d": 2, "e": 9, "f": 9}
    fleet: dict[str, IdcSpec] = {
        code: {"region": "A" if code < "e" else "B", "metrics": {"x": (value, 12.0), "y": (value, 12.0)}}
        for code, value in values.items()
    }
    if tainted:
        fleet["c"]["taints"] = ["disabled=true:NoSchedule"]
    return world(fleet, affinities=affinities)


def decided(facts: World | None = None, **fields: Any) -> Outcome:
    return decide_for(facts or known(), SEED, **{"region": "A", "request_id": "order-8812", **fields})


def score(value: float, weight: float) -> dict[str, Any]:
    return {
        "raw": value,
        "normalized": value,
        "weight": weight,
        "nominal_weight": weight,
        "contribution": value * weight,
        "age_seconds": 12.0,
        "missing": None,
    }


def candidate(rank: int, idc: str, value: float) -> dict[str, Any]:
    return {
        "rank": rank,
        "idc": idc,
        "lines": [],
        "score": value * 110,
        "scores": {"x": score(value, 10.0), "y": score(value, 100.0)},
        "bill": None,
        "bill_unknown": "no_bandwidth",
    }


def test_it_works() -> None:
    answer = msgspec.json.decode(msgspec.json.encode(decided().answer))
    assert answer == {
        "result": "scheduled",
        "reason_code": None,
        "idc": {"code": "d", "name": "d", "region": "A"},
        "lines": [],
        "score": 220.0,
        "score_mean": 2.0,
        "candidates": [candidate(1, "d", 2.0), candidate(2, "b", 2.0), candidate(3, "a", 1.0)],
        "tie": {"between": ["d", "b"], "broken_by": "affinity", "values": {"d": 1.0, "b": 0.0}},
        "margin": {
            "runner_up": "b",
            "score": 0.0,
            "flips": [{"scorer": "x", "weight": None}, {"scorer": "y", "weight": None}],
        },
        "rejected": [
            {
                "idc": "c",
                "plugin": "taint",
                "code": "untolerated_taint",
                "reason": "untolerated taint disabled=true:NoSchedule",
                "detail": {"taint": "disabled=true:NoSchedule"},
                "also": [],
            }
        ],
        "rejected_counts": [{"plugin": "taint", "code": "untolerated_taint", "count": 1}],
        "near_misses": [],
        "summary": "3/4 IDCs fit: 1 untolerated taint",
        "evaluated": 4,
        "feasible": 3,
        "not_visited": 0,
        "picked": "best",
        "fallback_group": None,
        "stale": [],
        "plugin_errors": [],
        "bill": None,
        "bill_unknown": "no_bandwidth",
        "worth": {
            "currency": "CNY",
            "per_point": None,
            "best": {"x": 20.0, "y": 200.0},
            "no_price": "bill_not_weighed",
        },
    }


def test_totals() -> None:
    assert decided().totals == {"d": 220.0, "b": 220.0, "a": 110.0}


@pytest.mark.parametrize(
    ("facts", "fields"),
    [
        pytest.param(known(tainted=False), {}, id="the taint taken away"),
        pytest.param(known(), {"tolerations": [{"key": "disabled", "value": "true"}]}, id="the taint tolerated"),
        pytest.param(
            known(),
            {"hypothetical": {"ignore_taints": [{"idc": "c", "key": "disabled"}]}},
            id="the taint supposed away",
        ),
    ],
)
def test_without_its_taint_c_wins(facts: World, fields: dict[str, Any]) -> None:
    outcome = decided(facts, **fields)
    assert (outcome.winner, outcome.answer.score, outcome.answer.feasible) == ("c", 330.0, 4)


def test_without_ds_affinity_the_hash_decides_the_same_for_one_request() -> None:
    facts = known(affinities=())
    outcomes = [decided(facts) for _ in range(3)]
    assert {outcome.answer.tie.broken_by for outcome in outcomes} == {"hash"}
    assert len({outcome.winner for outcome in outcomes}) == 1


def test_without_ds_affinity_the_hash_is_fair_over_many_requests() -> None:
    facts = known(affinities=())
    winners = Counter(decided(facts, request_id=f"order-{number}").winner for number in range(1000))
    assert set(winners) == {"b", "d"}
    assert all(400 <= count <= 600 for count in winners.values())


def test_where_x_of_b_is_missing_b_does_not_win() -> None:
    what_if = {"idcs": [{"code": "b", "metrics": {"x": None}}]}
    outcome = decided(known(affinities=()), hypothetical=what_if)
    assert outcome.winner == "d"
    assert outcome.scores("x")["b"].missing == "neutral"
    assert [(entry.idc, entry.metric) for entry in outcome.answer.stale] == [("b", "x")]
