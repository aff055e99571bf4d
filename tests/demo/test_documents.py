"""The demo's data looks like the real thing, and costs what the list says."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from idcsched.demo.documents import demo, moment, seed_example
from idcsched.demo.source import line_traffic, samples_at
from idcsched.demo.traffic import SHAPES
from idcsched.framework.billing import GB_A_MONTH

IDCS = {idc["code"]: idc for idc in demo("idcs")}
REGIONS = {region["code"]: region for region in demo("regions")}
LINES = [(idc, line) for idc in demo("idcs") for line in idc["lines"]]

FIRST_CITIES = {"110000", "310000", "440100"}
CAPITALS_AND_THE_LIKE = {
    *("130100", "210100", "210200", "320100", "330100", "330200", "370100", "370200"),
    *("410100", "420100", "440300", "450100", "460100", "510100", "610100"),
}
MONTHLY = {"ct": (50, 25, 20), "cu": (50, 25, 20), "cm": (30, 15, 12)}
"""Public list prices, CNY per Mbps and month for the 95th percentile or the fourth peak, by class of city."""
ASSUMED = {"bgp": (80, 40, 32), "edu": (30, 15, 12), "cbn": (30, 15, 12)}
DAILY = {50: 2.00, 25: 1.00, 20: 0.80, 30: 1.20, 15: 0.60, 12: 0.48}


def list_price(idc: dict[str, Any], line: dict[str, Any]) -> float:
    prices = (MONTHLY | ASSUMED)[line["isp"]]
    if idc["region"] in FIRST_CITIES:
        return prices[0]
    return prices[1] if idc["region"] in CAPITALS_AND_THE_LIKE else prices[2]


def test_it_works() -> None:
    assert len(IDCS) == len(demo("idcs")) == 41
    assert len(LINES) == 68
    assert {region["code"] for region in seed_example()["regions"]} == {"A", "B"}


def test_regions_are_numbered_as_the_state_does_and_stand_below_seven_areas() -> None:
    areas = {code for code, region in REGIONS.items() if "parent" not in region}
    provinces = {code for code, region in REGIONS.items() if region.get("parent") in areas}

    assert len(areas) == 7
    assert len(provinces) == 14
    for code in REGIONS.keys() - areas:
        assert len(code) == 6
        assert code.isdigit()
    for code in REGIONS.keys() - areas - provinces:
        assert REGIONS[code]["parent"] == code[:2] + "0000"


def test_every_idc_stands_near_its_city() -> None:
    for idc in IDCS.values():
        region = REGIONS[idc["region"]]
        assert abs(idc["latitude"] - region["latitude"]) < 0.8
        assert abs(idc["longitude"] - region["longitude"]) < 0.8


@pytest.mark.parametrize(
    ("idc", "line"), [pytest.param(*pair, id=f"{pair[0]['code']}/{pair[1]['isp']}") for pair in LINES]
)
def test_prices_are_those_of_the_list(idc: dict[str, Any], line: dict[str, Any]) -> None:
    price = list_price(idc, line)
    if line["charge_type"] == "volume":
        assert line["price_per_gb"] == round(price / GB_A_MONTH, 2)
    elif line["charge_type"].startswith("daily_"):
        assert line["price_per_mbps"] == DAILY[price]
    else:
        assert line["price_per_mbps"] == price
    assert line.get("commit_mbps", 0) < line["purchased_mbps"]


def test_variety() -> None:
    charge_types = Counter(line["charge_type"] for _, line in LINES)
    assert set(charge_types) == {
        *("p95_month", "fourth_peak_month", "daily_peak", "daily_peak_average", "enhanced_95", "fixed", "volume")
    }
    assert {line["isp"] for _, line in LINES} == {"ct", "cu", "cm", "bgp", "edu", "cbn"}
    assert Counter(idc["tier"] for idc in IDCS.values())["center"] >= 10
    assert sum(len(idc["lines"]) > 1 for idc in IDCS.values()) >= 15
    assert sum("stock" in idc for idc in IDCS.values()) >= 10
    assert {idc["labels"]["owner"] for idc in IDCS.values()} == {"own", "partner", "cloud"}
    assert {taint["effect"] for taint in demo("taints")} == {"NoSchedule", "PreferNoSchedule", "NoExecute"}
    assert {affinity["kind"] for affinity in demo("affinities")} == {"prefer", "require", "forbid"}


def test_every_line_and_idc_is_measured_and_nothing_else() -> None:
    assert set(line_traffic()) == {(idc["code"], line["isp"]) for idc, line in LINES}
    assert {traffic.shape for traffic in line_traffic().values()} == set(SHAPES)
    assert {reading["idc"] for reading in demo("readings")} == set(IDCS)


def test_water_levels_differ_and_some_lines_are_nearly_full() -> None:
    levels = sorted(traffic["level"] for traffic in demo("traffic"))

    assert levels[0] < 0.2
    assert sum(level > 0.7 for level in levels) >= 4
    assert levels[-1] < 0.9


def test_samples_of_one_moment_are_always_the_same_and_move_with_time() -> None:
    noon, later = (datetime(2026, 3, 2, 4, minute, tzinfo=UTC) for minute in (0, 5))
    first, again, moved = (
        {(s.idc, s.line, s.metric): s.value for s in samples_at(at, {})} for at in (noon, noon, later)
    )

    assert first == again
    assert first.keys() == moved.keys()
    assert sum(first[key] != moved[key] for key in first) > 0.8 * len(first)
    assert all(0 <= value <= 1 for (_, _, metric), value in first.items() if metric.endswith("_load"))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(None, None, id="no moment"),
        pytest.param({"days": 0, "at": "00:00"}, "2026-03-02T16:00", id="this day's midnight in the billing zone"),
        pytest.param({"days": 7, "at": "01:00"}, "2026-03-09T17:00", id="a week later at one"),
        pytest.param({"days": -6, "at": "05:00"}, "2026-02-24T21:00", id="six days ago"),
    ],
)
def test_moments_are_told_by_the_clock_of_the_billing_zone(said: dict[str, Any] | None, expected: str | None) -> None:
    now = datetime(2026, 3, 2, 20, 30, tzinfo=UTC)  # the third of March in China

    assert moment(said, now) == (expected and datetime.fromisoformat(expected).replace(tzinfo=UTC))


def test_every_provider_that_an_idc_names_is_there() -> None:
    assert {idc["provider"] for idc in IDCS.values() if idc.get("provider")} == {
        provider["code"] for provider in demo("providers")
    }
