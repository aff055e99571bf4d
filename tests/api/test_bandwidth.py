"""`bandwidth/`: what lines' measurements come to, read by people who answer for capacity and cost."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, line_update, region_create
from metrics_ingest.billing.calendar import midnight
from metrics_ingest.models import BandwidthMonth, BandwidthRollup, Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import history_store, rollups_refresh
from tests.api.conftest import Api
from tests.keeping import Kept

LINES = 3
DAYS = 39


GROWING: Kept[None] = Kept()


@pytest.fixture
def lines(db: None) -> list[Line]:
    """Three lines that grow by 0, 1 and 5 Mbps a day."""
    GROWING.write(_growing)
    return [Line.objects.get(code=code) for code in ("ct", "cu", "cm")]


def _growing() -> None:
    region_create(code="R")
    isps = [isp_create(code=code) for code in ("ct", "cu", "cm")]
    wanted = [{"isp": isp, "purchased_mbps": 1000, "price_per_mbps": 20} for isp in isps]
    idc: Idc = idc_create(code="gz-01", region="R", lines=wanted)
    found = [idc.lines.get(code=code) for code in ("ct", "cu", "cm")]
    now = timezone.now()
    for line, growth in zip(found, (0, 1, 5), strict=True):
        measure(line, np.repeat(100.0 + growth * np.arange(DAYS), 288), now)
    rollups_refresh(now=now)


def measure(line: Line, values: Any, now: datetime) -> None:
    start = slot_floor(now) - (len(values) - 1) * SLOT
    metric = Metric.objects.get(code="bandwidth_mbps")
    history_store(metric=metric, idc=line.idc, line=line, start=start, values=values.astype(np.float32))


def test_it_works(lines: list[Line], api: Callable[..., Api]) -> None:
    found = api("viewer").get(f"/bandwidth/{lines[1].pk}/")
    rollup = BandwidthRollup.objects.get(line=lines[1])
    month = BandwidthMonth.objects.filter(line=lines[1]).latest("month")
    assert (found["line"], found["idc"], found["code"], found["isp"]) == (lines[1].pk, "gz-01", "cu", "cu")
    assert found["p95"]["30d"] == {"mbps": rollup.p95_30d_mbps, "coverage": 1.0}
    assert found["month"]["p95_mbps"] == month.p95_mbps
    assert found["month"]["coverage"] == 1.0
    assert not found["month"]["complete"]
    assert found["month"]["bill"] == {
        "billable_mbps": month.p95_mbps,
        "quantity": month.p95_mbps,
        "unit": "mbps",
        "amount": month.p95_mbps * 20,
        "currency": "CNY",
    }
    forecast = found["forecast"]
    assert forecast["month"] == found["month"]["month"]
    assert forecast["low_mbps"] <= forecast["billable_mbps"] <= forecast["high_mbps"]
    assert min(month.p95_mbps, rollup.p95_30d_mbps) <= forecast["billable_mbps"]
    for mbps, amount in (("billable_mbps", "amount"), ("low_mbps", "low_amount"), ("high_mbps", "high_amount")):
        assert forecast[amount] == pytest.approx(20 * forecast[mbps], abs=0.02)
    assert forecast["currency"] == "CNY"
    assert found["trend"]["mbps_per_day"] == pytest.approx(1)
    assert found["high_water_mbps"] == 900
    assert found["days_until_high_water"] is None, "at 1 Mbps a day it takes over two years"


@pytest.fixture
def peaky(lines: list[Line]) -> Line:
    """A line whose daily percentiles and means hardly differ while its daily peaks swing between 600 and 800."""
    line: Line = Line.objects.create(idc=lines[0].idc, code="peaky", isp=lines[0].isp, purchased_mbps=1000)
    values = np.full((DAYS, 288), 500.0)
    values[:, ::48] = np.linspace(600, 800, 4)[np.arange(DAYS) * 7 % 4, None]
    now = timezone.now()
    measure(line, values.reshape(-1), now)
    rollups_refresh(now=now)
    return line


def forecast_of(api: Callable[..., Api], line: Line, **contract: Any) -> tuple[float, float, float]:
    line_update(line=line, changes=contract)
    found = api().get(f"/bandwidth/{line.pk}/")["forecast"]
    return found["low_mbps"], found["billable_mbps"], found["high_mbps"]


def test_a_fixed_line_is_forecast_exactly(peaky: Line, api: Callable[..., Api]) -> None:
    assert forecast_of(api, peaky, charge_type="fixed") == (1000, 1000, 1000)


def test_a_fixed_line_of_which_little_is_known(lines: list[Line], api: Callable[..., Api]) -> None:
    line: Line = Line.objects.create(
        idc=lines[0].idc, code="new", isp=lines[0].isp, purchased_mbps=2000, charge_type="fixed"
    )
    measure(line, np.full(12, 5.0), timezone.now() - timedelta(days=35))
    rollups_refresh(now=timezone.now())
    assert forecast_of(api, line) == (2000, 2000, 2000)


@pytest.mark.parametrize(
    ("charge_type", "narrow"),
    [
        ("p95_month", True),
        ("volume", True),
        ("enhanced_95", False),
        ("fourth_peak_month", False),
        ("daily_peak", False),
        ("daily_peak_average", False),
    ],
)
def test_a_forecast_is_as_wide_as_the_days_figures_differ(
    peaky: Line, api: Callable[..., Api], charge_type: str, narrow: bool
) -> None:
    """The interval is narrow for contracts that bill a monthly percentile or mean, and wide for those that bill high
    values. The stored months are deleted as if the month had just begun, because at a month's end every interval is
    narrow.
    """
    BandwidthMonth.objects.all().delete()
    low, billable, high = forecast_of(api, peaky, charge_type=charge_type)
    assert low <= billable <= high
    assert (high - low < 50) == narrow, (low, billable, high)


@pytest.mark.parametrize("charge_type", ["p95_month", "fourth_peak_month", "daily_peak", "enhanced_95", "volume"])
def test_no_forecast_lies_below_the_commit(peaky: Line, api: Callable[..., Api], charge_type: str) -> None:
    """A commit of 1,500 Mbps is more than ever flows, so it is the forecast; one of 640 lies within the interval of the
    peaks and cuts off what is below.
    """
    assert forecast_of(api, peaky, charge_type=charge_type, commit_mbps=1500) == (1500, 1500, 1500)
    free = forecast_of(api, peaky, charge_type=charge_type, commit_mbps=None)
    bound = forecast_of(api, peaky, charge_type=charge_type, commit_mbps=640)
    assert bound == pytest.approx(tuple(max(each, 640) for each in free), rel=1e-4), "time goes on between the two"


@pytest.mark.parametrize(
    ("level", "slope", "expected"),
    [
        pytest.param(100, 10, 80, id="800 Mbps at 10 a day"),
        pytest.param(900, 10, 0, id="there already"),
        pytest.param(950, -10, 0, id="above it, if falling"),
        pytest.param(100, 0, None, id="it does not grow"),
        pytest.param(100, -1, None, id="it falls"),
        pytest.param(170, 2, 365, id="a year"),
        pytest.param(169.9, 2, None, id="more than a year"),
        pytest.param(100, 1e-300, None, id="hardly at all"),
    ],
)
def test_days_until_the_high_water_mark(
    lines: list[Line], api: Callable[..., Api], level: float, slope: float, expected: float | None
) -> None:
    line_update(line=lines[0], changes={"max_level": 0.9})
    BandwidthRollup.objects.filter(line=lines[0]).update(trend_level_mbps=level, trend_mbps_per_day=slope)
    assert api().get(f"/bandwidth/{lines[0].pk}/")["days_until_high_water"] == expected


def test_a_list_is_filtered_and_ordered_by_what_is_urgent(lines: list[Line], api: Callable[..., Api]) -> None:
    line_update(line=lines[1], changes={"purchased_mbps": 300})
    listed = api().get("/bandwidth/?days_until_high_water__lte=365&ordering=days_until_high_water")
    assert [one["code"] for one in listed["results"]] == ["cm", "cu"], "605 Mbps at 5 a day, 131 at 1 a day"
    days = [one["days_until_high_water"] for one in listed["results"]]
    assert days == sorted(days)
    assert [one["code"] for one in api().get("/bandwidth/?isp=ct&isp=cm&ordering=-line")["results"]] == ["cm", "ct"]
    assert api().get("/bandwidth/?q=nowhere")["count"] == 0


@pytest.mark.parametrize("ordering", ["days_until_high_water", "-days_until_high_water"])
def test_a_line_that_will_not_be_full_comes_last(lines: list[Line], api: Callable[..., Api], ordering: str) -> None:
    listed = api().get(f"/bandwidth/?ordering={ordering}")["results"]
    assert [one["days_until_high_water"] is None for one in listed] == [False, True, True]


def test_a_list_costs_the_same_queries_for_one_line_and_for_many(
    lines: list[Line], api: Callable[..., Api], django_assert_num_queries: Any
) -> None:
    for line in lines:
        line_update(line=line, changes={"charge_type": "daily_peak"})
    client = api()
    client.get("/bandwidth/")
    counts = []
    for limit in (1, LINES):
        with django_assert_num_queries(5, exact=False) as captured:
            assert len(client.get(f"/bandwidth/?limit={limit}")["results"]) == limit
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_a_daily_peak_is_billed_by_its_days(lines: list[Line], api: Callable[..., Api]) -> None:
    line_update(line=lines[0], changes={"charge_type": "daily_peak", "commit_mbps": 150})
    by_member = api().get(f"/bandwidth/{lines[0].pk}/")["month"]
    months = api().get(f"/bandwidth/{lines[0].pk}/months/")["results"]
    assert by_member == months[0]
    days = by_member["days_with_values"]
    assert by_member["bill"]["quantity"] == 150 * days
    assert by_member["bill"]["unit"] == "mbps_days"


def test_the_last_month_stands_beside_the_running_one(lines: list[Line], api: Callable[..., Api]) -> None:
    line: Line = Line.objects.create(
        idc=lines[0].idc,
        code="old",
        isp=lines[0].isp,
        purchased_mbps=1000,
        price_per_mbps=2,
        charge_type="daily_peak",
        commit_mbps=90,
    )
    now, zone = timezone.now(), ZoneInfo(settings.BILLING_ZONE)
    begin = midnight(now.astimezone(zone).date().replace(day=1), zone)
    last = (begin - SLOT).astimezone(zone).date()
    measure(line, np.full(70 * 288, 100.0), now)
    rollups_refresh(lines=[line], now=begin - timedelta(seconds=1))
    rollups_refresh(lines=[line], now=now)
    found = api().get(f"/bandwidth/{line.pk}/")

    assert (found["last_month"]["month"], found["last_month"]["complete"]) == (f"{last:%Y-%m}", True)
    assert found["last_month"]["bill"]["quantity"] == 100 * last.day, "each day's peak is billed"
    assert found["last_month"]["bill"]["amount"] == 200 * last.day
    assert found["month"]["month"] == f"{begin.astimezone(zone):%Y-%m}"
    assert [found["month"], found["last_month"]] == api().get(f"/bandwidth/{line.pk}/months/?limit=2")["results"]


def test_months_and_days_are_pages_newest_first(lines: list[Line], api: Callable[..., Api]) -> None:
    months = api().get(f"/bandwidth/{lines[2].pk}/months/")
    assert months["count"] == BandwidthMonth.objects.filter(line=lines[2]).count()
    days = api().get(f"/bandwidth/{lines[2].pk}/days/?limit=2")
    assert days["count"] >= DAYS - 1
    first, second = days["results"]
    assert first["day"] > second["day"]
    assert (second["covered_slots"], second["peak_mbps"] > second["mean_mbps"] - 5) == (288, True)


def test_a_line_without_thirty_days_or_a_price(api: Callable[..., Api], lines: list[Line]) -> None:
    line: Line = Line.objects.create(idc=lines[0].idc, code="new", isp=lines[0].isp, purchased_mbps=10)
    measure(line, np.full(12, 5.0), timezone.now() - timedelta(days=35))
    rollups_refresh(now=timezone.now())
    found = api().get(f"/bandwidth/{line.pk}/")
    assert (found["forecast"], found["trend"], found["days_until_high_water"], found["month"]) == (None,) * 4
    assert found["p95"]["30d"] == {"mbps": None, "coverage": 0.0}
    measure(line, np.full(12, 5.0), timezone.now())
    rollups_refresh(now=timezone.now())
    found = api().get(f"/bandwidth/{line.pk}/")
    assert (found["forecast"]["billable_mbps"], found["forecast"]["low_mbps"]) == (5.0, None)
    assert found["month"]["bill"]["amount"] is None


def test_a_line_that_nobody_measured_is_not_found(lines: list[Line], api: Callable[..., Api]) -> None:
    assert api().refused("GET", "/bandwidth/999999/", status=404) == ("not_found", [])
    assert api().refused("GET", "/bandwidth/999999/months/", status=404) == ("not_found", [])


@pytest.mark.parametrize("list_of", ["months", "days"])
@pytest.mark.parametrize("query", ["colour=red", "idc=gz-01", "ordering=day", "q=x", "limit=1&limit=2"])
def test_what_means_nothing_to_months_and_days_is_refused(
    lines: list[Line], api: Callable[..., Api], list_of: str, query: str
) -> None:
    code, (pointer,) = api().refused("GET", f"/bandwidth/{lines[0].pk}/{list_of}/?{query}", status=400)
    assert (code, pointer) == ("given_twice" if "&" in query else "unknown_parameter", f"?{query.partition('=')[0]}")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("line_code=cu", ["cu"]),
        ("line_code__n=cu&line_code__n=ct", ["cm"]),
        ("region=R&isp__n=cm", ["ct", "cu"]),
        ("p95_30d_mbps__gte=101&p95_30d_mbps__lte=200", ["cu"]),
        ("charge_type__n=p95_month", []),
        ("days_until_high_water__gte=0", ["cm"]),
    ],
)
def test_each_column_has_its_look_ups(lines: list[Line], api: Callable[..., Api], query: str, found: list[str]) -> None:
    assert [one["code"] for one in api().get(f"/bandwidth/?{query}&ordering=line")["results"]] == found


@pytest.mark.parametrize(
    ("query", "code", "pointer"),
    [
        ("colour=red", "unknown_parameter", "?colour"),
        ("ordering=colour", "unknown_parameter", "?ordering"),
        ("idc=moon", "unknown_idc", "?idc"),
        ("charge_type=beads", "invalid_choice", "?charge_type"),
        ("days_until_high_water__lte=soon", "wrong_type", "?days_until_high_water__lte"),
        ("limit=1001", "out_of_range", "?limit"),
    ],
)
def test_a_misspelt_question_is_refused(api: Callable[..., Api], query: str, code: str, pointer: str) -> None:
    assert api().refused("GET", f"/bandwidth/?{query}", status=400) == (code, [pointer])


def test_nothing_can_be_written(lines: list[Line], api: Callable[..., Api]) -> None:
    assert api().refused("POST", "/bandwidth/", {}, status=405)[0] == "method_not_allowed"
    assert api().refused("DELETE", f"/bandwidth/{lines[0].pk}/", status=405)[0] == "method_not_allowed"
