"""The demo's measurements go on by themselves: once every five minutes, and without a gap after an outage."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.conf import settings
from django.db.models import Count, F, Q

from idcsched.demo.measuring import measurements_store
from idcsched.demo.ordered_traffic import ordered_traffic
from idcsched.demo.source import history, slot_start
from idcsched.demo.traffic import slot_of
from idcsched.inventory.models import Line
from idcsched.inventory.services import idc_delete, line_delete
from idcsched.ledger.models import Holding
from metrics_ingest.models import BandwidthMonth, BandwidthRollup, Latest, SampleDay
from metrics_ingest.samples.checking import KEPT
from metrics_ingest.samples.slots import SLOT
from metrics_ingest.services import Sample, samples_store

pytestmark = pytest.mark.usefixtures("db")

NOTHING = {"lines": 0, "values": 0, "samples": 0}


def next_slot(now: datetime, *, after: int = 1) -> datetime:
    return slot_start(slot_of(now.timestamp()) + after)


def stored(line: Line, first: datetime, count: int) -> np.ndarray:
    """Return the stored values of so many slots from `first` on."""
    days = SampleDay.objects.filter(line=line).order_by("day")
    values = np.concatenate([np.frombuffer(day.values, dtype="<f4") for day in days])
    start = datetime.combine(days[0].day, datetime.min.time(), first.tzinfo)
    skipped = (first - start) // timedelta(minutes=5)
    return values[skipped : skipped + count]


def test_it_works(loaded: datetime) -> None:
    at = next_slot(loaded)
    found = measurements_store(at=at, now=at)

    assert found == {"lines": 68, "values": 0, "samples": 68 + 6 * 41}
    assert set(Latest.objects.filter(line__isnull=False).values_list("at", flat=True)) == {at}
    assert set(BandwidthRollup.objects.values_list("computed_at", flat=True)) == {at}


def test_within_the_same_five_minutes_nothing_is_done(loaded: datetime) -> None:
    assert measurements_store(at=loaded, now=loaded) == NOTHING


def test_nothing_is_done_twice(loaded: datetime) -> None:
    at = next_slot(loaded)
    measurements_store(at=at, now=at)

    assert measurements_store(at=at, now=at) == NOTHING


def test_an_outage_leaves_no_gap(loaded: datetime) -> None:
    at = next_slot(loaded, after=25)
    found = measurements_store(at=at, now=at)
    first = slot_of(loaded.timestamp()) - 12
    ordered = ordered_traffic(first=first, until=first + 38)

    assert found["values"] == 68 * 24
    assert 10 < len(ordered) < 68
    for line in Line.objects.select_related("idc"):
        key = line.idc.code, line.code
        expected = history(key, first=first, until=first + 38) + ordered.get(key, 0)
        np.testing.assert_allclose(stored(line, slot_start(first), 38), expected, atol=0.5, rtol=1e-6)  # whole Mbps


def test_after_months_three_whole_months_and_the_running_one_are_added(loaded: datetime) -> None:
    at = next_slot(loaded, after=200 * 288)
    zone = ZoneInfo(settings.BILLING_ZONE)
    begin = (at - timedelta(days=92)).astimezone(zone).replace(day=1, hour=0, minute=0)
    found = measurements_store(at=at, now=at)

    assert found["values"] == 68 * ((at - begin) // SLOT)
    assert not SampleDay.objects.filter(day__lt=(at - KEPT).date()).exists()
    months = BandwidthMonth.objects.filter(month__gte=begin.date(), covered_slots=F("slots"))
    assert months.values("month").distinct().count() >= 4


def test_what_an_operator_removed_is_passed_over(loaded: datetime) -> None:
    """An IDC with one line, and one of several lines of another; where past orders stood depends on the day."""
    held = Holding.objects.values("idc")
    lines = Line.objects.alias(count=Count("idc__lines")).exclude(idc__in=held).order_by("idc__code", "code")
    idc, line = lines.filter(count=1)[0].idc, lines.filter(count__gt=1)[0]
    for values in (Latest, SampleDay):  # what has history can't be removed: here it has grown old and was pruned
        values.objects.filter(Q(idc=idc) | Q(line=line)).delete()  # a join takes minutes if the table passes for empty
    BandwidthMonth.objects.filter(Q(line__in=idc.lines.all()) | Q(line=line)).delete()
    idc_delete(idc=idc)
    line_delete(line=line)
    at = next_slot(loaded)

    assert measurements_store(at=at, now=at) == {"lines": 66, "values": 0, "samples": 66 + 6 * 40}


def test_a_later_sample_of_somebody_else_stays(loaded: datetime) -> None:
    at = next_slot(loaded)
    later = at + timedelta(seconds=30)
    samples_store(
        samples=[Sample(idc="gz-ct-01", line="ct", metric="bandwidth_mbps", value=35_000, at=later)], now=later
    )
    measurements_store(at=at, now=later)

    assert Latest.objects.get(line__idc__code="gz-ct-01", line__isnull=False).value == 35_000
