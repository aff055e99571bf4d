"""`billing_cost` with `method: exact`: the mean of the formula and of what the last 30 days would have cost more."""

from typing import Any

import numpy as np
import pytest

from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import LineSpec, Outcome, decide_for, profile, world

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
EVENING = [0.0] * 20 + [1.0] * 2 + [0.0] * 2
NIGHT = [1.0] * 6 + [0.0] * 18
BUSY_EVENINGS = [400.0] * 20 + [900.0] * 2 + [400.0] * 2
"""Of 30 such days 60 hours have 900 Mbps: the 95th percentile, and each daily peak. Their mean is 441.67."""


def line(**terms: Any) -> LineSpec:
    """A wide line, so that room has no price."""
    spec: dict[str, Any] = {
        "purchased_mbps": 10_000,
        "used_mbps": 900,
        "price_per_mbps": 20,
        "hourly": BUSY_EVENINGS * 7,
        "history": BUSY_EVENINGS * 30,
    }
    return LineSpec(**{**spec, **terms})  # type: ignore[typeddict-item]


def decided(lines: dict[str, LineSpec], need: float = 100, **fields: Any) -> Outcome:
    args = {"method": "exact", "free": 0, **fields.pop("args", {})}
    known = world({"a": {"lines": lines}}, metrics=[BANDWIDTH])
    policy = profile(("bill", "billing_cost", {"weight": 1, "args": args}))
    return decide_for(known, policy, machines=[{"bandwidth_mbps": need}], **fields)


def raw(spec: LineSpec, **fields: Any) -> float | None:
    return decided({"ct": spec}, **fields).scores("bill")["a"].raw


def note(spec: LineSpec, **fields: Any) -> str | None:
    return decided({"ct": spec}, **fields).scores("bill")["a"].note


def test_it_works() -> None:
    """The order flows in one of two busy hours a day. By the formula half of its price counts; in the exact bill its 30
    hours of a month are dropped by the percentile and add nothing.
    """
    shape = [0.0] * 20 + [1.0] + [0.0] * 3
    assert raw(line(), args={"method": "formula"}, shape=shape) == 10
    assert raw(line(), shape=shape) == 5


@pytest.mark.parametrize(
    ("terms", "shape", "exact"),
    [
        pytest.param({}, None, 20, id="percentile: all of it"),
        pytest.param({}, EVENING, 20, id="percentile: with the peak"),
        pytest.param({}, NIGHT, 0, id="percentile: 500 in the night is no peak"),
        pytest.param({"commit_mbps": 950}, None, 10, id="commit: half of it is above"),
        pytest.param({"commit_mbps": 1000}, None, 0, id="commit: just up to it"),
        pytest.param({"pending_mbps": 100, "commit_mbps": 1000}, None, 20, id="what is pending has used it up"),
        pytest.param({"charge_type": "fourth_peak_month"}, NIGHT, 0, id="fourth peak: the night is no peak"),
        pytest.param({"charge_type": "daily_peak", "price_per_mbps": 1}, None, 30, id="daily peak: on 30 days"),
        pytest.param({"charge_type": "fixed"}, None, 0, id="flat rate: nothing"),
        pytest.param({"charge_type": "volume", "price_per_gb": 0.1}, None, 16.2, id="volume: half of the peak"),
        pytest.param({"charge_type": "volume", "price_per_gb": 0.1}, EVENING, 2.7, id="volume: 2 hours a day"),
    ],
)
def test_the_mean_of_both(terms: dict[str, Any], shape: list[float] | None, exact: float) -> None:
    fields = {} if shape is None else {"shape": shape}
    formula = raw(line(**terms), args={"method": "formula"}, **fields)
    assert formula is not None
    assert raw(line(**terms), **fields) == pytest.approx((formula + exact) / 2)


def test_commit_and_room_cost_half_of_what_they_do_by_the_formula() -> None:
    spec = line(purchased_mbps=1000, commit_mbps=2000)
    args = {"free": 0.25, "scarcity": 0.75}
    formula = raw(spec, args={"method": "formula", **args})
    assert formula is not None
    assert raw(spec, args=args) == formula / 2  # neither bills anything
    assert formula > 0


def test_shapes_lie_over_the_days_of_the_week() -> None:
    """The history begins on a Monday, and the line is busy on Tuesdays. An order of Tuesdays adds its price, one of
    Mondays nothing.
    """
    tuesdays = np.where(np.arange(720) // 24 % 7 == 1, 900.0, 400.0).tolist()
    spec = line(hourly=[400.0] * 24 + [900.0] * 24 + [400.0] * 120, history=tuesdays)
    monday, tuesday = np.zeros(168), np.zeros(168)
    monday[:24] = tuesday[24:48] = 1.0
    assert raw(spec, shape=tuesday.tolist()) == pytest.approx(20)
    assert raw(spec, shape=monday.tolist()) == pytest.approx(0)


def test_the_note_tells_both() -> None:
    assert note(line(purchased_mbps=1100), args={"scarcity": 0.75}) == (
        "the line's last 30 days would have cost 20,000 CNY with the order instead of 18,000, 2,000 more; by the "
        "busiest hours, the commit and the room it counts as 3,639; on average as 2,820"
    )


@pytest.mark.parametrize(
    ("history", "sentence"),
    [
        pytest.param([float("nan")] * 720, "too little is known of the line's last 30 days", id="nothing known"),
        pytest.param(None, "the last 30 days of the lines are not loaded here", id="not loaded"),
    ],
)
def test_where_the_month_is_not_known_the_formula_counts(history: list[float] | None, sentence: str) -> None:
    spec = line(history=history)
    if history is None:
        del spec["history"]
    formula = raw(spec, args={"method": "formula"})
    assert raw(spec) == formula
    told = note(spec)
    assert told is not None
    assert told.startswith(
        "the order's shape is not known, so all of it counts as flowing in the line's busiest hours; "
    )
    assert sentence in told


def test_where_less_than_two_weeks_are_known_the_week_is_repeated() -> None:
    """Thirteen days of 400 Mbps at 20 CNY: a month of them costs 8,000."""
    spec = line(history=[float("nan")] * (720 - 13 * 24) + [400.0] * 13 * 24)
    assert note(spec) == (
        "by the week that is known of the line, a month would cost 10,000 CNY with the order instead of 8,000, 2,000 "
        "more; by the busiest hours, the commit and the room it counts as 2,000; on average as 2,000"
    )


def test_several_lines_are_summed() -> None:
    lines = {"ct": line(), "cu": line(price_per_mbps=10)}
    outcome = decided(lines, isp=["ct", "cu"], isp_match="all", shape=NIGHT)
    assert outcome.scores("bill")["a"].raw == 0.0
    assert decided(lines, isp=["ct", "cu"], isp_match="all").scores("bill")["a"].raw == pytest.approx(30)


def test_supposed_use_is_that_of_the_whole_month() -> None:
    """The what-if supposes 100 Mbps on the line in all hours. An order that flows at night then adds its whole price to
    the exact bill.
    """
    supposed = {"idcs": [{"code": "a", "lines": [{"line": "ct", "metrics": {"bandwidth_mbps": 100}}]}]}
    assert raw(line(), shape=NIGHT, hypothetical=supposed) == pytest.approx((20 * 6 / 24 + 20) / 2)
