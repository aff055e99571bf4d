"""The points of a ranking as money: the same order, the same distances, and where there is no such sum."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.testing import Outcome, decide_for, profile, world
from idcsched.scheduling.money_lens import MoneyLens, NoMoney, differences, money_lens
from tests.framework.fleets import METRICS, questions

ROUNDING = 1e-6
"""Of a contribution; a total of many scorers is off by a few of these."""


def decided(idcs: dict[str, Any], *entries: Any, need: float = 100, **fields: Any) -> Outcome:
    machines = [{"bandwidth_mbps": need}] if need else []
    return decide_for(world(idcs, metrics=METRICS), profile(*entries, "network_flow"), machines=machines, **fields)


def candidates(outcome: Outcome) -> list[Any]:
    """The candidates as a record has them."""
    found: list[Any] = msgspec.json.decode(msgspec.json.encode(outcome.answer.candidates))
    return found


def lens_of(outcome: Outcome, **fields: Any) -> MoneyLens | NoMoney:
    decision = outcome.decision
    weights = decision.cycle.request.weights
    return money_lens(candidates(outcome), profile=decision.profile, weights=weights, **fields)


def line(price: float | None, used: float = 100.0) -> dict[str, Any]:
    return {"ct": {"used_mbps": used, "price_per_mbps": price}}


CHEAP, DEAR = {"lines": line(20), "metrics": {"y": 2.0}}, {"lines": line(50), "metrics": {"y": 6.0}}
BILLED = ("bill", "billing_cost", {"weight": 90})
SCORED = ("y", "metric", {"weight": 5, "args": {"metric": "y"}})


def test_it_works() -> None:
    outcome = decided({"cheap": CHEAP, "dear": DEAR}, BILLED, SCORED)
    lens = lens_of(outcome)
    assert isinstance(lens, MoneyLens)
    assert lens.per_point == pytest.approx(60 * 100 / (100 * 90))
    cheap, dear = lens.costs
    assert (cheap.idc, dear.idc) == ("cheap", "dear")
    assert (cheap.counted, dear.counted) == pytest.approx((2000, 5000), abs=0.01)
    assert cheap.worth == pytest.approx({"y": 4 * 10 * 5 * lens.per_point})
    assert dear.worth == {}, "the best one lacks nothing"
    assert cheap.total == pytest.approx(2000 + cheap.worth["y"], abs=0.01)


@pytest.mark.parametrize(
    ("billed", "paid", "used_up"),
    [
        pytest.param(1500.0, 1500, 500, id="the commit and the room count as well"),
        pytest.param(2100.0, 2000, 0, id="the bill lies above what counts"),
        pytest.param(0.0, 0, 2000, id="all of it under the commit"),
        pytest.param(None, 2000, 0, id="the answer does not say"),
    ],
)
def test_what_counts_is_billed_or_used_up(billed: float | None, paid: float, used_up: float) -> None:
    outcome = decided({"cheap": CHEAP}, BILLED)
    documents = candidates(outcome)
    documents[0]["bill"] = None if billed is None else {"per_month": billed}
    lens = money_lens(documents, profile=outcome.decision.profile)
    assert isinstance(lens, MoneyLens)
    (cost,) = lens.costs
    assert (cost.billed, cost.paid, cost.used_up) == (
        billed,
        pytest.approx(paid, abs=0.01),
        pytest.approx(used_up, abs=0.01),
    )


def test_what_is_dearer_than_the_dearest_is_clipped() -> None:
    lens = lens_of(decided({"cheap": CHEAP, "dearest": {"lines": line(90)}}, BILLED))
    assert isinstance(lens, MoneyLens)
    assert [(cost.idc, cost.clipped) for cost in lens.costs] == [("cheap", False), ("dearest", True)]
    assert lens.costs[1].counted == pytest.approx(6000)


def test_what_is_not_known_is_named() -> None:
    lens = lens_of(decided({"cheap": CHEAP, "free": {"lines": line(None)}}, BILLED, SCORED))
    assert isinstance(lens, MoneyLens)
    assert {cost.idc: cost.missing for cost in lens.costs} == {"cheap": {}, "free": {"bill": "neutral", "y": "neutral"}}


@pytest.mark.parametrize(
    ("idcs", "entries", "fields", "why"),
    [
        pytest.param({"a": CHEAP}, [SCORED], {}, NoMoney.NO_BILL, id="the profile has no scorer of the bill"),
        pytest.param(
            {"a": CHEAP}, [("bill", "billing_cost", {"weight": 0})], {}, NoMoney.NO_WEIGHT, id="a weight of 0"
        ),
        pytest.param({"a": CHEAP}, [BILLED], {"weights": {"bill": 0}}, NoMoney.NO_WEIGHT, id="the request's weight"),
        pytest.param(
            {"a": CHEAP, "b": DEAR},
            [("bill", "billing_cost", {"weight": 1, "normalizer": {"kind": "share"}})],
            {},
            NoMoney.OTHER_SCALE,
            id="another normaliser",
        ),
        pytest.param({"a": {"lines": line(None)}}, [BILLED], {}, NoMoney.NO_PRICE, id="no price"),
        pytest.param({"a": CHEAP}, [BILLED], {"need": 0}, NoMoney.NO_BANDWIDTH, id="an order without bandwidth"),
        pytest.param({"a": CHEAP}, [BILLED], {"need": 9e5}, NoMoney.NO_CANDIDATES, id="nothing fits"),
    ],
)
def test_there_is_no_money(idcs: Any, entries: list[Any], fields: dict[str, Any], why: NoMoney) -> None:
    assert lens_of(decided(idcs, *entries, **fields)) is why


def test_the_best_may_lie_beyond_the_candidates() -> None:
    outcome = decided({"cheap": CHEAP}, BILLED, SCORED)
    lens = lens_of(outcome, best={"bill": 9000.0, "y": 500.0})
    assert isinstance(lens, MoneyLens)
    assert lens.costs[0].worth == pytest.approx({"y": 400 * lens.per_point})


@st.composite
def priced(draw: st.DrawFn) -> Outcome:
    """A random decision that counts the bill as one of its scores."""
    known, policy, fields = draw(questions(least=1))
    others = [entry for entry in policy.entries if entry.plugin.name != "billing_cost"]
    bill = {"weight": draw(st.integers(0, 90)), "args": draw(st.sampled_from([{}, {"dearest": 15}]))}
    weighed = [
        (entry.name, entry.plugin.name, {"weight": entry.weight}) for entry in others if entry.plugin.name in KINDS
    ]
    return decide_for(known, profile(("bill", "billing_cost", bill), *weighed), explain="full", **fields)


KINDS = {"taint", "affinity", "network_flow", "resource"}


@given(priced())
def test_costs_have_the_order_and_the_distances_of_the_points(outcome: Outcome) -> None:
    documents = candidates(outcome)
    lens = lens_of(outcome)
    if isinstance(lens, NoMoney):
        return
    of_rank = list(zip(documents, lens.costs, strict=True))
    slack = ROUNDING * 10 * lens.per_point
    for (document, cost), (other, other_cost) in pairwise(of_rank):
        gap = other_cost.total - cost.total
        assert gap == pytest.approx((document["score"] - other["score"]) * lens.per_point, abs=slack)
        assert gap >= -slack
        told = differences(document, other, per_point=lens.per_point)
        assert sum(difference.amount for difference in told) == pytest.approx(-gap, abs=slack)
        assert min([0.0, *cost.worth.values()]) >= 0
