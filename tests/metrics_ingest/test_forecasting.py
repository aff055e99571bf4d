"""The forecast of what a line bills in a month, and of the day when it is full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics_ingest.billing.figures import theil_sen
from metrics_ingest.billing.forecasting import DailyTrend, forecast
from metrics_ingest.billing.percentile import percentile_95

FLAT = DailyTrend(slope=0, spread=10)
amount, share = st.floats(0, 1e6), st.floats(0, 1)


def test_it_works():
    found = forecast(month=100, rolling=200, passed=0.25, days_left=22.5, sway=FLAT)
    assert found.mbps == 0.25 * 100 + 0.75 * 200
    assert (found.low, found.high) == pytest.approx((found.mbps - 12.8 * 0.75**0.5, found.mbps + 12.8 * 0.75**0.5))


@pytest.mark.parametrize(
    ("month", "rolling", "passed", "expected"),
    [
        pytest.param(None, 200, 0.0, 200, id="nothing of the month is known: the last thirty days"),
        pytest.param(100, 200, 0.0, 200, id="at first the larger: the last thirty days"),
        pytest.param(300, 200, 0.0, 300, id="at first the larger: the month"),
        pytest.param(300, 200, 0.5, 300, id="a high month is not talked down"),
        pytest.param(100, 200, 0.5, 150, id="half-way, half of each"),
        pytest.param(100, 200, 1.0, 100, id="at its end the month alone"),
    ],
)
def test_early_the_larger_and_late_the_month(month, rolling, passed, expected):
    assert forecast(month=month, rolling=rolling, passed=passed, days_left=1, sway=None).mbps == expected


@given(month=amount, rolling=amount, passed=share, slope=st.floats(-100, 100), spread=amount)
def test_the_interval_holds_the_forecast_and_closes(month, rolling, passed, slope, spread):
    sway = DailyTrend(slope=slope, spread=spread)
    found = forecast(month=month, rolling=rolling, passed=passed, days_left=30 * (1 - passed), sway=sway)
    assert 0 <= found.low <= found.mbps <= found.high
    assert min(month, max(month, rolling)) <= found.mbps + 1e-6
    assert found.mbps <= max(month, rolling) + 1e-6
    last = forecast(month=month, rolling=rolling, passed=1.0, days_left=0, sway=sway)
    assert last.low == last.mbps == last.high == month


def test_too_few_days_give_no_interval():
    found = forecast(month=100, rolling=200, passed=0.5, days_left=15, sway=None)
    assert (found.low, found.high) == (None, None)


@given(month=amount, rolling=amount, passed=share, commit=amount, slope=st.floats(-100, 100), spread=amount)
def test_nothing_lies_below_the_commit(month, rolling, passed, commit, slope, spread):
    fields = {"month": month, "rolling": rolling, "passed": passed, "days_left": 30 * (1 - passed)}
    free = forecast(**fields, sway=DailyTrend(slope=slope, spread=spread))
    bound = forecast(**fields, sway=DailyTrend(slope=slope, spread=spread), commit=commit)
    assert (bound.low, bound.mbps, bound.high) == tuple(max(each, commit) for each in (free.low, free.mbps, free.high))
    assert forecast(**fields, sway=None, commit=commit).mbps >= commit


def fourth(days):
    return np.sort(days, axis=1)[:, -min(4, days.shape[1])]


def mean_of_five(days):
    return np.sort(days, axis=1)[:, -5:].mean(axis=1)


def mean(days):
    return days.mean(axis=1)


def of_slots(slots):
    return percentile_95(slots.reshape(len(slots), -1))[0]


@pytest.mark.parametrize(
    ("by_day", "of_month", "highest"),
    [
        pytest.param(lambda slots: percentile_95(slots)[0], None, False, id="p95_month"),
        pytest.param(lambda slots: slots.max(axis=-1), fourth, True, id="fourth_peak_month"),
        pytest.param(lambda slots: slots.max(axis=-1), mean, False, id="daily_peak"),
        pytest.param(lambda slots: np.sort(slots, axis=-1)[..., -5], mean_of_five, True, id="enhanced_95"),
        pytest.param(lambda slots: slots.mean(axis=-1), mean, False, id="volume"),
    ],
)
@pytest.mark.parametrize("growth", [-0.1, 0.0, 0.1, 0.3])
@pytest.mark.parametrize("day", [1, 3, 8, 15, 25])
def test_four_months_in_five_end_inside_of_the_interval(growth, day, by_day, of_month, highest):
    """At least four of five of the 80 lines end their second month inside the interval that was forecast on a day of
    it. The lines have a daily and a weekly shape, days that differ, and growth. The forecast's interval is as wide as
    the figures of the days, `by_day`, vary; `of_month` makes the month's figure of them, or of all slots if it is None.
    """
    chance = np.random.default_rng([day, int(growth * 10) + 5])
    days = np.arange(60)
    shape = np.clip(1 + 0.8 * np.sin(2 * np.pi * (np.arange(288) / 288 - 0.4)), 0.1, None)
    size = (1 + 0.15 * (days % 7 >= 5)) * (1 + growth * days / 30)
    luck = np.exp(chance.choice([0.05, 0.15, 0.3], (80, 1)) * chance.standard_normal((80, 60)))
    noise = np.exp(0.08 * chance.standard_normal((80, 60, 288)))
    slots = (100 * shape * (size * luck)[:, :, None] * noise).astype(np.float32)
    figures = by_day(slots)

    def figure(chosen):
        return of_slots(slots[:, chosen]) if of_month is None else of_month(figures[:, chosen])

    final, so_far, rolling = figure(slice(30, 60)), figure(slice(30, 30 + day)), figure(slice(day, 30 + day))
    trend = theil_sen(figures[:, day + 2 : day + 30], least=7)
    inside = 0
    for line in range(80):
        found = forecast(
            month=so_far[line],
            rolling=rolling[line],
            passed=day / 30,
            days_left=30 - day,
            sway=DailyTrend(slope=trend.slope[line], spread=trend.spread[line]),
            highest=highest,
        )
        inside += found.low <= final[line] <= found.high
    assert inside >= 0.8 * 80
