"""Recorded parts of a snapshot, in columns: quick to copy, small to store, and convertible into a world.

Snapshots are recorded as often as measurements come in but seldom read back, so that recording goes by the column and
only reading back by the row. The columns are a snapshot's but have classes of their own, so that records stay readable
for years while the snapshot's columns change.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from .capacity import Usage
from .facts import (
    STOCK_RESOURCES,
    AffinityFact,
    HeadcountFact,
    IdcFact,
    LineFact,
    RegionFact,
    Samples,
    TaintFact,
    World,
)
from .labels import Rows
from .normalize import Floats
from .snapshot import Idcs, Lines, Snapshot, Stock, Taints, hours_of

__all__ = ["RecordedColumns"]

FORM = 2
"""The format number of worlds in columns; the older records by the row have none."""


class IdcColumns(msgspec.Struct, frozen=True, kw_only=True):
    """One entry an IDC. NaN: unknown or, in `stock`, unlimited."""

    codes: tuple[str, ...]
    names: tuple[str, ...]
    regions: tuple[str, ...]
    tiers: tuple[str, ...]
    statuses: tuple[str, ...]
    partitions: tuple[str, ...]
    providers: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]
    latitude: Floats
    longitude: Floats
    stock: Mapping[str, Floats]
    taken: Mapping[str, Floats]

    @classmethod
    def of(cls, idcs: Idcs, stock: Stock, rows: Rows) -> "IdcColumns":
        plain = (name for name in cls.__struct_fields__ if name not in ("stock", "taken"))
        return cls(
            stock={name: column[rows] for name, column in stock.total.items()},
            taken={name: column[rows] for name, column in stock.taken.items()},
            **{name: _entries(getattr(idcs, name), rows) for name in plain},
        )

    def facts(self) -> Iterator[IdcFact]:
        latitude, longitude = _known(self.latitude), _known(self.longitude)
        stock = {name: _known(self.stock[name]) for name in STOCK_RESOURCES}
        taken = {name: self.taken[name].tolist() for name in STOCK_RESOURCES}
        for row, code in enumerate(self.codes):
            yield IdcFact(
                code=code,
                region=self.regions[row],
                name=self.names[row],
                tier=self.tiers[row],
                status=self.statuses[row],
                partition=self.partitions[row],
                provider=self.providers[row],
                labels=self.labels[row],
                latitude=latitude[row],
                longitude=longitude[row],
                stock={name: amount for name, column in stock.items() if (amount := column[row]) is not None},
                taken={name: column[row] for name, column in taken.items()},
            )


class LineColumns(msgspec.Struct, frozen=True, kw_only=True):
    """One entry a line; `idc` is the position of its IDC."""

    idc: Rows
    codes: tuple[str, ...]
    isps: tuple[str, ...]
    charge_types: tuple[str, ...]
    purchased: Floats
    commit: Floats
    max_level: Floats
    price_per_mbps: Floats
    price_per_gb: Floats
    percentile: Floats
    pending: Floats
    ordered: Floats
    busy_bits: np.ndarray[Any, np.dtype[np.uint8]]

    @classmethod
    def of(cls, lines: Lines, chosen: Rows, place: Rows) -> "LineColumns":
        plain = (name for name in cls.__struct_fields__ if name not in ("idc", "charge_types", "busy_bits"))
        return cls(
            idc=place[lines.idc[chosen]],
            charge_types=tuple(lines.charge_types[chosen].tolist()),
            busy_bits=lines.busy_bits[chosen],
            **{name: _entries(getattr(lines, name), chosen) for name in plain},
        )

    def facts(self, idcs: Sequence[str]) -> Iterator[LineFact]:
        optional = {name: _known(getattr(self, name)) for name in _OPTIONAL}
        purchased, max_level = self.purchased.tolist(), self.max_level.tolist()
        pending, ordered = self.pending.tolist(), self.ordered.tolist()
        for line, idc in enumerate(self.idc.tolist()):
            yield LineFact(
                idc=idcs[idc],
                code=self.codes[line],
                isp=self.isps[line],
                purchased_mbps=purchased[line],
                commit_mbps=optional["commit"][line],
                max_level=max_level[line],
                charge_type=self.charge_types[line],
                price_per_mbps=optional["price_per_mbps"][line],
                price_per_gb=optional["price_per_gb"][line],
                percentile_mbps=optional["percentile"][line],
                pending_mbps=pending[line],
                ordered_mbps=ordered[line],
            )


class RecordedColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Some IDCs of a snapshot with all that concerns them."""

    idcs: IdcColumns
    lines: LineColumns
    taints: Taints
    regions: tuple[RegionFact, ...]
    isps: Mapping[str, str]
    affinities: tuple[AffinityFact, ...]
    samples: tuple[Samples, ...]
    headcounts: tuple[HeadcountFact, ...]
    usage: Usage
    currency: str
    dearest_price: float | None
    form: int = FORM

    @classmethod
    def of(cls, snapshot: Snapshot, rows: Rows) -> "RecordedColumns":
        place: Rows = np.full(snapshot.size, -1, dtype=np.intp)
        place[rows] = np.arange(rows.size)
        lines = np.flatnonzero(place[snapshot.lines.idc] >= 0)
        tainted = np.flatnonzero(place[snapshot.taints.idc] >= 0)
        codes = {code for code, row in snapshot.idcs.row_of.items() if place[row] >= 0}
        return cls(
            idcs=IdcColumns.of(snapshot.idcs, snapshot.stock, rows),
            lines=LineColumns.of(snapshot.lines, lines, place),
            taints=_taints_of(snapshot.taints, tainted, place),
            regions=tuple(snapshot.regions.values()),
            isps=snapshot.isps,
            affinities=tuple(fact for fact in snapshot.affinities if _matters(fact, codes)),
            samples=tuple(_samples(snapshot, rows, lines)),
            headcounts=tuple(fact for fact in snapshot.headcounts.facts if fact.idc in codes),
            usage=snapshot.usage,
            currency=snapshot.currency,
            dearest_price=snapshot.dearest_price,
        )

    def world(self) -> World:
        """Return the facts from which a snapshot can be built."""
        busiest = hours_of(self.lines.busy_bits)
        return World(
            regions=self.regions,
            isps=self.isps,
            idcs=tuple(self.idcs.facts()),
            lines=tuple(self.lines.facts(self.idcs.codes)),
            taints=tuple(_taint_facts(self.taints, self.idcs.codes)),
            affinities=self.affinities,
            samples=self.samples,
            headcounts=self.headcounts,
            hourly=np.where(busiest, np.float16(1.0), np.float16(np.nan)),
            usage=self.usage,
            currency=self.currency,
            dearest_price=self.dearest_price,
        )


_OPTIONAL = ("commit", "price_per_mbps", "price_per_gb", "percentile")


def _entries(column: Any, rows: Rows) -> Any:
    """Return the entries of an array or a tuple at `rows`."""
    if isinstance(column, np.ndarray):
        return column[rows]
    if rows.size > 1:  # with a single index itemgetter returns no tuple
        return itemgetter(*rows.tolist())(column)
    return tuple(column[row] for row in rows.tolist())


def _known(column: Floats) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN alone is not itself


def _matters(fact: AffinityFact, codes: set[str]) -> bool:
    """Return whether the affinity matters to these IDCs: a `require` for another IDC keeps requests off them."""
    return fact.idc is None or fact.kind == "require" or fact.idc in codes


def _taints_of(taints: Taints, chosen: Rows, place: Rows) -> Taints:
    """Return some taints, with the IDCs' positions in `place`."""
    return Taints(
        idc=place[taints.idc[chosen]],
        kind=taints.kind[chosen],
        kinds=taints.kinds,
        starts=taints.starts[chosen],
        ends=taints.ends[chosen],
        reasons=_entries(taints.reasons, chosen) if taints.reasons else (),
    )


def _taint_facts(taints: Taints, idcs: Sequence[str]) -> Iterator[TaintFact]:
    windows = zip(taints.starts.tolist(), taints.ends.tolist(), strict=True)
    reasons = taints.reasons or ("",) * taints.idc.size
    for idc, kind, (starts, ends), reason in zip(
        taints.idc.tolist(), taints.kind.tolist(), windows, reasons, strict=True
    ):
        key, value, effect = taints.kinds[kind]
        yield TaintFact(
            idc=idcs[idc],
            key=key,
            value=value,
            effect=effect,
            starts_at=None if starts == -np.inf else starts,
            ends_at=None if ends == np.inf else ends,
            reason=reason,
        )


def _samples(snapshot: Snapshot, rows: Rows, lines: Rows) -> Iterator[Samples]:
    for column in snapshot.metrics.values():
        subjects = rows if column.fact.scope == "idc" else lines
        values, at = column.values[subjects], column.at[subjects]
        known = np.flatnonzero(~np.isnan(values))
        yield Samples(metric=column.fact, subjects=known.astype(np.int64), values=values[known], at=at[known])
