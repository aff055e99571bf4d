"""What each charge type bills."""

from dataclasses import replace

import pytest

from idcsched.inventory.choices import ChargeType
from metrics_ingest.billing.charges import Bill, Figures, Tariff, amount_at, bill, billable_mbps

FIGURES = Figures(p95=800, fourth_peak=900, enhanced_95=850, daily_peak_average=950, mean=400)
TARIFF = Tariff(charge_type="p95_month", purchased_mbps=1000, price_per_mbps=20, price_per_gb=0.5)
PEAKS = [900.0, 1000.0]
DAY = 86_400


def billed(tariff, days=2, peaks=PEAKS):
    return bill(tariff, FIGURES, daily_peaks=peaks, days=days, seconds=days * DAY)


def test_it_works():
    assert billed(TARIFF) == Bill(quantity=800, unit="mbps", amount=16_000)


@pytest.mark.parametrize(
    ("charge_type", "commit", "mbps", "quantity", "unit", "amount"),
    [
        pytest.param("p95_month", None, 800, 800, "mbps", 16_000, id="the percentile"),
        pytest.param("p95_month", 500, 800, 800, "mbps", 16_000, id="the percentile above its commit"),
        pytest.param("p95_month", 900, 900, 900, "mbps", 18_000, id="the commit above the percentile"),
        pytest.param("fourth_peak_month", None, 900, 900, "mbps", 18_000, id="the fourth peak"),
        pytest.param("fourth_peak_month", 950, 950, 950, "mbps", 19_000, id="the fourth peak below its commit"),
        pytest.param("enhanced_95", None, 850, 850, "mbps", 17_000, id="enhanced 95"),
        pytest.param("fixed", None, 1000, 1000, "mbps", 20_000, id="fixed: what was purchased"),
        pytest.param("fixed", 300, 1000, 1000, "mbps", 20_000, id="fixed has no commit of its own"),
        pytest.param("daily_peak", None, 950, 1900, "mbps_days", 38_000, id="each day its peak"),
        pytest.param("daily_peak", 950, 950, 1950, "mbps_days", 39_000, id="each day its peak, its commit at least"),
        pytest.param("daily_peak_average", None, 950, 1900, "mbps_days", 38_000, id="the average, on every day"),
        pytest.param("daily_peak_average", 960, 960, 1920, "mbps_days", 38_400, id="the average below its commit"),
        pytest.param("volume", None, 400, 8640, "gb", 4320, id="what flowed: 400 Mbps for two days"),
        pytest.param("volume", 500, 500, 10_800, "gb", 5400, id="a commit of 500 Mbps, all the time"),
    ],
)
def test_a_charge_type(charge_type, commit, mbps, quantity, unit, amount):
    tariff = replace(TARIFF, charge_type=charge_type, commit_mbps=commit)
    assert billable_mbps(tariff, FIGURES) == mbps
    assert billed(tariff) == Bill(quantity=quantity, unit=unit, amount=amount)


def test_every_charge_type_is_billed():
    for kind in ChargeType:
        assert billed(replace(TARIFF, charge_type=kind.value)).quantity > 0


@pytest.mark.parametrize(
    ("charge_type", "commit", "quantity"),
    [
        pytest.param("daily_peak", None, 1900, id="a day without values costs nothing where nothing is committed"),
        pytest.param("daily_peak", 100, 2000, id="and its commit where something is"),
        pytest.param("daily_peak_average", None, 2850, id="under the average it counts as the mean of the others"),
    ],
)
def test_a_third_day_that_nobody_measured(charge_type, commit, quantity):
    assert billed(replace(TARIFF, charge_type=charge_type, commit_mbps=commit), days=3).quantity == quantity


def test_no_price_no_amount():
    bare = Tariff(charge_type="p95_month", purchased_mbps=1000)
    assert billed(bare) == Bill(quantity=800, unit="mbps", amount=None)
    assert billed(replace(bare, charge_type="volume", price_per_mbps=20)).amount is None, (
        "volume has a price of its own"
    )


def test_a_gigabyte_is_what_the_scheduler_takes_it_for():
    """1 Mbps for 30 days at half the percentile is 162 GB."""
    tariff = replace(TARIFF, charge_type="volume")
    found = bill(tariff, replace(FIGURES, mean=0.5), daily_peaks=[], days=30, seconds=30 * DAY)
    assert found.quantity == pytest.approx(162)


@pytest.mark.parametrize(
    ("charge_type", "amount"),
    [
        pytest.param("p95_month", 600 * 20, id="a month at once"),
        pytest.param("daily_peak", 600 * 20 * 30, id="every day"),
        pytest.param("daily_peak_average", 600 * 20 * 30, id="every day the mean"),
        pytest.param("volume", 600 * 30 * DAY / 8000 * 0.5, id="all the month"),
        pytest.param("fixed", 1000 * 20, id="what was purchased"),
    ],
)
def test_a_whole_month_at_a_figure(charge_type, amount):
    tariff = replace(TARIFF, charge_type=charge_type)
    assert amount_at(tariff, 600, days=30, seconds=30 * DAY) == pytest.approx(amount)
    assert amount_at(replace(tariff, price_per_mbps=None, price_per_gb=None), 600, days=30, seconds=30 * DAY) is None
