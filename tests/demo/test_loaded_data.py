"""The loaded demo is measured up to now, and its lines are as full as they are meant to be."""

from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings

from idcsched.audit.models import Change
from idcsched.demo.documents import demo
from idcsched.inventory.models import Taint
from idcsched.ledger.models import Claim
from metrics_ingest.billing.calendar import midnight, next_month
from metrics_ingest.models import BandwidthDay, BandwidthMonth, BandwidthRollup, Latest, SampleDay
from metrics_ingest.samples.slots import slots_between

pytestmark = pytest.mark.usefixtures("db")


def test_it_works(loaded: datetime) -> None:
    assert set(Latest.objects.values_list("at", flat=True)) == {loaded}
    assert Latest.objects.filter(metric__code="bandwidth_mbps").count() == 68
    days = SampleDay.objects.filter(line__code="ct", idc__code="gz-ct-01").values_list("day", flat=True)
    assert loaded.date() - min(days) == timedelta(days=40), "samples are kept no longer"


def test_three_billing_months_are_whole_and_one_is_running(loaded: datetime) -> None:
    zone = ZoneInfo(settings.BILLING_ZONE)
    today = loaded.astimezone(zone).date()
    rows = BandwidthMonth.objects.filter(line__code="ct", line__idc__code="gz-ct-01").order_by("month")
    *earlier, running = rows

    assert running.month == today.replace(day=1)
    assert len(earlier) >= 3
    for month, following in pairwise(rows):
        assert following.month == next_month(month.month)
        slots = slots_between(midnight(month.month, zone), midnight(following.month, zone))
        assert (month.days, month.covered_slots) == ((following.month - month.month).days, slots)
    days = BandwidthDay.objects.filter(line=running.line).values_list("day", flat=True)
    assert set(days) == {
        earlier[0].month + timedelta(days=count) for count in range((today - earlier[0].month).days + 1)
    }


def test_percentiles_come_to_the_water_levels_and_what_is_ordered(loaded: datetime) -> None:
    levels = {(each["idc"], each["line"]): each["level"] for each in demo("traffic")}

    for rollup in BandwidthRollup.objects.select_related("line__idc"):
        line = rollup.line
        own = levels[line.idc.code, line.code] * line.purchased_mbps
        ordered = sum(Claim.objects.filter(holding__line=line).values_list("amount", flat=True))
        assert rollup.p95_mbps is not None
        assert 0.97 * own < rollup.p95_mbps < 1.03 * own + ordered


def test_one_maintenance_is_next_week_and_one_is_over(loaded: datetime) -> None:
    windows = {taint.idc.code: taint for taint in Taint.objects.filter(key="maintenance").select_related("idc")}
    coming, past = windows["gz-ct-cu-cm-01"], windows["wuxi-ct-cu-cm-01"]

    assert coming.starts_at is not None
    assert timedelta(days=6) < coming.starts_at - loaded < timedelta(days=8)
    assert past.ends_at is not None
    assert past.ends_at < loaded


def test_the_history_says_who_it_was(loaded: datetime) -> None:
    assert Change.objects.filter(kind="idc", actor="load_demo", via="command").count() == 47
