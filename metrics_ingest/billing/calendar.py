"""Billing days, hours of the week and billing months over a stretch of five-minute slots.

Slots are counted in UTC; days begin at midnight in the billing zone. A day on which clocks are set forward or back has
276 or 300 slots, and hours of the week follow the local clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Self
from zoneinfo import ZoneInfo

import numpy as np

from metrics_ingest.samples.batch import Integers
from metrics_ingest.samples.slots import SLOT, slot_floor, slots_between

__all__ = ["Calendar", "Month", "midnight", "month_start", "next_month"]

DAY = timedelta(days=1)
NO_SLOT = -1


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the time in UTC at which the day begins in the zone; where clocks skip midnight, the time of the skip."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def month_start(day: date) -> date:
    return day.replace(day=1)


def next_month(day: date) -> date:
    return (month_start(day) + 32 * DAY).replace(day=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A billing month within a stretch; `slots` and `days` are its part of the stretch, up to the stretch's end."""

    first: date
    slots: slice
    days: slice


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The billing days of a stretch, from the first whole one to the running one.

    `bounds` has each day's first slot, followed by the slot at which the stretch ends.
    """

    start: datetime
    zone: ZoneInfo
    days: tuple[date, ...]
    bounds: Integers

    @classmethod
    def of(cls, *, start: datetime, end: datetime, zone: ZoneInfo) -> Self:
        """Cut the time from `start` up to, not including, `end` into days; both must be beginnings of slots."""
        today = (end - SLOT).astimezone(zone).date()
        day = start.astimezone(zone).date()
        if midnight(day, zone) < start:
            day += DAY
        days = tuple(day + count * DAY for count in range((today - day).days + 1))
        first_slots = [slots_between(start, slot_floor(midnight(day, zone))) for day in days]
        return cls(start=start, zone=zone, days=days, bounds=np.array([*first_slots, slots_between(start, end)]))

    @cached_property
    def end(self) -> int:
        return int(self.bounds[-1])

    @cached_property
    def day_slots(self) -> Integers:
        """The numbers of each day's slots, one row per day, padded with −1 to the length of the longest day."""
        lengths = np.diff(self.bounds)
        numbers = self.bounds[:-1, None] + np.arange(lengths.max(initial=0))
        numbers[np.arange(numbers.shape[1]) >= lengths[:, None]] = NO_SLOT
        return numbers

    def months(self) -> Iterator[Month]:
        """Yield the months that begin in the stretch, the running one last."""
        for index, day in enumerate(self.days):
            if day.day == 1:
                following = next_month(day)
                until = self.days.index(following) if following in self.days else len(self.days)
                slots = slice(int(self.bounds[index]), int(self.bounds[until]))
                yield Month(first=day, slots=slots, days=slice(index, until))

    def hours_of_week(self, slots: slice) -> Integers:
        """Return the hour of the week of each slot in the billing zone, counted from Monday 00:00."""
        times = ((self.start + slot * SLOT).astimezone(self.zone) for slot in range(slots.start, slots.stop))
        return np.array([at.weekday() * 24 + at.hour for at in times], dtype=np.int64)
