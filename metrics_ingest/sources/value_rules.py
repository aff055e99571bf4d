"""How a metric's value is read from a record: where it stands, whether it is a counter, and in which unit."""

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
    """A rule, ready for use. `max_gap` is there for counters alone."""

    metric: str
    pointer: str
    read: Reader
    scale: float
    offset: float
    max_gap: timedelta | None

    @classmethod
    def of(cls, metric: str, rule: str | ValueRule, pointer: str) -> "CompiledValue":
        """Raises Invalid at `pointer`, or below it."""
        said = ValueRule(value=rule) if isinstance(rule, str) else rule
        inside = pointer if isinstance(rule, str) else f"{pointer}/value"
        if said.max_gap_seconds is not None and not said.counter:
            raise Invalid("not_a_counter", _("this is for counters alone"), f"{pointer}/max_gap_seconds")
        gap = timedelta(seconds=said.max_gap_seconds or GAP_SECONDS) if said.counter else None
        return cls(metric, pointer, expression(said.value, inside), said.scale, said.offset, gap)

    def number(self, found: Any) -> float:
        """What is stored for that value; raises Invalid for what is no number."""
        try:
            return float(_number(found)) * self.scale + self.offset
        except OverflowError:
            raise _no_number(found) from None

    def counters(self, found: Any) -> tuple[Number, ...]:
        """The counters' readings, exactly; raises Invalid for what is none."""
        return tuple(map(_counter, found if isinstance(found, list) else [found]))


def shortened(found: Any) -> str:
    """What a source said, fit to be shown."""
    text = str(found)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _number(found: Any) -> Number:
    """As exact as it was said: a counter of 64 bits has more digits than a float holds."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return found
    if not isinstance(found, str):
        raise _no_number(found)
    for kind in (int, float):
        try:
            return kind(found)
        except ValueError:
            continue
    raise _no_number(found)


def _counter(found: Any) -> Number:
    value = _number(found)
    if not 0 <= value <= LARGEST_COUNTER:  # nor NaN
        raise Invalid("not_a_counter", _("this is no counter: {found}"), "/value", found=shortened(found))
    return value


def _no_number(found: Any) -> Invalid:
    return Invalid("not_a_number", _("this is no number: {found}"), "/value", found=shortened(found))
