"""Roll-ups: the percentiles, peaks and means of a line's bandwidth."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from idcsched.feed.models import FeedEntry
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.billing.report import month_reports
from metrics_ingest.models import BandwidthDay, BandwidthHistory, BandwidthMonth, BandwidthRollup
from metrics_ingest.samples.slots import SLOT, slot_floor, unpacked
from metrics_ingest.services import history_prune, history_store, rollups_refresh

WEEK = 7 * 288
ZONE_OFFSET = timedelta(hours=8)

pytestmark = pytest.mark.usefixtures("in_shanghai")


def load(line, bandwidth, values, *, until):
    """Store the values up to and with the slot of `until`."""
    start = slot_floor(until) - (len(values) - 1) * SLOT
    history_store(metric=bandwidth, idc=line.idc, line=line, start=start, values=np.array(values, dtype=np.float32))


@pytest.mark.usefixtures("db")
def test_it_works(line, bandwidth, now):
    load(line, bandwidth, np.arange(WEEK), until=now)
    FeedEntry.objects.all().delete()
    assert rollups_refresh(now=now) == 1
    rollup = BandwidthRollup.objects.get()
    assert (rollup.line, rollup.window_seconds, rollup.covered_slots) == (line, 7 * 86400, WEEK)
    assert rollup.p95_mbps == WEEK - 1 - WEEK // 20
    assert rollup.computed_at == now
    assert str(rollup) == f"gz-01/ct: {rollup.p95_mbps}"
    assert FeedEntry.objects.values_list("topic", "key").get() == ("metrics", "bandwidth_mbps/rollups")


@pytest.mark.usefixtures("db")
def test_what_is_older_than_the_window_does_not_count(line, bandwidth, now):
    load(line, bandwidth, [900.0] * 288 + [10.0] * WEEK, until=now)
    rollups_refresh(now=now)
    assert (BandwidthRollup.objects.get().p95_mbps, BandwidthRollup.objects.get().covered_slots) == (10, WEEK)


@pytest.mark.usefixtures("db")
def test_the_window_is_a_setting(line, bandwidth, now, settings):
    settings.BANDWIDTH_WINDOW = timedelta(days=40)
    load(line, bandwidth, [900.0] * 20_000, until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert (rollup.window_seconds, rollup.covered_slots) == (40 * 86400, 40 * 288)


@pytest.mark.usefixtures("db")
def test_gaps_are_not_zeros(line, bandwidth, now):
    load(line, bandwidth, [100.0, np.nan, np.nan, 100.0], until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert (rollup.p95_mbps, rollup.covered_slots) == (100, 2)
    assert np.nanmin(unpacked(rollup.busy_profile)) == 100


@pytest.mark.usefixtures("db")
def test_a_line_that_fell_silent_has_no_percentile(line, bandwidth, now):
    load(line, bandwidth, [100.0], until=now)
    rollups_refresh(now=now)
    rollups_refresh(now=now + timedelta(days=60))
    rollup = BandwidthRollup.objects.get()
    assert (rollup.p95_mbps, rollup.covered_slots) == (None, 0)
    assert np.isnan(unpacked(rollup.busy_profile)).all()


@pytest.mark.usefixtures("db")
def test_hours_are_the_last_whole_ones_oldest_first(line, bandwidth, now):
    slots = np.arange(8 * 288, dtype=np.float32)
    load(line, bandwidth, slots, until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert rollup.hours_until == datetime(2031, 5, 7, 12, tzinfo=UTC)
    complete = slots[:-1]  # 12:00 to 12:05 is being filled
    expected = complete[-168 * 12 :].reshape(168, 12).mean(axis=1)
    np.testing.assert_allclose(unpacked(rollup.hours), expected, rtol=1e-6)


@pytest.mark.usefixtures("db")
def test_the_history_is_of_the_last_thirty_whole_days(line, bandwidth, now):
    """It is 20:00 in the billing zone: the values since the last midnight are not part of the history."""
    slots = np.arange(32 * 288, dtype=np.float32)
    load(line, bandwidth, slots, until=now)
    rollups_refresh(now=now)
    history = BandwidthHistory.objects.get()
    assert history.until == datetime(2031, 5, 6, 16, tzinfo=UTC)
    since_midnight = (slot_floor(now) - history.until) // SLOT + 1
    days = slots[:-since_midnight][-30 * 288 :]
    np.testing.assert_allclose(unpacked(history.hours), days.reshape(720, 12).mean(axis=1), rtol=1e-6)
    assert history.known_slots == 30 * 288
    percentile, *by_day = unpacked(history.measured)
    peaks, fifths = by_day[:30], by_day[30:]
    assert percentile == days[-1] - 432
    assert peaks == days[287::288].tolist()
    assert fifths == days[283::288].tolist()


@pytest.mark.usefixtures("db")
def test_the_history_is_written_once_a_day_and_where_late_values_come(line, bandwidth, now):
    load(line, bandwidth, [100.0] * 288, until=now)
    rollups_refresh(now=now)
    written = BandwidthHistory.objects.get()
    load(line, bandwidth, [900.0] * 3, until=now)
    rollups_refresh(now=now)
    assert vars_of(BandwidthHistory.objects.get()) == vars_of(written)

    load(line, bandwidth, [500.0] * 12, until=now - timedelta(days=3))
    rollups_refresh(now=now)
    late = BandwidthHistory.objects.get()
    assert (late.until, late.known_slots) == (written.until, written.known_slots + 12)
    assert np.nanmax(unpacked(late.hours)) == 500
    rollups_refresh(now=now + timedelta(days=1))
    assert BandwidthHistory.objects.get().until == written.until + timedelta(days=1)


def vars_of(history):
    return history.until, history.known_slots, bytes(history.hours)


@pytest.mark.usefixtures("db")
def test_the_profile_is_by_hour_of_the_week_in_the_billing_zone(line, bandwidth, now):
    start = slot_floor(now) - (28 * 288 - 1) * SLOT
    local = [start + slot * SLOT + ZONE_OFFSET for slot in range(28 * 288)]
    load(line, bandwidth, [at.weekday() * 24 + at.hour for at in local], until=now)
    rollups_refresh(now=now)
    np.testing.assert_array_equal(unpacked(BandwidthRollup.objects.get().busy_profile), np.arange(168))


@pytest.mark.usefixtures("db")
def test_the_profile_is_a_mean_of_four_weeks(line, bandwidth, now):
    load(line, bandwidth, np.repeat([1.0, 2.0, 3.0, 6.0], WEEK), until=now)
    rollups_refresh(now=now)
    np.testing.assert_allclose(unpacked(BandwidthRollup.objects.get().busy_profile), 3.0)


@pytest.mark.usefixtures("db")
def test_only_the_lines_named(idc, line, bandwidth, now):
    for each in idc.lines.all():
        load(each, bandwidth, [1.0], until=now)
    assert rollups_refresh(lines=[line], now=now) == 1
    assert list(BandwidthRollup.objects.values_list("line__code", flat=True)) == ["ct"]
    assert rollups_refresh(lines=[], now=now) == 0


@pytest.mark.usefixtures("db")
def test_many_lines_take_few_queries(idc, bandwidth, now, django_assert_max_num_queries):
    for each in idc.lines.all():
        load(each, bandwidth, np.ones(WEEK), until=now)
    with django_assert_max_num_queries(20):
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


@pytest.mark.usefixtures("db")
def test_every_window_has_its_percentile_and_its_coverage(line, bandwidth, now):
    values = np.random.default_rng(1).gamma(2.0, 100.0, 35 * 288).astype(np.float32)
    values[-3000:-2500] = np.nan
    load(line, bandwidth, values, until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    for name, days in (("24h", 1), ("7d", 7), ("30d", 30)):
        known = values[-days * 288 :][~np.isnan(values[-days * 288 :])]
        assert getattr(rollup, f"p95_{name}_mbps") == float(str(np.percentile(known, 95, method="inverted_cdf")))
        assert getattr(rollup, f"covered_{name}") == known.size
    assert rollup.p95_mbps == rollup.p95_7d_mbps


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_days_and_months_are_kept(line, bandwidth, now):
    """It is 7 May, 20:02 in Shanghai."""
    load(line, bandwidth, np.arange(39 * 288), until=now)
    rollups_refresh(now=now)
    today = BandwidthDay.objects.get(day=date(2031, 5, 7))
    so_far = 20 * 12 + 1
    assert (today.covered_slots, today.peak_mbps, today.fifth_mbps) == (so_far, 39 * 288 - 1, 39 * 288 - 5)
    assert BandwidthDay.objects.get(day=date(2031, 5, 6)).covered_slots == 288
    april, may = BandwidthMonth.objects.order_by("month")
    assert (april.month, april.slots, april.covered_slots, april.days) == (date(2031, 4, 1), 8640, 8640, 30)
    assert (may.slots, may.covered_slots, may.days) == (6 * 288 + so_far, 6 * 288 + so_far, 7)
    last_of_april = 39 * 288 - may.slots - 1
    assert april.p95_mbps == last_of_april - 432, "432 of 8,640 values are dropped"
    assert april.fourth_peak_mbps == last_of_april - 3 * 288
    assert april.enhanced_95_mbps == last_of_april - 4 - 2 * 288
    assert str(may) == f"gz-01/ct 2031-05: {may.p95_mbps}"
    assert str(today) == f"gz-01/ct 2031-05-07: {today.p95_mbps}"


@pytest.mark.usefixtures("db")
def test_what_comes_late_is_counted_where_it_belongs(line, bandwidth, now):
    load(line, bandwidth, [100.0] * 39 * 288, until=now)
    rollups_refresh(now=now)
    load(line, bandwidth, [900.0] * 500, until=now - timedelta(days=10))
    rollups_refresh(now=now)
    april, may = BandwidthMonth.objects.order_by("month")
    assert (april.p95_mbps, april.covered_slots, may.p95_mbps) == (900, 8640, 100)
    assert BandwidthDay.objects.filter(peak_mbps=900).count() == 2


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_second_refresh_writes_only_what_has_moved(line, bandwidth, now):
    load(line, bandwidth, np.arange(39 * 288), until=now)
    rollups_refresh(now=now)
    BandwidthDay.objects.update(peak_mbps=-1)
    load(line, bandwidth, [5.0], until=now)
    rollups_refresh(now=now)
    assert list(BandwidthDay.objects.exclude(peak_mbps=-1).values_list("day", flat=True)) == [date(2031, 5, 7)]
    assert not BandwidthMonth.objects.filter(month=date(2031, 4, 1), computed_at__gt=now).exists()


@pytest.mark.usefixtures("db")
def test_a_month_stays_once_its_history_is_gone(line, bandwidth, now):
    load(line, bandwidth, np.arange(39 * 288), until=now)
    rollups_refresh(now=now)
    held = BandwidthMonth.objects.get(month=date(2031, 4, 1))
    history_prune(now=now + timedelta(days=30))
    rollups_refresh(now=now + timedelta(days=30))
    assert BandwidthMonth.objects.get(month=date(2031, 4, 1)) == held
    assert BandwidthMonth.objects.get(month=date(2031, 4, 1)).covered_slots == 8640


@pytest.mark.usefixtures("db")
def test_another_convention_moves_every_figure(line, bandwidth, now, settings):
    load(line, bandwidth, np.arange(39 * 288), until=now)
    rollups_refresh(now=now)
    before = BandwidthMonth.objects.get(month=date(2031, 4, 1)).p95_mbps
    settings.PERCENTILE_CONVENTION = "higher"
    rollups_refresh(now=now)
    assert BandwidthMonth.objects.get(month=date(2031, 4, 1)).p95_mbps == before + 1
    day = BandwidthDay.objects.get(day=date(2031, 4, 2))
    assert day.p95_mbps == day.peak_mbps - 14, "of 288 values the 15th from above"


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_what_was_computed_for_a_later_time_stays(line, bandwidth, now):
    load(line, bandwidth, [100.0] * 300, until=now)
    rollups_refresh(now=now)
    load(line, bandwidth, [900.0] * 300, until=now)
    rollups_refresh(now=now - timedelta(hours=1))
    assert BandwidthRollup.objects.get().p95_mbps == 100
    assert not BandwidthDay.objects.filter(peak_mbps=900).exists()


@pytest.mark.usefixtures("db")
def test_another_zone_cuts_other_days(line, bandwidth, settings):
    settings.BILLING_ZONE = "America/New_York"
    now = datetime(2031, 3, 12, 12, 0, tzinfo=UTC)
    load(line, bandwidth, [1.0] * 20 * 288, until=now)
    rollups_refresh(now=now)
    held = dict(BandwidthDay.objects.values_list("day", "covered_slots"))
    assert (held[date(2031, 3, 8)], held[date(2031, 3, 9)], held[date(2031, 3, 10)]) == (288, 276, 288)
    assert held[date(2031, 3, 12)] == 8 * 12 + 1
    assert BandwidthMonth.objects.get(month=date(2031, 3, 1)).slots == 11 * 288 - 12 + 8 * 12 + 1


@pytest.mark.usefixtures("db")
def test_a_steady_growth_is_a_trend(line, bandwidth, now):
    load(line, bandwidth, np.repeat(100.0 + np.arange(38.0), 288), until=now)
    rollups_refresh(now=now)
    rollup = BandwidthRollup.objects.get()
    assert rollup.trend_mbps_per_day == pytest.approx(1.0)
    assert rollup.trend_level_mbps == pytest.approx(137, abs=1)


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_two_refreshes_at_once_leave_the_later_figures(idc, bandwidth, now):
    for each in idc.lines.all():
        load(each, bandwidth, np.arange(39 * 288), until=now)

    def refresh(at):
        try:
            return rollups_refresh(now=at)
        finally:
            connection.close()

    times = [now - timedelta(minutes=5 * number) for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(refresh, times)) == [2] * 6
    assert set(BandwidthRollup.objects.values_list("computed_at", flat=True)) == {now}
    assert set(BandwidthMonth.objects.filter(month=date(2031, 5, 1)).values_list("slots", flat=True)) == {
        6 * 288 + 20 * 12 + 1
    }


@pytest.mark.usefixtures("db")
def test_a_month_is_complete_once_its_last_slot_is_over(line, bandwidth):
    end = datetime(2031, 4, 30, 16, tzinfo=UTC)
    in_its_last_slot = end - timedelta(minutes=1)
    load(line, bandwidth, np.full(30 * 288, 100.0), until=in_its_last_slot)
    rollups_refresh(now=in_its_last_slot)
    month = BandwidthMonth.objects.get(month=date(2031, 4, 1))
    assert month.slots == month.covered_slots == 30 * 288
    assert [month_reports(line, [month], now)[0].complete for now in (in_its_last_slot, end)] == [False, True]
