"""The snapshot: all facts of one moment as immutable columns over IDCs and lines.

Rows are IDCs, sorted by region in pre-order, so that a region with its sub-regions is one slice. Lines are sorted by
IDC, then code; those of row r are `lines.first[r]:lines.first[r + 1]`. Nothing here changes once built. The parts are
split by what changes them, so that a refreshed snapshot shares the unchanged parts and their memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import msgspec
import numpy as np

from .capacity import Usage
from .columns import HOURS_A_WEEK, HoursOfWeek, IdcColumns, LineColumns
from .facts import AffinityFact, HeadcountFact, History, Ints, MetricFact, RegionFact, ShapeFact
from .labels import LabelColumn, Mask, Rows, rows_matching
from .matching import FACT_PREFIX, Term
from .memory import Memory
from .normalize import Floats

__all__ = [
    "Headcounts",
    "Idcs",
    "Lines",
    "MetricColumn",
    "Reading",
    "Snapshot",
    "Span",
    "Stock",
    "Taints",
    "fresh",
]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idcs(IdcColumns):
    """The inventory, one entry a row. `facts` are the label columns of the `idc/…` facts but for the code."""

    hashes: np.ndarray[Any, np.dtype[np.uint64]]
    row_of: Mapping[str, int]
    facts: Mapping[str, LabelColumn]
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

    def label(self, key: str) -> LabelColumn:
        """Return the column of a label, or of an `idc/…` fact, over all rows."""
        fact = self.facts.get(key)
        return self.memory.once(("label", key), lambda: self._label(key)) if fact is None else fact

    def _label(self, key: str) -> LabelColumn:
        if key == "idc/code":
            return LabelColumn.of(self.codes)
        if key.startswith(FACT_PREFIX):
            return LabelColumn.of([None] * len(self.codes))
        return LabelColumn.of([labels.get(key) for labels in self.labels])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """Each resource, one entry a row: in all (NaN: unlimited), taken, and left (infinite where unlimited)."""

    total: Mapping[str, Floats]
    taken: Mapping[str, Floats]
    left: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(LineColumns):
    """The lines, and what is worked out of their columns; `max_level` is known of each.

    `used`, `load` (with what is pending) and `room` are NaN where the line's bandwidth was never measured, `price` (per
    billed Mbps and month) where none is known. `paid` are the Mbps that are paid for whether used or not; on a
    `flat_rate` line all traffic is paid for. `price_of_next_mbps` is what one more Mbps in the busiest hours would
    count as; NaN where price or load is not known.
    """

    first: Rows
    price: Floats
    paid: Floats
    flat_rate: Mask
    by_volume: Mask
    used: Floats
    load: Floats
    room: Floats
    price_of_next_mbps: Floats

    @property
    def busiest(self) -> Mask:
        """Each line's busiest hours of the week (none: no history)."""
        return hours_of(self.busy_bits)

    def of_idc(self, row: int) -> range:
        """Return the numbers of the IDC's lines."""
        return range(self.first.item(row), self.first.item(row + 1))

    def codes_of(self, row: int) -> tuple[str, ...]:
        """Return the codes of the IDC's lines."""
        return self.codes[self.first.item(row) : self.first.item(row + 1)]

    def number(self, row: int, code: str) -> int:
        """Return the number of the IDC's line of that code; raises ValueError where the IDC has none."""
        return self.codes.index(code, self.first.item(row), self.first.item(row + 1))

    def busiest_of(self, lines: Rows) -> Mask:
        """Return the busiest hours of the week of some lines."""
        return hours_of(self.busy_bits[lines])


def hours_of(bits: HoursOfWeek) -> Mask:
    """Unpack the hours of the week, an hour a bit, into one row a line."""
    return np.unpackbits(bits, axis=1, count=HOURS_A_WEEK).view(np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taints:
    """One entry a taint; `kinds` are the distinct (key, value, effect), `kind` is an entry's index into them."""

    idc: Rows
    kind: Ints
    kinds: tuple[tuple[str, str, str], ...]
    starts: Floats
    ends: Floats
    reasons: tuple[str, ...] = ()

    def in_force(self, now: float) -> Mask:
        return (self.starts <= now) & (now < self.ends)

    def on(self, row: int, effect: str, now: float) -> list[tuple[str, str]]:
        """Return key and value of the row's taints of that effect that are in force, sorted."""
        kinds = (self.kinds[kind] for kind in self.kind[(self.idc == row) & self.in_force(now)].tolist())
        return sorted((key, value) for key, value, kind_of in kinds if kind_of == effect)


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """The latest value of one metric for every IDC or line, with its time; NaN where there is none."""

    fact: MetricFact
    values: Floats
    at: Floats


def fresh(fact: MetricFact, values: Floats, at: Floats, now: float) -> Mask:
    """Return which values are there and not older than the metric's max_age."""
    return ~np.isnan(values) if fact.max_age is None else at >= now - fact.max_age


@dataclass(frozen=True, slots=True)
class Headcounts:
    """How many machines stand where, and whose."""

    facts: tuple[HeadcountFact, ...]
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as read for some rows: values, when they were taken, and which are fresh enough to be known.

    `values` holds stale values too, for `on_missing: last`; NaN: there is no value at all. `lines` are, for a metric of
    lines, those of the values. Without `at` a value has no age.
    """

    metric: str
    values: Floats
    known: Mask
    at: Floats | None = None
    lines: Rows | None = None

    @property
    def complete(self) -> bool:
        """Whether all values are known."""
        return bool(np.count_nonzero(self.known) == self.known.size)

    @classmethod
    def derived(cls, values: Floats, *readings: "Reading") -> "Reading":
        """Return values that were calculated from these readings: known where all of them are, as old as the oldest.

        It goes by the name of the metric that is known of the fewest rows.
        """
        times = [reading.at for reading in readings if reading.at is not None]
        return cls(
            metric=min(readings, key=lambda reading: int(np.count_nonzero(reading.known))).metric,
            values=values,
            known=reduce(np.logical_and, [reading.known for reading in readings]),
            at=reduce(np.minimum, times) if times else None,
        )

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Snapshot:
    """All facts of one moment, consistent with each other; every decision is made on exactly one snapshot."""

    id: str
    built_at: float
    idcs: Idcs
    stock: Stock
    lines: Lines
    taints: Taints
    affinities: tuple[AffinityFact, ...]
    metrics: Mapping[str, MetricColumn]
    regions: Mapping[str, RegionFact]
    spans: Mapping[str, Span]
    isps: Mapping[str, str]
    planes_by_isp: Mapping[str | None, tuple[Rows, ...]]
    headcounts: Headcounts
    shapes: Mapping[tuple[str, str], ShapeFact]
    """What is known of the traffic of each (tenant, business)."""
    history: History | None
    """What each line carried in the last 30 days; None: that is not loaded."""
    usage: Usage
    currency: str
    dearest_price: float
    """The monthly price of a Mbps at which `billing_cost` gives 0 points, unless a profile says otherwise."""

    @property
    def size(self) -> int:
        return len(self.idcs.codes)

    def lineage(self, region: str) -> tuple[str, ...]:
        """Return the region and its ancestors, nearest first."""
        codes = []
        code: str | None = region
        while code is not None:
            codes.append(code)
            code = self.regions[code].parent
        return tuple(codes)

    def matching(self, terms: tuple[Term, ...]) -> Mask:
        """Return which rows one of the terms matches."""
        return rows_matching(terms, self.idcs.label, self.size)

    def planes(self, isp: str | None) -> tuple[Rows, ...]:
        """Return the lines of one ISP (None: of all) as dense columns over rows: the k-th plane holds each row's
        k-th such line by code, or −1."""
        return self.planes_by_isp.get(isp, ())
