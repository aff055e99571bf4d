"""The console's overview: what is wrong now, the fleet by its water levels, what changed; as far as one may see it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone, translation

from bench.stored_fleet import store
from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.context import origin_set
from idcsched.console.bills import month_billed
from idcsched.console.order_words import name_shown
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, idc_update, isp_create, line_update, region_create, taint_create
from idcsched.jobs.models import NightlyJob
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision, IdcOutcome
from metrics_ingest.billing.calendar import midnight
from metrics_ingest.models import BandwidthMonth, Run, Source
from metrics_ingest.samples.slots import slots_between
from metrics_ingest.services import Sample, rollups_refresh, samples_store

pytestmark = pytest.mark.usefixtures("db")
HOUR = timedelta(hours=1)


@pytest.fixture
def idcs(db: None) -> dict[str, Idc]:
    """Two regions below one: a full line above its commit, and one that was measured two hours ago."""
    for isp in ("ct", "cu"):
        isp_create(code=isp)
    region_create(code="south")
    for code in ("gz", "sz"):
        region_create(code=code, parent="south")
    ct, cu = ({"isp": isp, "purchased_mbps": 1000, "commit_mbps": 500} for isp in ("ct", "cu"))
    created = [
        idc_create(code="gz-1", region="gz", lines=[ct, cu], labels={"rack": "a"}),
        idc_create(code="sz-1", region="sz", lines=[cu], status="draining", tier="center"),
        idc_create(code="old-1", region="sz", lines=[cu], status="retired"),
    ]
    now = timezone.now()
    measured = [("gz-1", "ct", 950.0, now), ("gz-1", "cu", 100.0, now), ("sz-1", "cu", 300.0, now - 2 * HOUR)]
    samples_store(
        samples=[
            Sample(idc=idc, line=line, metric="bandwidth_mbps", value=value, at=at) for idc, line, value, at in measured
        ],
        now=now,
    )
    return {idc.code: idc for idc in created}


def shown(client: Client, address: str = "/console/", role: str = "operator", **fields: Any) -> str:
    client.force_login(user_create(username=f"the-{role}", role=role, **fields))
    return text_of(client, address)


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def decided(**fields: Any) -> Decision:
    values: dict[str, Any] = {
        "result": "unschedulable",
        "reason_code": "none_feasible",
        "profile": "p",
        "profile_revision": 1,
    }
    values |= {"created_at": timezone.now(), "request": {}, "answer": {"summary": "0/2 IDCs fit"}}
    return Decision.objects.create(**{**values, **fields})


def waiting(tenant: Tenant, request_id: str, **fields: Any) -> Placement:
    values = {"action": "reserve", "state": "waiting", "expires_at": timezone.now() + HOUR, **fields}
    return Placement.objects.create(
        tenant=tenant, request_id=request_id, request={}, decision_id="0198c7a0-0000-7000-8000-000000000000", **values
    )


def tile(page: str, idc: str) -> str:
    return page.partition(f'id="i-{idc}"')[2].partition("</a>")[0]


def part(page: str, name: str) -> str:
    """A section of the page: `wrong`, `changes`, `fleet`, `room`, `bill`."""
    return page.partition(f' id="{name}" ')[2].partition("</section>")[0]


def wrong(page: str) -> list[str]:
    """The rows of what is wrong: each its severity and its sentence."""
    rows = re.findall(r'<svg class="icon (\w+)".*?</svg><div>(.*?)</div>', part(page, "wrong"))
    return [f"{severity}: {re.sub('<.*?>', '', title)}" for severity, title in rows]


def test_it_works(client: Client, idcs: dict[str, Idc]) -> None:
    with origin_set(actor="ada", via="api", request_id="one"):
        taint_create(idc=idcs["gz-1"], key="power", reason="the switch is replaced", ends_at=timezone.now() + HOUR)
    page = shown(client)
    assert "crit: gz-1 ct is 50 Mbps over its limit" in wrong(page)
    assert "950 in use and 0 reserved of 900 (its limit: 90 % of 1,000)" in page
    assert "warn: 1 of 3 values of bandwidth_mbps are stale" in wrong(page)
    assert all(text in tile(page, "gz-1") for text in ("95 %", "over the limit", "tainted", 'class="lv4"'))
    assert all(text in tile(page, "sz-1") for text in ("30 %", "draining", "stale"))
    assert "old-1" not in part(page, "fleet"), "what is retired is not part of the fleet"
    assert '<code>gz-1</code> <span class="muted">power:NoSchedule' in part(page, "changes")


def test_the_number_of_what_is_wrong_is_beside_the_overview_on_every_page(client: Client, idcs: dict[str, Idc]) -> None:
    page = shown(client)
    assert len(wrong(page)) == 2
    assert '<span class="count" id="wrong-count" aria-live="polite">2<' in page
    assert 'hx-get="/console/overview/wrong/"' in text_of(client, "/console/search/")
    assert 'hx-swap-oob="innerHTML:#wrong-count">2<' in text_of(client, "/console/overview/wrong/")


def test_what_has_not_changed_is_not_sent_again(client: Client, idcs: dict[str, Idc]) -> None:
    page = shown(client)
    seen = page.partition("?seen=")[2].partition('"')[0]
    again = {"HX-Request": "true"}
    answer = client.get(f"/console/?seen={seen}", headers=again)
    assert (answer.status_code, answer.content) == (204, b"")
    taint_create(idc=idcs["gz-1"], key="power")
    answer = client.get(f"/console/?seen={seen}", headers=again)
    sent = answer.content.decode()
    assert (answer.status_code, "tainted" in tile(sent, "gz-1")) == (200, True)
    assert [name for name in ("live", "wrong", "fleet", "room", "changes", "bill") if f'id="{name}"' in sent] == [
        "live",
        "wrong",
        "fleet",
        "room",
    ]
    assert seen not in sent


@pytest.mark.parametrize(
    ("change", "shows"),
    [
        pytest.param(
            lambda idc: taint_create(idc=idc, key="k", effect="PreferNoSchedule"), "tainted", id="a soft taint"
        ),
        pytest.param(lambda idc: idc_update(idc=idc, changes={"name": "Nansha"}), "Nansha", id="a name"),
        pytest.param(lambda idc: idc_update(idc=idc, changes={"status": "draining"}), "draining", id="a status"),
        pytest.param(
            lambda idc: line_update(line=idc.lines.get(code="ct"), changes={"purchased_mbps": 1900}),
            "50 %",
            id="how full a line is",
        ),
    ],
)
def test_a_tile_that_changes_is_sent_again(
    client: Client, idcs: dict[str, Idc], change: Callable[[Idc], Any], shows: str
) -> None:
    """The map of the fleet is cached under a key of all that it shows, so each of these changes must make a new key."""
    page = shown(client)
    seen = page.partition("?seen=")[2].partition('"')[0]
    assert shows not in tile(page, "gz-1")
    change(idcs["gz-1"])
    sent = client.get(f"/console/?seen={seen}", headers={"HX-Request": "true"}).content.decode()
    assert shows in tile(sent, "gz-1")
    assert shows in tile(text_of(client, "/console/"), "gz-1")


def test_the_bill_is_read_anew_after_each_roll_up(
    client: Client, idcs: dict[str, Idc], django_assert_max_num_queries: Callable[..., Any]
) -> None:
    line = idcs["gz-1"].lines.get(code="ct")
    line_update(line=line, changes={"price_per_mbps": 20})
    rollups_refresh(now=timezone.now())
    shown(client)
    with django_assert_max_num_queries(1):
        first = month_billed()
    assert first is not None
    line_update(line=line, changes={"price_per_mbps": 1000})
    rollups_refresh(now=timezone.now())
    again = month_billed()
    assert again is not None
    assert again.amount > first.amount


def test_the_last_month_stands_beside_the_bill(client: Client, idcs: dict[str, Idc]) -> None:
    line = idcs["gz-1"].lines.get(code="ct")
    line_update(line=line, changes={"price_per_mbps": 20, "charge_type": "fixed"})
    rollups_refresh(now=timezone.now())
    assert "last month" not in shown(client).split("Largest bills")[0]
    running = BandwidthMonth.objects.get(line=line)
    last = (running.month - timedelta(days=1)).replace(day=1)
    zone = ZoneInfo(settings.BILLING_ZONE)
    slots = slots_between(midnight(last, zone), midnight(running.month, zone))
    running.pk, running.month, running.slots, running.covered_slots = None, last, slots, slots
    running.save(force_insert=True)
    rollups_refresh(now=timezone.now())

    billed = month_billed()
    assert billed is not None
    assert billed.before == billed.amount
    assert "last month" in text_of(client, "/console/").split("Largest bills")[0]
    BandwidthMonth.objects.filter(month=last).update(covered_slots=slots // 2)
    rollups_refresh(now=timezone.now())
    half = month_billed()
    assert half is not None
    assert half.before is None, "of half a month nothing is known"


def test_a_fleet_of_hundreds_is_drawn_without_words(client: Client, db: None) -> None:
    store(401)
    page = shown(client)
    assert page.count('id="i-idc-') == 401
    assert 'class="tanks tiny"' in page
    assert "<text" not in part(page, "fleet")


def test_causes_of_one_kind_are_one_row(client: Client, idcs: dict[str, Idc]) -> None:
    now = timezone.now()
    for number in range(4):
        idc_create(code=f"full-{number}", region="gz", lines=[{"isp": "ct", "purchased_mbps": 100}])
    samples_store(
        samples=[
            Sample(idc=f"full-{number}", line="ct", metric="bandwidth_mbps", value=89.0, at=now) for number in range(4)
        ],
        now=now,
    )
    page = shown(client)
    assert "warn: 4 lines have hardly any room left" in wrong(page)
    assert "full-0 ct, full-1 ct, full-2 ct and 1 more" in page
    assert tile(text_of(client, "/console/?mark=tight"), "full-0")


def test_the_error_of_a_failing_source_is_said(client: Client) -> None:
    source, now = Source.objects.create(code="zabbix", kind="http_json", schedule="60", failures=3), timezone.now()
    error = {"code": "connection_failed", "detail": "Connection refused", "params": {}}
    claim = "0198c7a0-0000-7000-8000-000000000001"
    Run.objects.create(source=source, claim=claim, state="failed", started_at=now, finished_at=now, error=error)
    page = shown(client)
    assert wrong(page)[0] == "crit: Source zabbix has failed 3 times in a row"
    assert "Connection refused · it has never answered" in page
    assert 'href="/console/sources/zabbix/">Test now' in page


def test_shapes_that_are_not_learnt_anew_are_said_with_the_error(client: Client) -> None:
    now = timezone.now()
    NightlyJob.objects.create(name="shapes_learn", known_since=now, begun_at=now, error="ValueError: no such column")
    page = shown(client)
    assert "The shapes of traffic are not learnt anew" in page
    assert "ValueError: no such column · it was never done yet" in page


def test_orders_of_the_last_hour_are_counted_and_those_that_found_nothing_said(client: Client) -> None:
    for number in range(3):
        decided(request_id=f"placed-{number}", result="scheduled", reason_code="", idc="gz-1")
    decided(request_id="refused <now>")
    decided(request_id="refused-before", created_at=timezone.now() - 2 * HOUR)
    page = shown(client)
    assert "4 <small>75 % placed" in page
    assert "0 wait · 1 found nothing" in page
    assert wrong(page) == ["warn: 1 of 4 orders in the last hour found nothing (25 %)"]
    assert "refused &lt;now&gt;: 0/2 IDCs fit" in page
    assert "refused-before" not in page


def test_idcs_that_reject_orders_for_their_load_are_named(client: Client) -> None:
    """Only rejections of the last hour for the load count; the IDC with the most of them comes first."""
    rejections = (
        ("hot", "overloaded"),
        ("hot", "overloaded"),
        ("warm", "overloaded"),
        ("full", "not_enough_bandwidth"),
    )
    for number, (idc, code) in enumerate(rejections):
        row = decided(request_id=f"order-{number}", result="scheduled", idc="cool")
        IdcOutcome.objects.create(decision=row, idc=idc, chosen=False, code=code)
    before = decided(request_id="before", result="scheduled", idc="cool", created_at=timezone.now() - 2 * HOUR)
    IdcOutcome.objects.create(decision=before, idc="cold", chosen=False, code="overloaded")
    page = shown(client)
    assert wrong(page) == ["warn: 2 IDCs rejected orders of the last hour for their load"]
    assert "hot, warm" in page
    assert "cold" not in page


def test_few_that_find_nothing_are_no_problem(client: Client) -> None:
    for number in range(20):
        decided(request_id=f"placed-{number}", result="scheduled", reason_code="", idc="gz-1")
    decided(request_id="refused")
    page = shown(client)
    assert "1 found nothing" in page
    assert wrong(page) == []


def test_what_one_command_did_is_one_row(client: Client) -> None:
    with origin_set(actor="loader", via="command"):
        for number in range(5):
            region_create(code=f"r-{number}")
        isp_create(code="x")
    with origin_set(actor="ada", via="api", request_id="one", message="as agreed"):
        region_create(code="by-ada")
    changes = part(shown(client, role="admin"), "changes")
    assert "<b>loader</b> made 5 × region, 1 × ISP" in changes
    assert "<b>ada</b> made region <code>by-ada</code><q>as agreed</q>" in changes
    assert changes.index("ada") < changes.index("loader"), "the newest first"


def test_the_dearest_lines_are_shown_against_their_commit(client: Client, idcs: dict[str, Idc]) -> None:
    line = idcs["gz-1"].lines.get(code="ct")
    line_update(line=line, changes={"price_per_mbps": 20})
    rollups_refresh(now=timezone.now())
    page = shown(client)
    assert "950 Mbps billed, commit 500" in part(page, "bill")
    assert "19,000" in part(page, "bill")
    assert "0.02 <small>M CNY so far" in page
    assert "0.02 <small>M CNY so far" in text_of(client, "/console/overview/bills/")


def test_somebody_of_one_tenant_sees_its_orders_alone(client: Client, idcs: dict[str, Idc]) -> None:
    own, other = tenant_create(code="own"), tenant_create(code="other")
    for tenant in (own, other):
        decided(request_id=f"refused-{tenant.code}", tenant=tenant)
        waiting(tenant, f"waiting-{tenant.code}")
    page = shown(client, role="viewer", tenant=own)
    assert ("refused-own" in page, "waiting-own" in page) == (True, True)
    assert "-other" not in page
    assert "warn: 1 of 1 orders in the last hour found nothing (100 %)" in wrong(page)
    assert "warn: 1 order waits for room" in wrong(page)
    assert "Nobody has changed anything" in page, "others' changes are not shown"


def test_placements_that_need_attention_come_first(client: Client, idcs: dict[str, Idc]) -> None:
    tenant = tenant_create(code="own")
    waiting(tenant, "waits")
    waiting(tenant, "stuck", state="releasing", idc=idcs["gz-1"], needs_attention=True)
    page = shown(client)
    rows = wrong(page)
    assert rows.index("crit: Placement stuck needs somebody") < rows.index("warn: 1 order waits for room")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("region=south", {"gz-1", "sz-1"}),
        ("region=gz", {"gz-1"}),
        ("isp=ct", {"gz-1"}),
        ("tier=center", {"sz-1"}),
        ("label=rack", {"gz-1"}),
        ("label=rack%3Da", {"gz-1"}),
        ("label=rack%3Db", set()),
        ("mark=tight", {"gz-1"}),
        ("view=table&region=gz", {"gz-1"}),
        ("mark=stale", {"sz-1"}),
        ("mark=draining", {"sz-1"}),
        ("region=sz&isp=ct", set()),
    ],
)
def test_filters_narrow_the_map(client: Client, idcs: dict[str, Idc], query: str, left: set[str]) -> None:
    page = shown(client, f"/console/?{query}")
    assert {code for code in idcs if tile(page, code)} == left
    assert ("No IDC matches" in page) == (not left)


@pytest.mark.parametrize("query", ["region=nowhere", "isp=x", "tier=x", "mark=x", "label=nothing%3Dat+all"])
def test_a_filter_that_names_nothing_is_ignored_and_said(client: Client, idcs: dict[str, Idc], query: str) -> None:
    page = shown(client, f"/console/?{query}")
    assert tile(page, "gz-1")
    assert 'class="banner warning"' in page


def test_with_one_isp_a_tile_shows_the_lines_of_that_isp(client: Client, idcs: dict[str, Idc]) -> None:
    assert "10 %" in tile(shown(client, "/console/?isp=cu"), "gz-1")


def test_head_room_leaves_out_what_takes_no_orders(client: Client, idcs: dict[str, Idc]) -> None:
    room = part(shown(client), "room")
    row = room.partition("region=gz")[2].partition("</tr>")[0]
    assert "0.8" in row, "90 % of 1,000 Mbps, less 100"
    taint_create(idc=idcs["gz-1"], key="power")
    assert "0.8" not in part(text_of(client, "/console/"), "room").partition("region=gz")[2]
    assert "0.0 <small>Gbps of" in text_of(client, "/console/")


def test_tiles_of_one_city_have_names_of_their_own(client: Client, idcs: dict[str, Idc]) -> None:
    for code in ("sz-bgp-01", "sz-ct-01", "sz-ct-cu-01", "wuhan-ct-01", "wuhan"):
        idc_create(code=code, region="sz", lines=[{"isp": "cu", "purchased_mbps": 1000}])
    page = shown(client)
    names = {code: re.findall(r'class="n" aria-hidden="true">([^<]*)<', tile(page, code)) for code in ("gz-1", "wuhan")}
    assert names == {"gz-1": ["gz"], "wuhan": ["wuhan"]}
    for code, name in {"sz-bgp-01": "sz-bgp", "sz-ct-01": "sz-ct-01", "sz-ct-cu-01": "sz-ct-cu"}.items():
        assert f'class="n" aria-hidden="true">{name}<' in tile(page, code)
    assert 'class="n" aria-hidden="true">wuhan-ct<' in tile(page, "wuhan-ct-01")


def test_an_idc_without_lines_is_no_tank(client: Client, idcs: dict[str, Idc]) -> None:
    idc_create(code="empty-1", region="gz")
    page = shown(client)
    assert not tile(page, "empty-1")
    assert "1 IDC has no lines: empty-1" in page


@pytest.mark.parametrize(
    ("name", "language", "half"),
    [
        ("东莞松山湖 Dongguan Songshan Lake", "en", "Dongguan Songshan Lake"),
        ("东莞松山湖 Dongguan Songshan Lake", "zh-hans", "东莞松山湖"),
        ("Equinix HK1", "zh-hans", "Equinix HK1"),
        ("东莞", "en", "东莞"),
        ("", "en", ""),
    ],
)
def test_a_name_in_two_languages_shows_the_reader_s_half(name: str, language: str, half: str) -> None:
    with translation.override(language):
        assert name_shown(name) == half


def test_all_well_is_said_where_nothing_is_wrong(client: Client) -> None:
    page = shown(client, role="viewer")
    assert "Nothing is wrong." in page
    assert "There is no IDC yet" in page


def test_whoever_is_logged_out_logs_in_first(client: Client) -> None:
    assert client.get("/console/").headers["Location"] == "/admin/login/?next=/console/"
    assert client.get("/console/", headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"


def test_a_nul_is_refused(client: Client) -> None:
    client.force_login(user_create(username="ada", role="viewer"))
    assert client.get("/console/?region=%00").status_code == 400


def test_a_large_fleet_takes_no_more_queries(client: Client, django_assert_max_num_queries: Callable[..., Any]) -> None:
    store(200)
    tenant = tenant_create(code="own")
    for number in range(20):
        decided(request_id=f"refused-{number}")
        waiting(tenant, f"waits-{number}")
    shown(client)
    with django_assert_max_num_queries(14):  # one of them reads why orders found nothing, where many do
        page = text_of(client, "/console/")
    assert page.count('id="i-idc-') == 200
    assert 'class="tanks small"' in page
    with django_assert_max_num_queries(11):
        assert client.get("/console/?seen=", headers={"HX-Request": "true"}).status_code == 200
