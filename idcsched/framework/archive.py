"""Recorded parts of a snapshot, in columns: quick to copy, small to store, and the facts that it can be built from."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from .capacity import Usage
from .columns import IdcColumns, IdcTable, LineColumns, entries
from .facts import AffinityFact, HeadcountFact, RegionFact, Samples, TaintFact, World
from .labels import Rows
from .snapshot import Snapshot, Taints

__all__ = ["RecordedColumns"]

FORM = 2
"""The format number, by which earlier versions know these records from those by the row."""


class RecordedColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Some IDCs of a snapshot with all that concerns them."""

    idcs: IdcTable
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
        stock, taken = (
            {name: amounts[rows] for name, amounts in column.items()}
            for column in (snapshot.stock.total, snapshot.stock.taken)
        )
        of_lines = entries(LineColumns, snapshot.lines, lines)
        return cls(
            idcs=IdcTable(**entries(IdcColumns, snapshot.idcs, rows), stock=stock, taken=taken),
            lines=LineColumns(**{**of_lines, "idc": place[of_lines["idc"]]}),
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
        return World(
            regions=self.regions,
            isps=self.isps,
            idcs=self.idcs,
            lines=self.lines,
            taints=tuple(_taint_facts(self.taints, self.idcs.codes)),
            affinities=self.affinities,
            samples=self.samples,
            headcounts=self.headcounts,
            usage=self.usage,
            currency=self.currency,
            dearest_price=self.dearest_price,
        )


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
        reasons=tuple(taints.reasons[place] for place in chosen.tolist()) if taints.reasons else (),
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
