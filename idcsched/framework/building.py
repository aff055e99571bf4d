"""Build a snapshot from facts: sort the rows, lay out the columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from .billing import added_bill, monthly_price, paid_anyway
from .capacity import BANDWIDTH, Usage, demand, room, stock_left, used_bandwidth
from .columns import (
    HOURS_A_WEEK,
    STOCK_RESOURCES,
    HoursOfWeek,
    IdcColumns,
    IdcTable,
    LineColumns,
    entries,
    floats,
    optional,
)
from .facts import RegionFact, Samples, TaintFact, World
from .labels import LabelColumn, Mask, Rows
from .memory import sealed
from .normalize import Floats
from .snapshot import Headcounts, Idcs, Lines, MetricColumn, Snapshot, Span, Stock, Taints

__all__ = [
    "build_snapshot",
    "busiest_hours",
    "lines_with_room",
    "stock_with_left",
    "taint_columns",
    "times_shared",
]

BUSY_SHARE = 0.05
_LINES_AT_ONCE = 1000  # how many lines' hours are sorted at once, to bound the memory used


def build_snapshot(world: World, *, id: str, built_at: float) -> Snapshot:
    """Build the snapshot of `world`; raises KeyError where a fact names an IDC or region that is not there."""
    regions = _pre_order(world.regions)
    place = {region.code: position for position, region in enumerate(regions)}
    known = {region.code: region for region in regions}
    order = _sorted([place[region] for region in world.idcs.regions], world.idcs.codes)
    row_of_idc: Rows = np.empty_like(order)
    row_of_idc[order] = np.arange(order.size)
    line_order = _sorted(row_of_idc[world.lines.idc].tolist(), world.lines.codes)
    columns = [_metric(samples, order if samples.metric.scope == "idc" else line_order) for samples in world.samples]
    metrics = {column.fact.code: column for column in times_shared(columns)}
    lines = _lines(world, line_order, row_of_idc, metrics.get(BANDWIDTH))
    idcs = _idcs(world, order, lines, known)
    return Snapshot(
        id=id,
        built_at=built_at,
        idcs=sealed(idcs),
        stock=sealed(_stock(world.idcs, order)),
        lines=sealed(lines),
        taints=sealed(taint_columns(world.taints, idcs.row_of)),
        affinities=world.affinities,
        metrics={code: sealed(column) for code, column in metrics.items()},
        regions=known,
        spans=_spans(regions, [place[region] for region in idcs.regions]),
        isps=world.isps,
        planes_by_isp=sealed(_planes_by_isp(lines, order.size)),
        headcounts=Headcounts(world.headcounts),
        shapes={(fact.tenant, fact.business): fact for fact in world.shapes},
        history=world.history and sealed(world.history.of_lines(line_order)),
        usage=world.usage,
        currency=world.currency,
        dearest_price=_dearest(lines) if world.dearest_price is None else world.dearest_price,
    )


def _pre_order(regions: Iterable[RegionFact]) -> list[RegionFact]:
    children: dict[str | None, list[RegionFact]] = {}
    for region in sorted(regions, key=lambda region: region.code, reverse=True):
        children.setdefault(region.parent, []).append(region)
    ordered: list[RegionFact] = []
    stack = list(children.get(None, ()))
    while stack:
        region = stack.pop()
        ordered.append(region)
        stack.extend(children.get(region.code, ()))
    return ordered


def _spans(regions: Sequence[RegionFact], places: Sequence[int]) -> dict[str, Span]:
    """Return each region's rows: from its own first to the last of its last descendant."""
    starts = np.searchsorted(np.array(places, dtype=np.intp), np.arange(len(regions) + 1)).tolist()
    ends = {region.code: position + 1 for position, region in enumerate(regions)}
    for region in reversed(regions):
        if region.parent is not None:
            ends[region.parent] = max(ends[region.parent], ends[region.code])
    return {region.code: (starts[i], starts[ends[region.code]]) for i, region in enumerate(regions)}


def _sorted(first: Sequence[int], codes: Sequence[str]) -> Rows:
    """Return the positions ordered by a number, then by code."""
    return np.array(sorted(range(len(codes)), key=lambda i: (first[i], codes[i])), dtype=np.intp)


def _idcs(world: World, order: Rows, lines: Lines, regions: Mapping[str, RegionFact]) -> Idcs:
    columns = entries(IdcColumns, world.idcs, order)
    codes = columns["codes"]
    columns["names"] = tuple(name or code for name, code in zip(columns["names"], codes, strict=True))
    return Idcs(
        **columns,
        hashes=np.array([code_hash(code) for code in codes], dtype=np.uint64),
        row_of={code: row for row, code in enumerate(codes)},
        facts=_fact_columns(columns, lines, regions, world.isps),
    )


def _stock(idcs: IdcTable, order: Rows) -> Stock:
    total, taken = ({name: amounts[name][order] for name in STOCK_RESOURCES} for amounts in (idcs.stock, idcs.taken))
    return stock_with_left(total, taken)


def stock_with_left(total: Mapping[str, Floats], taken: Mapping[str, Floats]) -> Stock:
    """Return the stock, with `left` computed for each resource."""
    return Stock(total=total, taken=taken, left={name: stock_left(total[name], taken[name]) for name in total})


def _lines(world: World, order: Rows, row_of_idc: Rows, bandwidth: MetricColumn | None) -> Lines:
    columns = entries(LineColumns, world.lines, order)
    rows: Rows = row_of_idc[columns["idc"]]
    max_level, charge_types = columns["max_level"], columns["charge_types"]
    columns |= {"idc": rows, "max_level": np.where(np.isnan(max_level), world.usage.max_level, max_level)}
    kinds, purchased = charge_types.tolist(), columns["purchased"].tolist()
    commit, per_mbps, per_gb = (optional(columns[name]) for name in ("commit", "price_per_mbps", "price_per_gb"))
    unknown = np.full(order.size, np.nan)
    lines = Lines(
        **columns,
        first=np.searchsorted(rows, np.arange(row_of_idc.size + 1)),
        price=floats(map(monthly_price, kinds, per_mbps, per_gb)),
        paid=floats(map(paid_anyway, kinds, commit, purchased)),
        flat_rate=charge_types == "fixed",
        by_volume=charge_types == "volume",
        used=unknown,
        load=unknown,
        room=unknown,
        price_of_next_mbps=unknown,
    )
    return lines_with_room(lines, bandwidth, world.usage)


def busiest_hours(hourly: npt.NDArray[np.floating[Any]]) -> HoursOfWeek:
    """Return each line's busiest 5 % of the known hours, rounded up, as bits; ties with the last of them count.

    `hourly` has a line's mean Mbps in each hour of the week, NaN in gaps.
    """
    bits = np.zeros((len(hourly), HOURS_A_WEEK // 8), dtype=np.uint8)
    for start in range(0, len(hourly), _LINES_AT_ONCE):
        part = slice(start, start + _LINES_AT_ONCE)
        bits[part] = np.packbits(_busiest(hourly[part]), axis=1)
    return bits


def _busiest(hourly: npt.NDArray[np.floating[Any]]) -> Mask:
    hours = np.nan_to_num(hourly, nan=-np.inf)
    known = np.isfinite(hours)
    share = np.ceil(known.sum(axis=1) * BUSY_SHARE).astype(np.intp)
    threshold = np.take_along_axis(-np.sort(-hours, axis=1), np.maximum(share - 1, 0)[:, np.newaxis], axis=1)
    busiest: Mask = known & (hours >= threshold)
    return busiest


def lines_with_room(
    lines: Lines, bandwidth: MetricColumn | None, usage: Usage, moved: Rows | slice = slice(None)
) -> Lines:
    """Return the lines with their moving figures computed from measured bandwidth, the ledger and the limits.

    Only those of the lines that have `moved` are computed; the others keep theirs.
    """
    latest = np.full(len(lines.codes), np.nan) if bandwidth is None else bandwidth.values
    used = used_bandwidth(latest[moved], lines.percentile[moved])
    counted, pending = demand(used, lines.pending[moved], lines.ordered[moved], usage)
    load, purchased = counted + pending, lines.purchased[moved]
    next_mbps = added_bill(
        1.0,
        np.ones(load.size),
        price=lines.price[moved],
        load=load,
        paid=lines.paid[moved],
        purchased=purchased,
        flat_rate=lines.flat_rate[moved],
    )
    figures = {
        "used": used,
        "load": load,
        "room": room(purchased, lines.max_level[moved], counted, pending),
        "price_of_next_mbps": next_mbps.counted,
    }
    columns: dict[str, Any] = {name: getattr(lines, name).copy() for name in figures}
    for name, values in figures.items():
        columns[name][moved] = values
    return replace(lines, **sealed(columns))


def _dearest(lines: Lines) -> float:
    known = lines.price[~np.isnan(lines.price)]
    return float(known.max(initial=0.0))


def _metric(samples: Samples, order: Rows) -> MetricColumn:
    """Return a metric as a dense column over the sorted rows; `order[row]` is the row's position in the world."""
    values, at = np.full((2, order.size), np.nan)
    values[samples.subjects], at[samples.subjects] = samples.values, samples.at
    return MetricColumn(samples.metric, values[order], at[order])


def times_shared(columns: Iterable[MetricColumn]) -> Iterator[MetricColumn]:
    """Yield the columns; those with equal times in a row (one source reports many metrics) share one array of them."""
    previous: MetricColumn | None = None
    for column in columns:
        shared = previous is not None and _same(previous.at, column.at)
        previous = replace(column, at=previous.at) if previous is not None and shared else column
        yield previous


def _same(one: Floats, other: Floats) -> bool:
    """Return whether two columns are the same bit by bit, so that NaN equals NaN."""
    return one.size == other.size and bool((one.view(np.int64) == other.view(np.int64)).all())


def taint_columns(facts: Sequence[TaintFact], row_of: Mapping[str, int]) -> Taints:
    """Return all taints, sorted by row; raises KeyError for an IDC that is not there."""
    kinds = sorted({(fact.key, fact.value, fact.effect) for fact in facts})
    number = {kind: position for position, kind in enumerate(kinds)}
    by_row = sorted(facts, key=lambda fact: (row_of[fact.idc], fact.key, fact.value, fact.effect))
    return Taints(
        idc=np.array([row_of[fact.idc] for fact in by_row], dtype=np.intp),
        kind=np.array([number[fact.key, fact.value, fact.effect] for fact in by_row], dtype=np.int64),
        kinds=tuple(kinds),
        starts=floats(-np.inf if fact.starts_at is None else fact.starts_at for fact in by_row),
        ends=floats(np.inf if fact.ends_at is None else fact.ends_at for fact in by_row),
        reasons=tuple(fact.reason for fact in by_row),
    )


def _planes_by_isp(lines: Lines, size: int) -> dict[str | None, tuple[Rows, ...]]:
    """Return the lines of each ISP, and of all (None), as dense columns over `size` rows.

    The k-th plane holds each row's k-th such line by code, or −1.
    """
    planes: dict[str | None, tuple[Rows, ...]] = {None: _planes(lines, np.arange(lines.idc.size), size)}
    for isp, chosen in _places(lines.isps).items():
        planes[isp] = _planes(lines, chosen, size)
    return planes


def _fact_columns(
    columns: Mapping[str, Any], lines: Lines, regions: Mapping[str, RegionFact], isps: Mapping[str, str]
) -> dict[str, LabelColumn]:
    """Return the `idc/…` facts over all rows, but for the code, which `Idcs.row_of` has."""
    size = len(columns["codes"])
    return {
        "idc/tier": _column(columns["tiers"], size),
        "idc/partition": _column(columns["partitions"], size),
        "idc/provider": _column(columns["providers"], size),
        "idc/region": _region_column(columns["regions"], regions, size),
        "idc/isp": _isp_column(lines, size, isps),
    }


def _planes(lines: Lines, chosen: Rows, size: int) -> tuple[Rows, ...]:
    rows = lines.idc[chosen]
    place_in_row = np.arange(chosen.size) - np.searchsorted(rows, rows)
    planes = []
    for number in range(int(place_in_row.max(initial=-1)) + 1):
        of_plane = place_in_row == number
        plane = np.full(size, -1, dtype=np.intp)
        plane[rows[of_plane]] = chosen[of_plane]
        planes.append(plane)
    return tuple(planes)


def _column(words: Sequence[str], size: int) -> LabelColumn:
    """Return the column of one word a row; an empty word is no label."""
    return LabelColumn(size, {word: rows for word, rows in _places(words).items() if word})


def _region_column(own: Sequence[str], regions: Mapping[str, RegionFact], size: int) -> LabelColumn:
    """Return the column in which a row carries its region and all regions above."""
    postings: dict[str, list[Rows]] = {}
    for code, rows in _places(own).items():
        region: str | None = code
        while region is not None:
            postings.setdefault(region, []).append(rows)
            region = regions[region].parent
    return LabelColumn(size, {code: np.sort(np.concatenate(parts)) for code, parts in postings.items()})


def _isp_column(lines: Lines, size: int, isps: Mapping[str, str]) -> LabelColumn:
    """Return the column in which a row carries the ISPs of its lines, under all their names."""
    own = {isp: _distinct(lines.idc[places]) for isp, places in _places(lines.isps).items()}
    return LabelColumn(size, own | {name: own[isp] for name, isp in isps.items() if isp in own})


def _distinct(rows: Rows) -> Rows:
    """Return ascending rows without repetition."""
    return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if rows.size else rows


def _places(words: Iterable[str]) -> dict[str, Rows]:
    """Return the ascending positions of each word; words in the order of their first position."""
    numbers: dict[str, int] = {}
    numbered = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), dtype=np.int32)
    order = np.argsort(numbered, kind="stable")
    ends = np.cumsum(np.bincount(numbered, minlength=len(numbers)))
    return dict(zip(numbers, np.split(order, ends[:-1]), strict=True)) if numbers else {}


def code_hash(text: str) -> int:
    """Return a 64-bit hash that is the same in every process and version."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
