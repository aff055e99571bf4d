"""Weights by which the orders of a period add less: found by trying, checked on orders they were not found on."""

from typing import Any

import pytest

from idcsched.framework.registry import load_registry
from idcsched.planning.weights import Fitted, every_other_day, fit_weights, with_weights

from .test_courses import order, period, standing

REGISTRY = load_registry()
BODY = {
    "plugins": [
        {"name": "network_flow", "plugin": "network_flow"},
        {"name": "x", "plugin": "metric", "weight": 100, "args": {"metric": "x"}, "normalizer": {"kind": "max_ratio"}},
        {"name": "bill", "plugin": "billing_cost", "weight": 90},
    ]
}
"""By x the dear IDC is worth 50 points more, by its bill the cheap one about 33: at 150 to 100 the bill wins."""


def fitted(body: dict[str, Any] = BODY, **options: Any) -> Fitted:
    known = period(*[order(number, number / 2) for number in range(8)])
    return fit_weights(known, body, REGISTRY, **{"budget": 20, "seed": 1, **options})


def test_it_works() -> None:
    found = fitted()
    assert found.before == {"x": 100.0, "bill": 90.0}
    assert found.after["x"] == 100.0, "only ratios count: the largest stays"
    assert found.after["bill"] > 150.0
    assert found.fitted_after.added < found.fitted_before.added / 2
    assert found.checked_after.added < found.checked_before.added / 2
    assert found.courses <= 22


def test_the_orders_of_the_other_days_stay_where_they_were() -> None:
    """Eight orders of 100 Mbps came to the cheap line in four days. When those of every other day are decided again,
    the 400 Mbps of the four others stay on the line.
    """
    known = period(*[order(number, number / 2, done=(standing("cheap", 100),)) for number in range(8)])
    for parity in (0, 1):
        half = every_other_day(known, parity)
        assert len(half.orders) == 4
        assert (half.traffic - known.traffic)[:, -1].tolist() == [400.0, 0.0]


def test_the_same_seed_gives_the_same_weights() -> None:
    assert fitted() == fitted()


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_the_budget_is_kept(budget: int) -> None:
    told: list[int] = []
    found = fitted(budget=budget, progress=lambda: told.append(1))
    assert len(told) == found.courses <= budget + 2


def test_where_no_scorer_has_a_weight_nothing_is_tried() -> None:
    body = {"plugins": [{"name": "bill", "plugin": "billing_cost", "weight": 0}]}
    found = fitted(body)
    assert (found.before, found.after, found.courses) == ({}, {}, 3)


def test_a_document_with_other_weights() -> None:
    changed = with_weights(BODY, {"bill": 7.0})
    assert [entry.get("weight") for entry in changed["plugins"]] == [None, 100, 7.0]
    assert BODY["plugins"][2]["weight"] == 90
