"""Five-minute slots: how a day of samples is cut up, and how days become one stretch of time."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "EMPTY_DAY",
    "HOURS_A_WEEK",
    "SLOT",
    "SLOTS_AN_HOUR",
    "SLOTS_A_DAY",
    "Values",
    "as_measured",
    "day_date",
    "day_number",
    "packed",
    "slot_floor",
    "slot_of_day",
    "slots_between",
    "stretch",
    "unpacked",
    "utc_midnight",
]

Values = npt.NDArray[np.float32]

SLOT: Final = timedelta(minutes=5)
SLOTS_AN_HOUR: Final = 12
SLOTS_A_DAY: Final = 288
HOURS_A_WEEK: Final = 168
STORED: Final = np.dtype("<f4")
FIRST_DAY: Final = date(1970, 1, 1).toordinal()
EMPTY_DAY: Final = np.full(SLOTS_A_DAY, np.nan, dtype=STORED).tobytes()


def utc_midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def day_number(day: date) -> int:
    """Return the number of the day, counted from 1970."""
    return day.toordinal() - FIRST_DAY


def day_date(number: int) -> date:
    return date.fromordinal(FIRST_DAY + number)


def slot_floor(at: datetime) -> datetime:
    """Return the start of the slot in which the moment lies, in UTC."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute - at.minute % 5, second=0, microsecond=0)


def slot_of_day(at: datetime) -> tuple[date, int]:
    """Return the UTC day of a moment, and the number of its slot within the day."""
    at = at.astimezone(UTC)
    return at.date(), at.hour * SLOTS_AN_HOUR + at.minute // 5


def slots_between(start: datetime, end: datetime) -> int:
    """Return how many whole slots lie between two moments."""
    return (end - start) // SLOT


def packed(values: Values) -> bytes:
    """Return the bytes that the database column holds for the values."""
    return values.astype(STORED, copy=False).tobytes()


def unpacked(column: bytes | memoryview) -> Values:
    """Return the values of a database column, as a read-only array."""
    return np.frombuffer(column, dtype=STORED)


def as_measured(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return float32 values as the shortest decimals that they stand for: 786.721, not 786.7210083007812.

    Values that float32 can't hold exactly, such as means, stay as they are.
    """
    single = values.astype(np.float32)
    return np.where(single == values, single.astype(str).astype(np.float64), values.astype(np.float64))


def stretch(days: Iterable[tuple[date, bytes | memoryview]], first: date, count: int) -> Values:
    """Return days of samples as one array of `count` days from `first` on; NaN where there are none."""
    values = np.full((count, SLOTS_A_DAY), np.nan, dtype=np.float32)
    for day, column in days:
        index = (day - first).days
        if 0 <= index < count:
            values[index] = unpacked(column)
    return values.reshape(-1)
