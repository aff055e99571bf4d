"""What is known of an IDC: the same figures that decisions are made on, with their ages."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from idcsched.accounts.services import tenant_create
from idcsched.inventory.models import Idc
from idcsched.inventory.services import affinity_create, idc_create, isp_create, region_create, taint_create
from idcsched.ledger.models import Headcount, Holding
from idcsched.scheduling.live import Live
from idcsched.scheduling.state import IdcState, LineState, idc_state
from metrics_ingest.services import Sample, metric_create, rollups_refresh, samples_store

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def idc() -> Idc:
    region_create(code="south")
    region_create(code="gz", parent="south")
    isp_create(code="ct")
    isp_create(code="cu")
    lines = [{"isp": "ct", "purchased_mbps": 1000}, {"isp": "cu", "purchased_mbps": 500, "max_level": 0.5}]
    return idc_create(code="gz-1", region="gz", tier="edge", stock_cpu=100, lines=lines)


def reported(value: float, *, at: datetime = NOW, **about: Any) -> None:
    samples_store(samples=[Sample(idc="gz-1", value=value, at=at, **about)], now=NOW)


def line(state: IdcState, code: str) -> LineState:
    return next(one for one in state.lines if one.line == code)


def test_it_works(idc: Idc) -> None:
    """Used is the larger of the latest and the percentile; what was ordered and is not seen yet counts beside it."""
    for minutes in range(0, 120, 5):
        reported(600, at=NOW - 2 * HOUR + timedelta(minutes=minutes), metric="bandwidth_mbps", line="ct")
    reported(300, metric="bandwidth_mbps", line="ct")
    rollups_refresh(now=NOW)
    Holding.objects.create(idc=idc, line=idc.lines.get(code="ct"), resource="bandwidth_mbps", taken=50, ordered=80)
    Holding.objects.create(idc=idc, resource="cpu", taken=30)
    Headcount.objects.create(idc=idc, tenant=tenant_create(code="t"), machines=4)

    state = idc_state(idc, now=NOW)

    ct = line(state, "ct")
    assert (ct.latest_mbps, ct.percentile_mbps, ct.used_mbps) == (300, 600, 600)
    assert (ct.pending_mbps, ct.ordered_mbps, ct.water_level) == (50, 80, 0.6)
    assert ct.room_mbps == 0.9 * 1000 - 600 - 50
    assert (ct.age_seconds, ct.stale) == (0, False)
    cpu = state.stock[0]
    assert (cpu.resource, cpu.for_sale, cpu.taken, cpu.free) == ("cpu", 100, 30, 70)
    assert [one.free for one in state.stock[1:]] == [None, None, None]
    assert state.machines == 4


def test_decisions_are_made_on_the_same_figures(idc: Idc) -> None:
    reported(321.5, metric="bandwidth_mbps", line="cu")
    Holding.objects.create(idc=idc, line=idc.lines.get(code="cu"), resource="bandwidth_mbps", taken=7, ordered=7)
    lines = Live().current().snapshot.lines
    state = idc_state(idc, now=NOW)
    at = lines.codes.index("cu")
    cu = line(state, "cu")
    assert (cu.used_mbps, cu.room_mbps, cu.max_level) == (lines.used[at], lines.room[at], lines.max_level[at])
    assert cu.room_mbps == 500 * 0.5 - 321.5 - 7


def test_what_was_ordered_stands_in_where_the_installation_says_so(idc: Idc, settings: Any) -> None:
    settings.BANDWIDTH_COUNT = "ordered"
    reported(100, metric="bandwidth_mbps", line="ct")
    Holding.objects.create(idc=idc, line=idc.lines.get(code="ct"), resource="bandwidth_mbps", taken=0, ordered=400)
    assert line(idc_state(idc, now=NOW), "ct").room_mbps == 500


def test_what_was_never_seen_is_unknown_and_never_looks_good(idc: Idc) -> None:
    ct = line(idc_state(idc, now=NOW), "ct")
    assert (ct.used_mbps, ct.room_mbps, ct.water_level, ct.age_seconds) == (None, None, None, None)
    assert ct.stale


def test_a_line_of_nothing_has_no_level(idc: Idc) -> None:
    idc.lines.filter(code="ct").update(purchased_mbps=0)
    reported(5, metric="bandwidth_mbps", line="ct")
    assert line(idc_state(idc, now=NOW), "ct").water_level is None


def test_old_values_are_stale_from_their_metric_s_age_on(idc: Idc) -> None:
    metric_create(code="temperature", direction="lower", scope="idc", max_age_seconds=60)
    metric_create(code="for_ever", direction="lower", scope="idc")
    reported(30, metric="temperature", at=NOW - timedelta(seconds=60))
    reported(1, metric="for_ever", at=NOW - 24 * 39 * HOUR)
    values = {value.metric: value for value in idc_state(idc, now=NOW).values}
    assert (values["temperature"].age_seconds, values["temperature"].stale) == (60, False)
    assert not values["for_ever"].stale
    assert {value.metric: value for value in idc_state(idc, now=NOW + timedelta(seconds=1)).values}["temperature"].stale


def test_taints_are_those_in_force_and_coming(idc: Idc) -> None:
    taint_create(idc=idc, key="over", ends_at=NOW)
    taint_create(idc=idc, key="now", starts_at=NOW - HOUR, ends_at=NOW + HOUR, reason="disks")
    taint_create(idc=idc, key="soon", starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR)
    found = idc_state(idc, now=NOW).taints
    assert [(str(taint), taint.state, taint.reason) for taint in found] == [
        ("now:NoSchedule", "in_force", "disks"),
        ("soon:NoSchedule", "coming", ""),
    ]


def test_affinities_are_those_that_name_it_by_code_or_by_selector(idc: Idc) -> None:
    other = idc_create(code="gz-2", region="gz")
    affinity_create(kind="prefer", idc=idc, weight=5)
    affinity_create(kind="forbid", idc=other)
    affinity_create(kind="forbid", selector={"match_labels": {"idc/region": "south"}}, starts_at=NOW + HOUR)
    affinity_create(kind="require", selector={"match_labels": {"idc/tier": "center"}})
    affinity_create(kind="require", idc=idc, ends_at=NOW)
    found = idc_state(idc, now=NOW).affinities
    assert [(one.kind, one.state) for one in found] == [("prefer", "in_force"), ("forbid", "coming")]


def test_it_takes_a_bounded_number_of_queries(idc: Idc, django_assert_max_num_queries: Callable[..., Any]) -> None:
    for number in range(20):
        taint_create(idc=idc, key=f"k-{number}")
        affinity_create(kind="prefer", weight=1, selector={"match_labels": {"idc/tier": "edge"}})
        metric_create(code=f"m-{number}", direction="lower", scope="idc")
        reported(1, metric=f"m-{number}")
    idc = Idc.objects.get(pk=idc.pk)
    with django_assert_max_num_queries(12):
        assert len(idc_state(idc, now=NOW).values) == 20
