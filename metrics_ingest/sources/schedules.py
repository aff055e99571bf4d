"""The schedules of sources: a number of seconds, or cron's notation in the time zone `BILLING_ZONE`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from celery.schedules import ParseException, crontab
from django.conf import settings

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

__all__ = ["Cron", "Every", "Schedule", "parse_schedule"]

SHORTEST, LONGEST = 5, 7 * 24 * 3600
CLOCKS_APART: Final = timedelta(seconds=5)
"""The most by which the clocks of beat and of a worker may differ."""
FIELDS: Final = 5


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed period. Missed runs are not made up for: the next one is due a period after the last."""

    seconds: int

    def next_after(self, moment: datetime) -> datetime:
        return moment + self.period

    @property
    def period(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    @property
    def may_begin_early_by(self) -> timedelta:
        """How long before its due time a run may begin.

        Beat counts the period from its last message, `due_at` from the start of the last run, so a message may come
        before `due_at`.
        """
        return self.period / 2


@dataclass(frozen=True, slots=True)
class Cron:
    """A schedule by cron's five fields: minute, hour, day of the month, month, day of the week."""

    text: str

    def next_after(self, moment: datetime) -> datetime:
        """Return the next time after the moment that the fields allow."""
        start, distance, _ = self.celery(now=moment).remaining_delta(moment, tz=self.zone)
        following: datetime = start + distance
        return following

    @property
    def may_begin_early_by(self) -> timedelta:
        return CLOCKS_APART

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(settings.BILLING_ZONE)

    def celery(self, now: datetime | None = None) -> crontab:
        """Return the schedule as Celery's own class."""
        minute, hour, day, month, weekday = self.text.split()
        return crontab(
            minute=minute,
            hour=hour,
            day_of_month=day,
            month_of_year=month,
            day_of_week=weekday,
            nowfun=None if now is None else (lambda: now),
        )


Schedule = Every | Cron


def parse_schedule(text: str) -> Schedule:
    """Parse `300` or `*/5 * * * *`.

    Raises Invalid with the pointer `/schedule`, also for dates that do not exist, such as 30 February.
    """
    if text.isascii() and text.isdigit():
        if not SHORTEST <= int(text[:9]) <= LONGEST:
            detail = _("this must lie between {low} and {high} seconds")
            raise Invalid("out_of_range", detail, "/schedule", low=SHORTEST, high=LONGEST)
        return Every(int(text))
    if len(text.split()) != FIELDS:
        detail = _("this must be a number of seconds, or cron's five fields such as */5 * * * *")
        raise Invalid("invalid_schedule", detail, "/schedule")
    cron = Cron(" ".join(text.split()))
    try:
        cron.celery()
    except (ParseException, ValueError) as error:
        raise Invalid(
            "invalid_schedule", _("cron's fields can't be read: {reason}"), "/schedule", reason=error
        ) from None
    return cron
