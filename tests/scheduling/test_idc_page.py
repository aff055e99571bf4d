"""An IDC's page in the admin shows what decisions know of it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.services import user_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import affinity_create, idc_create, isp_create, region_create, taint_create
from metrics_ingest.services import Sample, samples_store

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def idc() -> Idc:
    region_create(code="A")
    isp_create(code="ct")
    isp_create(code="cu")
    lines = [{"isp": "ct", "purchased_mbps": 1000}, {"isp": "cu", "purchased_mbps": 1000}]
    return idc_create(code="gz-1", region="A", stock_cpu=64, lines=lines)


@pytest.fixture
def page(client: Client, idc: Idc) -> Callable[[], str]:
    client.force_login(user_create(username="vera", role="viewer"))

    def shown() -> str:
        return client.get(f"/admin/inventory/idc/{idc.pk}/change/").content.decode()

    return shown


def reported(value: float, line: str, *, minutes: int = 0) -> None:
    now = timezone.now()
    sample = Sample(idc="gz-1", line=line, metric="bandwidth_mbps", value=value, at=now - timedelta(minutes=minutes))
    samples_store(samples=[sample], now=now)


def test_it_works(page: Callable[[], str]) -> None:
    reported(450, "ct")
    shown = page()
    assert "<strong>45 %</strong>" in shown
    assert "450 of 1,000 Mbps, room for 450 up to 90 %" in shown
    assert "never measured" in shown
    assert "0 of 64 taken, 64 left" in shown


def test_how_full_is_seen_at_a_glance(page: Callable[[], str]) -> None:
    for value, kind in ((100, "fine"), (800, "high"), (950, "over")):
        reported(value, "ct")
        assert f'level-{kind}" min="0" max="100" value="{value // 10}"' in page()


def test_the_lists_show_how_full_lines_are(client: Client, idc: Idc, page: Callable[[], str]) -> None:
    def listed(what: str) -> str:
        return " ".join(client.get(f"/admin/inventory/{what}/").content.decode().split())

    page()
    reported(800, "ct")
    reported(950, "cu")
    assert '<span class="mark mark-warn">ct 80 %</span> <span class="mark mark-bad">cu 95 %</span>' in listed("idc")
    assert '<span class="mark mark-warn"> 80 %</span>' in listed("line")
    idc_create(code="gz-2", region="A", lines=[{"isp": "ct", "purchased_mbps": 5}])
    assert '<span class="mark ">ct ?</span>' in listed("idc")


def test_a_stale_level_says_so_in_the_lists(client: Client, page: Callable[[], str]) -> None:
    page()
    reported(450, "ct", minutes=60)
    assert '<span class="mark ">ct 45 % · stale</span>' in client.get("/admin/inventory/idc/").content.decode()


def test_more_than_all_is_a_full_bar(page: Callable[[], str]) -> None:
    reported(1300, "ct")
    shown = page()
    assert 'value="100"' in shown
    assert "<strong>130 %</strong>" in shown


def test_what_is_stale_says_so(page: Callable[[], str]) -> None:
    reported(450, "ct", minutes=600)
    shown = page()
    assert shown.count("stale") >= 2  # this line, and the one that was never measured
    assert "10\xa0hours ago" in shown


def test_a_planned_maintenance_is_seen_before_during_and_after(page: Callable[[], str], idc: Idc) -> None:
    now, hour = timezone.now(), timedelta(hours=1)
    taint_create(idc=idc, key="before", starts_at=now + hour, ends_at=now + 2 * hour, reason="new <switch>")
    taint_create(idc=idc, key="during", starts_at=now - hour, ends_at=now + hour)
    taint_create(idc=idc, key="after", starts_at=now - 2 * hour, ends_at=now - hour)
    shown = " ".join(page().split())
    for key, state in (("before", "coming"), ("during", "in force"), ("after", "over")):
        assert shown.index(f"{key}:NoSchedule") < shown.index(f">{state}</span>")
    assert "new &lt;switch&gt;" in shown


def test_affinities_are_shown_with_whom_they_are_about(page: Callable[[], str], idc: Idc) -> None:
    affinity_create(idc=idc, kind="prefer", weight=7, request_selector={"match_labels": {"tenant": "live-cn"}})
    shown = page()
    assert "prefer 7" in shown
    assert "live-cn" in shown


def test_it_takes_a_bounded_number_of_queries(
    client: Client, page: Callable[[], str], idc: Idc, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(30):
        taint_create(idc=idc, key=f"k-{number}")
        isp_create(code=f"isp-{number}")
    with django_assert_max_num_queries(35):
        page()
