"""The console's page of one IDC: levels, bills, taints that are set and lifted there, why it was passed over."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import tenant_create, user_create
from idcsched.inventory.models import Idc, Taint
from idcsched.inventory.services import (
    idc_create,
    isp_create,
    line_create,
    region_create,
    region_scope_create,
    taint_create,
)
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision, IdcOutcome
from metrics_ingest.services import Sample, rollups_refresh, samples_store

pytestmark = pytest.mark.usefixtures("db")
HOUR = timedelta(hours=1)
PAGE = "/console/idcs/gz-1/"


@pytest.fixture
def idc() -> Idc:
    for isp in ("ct", "cu"):
        isp_create(code=isp)
    for region in ("gz", "bj"):
        region_create(code=region)
    ct = {"isp": "ct", "purchased_mbps": 1000, "commit_mbps": 500, "price_per_mbps": 20}
    row = idc_create(code="gz-1", region="gz", lines=[ct, {"isp": "cu", "purchased_mbps": 800}])
    now = timezone.now()
    samples_store(samples=[Sample(idc="gz-1", line="ct", metric="bandwidth_mbps", value=950.0, at=now)], now=now)
    return row


def logged_in(client: Client, role: str = "operator", region: str = "", **fields: Any) -> Client:
    user = user_create(username=f"the-{role}", role=role, **fields)
    if region:
        region_scope_create(user=user, region=region)
    client.force_login(user)
    return client


def text_of(client: Client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def chart_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.partition('id="chart-data"')[2].partition(">")[2].partition("</script>")[0])
    return found


def decided(request_id: str, idc: str = "", **fields: Any) -> Decision:
    values: dict[str, Any] = {"profile": "p", "profile_revision": 1, "request": {}, "created_at": timezone.now()}
    result = {"result": "scheduled" if idc else "unschedulable", "idc": idc}
    return Decision.objects.create(request_id=request_id, **{**values, **result, **fields})


def rejecting(idc: str) -> dict[str, Any]:
    rejected = {"idc": idc, "plugin": "resource", "code": "no_room", "reason": "needs 400 Mbps, 50 left", "detail": {}}
    return {"summary": "0/1 IDCs fit", "rejected": [{**rejected, "also": []}]}


def test_it_works(client: Client, idc: Idc) -> None:
    taint_create(idc=idc, key="power", reason="the switch is replaced", starts_at=timezone.now() + HOUR)
    page = text_of(logged_in(client))
    for text in (
        "over the limit",
        "used 950 (95 %)",
        "limit 900 of 1,000 bought",
        "never measured",
        "commit 500",
        "<strong>power:NoSchedule</strong> no new machines",
        "coming",
    ):
        assert text in page
    assert f'href="/admin/inventory/idc/{idc.pk}/change/"' in page


def test_the_chart_has_what_was_measured_with_its_percentile_and_bounds(client: Client, idc: Idc) -> None:
    now, line = timezone.now(), idc.lines.get(code="ct")
    page = text_of(logged_in(client), f"{PAGE}?line=ct&span=7d")
    chart = chart_of(page)
    assert max(value for value in chart["values"] if value is not None) == 950.0
    assert [bound["mbps"] for bound in chart["bounds"]] == [900.0, 1000.0, 500.0]
    assert chart["start"] + len(chart["values"]) * chart["step"] >= now.timestamp()
    assert "The highest value is 950 Mbps" in page
    assert line.code in page


def test_the_bill_so_far_is_shown(client: Client, idc: Idc) -> None:
    rollups_refresh(now=timezone.now())
    page = text_of(logged_in(client))
    assert "950 Mbps billed" in page
    assert "450 Mbps over" in page
    assert "used 950 (95 %): the larger of 950 now and 950, the 95th percentile of the last 7 days" in page
    assert "95th percentile of these 24 hours: 950 Mbps." in page
    assert chart_of(page)["names"]["percentile"] == "95th percentile, 24 hours"
    assert "19,000 CNY" in page
    assert "CNY" in page
    assert chart_of(page)["percentile"] == 950.0


@pytest.mark.parametrize("query", ["line=nope", "span=year", "line=%3Cb%3E&span=", "line=cu"])
def test_nonsense_in_the_address_does_no_harm(client: Client, idc: Idc, query: str) -> None:
    assert "<b>" not in text_of(logged_in(client, "viewer"), f"{PAGE}?{query}").partition('id="chart"')[2]


def test_an_idc_that_is_not_there_is_not_found(client: Client) -> None:
    assert logged_in(client).get("/console/idcs/nope/").status_code == 404


def test_an_operator_lifts_a_taint_right_here(client: Client, idc: Idc) -> None:
    taint = taint_create(idc=idc, key="power")[0]
    page = logged_in(client).post(PAGE, {"lift": taint.pk}, follow=True)
    assert not Taint.objects.exists()
    assert "Lifted: power:NoSchedule" in page.content.decode()
    assert "lifted already" in client.post(PAGE, {"lift": taint.pk}, follow=True).content.decode()
    for nothing in ({"lift": "nonsense"}, {}):
        assert client.post(PAGE, nothing).status_code == 302


def test_a_taint_without_a_start_is_drawn_from_when_it_was_set(client: Client, idc: Idc) -> None:
    """The time line begins two days ago and ends in seven: a taint of a day ago begins at a ninth of it."""
    taint_create(idc=idc, key="power")
    Taint.objects.update(created_at=timezone.now() - timedelta(days=1))
    section = text_of(logged_in(client)).partition('id="taints-title"')[2]
    left = re.findall(r'<rect class="level bad" x="([0-9.]+)%"', section)
    assert [float(place) for place in left] == [pytest.approx(100 / 9, abs=0.1)]


def test_what_was_lifted_is_set_again_from_a_form_that_is_filled_in(client: Client, idc: Idc) -> None:
    taint = taint_create(idc=idc, key="power", value="a&b", reason="the UPS", ends_at=timezone.now() + HOUR)[0]
    page = logged_in(client).post(PAGE, {"lift": taint.pk}, follow=True).content.decode()
    address = unescape(re.findall(r'<a class="link" href="([^"]*)">Taint again…</a>', page)[0])
    form = text_of(client, address)
    for field in ('value="power"', 'value="a&amp;b"', 'value="the UPS"'):
        assert field in form
    assert taint.ends_at
    assert f"{taint.ends_at.astimezone(ZoneInfo(settings.BILLING_ZONE)):%Y-%m-%dT%H:%M}" in form


def test_a_taint_of_another_idc_is_not_lifted_here(client: Client, idc: Idc) -> None:
    taint = taint_create(idc=idc_create(code="bj-1", region="bj"), key="power")[0]
    logged_in(client).post(PAGE, {"lift": taint.pk})
    assert Taint.objects.filter(pk=taint.pk).exists()


@pytest.mark.parametrize(("role", "region"), [("viewer", ""), ("operator", "bj")])
def test_whoever_may_not_taint_sees_no_button_and_is_refused(client: Client, idc: Idc, role: str, region: str) -> None:
    taint = taint_create(idc=idc, key="power")[0]
    page = text_of(logged_in(client, role, region))
    assert "Taint…" not in page
    assert 'name="lift"' not in page
    assert client.post(PAGE, {"lift": taint.pk}).status_code == 409
    assert list(Taint.objects.values_list("key", flat=True)) == ["power"]


def test_an_operator_of_its_region_goes_to_taint_it_from_here(client: Client, idc: Idc) -> None:
    page = text_of(logged_in(client, region="gz"))
    assert f'<a class="btn primary" href="{PAGE}taint/"' in page


def test_it_says_why_it_was_chosen_and_passed_over(client: Client, idc: Idc) -> None:
    decided("order-won", "gz-1", answer={"summary": "1/1 IDCs fit"})
    decided("order-lost", answer=rejecting("gz-1"))
    decided("order-elsewhere", answer=rejecting("bj-1"))
    about = text_of(logged_in(client)).partition('id="about-title"')[2]
    assert "1/1 IDCs fit" in about
    assert "needs 400 Mbps, 50 left" in about
    assert "order-elsewhere" not in about


def test_it_counts_what_became_of_it_with_the_first_reasons(client: Client, idc: Idc) -> None:
    """Of four orders one came here, two fitted and went elsewhere (one to a dearer IDC), and one found no room here."""
    for number, fields in enumerate(
        [
            {"chosen": True, "rank": 1, "billed": 100.0},
            {"chosen": False, "rank": 2, "billed": 50.0},
            {"chosen": False, "rank": 2, "billed": 200.0},
            {"chosen": False, "plugin": "network_flow", "code": "not_enough_bandwidth"},
        ]
    ):
        decision = decided(f"order-{number}", "gz-1" if fields["chosen"] else "bj-1", answer={"summary": ""})
        IdcOutcome.objects.create(decision=decision, idc="gz-1", **fields)
        if not fields["chosen"]:
            IdcOutcome.objects.create(decision=decision, idc="bj-1", chosen=True, rank=1, billed=100.0)
    page = text_of(logged_in(client))
    assert "1 of the last 4 orders that could have come here did." in page
    assert "Of the 2 that fitted and went elsewhere 1 would have added less to the bill here." in page
    bars = page.partition('class="outcomes mt"')[2].partition("</div>")[0]
    assert [text for text in ("came here", "fitted, went elsewhere", "not enough bandwidth") if text in bars] == [
        "came here",
        "fitted, went elsewhere",
        "not enough bandwidth",
    ]


@pytest.mark.parametrize(("role", "offered"), [("operator", True), ("viewer", False)])
def test_an_order_in_its_region_is_tried_from_here(client: Client, idc: Idc, role: str, offered: bool) -> None:
    assert ('href="/console/try/?region=gz"' in text_of(logged_in(client, role))) is offered


def test_somebody_of_one_tenant_sees_its_orders_alone(client: Client, idc: Idc) -> None:
    own, other = tenant_create(code="own"), tenant_create(code="other")
    for tenant in (own, other):
        decided(f"decided-{tenant.code}", "gz-1", answer={"summary": "1/1 IDCs fit"}, tenant=tenant)
        Placement.objects.create(
            tenant=tenant,
            request_id=f"placed-{tenant.code}",
            request={},
            action="reserve",
            state="active",
            idc=idc,
            decision_id="0198c7a0-0000-7000-8000-000000000000",
        )
    page = text_of(logged_in(client, "viewer", tenant=own))
    assert ("decided-own" in page, "placed-own" in page) == (True, True)
    assert "-other" not in page


def test_the_live_part_alone_is_asked_for_again(client: Client, idc: Idc) -> None:
    page = logged_in(client).get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert 'id="live"' in page
    assert "chart-data" not in page


def test_it_takes_a_bounded_number_of_queries(
    client: Client, idc: Idc, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(10):
        line_create(idc=idc, isp="ct", code=f"ct-{number}", purchased_mbps=100)
        taint_create(idc=idc, key=f"k-{number}")
        decided(f"order-{number}", "gz-1", answer={"summary": "1/1 IDCs fit"})
    rollups_refresh(now=timezone.now())
    text_of(logged_in(client))  # the first page of a process reads the whole inventory
    with django_assert_max_num_queries(25):
        text_of(client)


def test_whoever_is_logged_out_logs_in_first(client: Client, idc: Idc) -> None:
    assert client.get(PAGE).headers["Location"] == f"/admin/login/?next={PAGE}"
