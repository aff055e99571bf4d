"""The stored figures of windows, days and months equal NumPy's of the samples, by every convention and in any zone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pytest

from idcsched.inventory.models import Line
from metrics_ingest.billing.percentile import CONVENTIONS
from metrics_ingest.models import BandwidthDay, BandwidthMonth, BandwidthRollup, Metric
from metrics_ingest.samples.slots import SLOT, slot_floor
from metrics_ingest.services import history_store, rollups_refresh

pytestmark = pytest.mark.usefixtures("db")

DAYS = 40
SLOTS = DAYS * 288
# Each time so that a whole month lies behind it in which clocks were set, and a few days of the next one.
WHERE = {
    "no summer time": ("Asia/Shanghai", datetime(2031, 5, 7, 12, 2, tzinfo=UTC)),
    "clocks go forward": ("America/New_York", datetime(2031, 4, 5, 3, 59, tzinfo=UTC)),
    "clocks go back": ("America/New_York", datetime(2031, 12, 4, 5, 0, tzinfo=UTC)),
    "midnight is skipped": ("Asia/Beirut", datetime(2031, 4, 5, 21, 0, tzinfo=UTC)),
    "a quarter of an hour off": ("Asia/Kathmandu", datetime(2031, 7, 6, 18, 10, tzinfo=UTC)),
    "half an hour of summer": ("Australia/Lord_Howe", datetime(2031, 5, 6, 1, 0, tzinfo=UTC)),
}
QUICK = {"no summer time", "clocks go forward"}
Samples = npt.NDArray[np.float32]


def by_numpy(samples: Samples, convention: str) -> float | None:
    known = samples[~np.isnan(samples)].astype(np.float64)
    if not known.size:
        return None
    return float(np.percentile(known, 95, method=convention.replace("nearest_rank", "inverted_cdf")))


def gappy(seed: int) -> Samples:
    """Return forty days of samples with equal values, single gaps, a gap of hours across a midnight, and one of two
    days.
    """
    chance = np.random.default_rng(seed)
    samples = np.round(chance.gamma(2.0, 100.0, SLOTS), 1).astype(np.float32)
    samples[chance.random(SLOTS) < 0.03] = np.nan
    samples[10 * 288 - 40 : 10 * 288 + 55] = np.nan
    samples[20 * 288 : 22 * 288] = np.nan
    return samples


@pytest.mark.parametrize(
    ("zone", "now"),
    [pytest.param(*WHERE[name], id=name, marks=() if name in QUICK else pytest.mark.long) for name in WHERE],
)
def test_it_works(line: Line, settings: Any, zone: str, now: datetime) -> None:
    settings.BILLING_ZONE = zone
    samples, first = gappy(now.month), slot_floor(now) - (SLOTS - 1) * SLOT
    metric = Metric.objects.get(code="bandwidth_mbps")
    history_store(metric=metric, idc=line.idc, line=line, start=first, values=samples)
    local = [(first + place * SLOT).astimezone(ZoneInfo(zone)).date() for place in range(SLOTS)]
    for convention in CONVENTIONS:
        settings.PERCENTILE_CONVENTION = convention
        rollups_refresh(now=now)
        check_windows(samples, convention)
        check_days(samples, np.array([each.toordinal() for each in local]), convention)
        check_months(samples, np.array([each.year * 12 + each.month for each in local]), convention)


def check_windows(samples: Samples, convention: str) -> None:
    rollup = BandwidthRollup.objects.get()
    for name, days in (("24h", 1), ("7d", 7), ("30d", 30)):
        found = getattr(rollup, f"p95_{name}_mbps")
        assert found == pytest.approx(by_numpy(samples[-days * 288 :], convention)), (convention, name)


def check_days(samples: Samples, day: npt.NDArray[Any], convention: str) -> None:
    kept = list(BandwidthDay.objects.order_by("day"))
    assert len(kept) >= DAYS - 3, "two are gaps, and the first has begun before"
    for row in kept:
        inside = samples[day == row.day.toordinal()]
        assert row.covered_slots == np.count_nonzero(~np.isnan(inside)), row.day
        assert row.p95_mbps == pytest.approx(by_numpy(inside, convention)), (convention, row.day)
        assert row.peak_mbps == np.nanmax(inside)


def check_months(samples: Samples, month: npt.NDArray[Any], convention: str) -> None:
    whole, running = BandwidthMonth.objects.order_by("month")
    for row in (whole, running):
        inside = samples[month == row.month.year * 12 + row.month.month]
        assert (row.slots, row.covered_slots) == (inside.size, np.count_nonzero(~np.isnan(inside))), row.month
        assert row.p95_mbps == pytest.approx(by_numpy(inside, convention)), (convention, row.month)
        assert row.mean_mbps == pytest.approx(np.nanmean(inside.astype(np.float64)))
    assert whole.slots > 27 * 288
    assert running.slots < 8 * 288


def test_the_clocks_of_these_months_were_set() -> None:
    """The zones that are named after a change of the clock have one in the 35 days, and the other two have none."""
    moved = {
        name: {(now - timedelta(days=back)).astimezone(ZoneInfo(zone)).utcoffset() for back in range(35)}
        for name, (zone, now) in WHERE.items()
    }
    still = {name for name, offsets in moved.items() if len(offsets) == 1}
    assert still == {"no summer time", "a quarter of an hour off"}
