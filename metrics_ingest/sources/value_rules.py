"""Rules by which a metric's value is read from a record: its place, whether it is a counter, and its unit."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final

import msgspec

from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from metrics_ingest.sources.expressions import Reader, expression

__all__ = ["LONGEST_GAP", "CompiledValue", "Number", "Text", "ValueRule", "shortened"]

SHOWN: Final = 100
GAP_SECONDS: Final = 900
LONGEST_GAP: Final = 86_400
LARGEST_COUNTER: Final = 2**64 - 1

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Number = int | float


class ValueRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a metric's value stands; stored is value × scale + offset.

    A `counter` only grows: its value is what it has grown by a second since the reading before. Of a list of counters,
    such as `[in, out]`, the one that grows fastest counts. Readings further apart than `max_gap_seconds` (900) tell
    nothing about now.
    """

    value: Text
    scale: float = 1.0
    offset: float = 0.0
    counter: bool = False
    max_gap_seconds: Annotated[int, msgspec.Meta(ge=5, le=LONGEST_GAP)] | None = None


@dataclass(frozen=True, slots=True)
class CompiledValue:
    """A rule with its expression compiled; `max_gap` is None unless the rule is about counters."""

    metric: str
    pointer: str
    read: Reader
    scale: float
    offset: float
    max_gap: timedelta | None

    @classmethod
    def of(cls, metric: str, rule: str | ValueRule, pointer: str) -> "CompiledValue":
        """Compile a rule; raises Invalid at `pointer`, or below it."""
        full = ValueRule(value=rule) if isinstance(rule, str) else rule
        inside = pointer if isinstance(rule, str) else f"{pointer}/value"
        if full.max_gap_seconds is not None and not full.counter:
            raise Invalid("not_a_counter", _("this is for counters alone"), f"{pointer}/max_gap_seconds")
        gap = timedelta(seconds=full.max_gap_seconds or GAP_SECONDS) if full.counter else None
        return cls(metric, pointer, expression(full.value, inside), full.scale, full.offset, gap)

    def number(self, raw: Any) -> float:
        """Return the value to be stored for a raw one; raises Invalid where that is no number."""
        try:
            return float(_number(raw)) * self.scale + self.offset
        except OverflowError:
            raise _no_number(raw) from None

    def counters(self, raw: Any) -> tuple[Number, ...]:
        """Return a raw value's counters, exactly; raises Invalid where one is no counter."""
        return tuple(map(_counter, raw if isinstance(raw, list) else [raw]))


def shortened(raw: Any) -> str:
    """Return a source's value as text that is short enough to be shown."""
    text = str(raw)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _number(raw: Any) -> Number:
    """Return the number as exactly as the source gave it: a 64-bit counter has more digits than a float holds."""
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return raw
    if not isinstance(raw, str):
        raise _no_number(raw)
    for kind in (int, float):
        try:
            return kind(raw)
        except ValueError:
            continue
    raise _no_number(raw)


def _counter(raw: Any) -> Number:
    value = _number(raw)
    if not 0 <= value <= LARGEST_COUNTER:  # nor NaN
        raise Invalid("not_a_counter", _("this is no counter: {found}"), "/value", found=shortened(raw))
    return value


def _no_number(raw: Any) -> Invalid:
    return Invalid("not_a_number", _("this is no number: {found}"), "/value", found=shortened(raw))
