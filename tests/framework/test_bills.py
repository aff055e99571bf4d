"""What an order adds to the bill of a month, as a part of the answer: the exact difference, whatever the profile
scores.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.framework.answer import Bill
from idcsched.framework.facts import MetricFact
from idcsched.framework.testing import LineSpec, Outcome, decide_for, profile, world

BANDWIDTH = MetricFact(code="bandwidth_mbps", scope="line", max_age=600)
EVENING = [200.0] * 19 + [262.0] * 4 + [200.0]
EVEN = [316.0] * 24
NIGHT = [1.0] * 7 + [0.1] * 17
BY_FORMULA = profile("network_flow", ("bill", "billing_cost", {"weight": 90}))
WITHOUT_PRICES = profile("network_flow")
NAN = float("nan")


def line(day: list[float] = EVENING, *, days: int = 30, **terms: Any) -> LineSpec:
    """A line of 10 Gbps at 20 CNY that carried that day's traffic on the last `days` of 30 days."""
    history = [NAN] * 24 * (30 - days) + day * days
    spec = {"purchased_mbps": 10_000, "used_mbps": max(day), "price_per_mbps": 20, "hourly": day * 7}
    return LineSpec(**{**spec, "history": history, **terms})  # type: ignore[typeddict-item]


def decided(lines: dict[str, LineSpec], need: float = 100, policy: Any = BY_FORMULA, **fields: Any) -> Outcome:
    known = world({"a": {"lines": lines}}, metrics=[BANDWIDTH])
    return decide_for(known, policy, machines=[{"bandwidth_mbps": need}], **fields)


def bill(spec: LineSpec, need: float = 100, **fields: Any) -> Bill:
    found = decided({"ct": spec}, need, **fields).answer.bill
    assert found is not None
    return found


def test_it_works() -> None:
    """100 Mbps all the time on a line whose 95th percentile is 262 Mbps at 20 CNY."""
    answer = decided({"ct": line()}).answer
    assert answer.bill is not None
    assert answer.candidates is not None
    assert (answer.bill.currency, answer.bill.per_month) == ("CNY", 2000)
    assert (answer.bill.before, answer.bill.after) == (5240, 7240)
    assert (answer.bill.method, answer.bill.history_days) == ("exact", 30)
    assert [(part.line, part.per_month, part.method) for part in answer.bill.lines] == [("ct", 2000, "exact")]
    assert answer.candidates[0].bill == answer.bill
    scored = decided({"ct": line()}).scores("bill")["a"].raw
    assert scored is not None
    assert answer.bill.counted == round(scored * 100, 2)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        pytest.param(
            line(), "the line's last 30 days would have cost 7,240 CNY with the order instead of 5,240, 2,000"
        ),
        pytest.param(line(days=7), "by the week that is known of the line, a month would cost 7,240 CNY"),
        pytest.param(
            line(commit_mbps=362),
            "would have cost 7,240 CNY with the order as without it: nothing more is billed; by the busiest hours",
        ),
        pytest.param(
            line(days=7, commit_mbps=362),
            "a month would cost 7,240 CNY with the order as without it: nothing more is billed; by the busiest hours",
        ),
        pytest.param(line(days=0), "the order's shape is not known, so all of it counts as flowing in the"),
    ],
    ids=["exact", "weekly", "exact, under the commit", "weekly, under the commit", "no traffic"],
)
def test_the_note_of_the_score_says_the_same_bill(spec: LineSpec, sentence: str) -> None:
    note = decided({"ct": spec}).scores("bill")["a"].note
    assert isinstance(note, str)
    assert sentence in note


@pytest.mark.parametrize(
    ("need", "spec", "per_month"),
    [
        pytest.param(200, line(), 2760, id="at night on the evening line: up to 400 above 262"),
        pytest.param(200, line(EVEN, price_per_mbps=9), 1800, id="at night on the even line: all of it"),
        pytest.param(800, line(), 14_760, id="a large order at night makes a peak of its own"),
        pytest.param(800, line(EVEN, price_per_mbps=9), 7200, id="which is billed by 9 CNY on the even line"),
        pytest.param(100, line(commit_mbps=362), 0, id="all under the commit"),
        pytest.param(100, line(commit_mbps=300), 0, id="at night under the commit"),
        pytest.param(300, line(charge_type="daily_peak", price_per_mbps=1), 7140, id="a daily peak of its own"),
    ],
)
def test_an_order_that_makes_a_peak_of_its_own_is_billed_for_it(need: float, spec: LineSpec, per_month: float) -> None:
    assert bill(spec, need, shape=NIGHT).per_month == per_month


def test_the_profile_does_not_change_it() -> None:
    plain, scored = bill(line(), policy=WITHOUT_PRICES), bill(line())
    assert plain.counted is None
    assert scored.counted is not None
    assert (plain.per_month, plain.lines) == (scored.per_month, scored.lines)


def test_a_line_that_was_measured_for_a_week_repeats_it() -> None:
    found = bill(line(days=7))
    assert (found.method, found.history_days, found.per_month) == ("weekly", 7, 2000)


def test_a_flat_rate_costs_the_same() -> None:
    found = bill(line(charge_type="fixed", history=[NAN] * 720))
    assert (found.method, found.history_days) == ("fixed", None)
    assert (found.before, found.after, found.per_month) == (200_000, 200_000, 0)


@pytest.mark.parametrize(
    ("spec", "need", "why"),
    [
        pytest.param(line(price_per_mbps=None), 100, "no_price", id="no price"),
        pytest.param(line(days=1), 100, "no_traffic", id="one day of traffic"),
        pytest.param(line(days=0), 100, "no_traffic", id="no traffic"),
        pytest.param(line(), 0, "no_bandwidth", id="no bandwidth is needed"),
    ],
)
def test_why_there_is_none(spec: LineSpec, need: float, why: str) -> None:
    answer = decided({"ct": spec}, need).answer
    assert answer.candidates is not None
    for part in (answer, answer.candidates[0]):
        assert (part.bill, part.bill_unknown) == (None, why)


def test_without_the_history_of_the_lines_only_flat_rates_are_known() -> None:
    without = {name: value for name, value in line().items() if name != "history"}
    assert decided({"ct": LineSpec(**without)}).answer.bill_unknown == "no_traffic"  # type: ignore[typeddict-item]
    flat = LineSpec(**{**without, "charge_type": "fixed"})  # type: ignore[typeddict-item]
    assert bill(flat).method == "fixed"


def test_of_several_lines_it_is_the_sum() -> None:
    lines = {"ct": line(isp="ct"), "cu": line(days=7, isp="cu", price_per_mbps=10)}
    found = decided(lines, isp=["ct", "cu"], isp_match="all").answer.bill
    assert found is not None
    assert (found.per_month, found.method, found.history_days) == (3000, "weekly", 7)
    assert {part.line: part.per_month for part in found.lines} == {"ct": 2000, "cu": 1000}


def test_where_nothing_fits_there_is_none() -> None:
    answer = decided({"ct": line()}, need=100_000).answer
    assert answer.result == "unschedulable"
    assert answer.bill is None


@given(
    need=st.floats(1, 3000, allow_subnormal=False),
    price=st.floats(0.01, 300),
    commit=st.floats(0, 600),
    charge_type=st.sampled_from(["p95_month", "fourth_peak_month", "enhanced_95", "daily_peak", "daily_peak_average"]),
    seed=st.integers(0, 2**32),
)
def test_the_difference_is_that_of_what_is_shown(
    need: float, price: float, commit: float, charge_type: str, seed: int
) -> None:
    """What is added is the difference of the two bills that are shown, and it is never negative."""
    traffic = np.random.default_rng(seed).uniform(0, 500, 720).tolist()
    spec = line(history=traffic, price_per_mbps=price, commit_mbps=commit, charge_type=charge_type)
    found = bill(spec, need, shape=NIGHT)
    assert found.per_month == round(found.after - found.before, 2) >= 0
    assert found.lines[0].after == found.after
