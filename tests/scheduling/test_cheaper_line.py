"""Of two lines the shipped profiles choose the one where the order adds less to the bill of 5-minute values."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.decoding import convert
from idcsched.framework.facts import MetricFact
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.registry import load_registry
from idcsched.framework.testing import LineSpec, decide_for, world
from idcsched.scheduling.shipped import shipped_document

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
EVENING = np.array([1.0 if 19 <= hour < 23 else 0.1 for hour in range(24)])
NIGHT = np.array([1.0 if hour < 7 else 0.1 for hour in range(24)])
OFFICE = np.array([1.0 if 9 <= hour < 18 else 0.1 for hour in range(24)])
SLOTS_AN_HOUR, DAYS = 12, 30


def slots(day: Any, seed: int) -> Any:
    """A month of 5-minute values: the same day again and again, with a little noise."""
    noise = np.random.default_rng(seed).uniform(0.98, 1.02, DAYS * 24 * SLOTS_AN_HOUR)
    return np.tile(np.repeat(day, SLOTS_AN_HOUR), DAYS) * noise


LINES = {
    "dear": (slots(np.array([200.0] * 19 + [262.0] * 4 + [200.0]), 1), 20.0),
    "cheap": (slots(np.full(24, 316.0), 2), 9.0),
}


def billed(values: Any, price: float) -> float:
    """The nearest-rank 95th percentile times the price."""
    return float(np.sort(values)[-1 - values.size // 20]) * price


def truth(idc: str, need: float, shape: Any) -> float:
    values, price = LINES[idc]
    order = np.tile(np.repeat(need * shape, SLOTS_AN_HOUR), DAYS)
    return billed(values + order, price) - billed(values, price)


def spec(idc: str) -> LineSpec:
    values, price = LINES[idc]
    hours = values.reshape(-1, SLOTS_AN_HOUR).mean(axis=1)
    return LineSpec(
        purchased_mbps=10_000,
        used_mbps=float(values.max()),
        price_per_mbps=price,
        history=hours.tolist(),
        hourly=hours[-168:].tolist(),
    )


def shipped(code: str) -> Profile:
    body = {name: value for name, value in shipped_document(code).items() if name not in ("code", "name", "message")}
    return compile_profile(convert(body, ProfileBody), load_registry(), code=code, revision=1)


@pytest.mark.parametrize("code", ["cost-first", "default"])
@pytest.mark.parametrize(
    ("need", "shape"),
    [
        pytest.param(100, EVENING, id="100 in the evening"),
        pytest.param(200, NIGHT, id="200 at night"),
        pytest.param(400, OFFICE, id="400 in office hours"),
        pytest.param(800, NIGHT, id="800 at night"),
    ],
)
def test_it_works(code: str, need: float, shape: Any) -> None:
    known = world({idc: {"lines": {"ct": spec(idc)}} for idc in LINES}, metrics=[BANDWIDTH])
    answer = decide_for(known, shipped(code), machines=[{"bandwidth_mbps": need}], shape=shape.tolist()).answer
    bills = {candidate.idc: candidate.bill for candidate in answer.candidates or ()}
    assert answer.idc is not None
    assert answer.idc.code == min(LINES, key=lambda idc: truth(idc, need, shape))
    for idc, bill in bills.items():
        assert bill is not None
        assert bill.per_month == pytest.approx(truth(idc, need, shape), rel=0.05, abs=20)
