"""Days, weeks and months as ISPs cut them, over a stretch of five-minute slots.

The stretch is counted in UTC; the cuts are midnights in the billing zone. Where clocks are set forward or back a day
has 276 or 300 slots, and the hours of the week are those that the clock shows.
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
NOWHERE = -1


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """When the day begins there, in UTC; where clocks skip midnight, the moment at which they do."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def month_start(day: date) -> date:
    return day.replace(day=1)


def next_month(day: date) -> date:
    return (month_start(day) + 32 * DAY).replace(day=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A billing month in a stretch: `slots` and `days` are where it lies there, as far as it has come."""

    first: date
    slots: slice
    days: slice


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The whole billing days of a stretch; the last one is the one that runs.

    `bounds` has each day's first slot, and at last the slot at which the stretch ends.
    """

    start: datetime
    zone: ZoneInfo
    days: tuple[date, ...]
    bounds: Integers

    @classmethod
    def of(cls, *, start: datetime, end: datetime, zone: ZoneInfo) -> Self:
        """From `start` up to, not including, `end`, both at a slot's beginning."""
        today = (end - SLOT).astimezone(zone).date()
        day = start.astimezone(zone).date()
        if midnight(day, zone) < start:
            day += DAY
        days = tuple(day + count * DAY for count in range((today - day).days + 1))
        places = [slots_between(start, slot_floor(midnight(one, zone))) for one in days]
        return cls(start=start, zone=zone, days=days, bounds=np.array([*places, slots_between(start, end)]))

    @cached_property
    def end(self) -> int:
        return int(self.bounds[-1])

    @cached_property
    def day_slots(self) -> Integers:
        """One row a day: the numbers of its slots, filled up with −1."""
        lengths = np.diff(self.bounds)
        found = self.bounds[:-1, None] + np.arange(lengths.max(initial=0))
        found[np.arange(found.shape[1]) >= lengths[:, None]] = NOWHERE
        return found

    def months(self) -> Iterator[Month]:
        """The months that begin in the stretch, the running one last."""
        for place, day in enumerate(self.days):
            if day.day == 1:
                after = next_month(day)
                until = self.days.index(after) if after in self.days else len(self.days)
                slots = slice(int(self.bounds[place]), int(self.bounds[until]))
                yield Month(first=day, slots=slots, days=slice(place, until))

    def hours_of_week(self, slots: slice) -> Integers:
        """For each of the slots its hour of the week in the zone, from Monday 00:00."""
        moments = (self.start + place * SLOT for place in range(slots.start, slots.stop))
        return np.array([_hour_of_week(at.astimezone(self.zone)) for at in moments], dtype=np.int64)


def _hour_of_week(local: datetime) -> int:
    return local.weekday() * 24 + local.hour
