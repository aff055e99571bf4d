"""The console's overview: what is wrong now, the fleet by its water levels, what changed; as far as one may see it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from bench.stored_fleet import store
from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create, user_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import idc_create, isp_create, region_create, taint_create
from idcsched.placement.models import Placement
from idcsched.scheduling.models import Decision
from metrics_ingest.models import Run, Source
from metrics_ingest.services import Sample, samples_store

pytestmark = pytest.mark.usefixtures("db")
HOUR = timedelta(hours=1)


@pytest.fixture
def idcs() -> dict[str, Idc]:
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


def test_it_works(client: Client, idcs: dict[str, Idc]) -> None:
    taint_create(idc=idcs["gz-1"], key="power", reason="the switch is replaced", ends_at=timezone.now() + HOUR)
    page = shown(client)
    assert "1 above their level" in page
    assert "1 above their commit" in page
    assert "450 Mbps above its commit" in page
    assert all(text in tile(page, "gz-1") for text in ("95 %", "above its level", "tainted"))
    assert all(text in tile(page, "sz-1") for text in ("30 %", "draining", "stale"))
    assert "1 of 3 stale" in page
    assert "old-1" not in page.partition("What changed")[0], "what is retired is not part of the fleet"
    assert "<strong>gz-1/power:NoSchedule" in page.partition("What changed")[2]


def test_the_error_of_a_failing_source_is_said(client: Client) -> None:
    source, now = Source.objects.create(code="zabbix", kind="http_json", schedule="60", failures=3), timezone.now()
    error = {"code": "connection_failed", "detail": "Connection refused", "params": {}}
    claim = "0198c7a0-0000-7000-8000-000000000001"
    Run.objects.create(source=source, claim=claim, state="failed", started_at=now, finished_at=now, error=error)
    page = shown(client)
    assert "failed 3 × in a row" in page
    assert "Connection refused" in page


def test_orders_that_found_nothing_are_counted_by_hour_and_day(client: Client) -> None:
    for number in range(3):
        decided(request_id=f"placed-{number}", result="scheduled", reason_code="", idc="gz-1")
    decided(request_id="refused <now>")
    decided(request_id="refused-before", created_at=timezone.now() - 2 * HOUR)
    decided(request_id="refused-long-ago", created_at=timezone.now() - 30 * HOUR)
    page = shown(client)
    assert "1 of 4 in the last hour: 25.0 %" in page
    assert "in the last day 2 of 5: 40.0 %" in page
    assert "refused &lt;now&gt;" in page
    assert "0/2 IDCs fit" in page
    assert "long-ago" not in page


def test_somebody_of_one_tenant_sees_its_orders_alone(client: Client, idcs: dict[str, Idc]) -> None:
    own, other = tenant_create(code="own"), tenant_create(code="other")
    for tenant in (own, other):
        decided(request_id=f"refused-{tenant.code}", tenant=tenant)
        waiting(tenant, f"waiting-{tenant.code}")
    page = shown(client, role="viewer", tenant=own)
    assert ("refused-own" in page, "waiting-own" in page) == (True, True)
    assert "-other" not in page
    assert "1 of 1 in the last hour" in page
    assert "1 waiting" in page
    assert "Nobody has changed anything" in page, "others' changes are not shown"


def test_placements_that_need_attention_come_first(client: Client, idcs: dict[str, Idc]) -> None:
    tenant = tenant_create(code="own")
    waiting(tenant, "waits")
    waiting(tenant, "stuck", state="releasing", idc=idcs["gz-1"], needs_attention=True)
    page = shown(client)
    assert ("1 need attention" in page, "1 waiting" in page) == (True, True)
    assert page.index("<strong>stuck") < page.index("<strong>waits")


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
        ("mark=over", {"gz-1"}),
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
    page = shown(client)
    row = page.partition('<a href="?region=gz')[2].partition("Head-room")[2]
    assert "800" in row, "90 % of 1,000 Mbps, less 100"
    taint_create(idc=idcs["gz-1"], key="power")
    assert "800" not in text_of(client, "/console/").partition("Head-room")[2].partition("What changed")[0]


def test_all_well_is_said_where_nothing_is_wrong(client: Client) -> None:
    page = shown(client, role="viewer")
    assert "all well" in page
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
    with django_assert_max_num_queries(16):
        page = text_of(client, "/console/")
    assert page.count('id="i-idc-') == 200
