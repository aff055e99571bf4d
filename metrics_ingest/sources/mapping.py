"""Mappings of a source's records to samples: which IDC and line a record is about, and which metrics it holds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, Invalid
from idcsched.framework.messages import _
from metrics_ingest.collector import Record
from metrics_ingest.samples.checking import Sample
from metrics_ingest.samples.names import Names
from metrics_ingest.sources.counters import Counted, Reading
from metrics_ingest.sources.expressions import Reader, expression
from metrics_ingest.sources.value_rules import CompiledValue, Text, ValueRule, shortened

__all__ = ["Mapped", "Refused", "SourceMapping", "ValueRule", "compile_mapping"]

MAX_VALUES: Final = 100_000
"""How many values one run may bring."""
MILLISECONDS_FROM: Final = 1e11
"""Epoch times from here on, in seconds the year 5138, are taken for milliseconds."""
AMBIGUOUS: Final = FieldError(
    "/value", "ambiguous", _("the source gives several values for the same thing at the same time")
)


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
    """The result of mapping records; `unmatched` counts values by their names of IDC and line, one of them unknown.

    `readings` become samples by comparison with earlier ones: see `with_rates`.
    """

    samples: list[Sample] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    unmatched: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    @property
    def fetched(self) -> int:
        return len(self.samples) + len(self.readings) + len(self.refused) + self.unmatched.total()

    def with_rates(self, counted: Counted) -> "Mapped":
        """Return the same result with the readings' samples and refusals in place of the readings."""
        refused = [_refused_reading(reading, reason) for reading, reason in counted.refused]
        return Mapped(samples=self.samples + counted.samples, refused=self.refused + refused, unmatched=self.unmatched)


def compile_mapping(document: Mapping[str, Any]) -> "CompiledMapping":
    """Compile a mapping; raises Invalid with pointers into the mapping."""
    mapping = convert(document, SourceMapping, "/mapping")
    if bool(mapping.values) == (mapping.metric is not None):
        detail = _("give either `values`, or `metric` and `value`")
        raise Invalid("values_or_metric", detail, "/mapping/values")
    if (mapping.metric is None) != (mapping.value is None):
        raise Invalid("values_or_metric", _("`metric` and `value` belong together"), "/mapping/value")
    return CompiledMapping.of(mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledMapping:
    """A mapping with its expressions compiled."""

    said: SourceMapping
    idc: Reader
    line: Reader | None
    at: Reader | None
    where: Reader | None
    metric: Reader | None
    values: tuple[CompiledValue, ...]
    zone: ZoneInfo | None

    @classmethod
    def of(cls, mapping: SourceMapping) -> "CompiledMapping":
        readers = {
            name: None if text is None else expression(text, f"/mapping/{name}")
            for name in ("line", "at", "where", "metric")
            for text in [getattr(mapping, name)]
        }
        if mapping.value is not None:
            values = [CompiledValue.of("", mapping.value, "/mapping/value")]
        else:
            values = [
                CompiledValue.of(metric, rule, f"/mapping/values/{metric}") for metric, rule in mapping.values.items()
            ]
        idc = expression(mapping.idc, "/mapping/idc")
        return cls(said=mapping, idc=idc, values=tuple(values), zone=_zone(mapping.zone), **readers)

    def samples(self, records: Iterable[Record], names: Names, *, now: datetime) -> Mapped:
        """Map the records; raises Invalid `too_many` beyond `MAX_VALUES`."""
        mapped = Mapped()
        for record in records:
            self._map(record, names, now, mapped)
            if len(mapped.samples) + len(mapped.readings) + len(mapped.refused) > MAX_VALUES:
                raise Invalid("too_many", _("at most {limit} samples at once"), limit=MAX_VALUES)
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

    def _map_value(
        self, rule: CompiledValue, record: Record, subject: "_Subject", names: Names, mapped: Mapped
    ) -> None:
        metric, raw = rule.metric, None
        try:
            metric = self._metric(rule, record)
            raw = rule.read(record)
            if raw is None:
                return
            value = rule.number(raw) if rule.max_gap is None else rule.counters(raw)
        except Invalid as error:
            mapped.refused.append(
                Refused(idc=subject.idc, line=subject.line, metric=metric, value=shortened(raw), reason=error.errors[0])
            )
            return
        matched = names.match(subject.idc, subject.line, metric)
        if matched is None:
            mapped.unmatched[subject.idc, subject.line] += 1
        else:
            _add(mapped, rule, _Matched(*matched, metric, subject.at), value)

    def _subject(self, record: Record, now: datetime) -> "_Subject":
        idc = _name(self.idc(record))
        line = None if self.line is None else _name(self.line(record))
        at = now if self.at is None else self._time(self.at(record))
        return _Subject(self.said.idcs.get(idc, idc), line and self.said.lines.get(line, line), at)

    def _metric(self, rule: CompiledValue, record: Record) -> str:
        if self.metric is None:
            return rule.metric
        metric = _name(self.metric(record))
        return self.said.metrics.get(metric, metric)

    def _time(self, raw: Any) -> datetime:
        if isinstance(raw, str):
            raw = _parsed(raw)
        if isinstance(raw, datetime):
            if raw.tzinfo is not None:
                return raw
            if self.zone is None:
                raise Invalid("zone_required", _("a time needs its time zone"), "/at")
            return raw.replace(tzinfo=self.zone)
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            try:
                return datetime.fromtimestamp(raw / (1000 if abs(raw) >= MILLISECONDS_FROM else 1), UTC)
            except (ValueError, OverflowError, OSError):
                pass
        raise Invalid("not_a_time", _("this is no time: {found}"), "/at", found=shortened(raw))


@dataclass(frozen=True, slots=True)
class _Subject:
    """The IDC and line of a record, under the names that the mapping has translated them to, and its time."""

    idc: str
    line: str | None
    at: datetime


def _name(raw: Any) -> str:
    """Return a name as text, empty if there is none."""
    if raw is None or isinstance(raw, str):
        return (raw or "").strip()
    return str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else ""


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
        raise Invalid("unknown_zone", _("there is no time zone {name}"), "/mapping/zone", name=name) from None


class _Matched(NamedTuple):
    """The IDC, line and metric of a value, by their codes, and the time at which it was taken."""

    idc: str
    line: str | None
    metric: str
    at: datetime


def _add(mapped: Mapped, rule: CompiledValue, matched: _Matched, value: Any) -> None:
    if rule.max_gap is None:
        mapped.samples.append(Sample(**matched._asdict(), value=value))
    else:
        mapped.readings.append(
            Reading(**matched._asdict(), counters=value, scale=rule.scale, offset=rule.offset, max_gap=rule.max_gap)
        )


def _refused_reading(reading: Reading, reason: FieldError) -> Refused:
    value = shortened(", ".join(map(str, reading.counters)))
    return Refused(idc=reading.idc, line=reading.line, metric=reading.metric, value=value, reason=reason)


def _unambiguous(mapped: Mapped) -> Mapped:
    """Refuse different values of one subject at one time: the mapping leaves out what tells them apart."""
    values: dict[_Matched, set[Any]] = {}
    items: list[Sample | Reading] = [*mapped.samples, *mapped.readings]
    for item in items:
        values.setdefault(_key(item), set()).add(item.value if isinstance(item, Sample) else item.counters)
    if all(len(distinct) == 1 for distinct in values.values()):
        return mapped

    def is_clear(item: Sample | Reading) -> bool:
        return len(values[_key(item)]) == 1

    ambiguous = [Refused.of(sample, AMBIGUOUS) for sample in mapped.samples if not is_clear(sample)]
    ambiguous += [_refused_reading(reading, AMBIGUOUS) for reading in mapped.readings if not is_clear(reading)]
    return Mapped(
        samples=list(filter(is_clear, mapped.samples)),
        readings=list(filter(is_clear, mapped.readings)),
        refused=mapped.refused + ambiguous,
        unmatched=mapped.unmatched,
    )


def _key(item: Sample | Reading) -> _Matched:
    return _Matched(item.idc, item.line, item.metric, item.at)
