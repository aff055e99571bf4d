"""The figures of bandwidth equal those of a plain calculation for one line and one day at a time."""

import math
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics_ingest.billing.calendar import Calendar
from metrics_ingest.billing.figures import day_figures, hour_means, means, peak_figures, theil_sen, week_profile
from metrics_ingest.billing.percentile import percentile_95
from metrics_ingest.samples.slots import SLOT, as_measured

NAN = np.nan


def random_slots(seed, lines, count, gaps):
    chance = np.random.default_rng(seed)
    slots = chance.gamma(2.0, 100.0, (lines, count)).astype(np.float32)
    slots[chance.random(slots.shape) < gaps] = NAN
    return slots


@given(
    seed=st.integers(0, 10_000),
    zone=st.sampled_from(["Asia/Shanghai", "America/New_York", "Asia/Kathmandu", "Asia/Beirut", "UTC"]),
    start=st.dates(date(2030, 1, 1), date(2032, 12, 31)),
    count=st.integers(2 * 288, 9 * 288),
    gaps=st.sampled_from([0.0, 0.1, 0.9, 0.999]),
)
@settings(max_examples=60)
def test_it_works(seed, zone, start, count, gaps):
    zone, begin = ZoneInfo(zone), datetime.combine(start, datetime.min.time(), UTC)
    slots = random_slots(seed, 2, count, gaps)
    calendar = Calendar.of(start=begin, end=begin + count * SLOT, zone=zone)
    days = day_figures(slots, calendar)
    local = [(begin + place * SLOT).astimezone(zone).date() for place in range(count)]
    for line, place in np.ndindex(days.peak.shape):
        inside = [slots[line, slot] for slot in range(count) if local[slot] == calendar.days[place]]
        known = sorted((float(value) for value in inside if not np.isnan(value)), reverse=True)
        assert days.covered[line, place] == len(known)
        found = [days.peak[line, place], days.fifth[line, place], days.p95[line, place], days.mean[line, place]]
        if known:
            expected = [known[0], known[:5][-1], known[len(known) // 20], sum(known) / len(known)]
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        else:
            assert np.isnan(found).all()
    for month in calendar.months():
        inside = slots[:, month.slots]
        assert {local[slot].replace(day=1) for slot in range(month.slots.start, month.slots.stop)} == {month.first}
        expected = [
            np.percentile(row[~np.isnan(row)], 95, method="inverted_cdf") if (~np.isnan(row)).any() else NAN
            for row in inside
        ]
        np.testing.assert_array_equal(percentile_95(inside)[0], np.array(expected, dtype=np.float64))


def test_peaks_of_a_month():
    slots = np.full((1, 30 * 288), 1.0, dtype=np.float32)
    for day in range(30):
        slots[0, day * 288 : day * 288 + 4] = 1000.0  # four freak values a day
        slots[0, day * 288 + 4] = 100.0 + day  # and the fifth
    begin = datetime(2031, 4, 1, tzinfo=UTC)
    days = day_figures(slots, Calendar.of(start=begin, end=begin + timedelta(days=30), zone=ZoneInfo("UTC")))
    found = peak_figures(days, slice(None))
    assert (found.fourth_peak[0], found.daily_peak_average[0], found.days[0]) == (1000.0, 1000.0, 30)
    assert found.enhanced_95[0] == np.mean([129, 128, 127, 126, 125])


@pytest.mark.parametrize(
    ("peaks", "fourth", "average", "known"),
    [
        pytest.param([5, 9, 1, 7, 3], 3, 5, 5, id="the fourth of five"),
        pytest.param([5, NAN, 1, 7, 3], 1, 4, 4, id="a day without values is no day"),
        pytest.param([5, NAN, NAN, 7, NAN], 5, 6, 2, id="of two days the lower"),
        pytest.param([NAN, NAN], NAN, NAN, 0, id="no day at all"),
    ],
)
def test_a_fourth_peak(peaks, fourth, average, known):
    begin = datetime(2031, 4, 1, tzinfo=UTC)
    slots = np.repeat(np.array([peaks], dtype=np.float32), 288, axis=1)
    calendar = Calendar.of(start=begin, end=begin + timedelta(days=len(peaks)), zone=ZoneInfo("UTC"))
    found = peak_figures(day_figures(slots, calendar), slice(None))
    np.testing.assert_equal(
        [found.fourth_peak[0], found.daily_peak_average[0], found.days[0]], [float(fourth), float(average), known]
    )


def test_gaps_are_no_zeros():
    slots = np.array([[10.0, NAN, 20.0] + [NAN] * 9 + [NAN] * 12], dtype=np.float32)
    assert means(slots)[0] == 15.0
    np.testing.assert_equal(hour_means(slots), np.array([[15.0, NAN]], dtype=np.float32))
    profile = week_profile(slots, np.repeat([5, 167], 12))
    assert profile[0, 5] == 15.0
    assert np.isnan(np.delete(profile[0], 5)).all()


@given(
    slope=st.floats(-50, 50),
    level=st.floats(0, 1000),
    wild=st.lists(st.tuples(st.integers(0, 27), st.floats(0, 1e6)), max_size=7),
)
def test_a_trend_is_not_bent_by_a_quarter_of_wild_days(slope, level, wild):
    days = level + slope * (np.arange(28.0) - 28)
    for place, value in wild:
        days[place] = value
    found = theil_sen(days[None], least=7)
    np.testing.assert_allclose([found.slope[0], found.level[0]], [slope, level], rtol=1e-6, atol=1e-6)


def test_a_trend_is_the_median_of_all_slopes():
    chance = np.random.default_rng(5)
    days = chance.normal(100, 10, (3, 28))
    days[chance.random(days.shape) < 0.3] = NAN
    days[2, 6:] = NAN
    days[2, 0] = NAN
    found = theil_sen(days, least=7)
    for row, values in enumerate(days[:2]):
        known = [(at, value) for at, value in enumerate(values) if not np.isnan(value)]
        slope = np.median([(b[1] - a[1]) / (b[0] - a[0]) for n, a in enumerate(known) for b in known[n + 1 :]])
        level = np.median([value - slope * (at - 28) for at, value in known])
        np.testing.assert_allclose([found.slope[row], found.level[row]], [slope, level])
    assert np.isnan([found.slope[2], found.level[2], found.spread[2]]).all(), "five days are no trend"


def test_float32_is_told_as_the_decimal_that_was_measured() -> None:
    measured = [786.721, 0.0, 1.5, -3.25, 481.07318, 1e-6]
    assert as_measured(np.array(measured, dtype=np.float32)).tolist() == measured
    assert as_measured(np.array(measured, dtype=np.float32).astype(np.float64)).tolist() == measured
    assert as_measured(np.array([1 / 3, math.inf])).tolist() == [1 / 3, math.inf]
    assert np.isnan(as_measured(np.array([NAN], dtype=np.float32))).all()
