"""Nightly jobs run once a night, later if they could not run in time, and are reported if they are late or fail."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery import current_app

from idcsched.jobs import nightly, tasks
from idcsched.jobs.models import NightlyJob
from idcsched.jobs.nightly import JOBS, nightly_announce, nightly_health, nightly_run

pytestmark = pytest.mark.usefixtures("db", "in_shanghai")

SHAPES, ADVICE = JOBS
NIGHT = datetime(2031, 5, 4, 20, tzinfo=UTC)
"""Four in the morning of the fifth of May in Shanghai."""


class Clock:
    """The time that the code under test sees, and a job that notes when it was done, or fails."""

    def __init__(self) -> None:
        self.now = NIGHT
        self.done: list[datetime] = []
        self.fault: Exception | None = None

    def at(self, **later: float) -> datetime:
        self.now = NIGHT + timedelta(**later)
        return self.now

    def __call__(self) -> None:
        if self.fault is not None:
            raise self.fault
        self.done.append(self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(nightly.timezone, "now", lambda: clock.now)
    monkeypatch.setattr(nightly, "JOBS", {SHAPES: JOBS[SHAPES]})
    monkeypatch.setitem(current_app.tasks, SHAPES, clock)
    return clock


def run(clock: Clock, **later: float) -> int:
    """Run the job at this time after four o'clock; return how often it has been done."""
    clock.at(**later)
    nightly_run(SHAPES)
    return len(clock.done)


@pytest.mark.both
def test_it_works(clock: Clock) -> None:
    assert run(clock) == 1
    assert run(clock, minutes=5) == 1
    assert run(clock, hours=23, minutes=55) == 1
    assert run(clock, hours=24) == 2
    (job,) = nightly_health(now=clock.now)
    assert (job.name, job.succeeded_at, job.failing, job.late) == ("shapes_learn", clock.now, False, False)


def test_the_first_is_done_at_once_whatever_the_hour(clock: Clock) -> None:
    assert run(clock, hours=11) == 1
    assert run(clock, hours=23) == 1
    assert run(clock, hours=24) == 2


def test_a_missed_night_is_made_up_for_once(clock: Clock) -> None:
    assert run(clock) == 1
    assert run(clock, days=3, hours=9) == 2
    assert run(clock, days=3, hours=9, minutes=5) == 2
    assert run(clock, days=4) == 3


@pytest.mark.both
def test_what_fails_is_begun_again_after_an_hour_and_said_to_fail(clock: Clock) -> None:
    run(clock)
    clock.fault = ValueError("no such column")
    clock.at(hours=24)
    with pytest.raises(ValueError, match="no such column"):
        nightly_run(SHAPES)
    (job,) = nightly_health(now=clock.now)
    assert (job.error, job.failing, job.late, job.succeeded_at) == ("ValueError: no such column", True, False, NIGHT)
    assert run(clock, hours=24, minutes=55) == 1
    clock.fault = None
    assert run(clock, hours=25, minutes=1) == 2
    (job,) = nightly_health(now=clock.now)
    assert (job.error, job.failing) == ("", False)


def test_a_failure_of_the_night_before_does_not_delay_this_night(clock: Clock) -> None:
    clock.fault = ValueError("no such column")
    clock.at(hours=-0.5)
    with pytest.raises(ValueError, match="no such column"):
        nightly_run(SHAPES)
    clock.fault = None
    assert run(clock, minutes=1) == 1


def test_a_worker_that_is_killed_leaves_it_to_another_an_hour_later(clock: Clock) -> None:
    clock.fault = KeyboardInterrupt()  # what ends a process is no error of the job
    with pytest.raises(KeyboardInterrupt):
        run(clock)
    clock.fault = None
    assert run(clock, minutes=59) == 0
    (job,) = nightly_health(now=clock.at(hours=3, minutes=1))
    assert (job.failing, job.late) == (False, True)
    assert run(clock, hours=3, minutes=2) == 1
    (job,) = nightly_health(now=clock.now)
    assert not job.late


def test_it_is_late_three_hours_after_its_time(clock: Clock) -> None:
    assert not nightly_health(now=clock.now)
    run(clock)
    (job,) = nightly_health(now=clock.at(days=1, hours=2, minutes=59))
    assert not job.late
    (job,) = nightly_health(now=clock.at(days=1, hours=3, minutes=1))
    assert job.late
    (job,) = nightly_health(now=clock.at(days=2, minutes=1))
    assert job.late, "and stays so when its next time comes"


@pytest.mark.parametrize(
    ("zone", "due"),
    [
        ("UTC", datetime(2031, 3, 9, 4, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2031, 3, 8, 22, 30, tzinfo=UTC)),
        # The clocks go forward in that night.
        ("America/New_York", datetime(2031, 3, 9, 8, tzinfo=UTC)),
    ],
)
def test_its_hour_is_that_of_the_billing_zone(clock: Clock, settings: Any, zone: str, due: datetime) -> None:
    settings.BILLING_ZONE = zone
    clock.now = due - timedelta(hours=12)
    nightly_run(SHAPES)
    clock.now = due - timedelta(seconds=1)
    nightly_run(SHAPES)
    assert len(clock.done) == 1
    clock.now = due
    nightly_run(SHAPES)
    assert len(clock.done) == 2


def test_the_sweep_announces_what_is_due(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    announced: list[str] = []
    monkeypatch.setattr(nightly, "announce", lambda task, job, expires: announced.append(job))
    assert tasks.nightly_sweep() == {"announced": 1}
    assert announced == [SHAPES]
    run(clock)
    assert nightly_announce(now=clock.at(minutes=5)) == []
    assert nightly_announce(now=clock.at(hours=24)) == [SHAPES]


def test_two_workers_do_it_once(clock: Clock) -> None:
    """Two workers take two messages for the same night. The second finds the job begun and does nothing."""
    run(clock)
    NightlyJob.objects.update(succeeded_at=None)  # as while the first is still at it
    assert run(clock, minutes=6) == 1
