"""Old samples go, a little at a time."""

from datetime import date, timedelta

import numpy as np
import pytest
from django.conf import settings

from metrics_ingest import tasks
from metrics_ingest.models import BandwidthDay, Latest, SampleDay
from metrics_ingest.samples.slots import slot_floor, unpacked
from metrics_ingest.services import history_prune, history_store, pruning, rollups_refresh

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def history(line, bandwidth, now):
    """Fifty days of a line's history."""
    start = slot_floor(now) - timedelta(days=50)
    values = np.ones(50 * 288 + 1, dtype=np.float32)
    history_store(metric=bandwidth, idc=line.idc, line=line, start=start, values=values)


@pytest.mark.both
def test_it_works(history, now):
    oldest = (now - timedelta(days=40)).date()
    assert history_prune(now=now) == 10
    assert SampleDay.objects.earliest("day").day == oldest
    assert SampleDay.objects.count() == 41
    assert Latest.objects.count() == 1
    assert history_prune(now=now) == 0


def test_what_a_sample_may_still_come_for_stays(history, now):
    history_prune(now=now)
    kept = SampleDay.objects.earliest("day")
    assert np.isfinite(unpacked(kept.values)).all(), "the whole of the day on which the forty days begin"


@pytest.mark.both
def test_it_goes_in_steps_and_leaves_the_rest_to_the_next_time(history, now, monkeypatch):
    monkeypatch.setattr(pruning, "STEP", 3)
    monkeypatch.setattr(pruning, "STEPS", 2)
    assert [history_prune(now=now) for _ in range(3)] == [6, 4, 0]


def test_figures_of_days_stay_for_thirteen_months(history, now):
    rollups_refresh(now=now)
    first = BandwidthDay.objects.earliest("day").day
    history_prune(now=now + timedelta(days=360))
    assert BandwidthDay.objects.earliest("day").day == first
    history_prune(now=now + timedelta(days=400))
    assert BandwidthDay.objects.earliest("day").day == date(2031, 5, 7)


def test_the_tasks_call_the_services(history):
    assert tasks.history_prune() == {"pruned": 0}, "these fifty days lie in the future"
    assert tasks.rollups_refresh() == {"lines": 1}
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {"metrics_ingest.tasks.history_prune", "metrics_ingest.tasks.rollups_refresh"} <= scheduled
