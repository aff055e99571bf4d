"""What is known at one moment: immutable columns over IDCs and lines.

Rows are IDCs, sorted by region in pre-order, so that a region with its sub-regions is one slice. Lines
are sorted by IDC, then code; those of row r are `lines.first[r]:lines.first[r + 1]`. Nothing here
changes once built; what is derived on demand is kept in `derived`, where recomputing gives the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import takewhile
from typing import Any, TypeVar

import msgspec
import numpy as np

from .capacity import Usage
from .facts import AffinityFact, HeadcountFact, Ints, MetricFact, RegionFact
from .labels import LabelColumn, Mask, Rows, rows_matching
from .matching import FACT_PREFIX, Term
from .memory import Moment, moment_of
from .normalize import Floats

__all__ = ["HOURS_A_WEEK", "Idcs", "Lines", "MetricColumn", "Reading", "Snapshot", "Span", "Taints", "sealed"]

T = TypeVar("T")
Span = tuple[int, int]
HOURS_A_WEEK = 168


def sealed(value: T) -> T:
    """The same value, its arrays read-only: an array, a tuple or mapping of arrays, or a dataclass or struct of such.

    Who writes into what all share then fails instead of bending somebody else's decision.
    """
    kind: Any = type(value)
    if kind is np.ndarray:
        value.flags.writeable = False  # type: ignore[attr-defined]
        return value
    names = _parts_of(kind)
    if names is None:
        parts: Any = value.values() if isinstance(value, Mapping) else value
        for array in takewhile(lambda part: isinstance(part, np.ndarray), parts):
            sealed(array)
        return value
    for name in names:
        sealed(getattr(value, name))
    return value


@cache
def _parts_of(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass or struct; None: a tuple or mapping; anything else has no parts."""
    if issubclass(kind, tuple | Mapping):
        return None
    if issubclass(kind, msgspec.Struct):
        names: tuple[str, ...] = kind.__struct_fields__
        return names
    return tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Idcs:
    """One entry a row. NaN in `stock`: unlimited; `left` is what is not taken of it, infinite where it is unlimited."""

    codes: tuple[str, ...]
    names: tuple[str, ...]
    regions: tuple[str, ...]
    tiers: tuple[str, ...]
    statuses: tuple[str, ...]
    partitions: tuple[str, ...]
    providers: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]
    online: Mask
    latitude: Floats
    longitude: Floats
    cos_latitude: Floats
    stock: Mapping[str, Floats]
    taken: Mapping[str, Floats]
    left: Mapping[str, Floats]
    hashes: np.ndarray[Any, np.dtype[np.uint64]]
    row_of: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """One entry a line. `used`, `load` (with what is pending) and `room` are NaN where the line's bandwidth was never
    seen, `price` (per billed Mbps and month) where none is known. `paid` are the Mbps that are paid for whether they
    flow or not; all of what flows on a `flat_rate` line is, and of what flows on a line billed by `daily` peaks
    nothing; `special`: there are such lines. `busy_bits` are the busiest hours of each line, an hour a bit.
    """

    first: Rows
    idc: Rows
    codes: tuple[str, ...]
    isps: tuple[str, ...]
    charge_types: tuple[str, ...]
    purchased: Floats
    commit: Floats
    max_level: Floats
    price_per_mbps: Floats
    price_per_gb: Floats
    price: Floats
    paid: Floats
    all_priced: bool
    all_purchased: bool
    special: bool
    flat_rate: Mask
    daily: Mask
    percentile: Floats
    pending: Floats
    ordered: Floats
    used: Floats
    load: Floats
    room: Floats
    busy_bits: np.ndarray[Any, np.dtype[np.uint8]]

    @property
    def busiest(self) -> Mask:
        """Each line's busiest hours of the week (none: no history)."""
        return hours_of(self.busy_bits)

    def busiest_of(self, lines: Rows) -> Mask:
        """The same of some lines."""
        return hours_of(self.busy_bits[lines])


def hours_of(bits: np.ndarray[Any, np.dtype[np.uint8]]) -> Mask:
    """Hours of the week, a row a line, that were packed an hour a bit."""
    return np.unpackbits(bits, axis=1, count=HOURS_A_WEEK).view(np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taints:
    """One entry a taint; `kinds` are the distinct (key, value, effect), `kind` says which one an entry is."""

    idc: Rows
    kind: Ints
    kinds: tuple[tuple[str, str, str], ...]
    starts: Floats
    ends: Floats

    def in_force(self, now: float) -> Mask:
        return (self.starts <= now) & (now < self.ends)

    def on(self, row: int, effect: str, now: float) -> list[tuple[str, str]]:
        """Key and value of each of that effect that is in force there, in order."""
        kinds = (self.kinds[kind] for kind in self.kind[(self.idc == row) & self.in_force(now)].tolist())
        return sorted((key, value) for key, value, kind_of in kinds if kind_of == effect)


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """The latest value of one metric for every IDC or line, with its time; NaN where there is none.

    No value is older than `oldest`. `complete`: there is one everywhere.
    """

    fact: MetricFact
    values: Floats
    at: Floats
    oldest: float
    complete: bool

    @classmethod
    def of(cls, fact: MetricFact, values: Floats, at: Floats) -> "MetricColumn":
        complete = not bool(np.isnan(values).any() or np.isnan(at).any())
        return cls(fact, values, at, float(np.fmin.reduce(at, initial=np.inf)), complete)

    def all_fresh(self, now: float) -> bool:
        """Whether every value is there and not older than the metric's max_age; False: it is not known of all."""
        return self.complete and (self.fact.max_age is None or self.oldest >= now - self.fact.max_age)

    def stale_from(self, now: float) -> float:
        """When the first of the values that are fresh now will not be any more."""
        if self.fact.max_age is None:
            return np.inf
        since = now - self.fact.max_age
        oldest = self.oldest if self.oldest >= since else np.where(self.at >= since, self.at, np.inf).min()
        return float(oldest) + self.fact.max_age


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as read for some rows: values, when they were taken, and which are fresh enough to be known.

    A stale value stands in `values` all the same, for `on_missing: last`; NaN: there is none at all.
    `lines` names, where a value is a line's, the line. Without `at` a line's value is as old as the line's sample of
    the metric, and any other has no age.
    """

    metric: str
    values: Floats
    known: Mask
    at: Floats | None = None
    lines: Rows | None = None

    def with_values(self, values: Floats) -> "Reading":
        return msgspec.structs.replace(self, values=values)

    def take(self, positions: Rows) -> "Reading":
        return Reading(
            metric=self.metric,
            values=self.values[positions],
            known=self.known[positions],
            at=None if self.at is None else self.at[positions],
            lines=None if self.lines is None else self.lines[positions],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One consistent picture; every decision is made on exactly one."""

    id: str
    built_at: float
    idcs: Idcs
    lines: Lines
    taints: Taints
    affinities: tuple[AffinityFact, ...]
    metrics: Mapping[str, MetricColumn]
    regions: Mapping[str, RegionFact]
    spans: Mapping[str, Span]
    isps: Mapping[str, str]
    facts: Mapping[str, LabelColumn]
    planes_by_isp: Mapping[str | None, tuple[Rows, ...]]
    headcounts: tuple[HeadcountFact, ...]
    usage: Usage
    currency: str
    dearest_price: float
    """The highest monthly price of a Mbps in the inventory; 0 where nobody has one."""
    derived: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        return len(self.idcs.codes)

    @property
    def numbers(self) -> Rows:
        """The number of every row."""
        return self.derive("numbers", lambda: np.arange(self.size, dtype=np.intp))

    def moment(self, now: float) -> Moment:
        """The stretch of time around `now` in which nothing that is known changes."""
        found: Moment | None = self.derived.get("moment")
        if found is None or not found.covers(now):
            found = self.derived["moment"] = moment_of(now, self.metrics, self.taints, self.affinities, rows=self.size)
        return found

    def derive(self, key: Any, compute: Callable[[], T]) -> T:
        """What `compute` gives, kept with the snapshot; the key must name all that it depends on."""
        try:
            return self.derived[key]  # type: ignore[no-any-return]
        except KeyError:
            value = self.derived[key] = sealed(compute())
            return value

    def lineage(self, region: str) -> tuple[str, ...]:
        """The region and its ancestors, nearest first."""
        found = []
        here: str | None = region
        while here is not None:
            found.append(here)
            here = self.regions[here].parent
        return tuple(found)

    def label(self, key: str) -> LabelColumn:
        """A label, or an `idc/…` fact, over all rows."""
        found = self.facts.get(key)
        return self.derive(("label", key), lambda: LabelColumn.of(self._label_values(key))) if found is None else found

    def _label_values(self, key: str) -> list[Any]:
        if key == "idc/code":
            return list(self.idcs.codes)
        if key.startswith(FACT_PREFIX):
            return [None] * self.size
        return [labels.get(key) for labels in self.idcs.labels]

    def matching(self, terms: tuple[Term, ...]) -> Mask:
        """The rows that one of the terms matches."""
        return rows_matching(terms, self.label, self.size)

    def planes(self, isp: str | None) -> tuple[Rows, ...]:
        """The lines of one ISP (None: of all) as dense columns over rows: the k-th plane holds each row's
        k-th such line by code, or −1."""
        return self.planes_by_isp.get(isp, ())
