"""A profile with `method: exact` bills an order by the lines' last 30 days; a replay takes the days of the decision."""

import re
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from idcsched.feed.services import feed_append
from idcsched.inventory.models import Idc, Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.models import Decision, Picture
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.services import profile_create
from metrics_ingest.models import BandwidthHistory, Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import Sample, history_store, rollups_refresh, samples_store
from tests.api.conftest import Api

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("db")]

PROFILE = {
    "plugins": [{"name": "bill", "plugin": "billing_cost", "weight": 1, "args": {"method": "exact"}}],
    "line_choice": "roomiest",
}
ASKED = {"region": "R", "profile": "exact", "machines": [{"bandwidth_mbps": 100}]}


@pytest.fixture(autouse=True)
def line(portal: Api) -> Line:
    region_create(code="R")
    isp = isp_create(code="ct")
    idc = idc_create(code="gz-01", region="R", lines=[{"isp": isp, "purchased_mbps": 9000, "price_per_mbps": 20}])
    profile_create(code="exact", body=PROFILE)
    found: Line = idc.lines.get()
    measure(found, 400.0, days=35)
    return found


def measure(line: Line, mbps: float, *, days: int, spike: float = 0.0) -> None:
    """Store `days` of measurements: `mbps` all the time, and `spike` more in one slot of each hour."""
    now = timezone.now()
    values = np.full(days * 288, mbps, dtype=np.float32)
    values[::12] += spike
    history_store(
        metric=Metric.objects.get(code="bandwidth_mbps"),
        idc=line.idc,
        line=line,
        start=slot_floor(now) - (days * 288 - 1) * SLOT,
        values=values,
    )
    samples_store(
        samples=[Sample(idc=line.idc.code, line=line.code, metric="bandwidth_mbps", value=mbps, at=now)], now=now
    )
    rollups_refresh(now=now)


def test_it_works(portal: Api) -> None:
    score = portal.schedule(**ASKED)["candidates"][0]["scores"]["bill"]
    assert score["raw"] == 20.0
    assert "would have cost 10,000 CNY with the order instead of 8,000, 2,000 more" in score["note"]


def test_the_note_is_in_the_reader_s_language_as_a_whole(portal: Api) -> None:
    told = portal.call("POST", "/schedule/", ASKED, status=200, accept_language="zh-hans")
    note = told["candidates"][0]["scores"]["bill"]["note"]
    assert "加上本单，线路最近 30 天的账单为 10,000 CNY" in note
    assert "the line's" not in note


def test_the_bill_is_data_wherever_money_is_spoken_of(portal: Api, line: Line) -> None:
    """The recommendation, its candidate, the answer of `capacity/` and the committed placement have the same bill."""
    advice = portal.schedule(**ASKED)
    bill = advice["bill"]
    assert (bill["per_month"], bill["before"], bill["after"]) == (2000.0, 8000.0, 10_000.0)
    assert (bill["method"], bill["counted"], bill["history_days"]) == ("exact", 2000.0, 30)
    assert advice["candidates"][0]["bill"] == bill
    question = {"machine": {"bandwidth_mbps": 100}, "region": "R", "profile": "exact"}
    assert portal.post("/capacity/", question, status=200)["idcs"][0]["bill"] == bill

    committed = portal.post("/placements/", {"commit_token": advice["commit_token"], "action": "reserve"}, status=201)

    assert committed["bill"] == bill
    assert portal.get(f"/placements/{committed['id']}/")["bill"] == bill
    Line.objects.update(price_per_mbps=None)
    feed_append(topic="inventory")
    unpriced = portal.schedule(**ASKED)
    assert (unpriced["bill"], unpriced["bill_unknown"]) == (None, "no_price")


@pytest.mark.parametrize(
    ("charge_type", "before"),
    [
        pytest.param("p95_month", 18_000, id="one value in twelve is more than one in twenty"),
        pytest.param("daily_peak", 18_000 * 30, id="daily peak"),
        pytest.param("enhanced_95", 18_000, id="a day has 24 values as high"),
    ],
)
def test_the_bill_without_the_order_is_that_of_five_minute_values(
    portal: Api, line: Line, charge_type: str, before: float
) -> None:
    """Each contract bills 900 Mbps, the highest five-minute values, and not the hourly means of 441.67.

    A replay bills the same.
    """
    BandwidthHistory.objects.all().delete()  # it is written once a day
    measure(line, 400.0, days=35, spike=500.0)
    Line.objects.update(charge_type=charge_type)
    feed_append(topic="inventory")
    answer = portal.schedule(**ASKED, explain="full")
    recorder.settle()
    assert answer["bill"]["before"] == before
    assert answer["bill"]["after"] == before / 9 * 10
    assert portal.post(f"/decisions/{answer['decision_id']}/replay/", {}, status=200)["identical"]


def test_placements_are_found_and_summed_by_their_bill(portal: Api, line: Line) -> None:
    """Two placements cost 2,000 and 6,000 CNY a month; the price of the third is not known."""
    for number, mbps in enumerate((100, 300)):
        order = {**ASKED, "machines": [{"bandwidth_mbps": mbps}], "action": "reserve", "request_id": str(number)}
        portal.post("/schedule/", order, status=201)
    Line.objects.update(price_per_mbps=None)
    feed_append(topic="inventory")
    portal.post("/schedule/", {**ASKED, "action": "reserve", "request_id": "2"}, status=201)

    dear = portal.get("/placements/?bill_per_month__gte=5000")["results"]
    assert [placement["bill"]["per_month"] for placement in dear] == [6000.0]
    both = portal.get("/placements/?bill_per_month__gte=0&ordering=bill_per_month")["results"]
    assert [placement["request_id"] for placement in both] == ["0", "1"]
    totals = {"placements": 3, "machines": 3, "bandwidth_mbps": 500.0, "per_month": 8000.0, "without_bill": 1}
    assert portal.get("/placements/totals/") == {
        **totals, "currency": "CNY", "idcs": [{**totals, "idc": "gz-01"}],
    }  # fmt: skip
    assert portal.get("/placements/totals/?bill_per_month__lte=5000")["per_month"] == 2000.0
    refused = portal.get("/placements/totals/?tenent=a", status=400)
    assert refused["errors"][0]["code"] == "unknown_parameter"


def test_the_days_of_then_are_replayed(portal: Api, line: Line) -> None:
    made = portal.schedule(**ASKED, explain="full")["decision_id"]
    portal.schedule(**ASKED)
    recorder.settle()
    rows = Decision.objects.all()
    assert len({row.history_id for row in rows}) == 1, "both saw the same days"
    Line.objects.update(commit_mbps=500)
    measure(line, 700.0, days=35)
    Picture.objects.update(created_at=timezone.now() - timedelta(days=3))

    again = portal.post(f"/decisions/{made}/replay/", {}, status=200)

    assert again["identical"]
    assert "instead of 8,000" in again["again"]["candidates"][0]["scores"]["bill"]["note"]


def test_a_preview_says_what_the_orders_would_have_billed(portal: Api, api: Callable[..., Api]) -> None:
    """The draft would send the order of 100 Mbps from the line at 20 CNY to the line at 50: 5,000 a month instead of
    2,000.
    """
    idc = idc_create(code="gz-02", region="R", lines=[{"isp": "ct", "purchased_mbps": 90_000, "price_per_mbps": 50}])
    measure(idc.lines.get(), 100.0, days=30)
    portal.schedule(**ASKED, request_id="o-1")
    recorder.settle()
    roomy = {"plugins": [{"name": "flow", "plugin": "network_flow", "weight": 1}]}
    shown = api("operator").post("/profiles/exact/preview/", {"body": roomy}, status=200)
    assert (shown["billed"], shown["would_be_billed"], shown["currency"]) == (2000.0, 5000.0, "CNY")
    (moved,) = shown["changed"]
    assert (moved["billed"], moved["would_be_billed"]) == (2000.0, 5000.0)


def test_a_preview_says_what_the_means_would_have_been(portal: Api, api: Callable[..., Api]) -> None:
    """In gz-01 at most 8,100 of 9,000 Mbps may flow, 400 do, and the order brings 100: 7,600 are left.

    In gz-02 80,800 of 90,000 are left. The client stands where gz-01 is, and gz-02 is a degree to the north. An order
    without bandwidth does not count in the mean of `room`, nor one without a client in that of `distance_km`.
    """
    idc = idc_create(
        code="gz-02", region="R", latitude=24, longitude=113, lines=[{"isp": "ct", "purchased_mbps": 90_000}]
    )
    measure(idc.lines.get(), 100.0, days=30)
    Idc.objects.filter(code="gz-01").update(latitude=23, longitude=113)
    feed_append(topic="inventory")
    now = timezone.now()
    loads = [("gz-01", "cpu_load", 0.5), ("gz-01", "memory_load", 0.25), ("gz-02", "disk_load", 0.75)]
    samples_store(
        samples=[Sample(idc=idc, metric=metric, value=value, at=now) for idc, metric, value in loads], now=now
    )
    portal.schedule(**ASKED, client={"latitude": 23, "longitude": 113}, request_id="o-1")
    portal.schedule(**{**ASKED, "machines": [{"cpu": 1}]}, request_id="o-2", only=["gz-02"])
    recorder.settle()
    roomy = {"plugins": [{"name": "flow", "plugin": "network_flow", "weight": 1}]}
    shown = api("operator").post("/profiles/exact/preview/", {"body": roomy}, status=200)
    assert {mean["figure"]: (mean["then"], mean["would_be"], mean["orders"]) for mean in shown["means"]} == {
        "room": (round(7600 / 9000, 6), round(80_800 / 90_000, 6), 1),
        "load": ((0.5 + 0.75) / 2, 0.75, 2),
        "distance_km": (0.0, 111.195, 1),
    }


def test_a_preview_of_what_is_supposed(portal: Api, api: Callable[..., Api], line: Line) -> None:
    """A preview without a draft decides under the profile in force: at twice the price the bill doubles.

    With a supposed taint the order would go nowhere.
    """
    portal.schedule(**ASKED, request_id="o-1")
    recorder.settle()
    operator = api("operator")
    dearer = {"idcs": [{"code": "gz-01", "lines": [{"line": "ct", "price_per_mbps": 40}]}]}
    shown = operator.post("/profiles/exact/preview/", {"hypothetical": dearer}, status=200)
    assert (shown["billed"], shown["would_be_billed"], shown["changed"]) == (2000.0, 4000.0, [])
    assert [mean["figure"] for mean in shown["means"]] == ["room"]

    taint = {"taints": [{"idc": "gz-01", "key": "drill", "effect": "NoSchedule"}]}
    strict = {"plugins": [*PROFILE["plugins"], {"name": "taint", "plugin": "taint"}]}
    shown = operator.post("/profiles/exact/preview/", {"body": strict, "hypothetical": taint}, status=200)
    (moved,) = shown["changed"]
    assert (moved["idc"], moved["would_be_idc"], moved["would_be_billed"]) == ("gz-01", None, None)
    assert shown["means"] == []

    unknown = {"taints": [{"idc": "nowhere", "key": "drill", "effect": "NoSchedule"}]}
    for question in ({}, {"body": strict}):
        refused = operator.refused(
            "POST", "/profiles/exact/preview/", {**question, "hypothetical": unknown}, status=400
        )
        assert refused == ("unknown_idc", ["/hypothetical/taints/0/idc"])
    assert operator.refused("POST", "/profiles/exact/preview/", {}, status=400) == ("body_or_revision", ["/body"])


def test_a_machine_without_bandwidth_has_no_use_for_it(portal: Api) -> None:
    portal.schedule(**{**ASKED, "machines": [{"cpu": 1}]})
    recorder.settle()
    assert Decision.objects.get().history_id is None


def test_the_sentence_within_the_sentence_is_translated_too(portal: Api) -> None:
    BandwidthHistory.objects.all().delete()
    feed_append(topic="metrics")
    answer = portal.call("POST", "/schedule/", ASKED, status=200, accept_language="zh-hans")
    note = answer["candidates"][0]["scores"]["bill"]["note"]
    assert "最忙时段" in note
    assert "30 天" in note
    assert not re.search("[a-z]{4}", note)
