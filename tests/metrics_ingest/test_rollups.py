"""What the bandwidth of a line comes to."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcsched.audit.models import FeedEntry
from metrics_ingest.models import BandwidthRollup
from metrics_ingest.percentile import percentile_95
from metrics_ingest.services import history_store, rollups_refresh
from metrics_ingest.slots import SLOT, slot_floor, unpacked

WEEK = 7 * 288
ZONE_OFFSET = timedelta(hours=8)


def load(line, bandwidth, values, *, until):
    """The values up to and with the slot of `until`."""
    start = slot_floor(until) - (len(values) - 1) * SLOT
    history_store(metric=bandwidth, idc=line.idc, line=line, start=start, values=np.array(values, dtype=np.float32))


@pytest.mark.django_db
def test_it_works(line, bandwidth, now):
    load(line, bandwidth, np.arange(WEEK), until=now)
    FeedEntry.objects.all().delete()
    assert rollups_refresh(now=now) == 1
    rollup = BandwidthRollup.objects.get()
    assert (rollup.line, rollup.window_seconds, rollup.covered_slots) == (line, 7 * 86400, WEEK)
    assert rollup.p95_mbps == WEEK - 1 - WEEK // 20
    assert rollup.computed_at == now
    assert str(rollup) == f"gz-01/ct: {rollup.p95_mbps}"
    assert FeedEntry.objects.values_list("topic", "key").get() == ("metrics", "bandwidth_mbps")


@pytest.mark.django_db
def test_what_is_older_than_the_window_does_not_count(line, bandwidth, now):
    load(line, bandwidth, [900.0] * 288 + [10.0] * WEEK, until=now)
    rollups_refresh(now=now)
    assert (BandwidthRollup.objects.get().p95_mbps, BandwidthRollup.objects.get().covered_slots) == (10, WEEK)


@pytest.mark.django_db
def test_the_window_is_a_setting(line, bandwidth, now, settings):
    settings.BANDWIDTH_WINDOW = timedelta(days=40)
    load(line, bandwidth, [900.0] * 20_000, until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert (rollup.window_seconds, rollup.covered_slots) == (40 * 86400, 40 * 288)


@pytest.mark.django_db
def test_gaps_are_not_zeros(line, bandwidth, now):
    load(line, bandwidth, [100.0, np.nan, np.nan, 100.0], until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert (rollup.p95_mbps, rollup.covered_slots) == (100, 2)
    assert np.nanmin(unpacked(rollup.busy_profile)) == 100


@pytest.mark.django_db
def test_a_line_that_fell_silent_has_no_percentile(line, bandwidth, now):
    load(line, bandwidth, [100.0], until=now)
    rollups_refresh(now=now)
    rollups_refresh(now=now + timedelta(days=60))
    rollup = BandwidthRollup.objects.get()
    assert (rollup.p95_mbps, rollup.covered_slots) == (None, 0)
    assert np.isnan(unpacked(rollup.busy_profile)).all()


@pytest.mark.django_db
def test_hours_are_the_last_whole_ones_oldest_first(line, bandwidth, now):
    slots = np.arange(8 * 288, dtype=np.float32)
    load(line, bandwidth, slots, until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert rollup.hours_until == datetime(2031, 5, 7, 12, tzinfo=UTC)
    complete = slots[:-1]  # 12:00 to 12:05 is being filled
    expected = complete[-168 * 12 :].reshape(168, 12).mean(axis=1)
    np.testing.assert_allclose(unpacked(rollup.hours), expected, rtol=1e-6)


@pytest.mark.django_db
def test_the_profile_is_by_hour_of_the_week_in_the_billing_zone(line, bandwidth, now):
    start = slot_floor(now) - (28 * 288 - 1) * SLOT
    local = [start + slot * SLOT + ZONE_OFFSET for slot in range(28 * 288)]
    load(line, bandwidth, [at.weekday() * 24 + at.hour for at in local], until=now)
    rollups_refresh(now=now)
    np.testing.assert_array_equal(unpacked(BandwidthRollup.objects.get().busy_profile), np.arange(168))


@pytest.mark.django_db
def test_the_profile_is_a_mean_of_four_weeks(line, bandwidth, now):
    load(line, bandwidth, np.repeat([1.0, 2.0, 3.0, 6.0], WEEK), until=now)
    rollups_refresh(now=now)
    np.testing.assert_allclose(unpacked(BandwidthRollup.objects.get().busy_profile), 3.0)


@pytest.mark.django_db
def test_only_the_lines_named(idc, line, bandwidth, now):
    for each in idc.lines.all():
        load(each, bandwidth, [1.0], until=now)
    assert rollups_refresh(lines=[line], now=now) == 1
    assert list(BandwidthRollup.objects.values_list("line__code", flat=True)) == ["ct"]
    assert rollups_refresh(lines=[], now=now) == 0


@pytest.mark.django_db
def test_many_lines_take_few_queries(idc, bandwidth, now, django_assert_max_num_queries):
    for each in idc.lines.all():
        load(each, bandwidth, np.ones(WEEK), until=now)
    with django_assert_max_num_queries(7):
        assert rollups_refresh(now=now) == 2


@given(
    st.lists(
        st.one_of(st.just(np.nan), st.floats(0, 1e6, width=32)),
        min_size=1,
        max_size=200,
    )
)
def test_the_percentile_is_what_is_left_when_the_top_twentieth_is_dropped(values):
    known = sorted((value for value in values if not np.isnan(value)), reverse=True)
    found, covered = percentile_95(np.array([values], dtype=np.float32))
    assert covered[0] == len(known)
    if known:
        assert found[0] == known[len(known) // 20]
    else:
        assert np.isnan(found[0])
