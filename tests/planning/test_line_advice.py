"""What advice says of contracts: commits above what flows, and lines that fill up.

On the line 200 and 600 Mbps flow, all day long, in turn: the 95th percentile of 30 days, the fourth-highest peak and
the mean of the five highest days are 600, the mean and the mean of the daily peaks are 400.
"""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.ledger.models import Holding
from idcsched.planning.advice import Advice, advice
from idcsched.scheduling.live import live
from metrics_ingest.billing.calendar import midnight
from metrics_ingest.models import BandwidthRollup, Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import history_store, rollups_refresh
from tests.keeping import Kept

WORLD: Kept[None] = Kept()
VOLUME = {"charge_type": "volume", "price_per_gb": 0.1, "price_per_mbps": None}
IN_TURN = np.array([200.0, 600.0])


@pytest.fixture(autouse=True)
def world(db: None, in_shanghai: None) -> None:
    WORLD.write(_world)


def _world() -> None:
    region_create(code="A")
    isp_create(code="ct")
    idc_create(code="a", region="A", lines=[{"isp": "ct", "purchased_mbps": 1000, "price_per_mbps": 10}])
    measure(IN_TURN)


def measure(of_days: np.ndarray[Any, Any]) -> None:
    """Store traffic for the last 39 whole days and today; each day carries the next of these values."""
    zone, now = ZoneInfo(settings.BILLING_ZONE), timezone.now()
    start = midnight(now.astimezone(zone).date() - timedelta(days=39), zone)
    values = np.repeat(np.resize(of_days, 40), 288)[: (slot_floor(now) - start) // SLOT + 1]
    line = Line.objects.select_related("idc").get()
    metric = Metric.objects.get(code="bandwidth_mbps")
    history_store(metric=metric, idc=line.idc, line=line, start=start, values=values.astype(np.float32))
    rollups_refresh(now=now)


def found(pending: float = 0.0, **terms: Any) -> Advice:
    """Return the advice on the line with these terms, and with so much ordered that is not measured yet."""
    Line.objects.update(**terms)
    line = Line.objects.get()
    Holding.objects.update_or_create(
        line=line, defaults={"idc": line.idc, "resource": "bandwidth_mbps", "taken": pending, "ordered": pending}
    )
    live.forget()
    return advice(live.current(), now=timezone.now(), seconds=100)


def said(pending: float = 0.0, **terms: Any) -> list[tuple[float, float | None]]:
    return [(commit.expected_mbps, commit.saves) for commit in found(pending, **terms).commits]


@pytest.mark.parametrize(
    ("terms", "expected", "saves"),
    [
        pytest.param({"charge_type": "p95_month"}, 600, 3000, id="percentile: (900 − 600) × 10"),
        pytest.param({"charge_type": "fourth_peak_month"}, 600, 3000, id="fourth peak: the same"),
        pytest.param({"charge_type": "enhanced_95"}, 600, 3000, id="enhanced 95: the same"),
        pytest.param({"charge_type": "daily_peak_average", "price_per_mbps": 1}, 400, 15_000, id="(900 − 400) × 30"),
        pytest.param(
            {"charge_type": "daily_peak", "price_per_mbps": 1},
            400,
            12_000,
            id="daily peak: 15 days × (900 − 400), and on the 15 days of 600 Mbps only 900 − 600",
        ),
        pytest.param(VOLUME, 400, 16_200, id="volume: 500 Mbps all month are 162,000 GB at 0.1"),
        pytest.param({**VOLUME, "price_per_gb": None}, 400, None, id="the price is not known"),
        pytest.param({"price_per_mbps": 0.001}, None, None, id="30 fen a month are not worth a word"),
        pytest.param({"charge_type": "fixed"}, None, None, id="flat rate: there is no commit"),
        pytest.param({"commit_mbps": 600}, None, None, id="at the commit"),
        pytest.param({"commit_mbps": 500}, None, None, id="over the commit"),
        pytest.param({"commit_mbps": None}, None, None, id="no commit"),
    ],
)
def test_a_commit_of_900(terms: dict[str, Any], expected: float | None, saves: float | None) -> None:
    given = {"commit_mbps": 900, **terms}
    if expected is None:
        assert said(**given) == []
    else:
        ((mbps, saved),) = said(**given)
        assert mbps == pytest.approx(expected, rel=0.02)  # the last 30 days begin in the middle of one
        assert saved == (None if saves is None else pytest.approx(saves, rel=0.02))


def test_daily_peaks_above_the_commit_are_billed_whatever_it_is() -> None:
    """Days of 600 Mbps cost the same with any commit. On the 15 days of 200 a commit of 500 costs 100 more than one of
    400.
    """
    ((_mbps, saves),) = said(charge_type="daily_peak", price_per_mbps=1, commit_mbps=500)
    assert saves == pytest.approx(1500, rel=0.1)


@pytest.mark.parametrize(
    ("terms", "expected", "saves"),
    [
        pytest.param({"charge_type": "p95_month"}, 800, 1000, id="600 + 200"),
        pytest.param(VOLUME, 500, 12_960, id="volume: half of it on average, (900 − 500) × 324 × 0.1"),
    ],
)
def test_what_is_ordered_and_not_measured_yet_will_flow(terms: dict[str, Any], expected: float, saves: float) -> None:
    ((mbps, saved),) = said(200.0, commit_mbps=900, **terms)
    assert (mbps, saved) == (pytest.approx(expected, rel=0.02), pytest.approx(saves, rel=0.02))


def test_a_commit_that_orders_will_use_up_is_no_waste() -> None:
    assert said(300.0, commit_mbps=900) == []


def test_a_line_that_grows() -> None:
    """Traffic grows by 10 Mbps a day, from 310 to 700 today. The line of 1,000 may carry 900, so that 20 days are left.
    In 30 days there will be 1,000 Mbps, which need 1,000 ÷ 0.9, or 111.11 more than was purchased. By the same trend
    about 980 of a commit of 1,200 will be used.
    """
    measure(310.0 + 10.0 * np.arange(40))
    result = found(commit_mbps=1200)
    (line,) = result.full_soon
    assert (line.idc, line.line) == ("a", "ct")
    assert line.days == pytest.approx(20, abs=1)
    assert line.mbps_needed == pytest.approx(111.11, abs=12)
    (commit,) = result.commits
    assert commit.expected_mbps == pytest.approx(980, abs=20)


@pytest.mark.parametrize(
    ("pending", "days", "needed"),
    [
        pytest.param(0.0, None, None, id="400 of 900"),
        pytest.param(500.0, 0.0, 0.0, id="900 of 900"),
        pytest.param(590.0, 0.0, 100.0, id="990 of 900: 1,100 × 0.9 carry it"),
    ],
)
def test_a_line_that_orders_fill(pending: float, days: float | None, needed: float | None) -> None:
    measure(np.array([400.0]))
    lines = [(line.days, line.mbps_needed) for line in found(pending).full_soon]
    assert lines == ([] if days is None else [(days, needed)])


def test_a_level_of_its_own() -> None:
    """The line may be filled to half only, so that 600 Mbps need a line of 1,200, or 200 more than it has."""
    measure(np.array([600.0]))
    assert [(line.days, line.mbps_needed) for line in found(max_level=0.5).full_soon] == [(0.0, 200.0)]


def test_without_roll_ups_nothing_is_said_of_lines() -> None:
    BandwidthRollup.objects.all().delete()
    result = found(commit_mbps=900)
    assert (result.commits, result.full_soon, result.status) == ((), (), "nothing_to_move")
