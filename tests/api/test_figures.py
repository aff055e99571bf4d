"""Answers round each figure by its unit: Mbps to three decimals, money to two, shares to six."""

from typing import Any

import pytest

from idcsched.api.figures import rounded_figures


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        pytest.param({"p95_mbps": 281.02821044921876}, {"p95_mbps": 281.028}, id="bandwidth"),
        pytest.param({"amount": 8088.202000000001}, {"amount": 8088.2}, id="money"),
        pytest.param({"amount": 2.675}, {"amount": 2.68}, id="half a cent goes up"),
        pytest.param({"coverage": 2 / 3}, {"coverage": 0.666667}, id="a share"),
        pytest.param(
            {"p95": {"7d": {"mbps": 0.1 + 0.2, "coverage": 1.0}}},
            {"p95": {"7d": {"mbps": 0.3, "coverage": 1.0}}},
            id="further in",
        ),
        pytest.param(
            [{"mbps": None, "line": 7, "code": "ct"}], [{"mbps": None, "line": 7, "code": "ct"}], id="no figures"
        ),
    ],
)
def test_it_works(document: Any, shown: Any) -> None:
    assert rounded_figures(document) == shown
