"""A batch of values as sorted columns, and its runs of consecutive slots.

The subject of a value is its metric together with a line, or, where the metric is about IDCs, with an IDC; all are
primary keys, and line 0 stands for the IDC as a whole. Times are whole microseconds since 1970, UTC. A run is the
values of consecutive slots of one subject's UTC day, which are written in one piece (`models.Run`, a run of a source,
is something else).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from metrics_ingest.samples.slots import SLOT, SLOTS_A_DAY, STORED

__all__ = [
    "SLOT_MICROSECONDS",
    "Batch",
    "Days",
    "Flags",
    "Floats",
    "Integers",
    "Runs",
    "microseconds",
    "moment",
    "slots_since_1970",
]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Days = tuple[Integers, Integers, npt.NDArray[np.float32]]
"""The line, the day counted from 1970, and the 288 values of each stored day."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
SLOT_MICROSECONDS: Final = SLOT // MICROSECOND


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def moment(at: int) -> datetime:
    return EPOCH + at * MICROSECOND


def slots_since_1970(at: Integers) -> Integers:
    slots: Integers = at // SLOT_MICROSECONDS
    return slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Runs as columns, with one element per run, and all their values.

    `day` counts from 1970; `slot` is a run's first slot within the day. The values of run r are
    `values[start[r] : start[r] + length[r]]`, as they are stored. `turn` numbers the runs of one subject's day from 0.
    """

    metric: Integers
    idc: Integers
    line: Integers
    day: Integers
    slot: Integers
    turn: Integers
    start: Integers
    length: Integers
    values: npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Values as columns, in the order in which all writers write: by subject, and for each subject oldest first."""

    metric: Integers
    idc: Integers
    line: Integers
    at: Integers
    value: Floats

    @classmethod
    def of(cls, *, metric: Integers, idc: Integers, line: Integers, at: Integers, value: Floats) -> Self:
        """Sort the columns; of values of the same subject and time, the one given last stays last."""
        order = np.lexsort((at, line, idc, metric))
        return cls(metric=metric[order], idc=idc[order], line=line[order], at=at[order], value=value[order])

    def __len__(self) -> int:
        return len(self.at)

    @cached_property
    def slot(self) -> Integers:
        """The slot of each value, counted from 1970."""
        return slots_since_1970(self.at)

    @cached_property
    def subject(self) -> Integers:
        """The number of each value's subject; subjects are numbered from 0 in the order of the batch."""
        changes = np.zeros(len(self), dtype=bool)
        for column in (self.metric, self.idc, self.line):
            changes[1:] |= column[1:] != column[:-1]
        return np.cumsum(changes)

    def taken(self, rows: Any) -> "Batch":
        return Batch(
            metric=self.metric[rows],
            idc=self.idc[rows],
            line=self.line[rows],
            at=self.at[rows],
            value=self.value[rows],
        )

    def newest(self) -> "Batch":
        """Return the last value of each subject."""
        return self.taken(_ends(self.subject))

    def runs(self) -> Runs:
        """Return the runs that the values form; of several values in a slot, the last one counts."""
        last = self.taken(_ends(self.subject, self.slot))
        day, slot_of_day = np.divmod(last.slot, SLOTS_A_DAY)
        begins = np.ones(len(last), dtype=bool)
        begins[1:] = (np.diff(last.subject) != 0) | (np.diff(day) != 0) | (np.diff(last.slot) != 1)
        start = np.flatnonzero(begins)
        return Runs(
            metric=last.metric[start],
            idc=last.idc[start],
            line=last.line[start],
            day=day[start],
            slot=slot_of_day[start],
            turn=_turns(last.subject[start], day[start]),
            start=start,
            length=np.diff(start, append=len(last)),
            values=last.value.astype(STORED),
        )


def _ends(*columns: Integers) -> Integers:
    """Return the indexes of the last element of each stretch over which no column changes."""
    ends = np.ones(len(columns[0]), dtype=bool)
    ends[:-1] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(ends)


def _turns(subject: Integers, day: Integers) -> Integers:
    """Number the runs of each subject's day from 0; there is one element per run."""
    numbers = np.arange(len(subject))
    first = np.ones(len(subject), dtype=bool)
    first[1:] = (np.diff(subject) != 0) | (np.diff(day) != 0)
    turns: Integers = numbers - np.maximum.accumulate(np.where(first, numbers, 0))
    return turns
