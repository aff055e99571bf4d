"""From a source's records to samples: which IDC and line a record is about, and which metrics it holds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, Invalid

from .checking import Sample
from .collector import Record
from .expressions import Reader, expression
from .names import Names

__all__ = ["Mapped", "Refused", "SourceMapping", "ValueRule", "compile_mapping"]

MAX_VALUES: Final = 100_000
"""How many values one run may bring."""
MILLISECONDS_FROM: Final = 1e11
"""Epoch times beyond this, the year 5138 in seconds, are meant in milliseconds."""
SHOWN: Final = 100

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class ValueRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a metric's value stands; stored is value × scale + offset."""

    value: Text
    scale: float = 1.0
    offset: float = 0.0


class SourceMapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Expressions are JMESPath over one record.

    Either `values` names the metrics that each record holds, or each record holds one `value` of the metric that
    `metric` finds. `idcs`, `lines` and `metrics` translate the source's names into ours; what they don't list is taken
    as it is. Times without a zone are meant in `zone`.
    """

    idc: Text
    line: Text | None = None
    at: Text | None = None
    where: Text | None = None
    values: Annotated[dict[str, Text | ValueRule], msgspec.Meta(max_length=100)] = {}
    metric: Text | None = None
    value: Text | ValueRule | None = None
    idcs: dict[str, str] = {}
    lines: dict[str, str] = {}
    metrics: dict[str, str] = {}
    zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A value that can't be stored, as the source named it, and why not."""

    idc: str
    line: str | None
    metric: str | None
    value: Any
    reason: FieldError

    @classmethod
    def of(cls, sample: Sample, reason: FieldError) -> "Refused":
        return cls(idc=sample.idc, line=sample.line, metric=sample.metric, value=sample.value, reason=reason)


@dataclass(slots=True)
class Mapped:
    """What became of the records. `unmatched` counts values by the IDC and line that they named and nobody knows."""

    samples: list[Sample] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    unmatched: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    @property
    def fetched(self) -> int:
        return len(self.samples) + len(self.refused) + self.unmatched.total()


def compile_mapping(document: Mapping[str, Any]) -> "CompiledMapping":
    """Raises Invalid with pointers into the mapping."""
    said = convert(document, SourceMapping, "/mapping")
    if bool(said.values) == (said.metric is not None):
        detail = "give either `values`, or `metric` and `value`"
        raise Invalid("values_or_metric", detail, "/mapping/values")
    if (said.metric is None) != (said.value is None):
        raise Invalid("values_or_metric", "`metric` and `value` belong together", "/mapping/value")
    return CompiledMapping.of(said)


@dataclass(frozen=True, slots=True)
class _Value:
    """How one metric's value is read."""

    metric: str
    read: Reader
    scale: float
    offset: float

    @classmethod
    def of(cls, metric: str, rule: str | ValueRule, pointer: str) -> "_Value":
        said = ValueRule(value=rule) if isinstance(rule, str) else rule
        inside = pointer if isinstance(rule, str) else f"{pointer}/value"
        return cls(metric, expression(said.value, inside), said.scale, said.offset)

    def number(self, found: Any) -> float:
        """Raises Invalid for what is no number."""
        if isinstance(found, bool) or not isinstance(found, int | float | str):
            raise Invalid("not_a_number", "this is no number: {found}", "/value", found=_short(found))
        try:
            return float(found) * self.scale + self.offset
        except (ValueError, OverflowError):
            raise Invalid("not_a_number", "this is no number: {found}", "/value", found=_short(found)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledMapping:
    """A mapping, ready for use."""

    said: SourceMapping
    idc: Reader
    line: Reader | None
    at: Reader | None
    where: Reader | None
    metric: Reader | None
    values: tuple[_Value, ...]
    zone: ZoneInfo | None

    @classmethod
    def of(cls, said: SourceMapping) -> "CompiledMapping":
        readers = {
            name: None if text is None else expression(text, f"/mapping/{name}")
            for name in ("line", "at", "where", "metric")
            for text in [getattr(said, name)]
        }
        if said.value is not None:
            values = [_Value.of("", said.value, "/mapping/value")]
        else:
            values = [_Value.of(metric, rule, f"/mapping/values/{metric}") for metric, rule in said.values.items()]
        idc = expression(said.idc, "/mapping/idc")
        return cls(said=said, idc=idc, values=tuple(values), zone=_zone(said.zone), **readers)

    def samples(self, records: Iterable[Record], names: Names, *, now: datetime) -> Mapped:
        """What the records hold; raises Invalid `too_many` beyond `MAX_VALUES`."""
        mapped = Mapped()
        for record in records:
            self._map(record, names, now, mapped)
            if len(mapped.samples) + len(mapped.refused) > MAX_VALUES:
                raise Invalid("too_many", "at most {limit} samples at once", limit=MAX_VALUES)
        return _unambiguous(mapped)

    def _map(self, record: Record, names: Names, now: datetime, mapped: Mapped) -> None:
        try:
            if self.where is not None and not self.where(record):
                return
            subject = self._subject(record, now)
        except Invalid as error:
            mapped.refused.append(Refused(idc="", line=None, metric=None, value=None, reason=error.errors[0]))
            return
        for rule in self.values:
            self._map_value(rule, record, subject, names, mapped)

    def _map_value(self, rule: _Value, record: Record, subject: "_Subject", names: Names, mapped: Mapped) -> None:
        metric, found = rule.metric, None
        try:
            metric = self._metric(rule, record)
            found = rule.read(record)
            if found is None:
                return
            value = rule.number(found)
        except Invalid as error:
            mapped.refused.append(
                Refused(idc=subject.idc, line=subject.line, metric=metric, value=_short(found), reason=error.errors[0])
            )
            return
        matched = names.match(subject.idc, subject.line, metric)
        if matched is None:
            mapped.unmatched[subject.idc, subject.line] += 1
        else:
            idc, line = matched
            mapped.samples.append(Sample(idc=idc, line=line, metric=metric, value=value, at=subject.at))

    def _subject(self, record: Record, now: datetime) -> "_Subject":
        idc = _name(self.idc(record))
        line = None if self.line is None else _name(self.line(record))
        at = now if self.at is None else self._time(self.at(record))
        return _Subject(self.said.idcs.get(idc, idc), line and self.said.lines.get(line, line), at)

    def _metric(self, rule: _Value, record: Record) -> str:
        if self.metric is None:
            return rule.metric
        metric = _name(self.metric(record))
        return self.said.metrics.get(metric, metric)

    def _time(self, found: Any) -> datetime:
        if isinstance(found, str):
            found = _parsed(found)
        if isinstance(found, datetime):
            if found.tzinfo is not None:
                return found
            if self.zone is None:
                raise Invalid("zone_required", "a time needs its time zone", "/at")
            return found.replace(tzinfo=self.zone)
        if isinstance(found, int | float) and not isinstance(found, bool):
            try:
                return datetime.fromtimestamp(found / (1000 if abs(found) >= MILLISECONDS_FROM else 1), UTC)
            except (ValueError, OverflowError, OSError):
                pass
        raise Invalid("not_a_time", "this is no time: {found}", "/at", found=_short(found))


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a record is about, under the names that the mapping has made of the source's, and of when it tells."""

    idc: str
    line: str | None
    at: datetime


def _name(found: Any) -> str:
    """A name, as text; nothing at all is the empty one."""
    if found is None or isinstance(found, str):
        return (found or "").strip()
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else ""


def _parsed(text: str) -> datetime | float | str:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return text


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid("unknown_zone", "there is no time zone {name}", "/mapping/zone", name=name) from None


def _short(found: Any) -> str:
    text = str(found)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _unambiguous(mapped: Mapped) -> Mapped:
    """Two different values of one thing at one time: the mapping leaves out what tells them apart, so neither holds."""
    values: dict[tuple[str, str, str | None, datetime], set[float]] = {}
    for sample in mapped.samples:
        values.setdefault(_key(sample), set()).add(sample.value)
    if all(len(found) == 1 for found in values.values()):
        return mapped
    return Mapped(
        samples=[sample for sample in mapped.samples if len(values[_key(sample)]) == 1],
        refused=mapped.refused + list(_ambiguous(sample for sample in mapped.samples if len(values[_key(sample)]) > 1)),
        unmatched=mapped.unmatched,
    )


def _key(sample: Sample) -> tuple[str, str, str | None, datetime]:
    return sample.metric, sample.idc, sample.line, sample.at


def _ambiguous(samples: Iterable[Sample]) -> Iterator[Refused]:
    detail = "the source gives several values for the same thing at the same time"
    for sample in samples:
        yield Refused.of(sample, FieldError("/value", "ambiguous", detail))
