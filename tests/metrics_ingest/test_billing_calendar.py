"""Billing days and months begin and end at midnight by the clock of the billing zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from metrics_ingest.billing.calendar import Calendar, midnight, next_month
from metrics_ingest.samples.slots import SLOT

SHANGHAI, NEW_YORK, BEIRUT = ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Beirut")


def calendar(first, last, zone=SHANGHAI):
    """Return the calendar from a UTC midnight to the end of the slot that begins at `last`."""
    return Calendar.of(start=datetime(*first, tzinfo=UTC), end=datetime(*last, tzinfo=UTC) + SLOT, zone=zone)


def test_it_works():
    found = calendar((2031, 4, 29), (2031, 5, 2, 3, 0))
    assert found.days == (date(2031, 4, 30), date(2031, 5, 1), date(2031, 5, 2)), "29 April began before the stretch"
    assert found.bounds.tolist() == [16 * 12, 40 * 12, 64 * 12, 75 * 12 + 1]
    (may,) = found.months()
    assert (may.first, may.slots, may.days) == (date(2031, 5, 1), slice(40 * 12, 75 * 12 + 1), slice(1, 3))


def test_a_month_ends_where_the_next_begins():
    march, april = calendar((2031, 2, 27), (2031, 4, 3, 0, 0)).months()
    assert (march.first, april.first) == (date(2031, 3, 1), date(2031, 4, 1))
    assert (march.slots.stop - march.slots.start, march.days.stop - march.days.start) == (31 * 288, 31)
    assert march.slots.stop == april.slots.start


def test_the_first_slot_of_a_month_opens_it():
    last_of_april = datetime(2031, 4, 30, 15, 55, tzinfo=UTC)
    start = datetime(2031, 4, 1, tzinfo=UTC)
    before, after = (Calendar.of(start=start, end=last_of_april + SLOT * n, zone=SHANGHAI) for n in (1, 2))
    assert [month.first for month in before.months()] == []
    (may,) = after.months()
    assert may.slots.stop - may.slots.start == 1


@pytest.mark.parametrize(
    ("zone", "day", "slots"),
    [
        pytest.param(NEW_YORK, date(2031, 3, 9), 276, id="clocks go forward"),
        pytest.param(NEW_YORK, date(2031, 11, 2), 300, id="clocks go back"),
        pytest.param(NEW_YORK, date(2031, 11, 3), 288, id="the day after"),
        pytest.param(BEIRUT, date(2031, 3, 30), 276, id="midnight itself is skipped"),
        pytest.param(SHANGHAI, date(2031, 3, 9), 288, id="no summer time"),
    ],
)
def test_a_day_has_the_slots_that_the_clock_shows(zone, day, slots):
    start = datetime.combine(day - timedelta(days=2), datetime.min.time(), UTC)
    found = Calendar.of(start=start, end=start + timedelta(days=5), zone=zone)
    place = found.days.index(day)
    assert np.diff(found.bounds)[place] == slots
    mine = found.day_slots[place]
    local = [(start + int(slot) * SLOT).astimezone(zone).date() for slot in mine[mine >= 0]]
    assert local == [day] * slots


def test_hours_of_the_week_are_those_that_the_clock_shows():
    found = calendar((2031, 3, 8), (2031, 3, 11, 0, 0), NEW_YORK)
    hours = found.hours_of_week(slice(0, found.end))
    moments = [(found.start + slot * SLOT).astimezone(NEW_YORK) for slot in range(found.end)]
    assert hours.tolist() == [at.weekday() * 24 + at.hour for at in moments]
    assert 6 * 24 + 2 not in hours, "two o'clock was skipped on that Sunday"


def test_a_skipped_midnight_is_the_moment_at_which_it_is_skipped():
    assert midnight(date(2031, 3, 30), BEIRUT) == datetime(2031, 3, 29, 22, 0, tzinfo=UTC)


def test_december_is_followed_by_january():
    assert next_month(date(2031, 12, 31)) == date(2032, 1, 1)
    assert next_month(date(2032, 1, 31)) == date(2032, 2, 1)
