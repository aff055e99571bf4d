"""Rates of counters: how much a counter has grown per second since the previous reading.

No rate follows from a first reading, from one that is lower than the previous one (the device was restarted, or its
counter wrapped around), or from one after too long a gap. Such a reading is refused with its reason, and the next one
is compared with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import msgspec

from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from metrics_ingest.samples.checking import KEPT, MAX_AHEAD, Sample
from metrics_ingest.sources.value_rules import LONGEST_GAP, Number

__all__ = ["FIRST_READING", "Counted", "Held", "Reading", "Subject", "rates"]

Subject = tuple[str, str | None, str]
"""IDC, line and metric, by their codes."""

FIRST_READING: Final = "first_reading"
CLOSEST: Final = timedelta(seconds=1)
"""Two readings that are closer together give no rate: their times are not exact enough to divide by."""
FORGOTTEN: Final = timedelta(seconds=LONGEST_GAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The counters of one subject at one time; the fastest one's rate × scale + offset is stored."""

    idc: str
    line: str | None
    metric: str
    at: datetime
    counters: tuple[Number, ...]
    scale: float
    offset: float
    max_gap: timedelta

    @property
    def subject(self) -> Subject:
        return self.idc, self.line, self.metric

    def sample(self, rate: float, at: datetime) -> Sample:
        value = rate * self.scale + self.offset
        return Sample(idc=self.idc, line=self.line, metric=self.metric, value=value, at=at)


class Held(msgspec.Struct, frozen=True, array_like=True):
    """The last reading of a subject, and the rate that followed from it, for when the same reading comes again."""

    subject: Subject
    at: datetime
    counters: tuple[Number, ...]
    rate: float | None = None


@dataclass(slots=True)
class Counted:
    """The result of readings; `held` are those that the next readings are compared with."""

    held: dict[Subject, Held]
    samples: list[Sample] = field(default_factory=list)
    refused: list[tuple[Reading, FieldError]] = field(default_factory=list)


def rates(readings: Iterable[Reading], before: Mapping[Subject, Held], *, now: datetime) -> Counted:
    """Turn the readings, in the order of their times, into samples, each by comparison with the reading before it.

    A reading that comes twice gives the same sample twice. A subject without a reading for a day is forgotten.
    """
    counted = Counted({subject: held for subject, held in before.items() if held.at > now - FORGOTTEN})
    for reading in sorted(readings, key=lambda reading: reading.at):
        try:
            counted.samples.append(_sample(reading, counted.held, now))
        except Invalid as error:
            counted.refused.append((reading, error.errors[0]))
    return counted


def _sample(reading: Reading, held: dict[Subject, Held], now: datetime) -> Sample:
    """Return the sample that follows from the reading, and hold the reading for the next one; raises Invalid."""
    if reading.at > now + MAX_AHEAD:
        raise Invalid("in_the_future", _("this lies more than a minute in the future"), "/at")
    if reading.at < now - KEPT:
        raise Invalid("too_old", _("this is older than the 40 days that are kept"), "/at")
    before = held.get(reading.subject)
    if before is not None and reading.at - before.at < CLOSEST:
        return _repeated(reading, before)
    rate = None
    try:
        rate = _rate(reading, before)
    finally:
        held[reading.subject] = Held(reading.subject, reading.at, reading.counters, rate)
    return reading.sample(rate, reading.at)


def _rate(reading: Reading, before: Held | None) -> float:
    if before is None or len(before.counters) != len(reading.counters):
        raise _first_reading()
    gap = reading.at - before.at
    if gap > reading.max_gap:
        params = {"seconds": round(gap.total_seconds()), "limit": round(reading.max_gap.total_seconds())}
        detail = _("the reading before is {seconds} s older; more than {limit} s tell nothing about now")
        raise Invalid("counter_gap", detail, "/value", **params)
    return _fastest(before.counters, reading.counters) / gap.total_seconds()


def _fastest(before: Sequence[Number], after: Sequence[Number]) -> float:
    growth = [new - old for old, new in zip(before, after, strict=True)]
    if min(growth) < 0:
        place = growth.index(min(growth))
        detail = _("the counter went back, from {before} to {after}")
        raise Invalid("counter_reset", detail, "/value", before=before[place], after=after[place])
    return float(max(growth))


def _repeated(reading: Reading, before: Held) -> Sample:
    """Return the sample of a reading that repeats the one before; raises Invalid for one that is merely too early."""
    if reading.at < before.at:
        raise Invalid("out_of_order", _("a later reading has come before"), "/at")
    if reading.counters != before.counters:
        raise Invalid("too_soon", _("this comes less than a second after the reading before"), "/at")
    if before.rate is None:
        raise _first_reading()
    return reading.sample(before.rate, before.at)


def _first_reading() -> Invalid:
    return Invalid(FIRST_READING, _("a first reading: there is nothing to compare it with yet"), "/value")
