"""Counters → rates: how much a counter has grown a second since the reading before.

What is not known is not guessed. Of a first reading nothing follows; nor of one that is lower than the one before (the
device was restarted, or its counter ran over), nor of one that comes after a long silence. Each such reading is refused
with its reason, and the next one is compared with it.
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
"""Of two readings that are closer together the times are not exact enough to divide by."""
FORGOTTEN: Final = timedelta(seconds=LONGEST_GAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the counters of one thing said at one time; what is stored is the fastest one's rate × scale + offset."""

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
    """The last reading of a subject, and the rate that followed from it: so that the same one can come again."""

    subject: Subject
    at: datetime
    counters: tuple[Number, ...]
    rate: float | None = None


@dataclass(slots=True)
class Counted:
    """What became of readings; `held` are those that the next ones are compared with."""

    held: dict[Subject, Held]
    samples: list[Sample] = field(default_factory=list)
    refused: list[tuple[Reading, FieldError]] = field(default_factory=list)


def rates(readings: Iterable[Reading], before: Mapping[Subject, Held], *, now: datetime) -> Counted:
    """The samples that follow from the readings, in the order of their times, and from those before them.

    A reading that comes twice gives the same sample twice. What nobody has read for a day is forgotten.
    """
    kept = {subject: held for subject, held in before.items() if held.at > now - FORGOTTEN}
    counted = Counted(kept)
    for reading in sorted(readings, key=lambda each: each.at):
        try:
            counted.samples.append(_sample(reading, counted.held, now))
        except Invalid as error:
            counted.refused.append((reading, error.errors[0]))
    return counted


def _sample(reading: Reading, held: dict[Subject, Held], now: datetime) -> Sample:
    """What follows from the reading, which takes the place of the one before; raises Invalid."""
    if reading.at > now + MAX_AHEAD:
        raise Invalid("in_the_future", _("this lies more than a minute in the future"), "/at")
    if reading.at < now - KEPT:
        raise Invalid("too_old", _("this is older than the 40 days that are kept"), "/at")
    before = held.get(reading.subject)
    if before is not None and reading.at - before.at < CLOSEST:
        return _again(reading, before)
    rate = None
    try:
        rate = _rate(reading, before)
    finally:
        held[reading.subject] = Held(reading.subject, reading.at, reading.counters, rate)
    return reading.sample(rate, reading.at)


def _rate(reading: Reading, before: Held | None) -> float:
    if before is None or len(before.counters) != len(reading.counters):
        raise _first()
    apart = reading.at - before.at
    if apart > reading.max_gap:
        params = {"seconds": round(apart.total_seconds()), "limit": round(reading.max_gap.total_seconds())}
        detail = _("the reading before is {seconds} s older; more than {limit} s tell nothing about now")
        raise Invalid("counter_gap", detail, "/value", **params)
    return _fastest(before.counters, reading.counters) / apart.total_seconds()


def _fastest(before: Sequence[Number], after: Sequence[Number]) -> float:
    grown = [new - old for old, new in zip(before, after, strict=True)]
    if min(grown) < 0:
        place = grown.index(min(grown))
        detail = _("the counter went back, from {before} to {after}")
        raise Invalid("counter_reset", detail, "/value", before=before[place], after=after[place])
    return float(max(grown))


def _again(reading: Reading, before: Held) -> Sample:
    """One that is no later than the reading before: the same one once more, or of no use."""
    if reading.at < before.at:
        raise Invalid("out_of_order", _("a later reading has come before"), "/at")
    if reading.counters != before.counters:
        raise Invalid("too_soon", _("this comes less than a second after the reading before"), "/at")
    if before.rate is None:
        raise _first()
    return reading.sample(before.rate, before.at)


def _first() -> Invalid:
    return Invalid(FIRST_READING, _("a first reading: there is nothing to compare it with yet"), "/value")
