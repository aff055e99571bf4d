"""What a point is worth in money, and which contribution of each scorer is the best."""

from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.answer import Answer, Candidate
from idcsched.framework.testing import LineSpec, Outcome, decide_for, profile, world

BILL = ("bill", "billing_cost", {"weight": 90, "args": {"dearest": 60}})
ROOM = ("room", "network_flow", {"weight": 5})
PRICED: dict[str, LineSpec] = {
    "cheap": {"used_mbps": 100, "price_per_mbps": 20},
    "dear": {"used_mbps": 100, "price_per_mbps": 50},
    "too dear": {"used_mbps": 0, "price_per_mbps": 70},
    "free of charge": {"used_mbps": 300, "price_per_mbps": 0},
    "not known": {"used_mbps": 300},
}


def decided(lines: dict[str, LineSpec], *entries: Any, need: float = 100, **fields: Any) -> Outcome:
    known = world({code: {"lines": {"ct": line}} for code, line in lines.items()})
    machines = [{"bandwidth_mbps": need}] if need else []
    return decide_for(known, profile(*(entries or (BILL, ROOM))), machines=machines, **fields)


def cost(answer: Answer, candidate: Candidate) -> float:
    """What an IDC costs in all: what is counted, and the worth of what the other scorers give less than their best."""
    worth = answer.worth
    assert worth
    assert worth.per_point
    counted = candidate.scores["bill"].raw
    assert counted is not None
    others = [name for name in worth.best if name != "bill"]
    lost = sum(worth.best[name] - candidate.scores[name].contribution for name in others)
    return counted * candidate.lines[0].bandwidth_mbps + lost * worth.per_point


def test_it_works() -> None:
    answer = decided(PRICED).answer
    worth = answer.worth
    assert worth
    assert (worth.currency, worth.per_point, worth.no_price) == ("CNY", pytest.approx(60 * 100 / 9000), msgspec.UNSET)
    assert worth.best == {"bill": 9000.0, "room": 400.0}


def test_the_best_is_over_all_that_fit_and_not_only_over_those_shown() -> None:
    few, all_of_them = decided(PRICED, top=1, explain="summary").answer, decided(PRICED).answer
    assert len(few.candidates or ()) == 1
    assert few.worth == all_of_them.worth


@pytest.mark.parametrize(
    ("entries", "need", "lines", "code"),
    [
        pytest.param((ROOM,), 100, PRICED, "bill_not_weighed", id="no scorer of bills"),
        pytest.param((("bill", "billing_cost", {"weight": 0}), ROOM), 100, PRICED, "bill_not_weighed", id="weight 0"),
        pytest.param((BILL, ROOM), 0, PRICED, "no_bandwidth", id="nothing is billed"),
        pytest.param((BILL, ROOM), 100, {"a": {"used_mbps": 1}}, "bill_unknown", id="no price"),
        pytest.param(
            (("bill", "billing_cost", {"weight": 1, "normalizer": {"kind": "min_max"}}),),
            100,
            PRICED,
            "not_fixed",
            id="another normaliser",
        ),
    ],
)
def test_where_points_have_no_price(entries: Any, need: float, lines: dict[str, LineSpec], code: str) -> None:
    worth = decided(lines, *entries, need=need).answer.worth
    assert worth
    assert (worth.per_point, worth.no_price) == (None, code)


def test_there_is_none_where_nothing_is_explained_or_nothing_fits() -> None:
    assert decided(PRICED, explain="none").answer.worth is msgspec.UNSET
    nothing = decided(PRICED, BILL, ("room", "network_flow"), need=5000).answer
    assert (nothing.result, nothing.worth) == ("unschedulable", msgspec.UNSET)


known_lines = st.fixed_dictionaries(
    {
        "used_mbps": st.integers(0, 700).map(float),  # so that each has room for the largest order
        "price_per_mbps": st.integers(0, 45).map(float),
        "commit_mbps": st.integers(0, 900).map(float),
    }
)


@given(
    st.dictionaries(st.sampled_from("abcdef"), known_lines, min_size=2),
    st.integers(1, 150),
    st.tuples(st.integers(1, 200), st.integers(0, 200)),
)
def test_costs_differ_as_points_do(lines: dict[str, LineSpec], need: int, weights: tuple[int, int]) -> None:
    bill = ("bill", "billing_cost", {"weight": weights[0], "args": {"dearest": 120}})
    answer = decided(lines, bill, ("room", "network_flow", {"weight": weights[1]}), need=need).answer
    worth = answer.worth
    assert worth
    assert worth.per_point
    for better, other in combinations(answer.candidates or (), 2):
        dearer = cost(answer, other) - cost(answer, better)
        assert dearer == pytest.approx((better.score - other.score) * worth.per_point, abs=0.05, rel=1e-4)
        assert dearer >= -0.05
