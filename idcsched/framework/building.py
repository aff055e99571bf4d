"""From facts to a snapshot: sort the rows, lay out the columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from .capacity import Usage, demand, monthly_price, paid_anyway, room, stock_left, used_bandwidth
from .facts import STOCK_RESOURCES, IdcFact, RegionFact, Samples, TaintFact, World
from .indexing import fact_columns, planes_by_isp
from .labels import Mask, Rows
from .normalize import Floats
from .snapshot import HOURS_A_WEEK, Idcs, Lines, MetricColumn, Snapshot, Span, Taints, sealed

__all__ = [
    "BANDWIDTH",
    "build_snapshot",
    "busiest_hours",
    "lines_with_prices",
    "lines_with_room",
    "taint_columns",
    "times_shared",
]

BANDWIDTH = "bandwidth_mbps"
BUSY_SHARE = 0.05
_LINES_AT_ONCE = 1000  # whose hours are sorted: so much is in hand at a time


def build_snapshot(world: World, *, id: str, built_at: float) -> Snapshot:
    """The picture of `world`; raises KeyError where a fact names an IDC or region that is not there."""
    regions = _pre_order(world.regions)
    place = {region.code: position for position, region in enumerate(regions)}
    order = sorted(range(len(world.idcs)), key=lambda i: (place[world.idcs[i].region], world.idcs[i].code))
    idcs = _idcs([world.idcs[i] for i in order])
    line_order = sorted(range(len(world.lines)), key=lambda i: (idcs.row_of[world.lines[i].idc], world.lines[i].code))
    columns = [_metric(samples, order if samples.metric.scope == "idc" else line_order) for samples in world.samples]
    metrics = {column.fact.code: column for column in times_shared(columns)}
    known = {region.code: region for region in regions}
    lines = _lines(world, line_order, idcs, metrics.get(BANDWIDTH))
    facts, planes = fact_columns(idcs, lines, known), planes_by_isp(lines, len(order))
    return Snapshot(
        id=id,
        built_at=built_at,
        idcs=sealed(idcs),
        lines=sealed(lines),
        taints=sealed(taint_columns(world.taints, idcs.row_of)),
        affinities=world.affinities,
        metrics={code: sealed(column) for code, column in metrics.items()},
        regions=known,
        spans=_spans(regions, [place[region] for region in idcs.regions]),
        isps=world.isps,
        facts={key: sealed(column) for key, column in facts.items()},
        planes_by_isp={isp: sealed(of_isp) for isp, of_isp in planes.items()},
        headcounts=world.headcounts,
        usage=world.usage,
        currency=world.currency,
        dearest_price=_dearest(lines) if world.dearest_price is None else world.dearest_price,
    )


def _pre_order(regions: Iterable[RegionFact]) -> list[RegionFact]:
    children: dict[str | None, list[RegionFact]] = {}
    for region in sorted(regions, key=lambda region: region.code, reverse=True):
        children.setdefault(region.parent, []).append(region)
    found: list[RegionFact] = []
    stack = list(children.get(None, ()))
    while stack:
        region = stack.pop()
        found.append(region)
        stack.extend(children.get(region.code, ()))
    return found


def _spans(regions: Sequence[RegionFact], places: Sequence[int]) -> dict[str, Span]:
    """Each region's rows: from its own first to the last of its last descendant."""
    starts = np.searchsorted(np.array(places, dtype=np.intp), np.arange(len(regions) + 1)).tolist()
    ends = {region.code: position + 1 for position, region in enumerate(regions)}
    for region in reversed(regions):
        if region.parent is not None:
            ends[region.parent] = max(ends[region.parent], ends[region.code])
    return {region.code: (starts[i], starts[ends[region.code]]) for i, region in enumerate(regions)}


def _idcs(facts: Sequence[IdcFact]) -> Idcs:
    latitude = _floats(fact.latitude for fact in facts)
    stock = {name: _floats(fact.stock.get(name) for fact in facts) for name in STOCK_RESOURCES}
    taken = {name: _floats(fact.taken.get(name, 0.0) for fact in facts) for name in STOCK_RESOURCES}
    return Idcs(
        codes=tuple(fact.code for fact in facts),
        names=tuple(fact.name or fact.code for fact in facts),
        regions=tuple(fact.region for fact in facts),
        tiers=tuple(fact.tier for fact in facts),
        statuses=tuple(fact.status for fact in facts),
        partitions=tuple(fact.partition for fact in facts),
        providers=tuple(fact.provider for fact in facts),
        labels=tuple(fact.labels for fact in facts),
        online=np.array([fact.status == "online" for fact in facts], dtype=np.bool_),
        latitude=latitude,
        longitude=_floats(fact.longitude for fact in facts),
        cos_latitude=np.cos(np.radians(latitude)),
        stock=stock,
        taken=taken,
        left={name: stock_left(stock[name], taken[name]) for name in STOCK_RESOURCES},
        hashes=np.array([code_hash(fact.code) for fact in facts], dtype=np.uint64),
        row_of={fact.code: row for row, fact in enumerate(facts)},
    )


def _lines(world: World, order: Sequence[int], idcs: Idcs, bandwidth: MetricColumn | None) -> Lines:
    facts, usage = [world.lines[i] for i in order], world.usage
    rows = np.array([idcs.row_of[fact.idc] for fact in facts], dtype=np.intp)
    unknown = np.full(len(facts), np.nan)
    lines = Lines(
        first=np.searchsorted(rows, np.arange(len(idcs.codes) + 1)),
        idc=rows,
        codes=tuple(fact.code for fact in facts),
        isps=tuple(fact.isp for fact in facts),
        charge_types=tuple(fact.charge_type for fact in facts),
        purchased=_floats(fact.purchased_mbps for fact in facts),
        commit=_floats(fact.commit_mbps for fact in facts),
        max_level=_floats(usage.max_level if fact.max_level is None else fact.max_level for fact in facts),
        price_per_mbps=_floats(fact.price_per_mbps for fact in facts),
        price_per_gb=_floats(fact.price_per_gb for fact in facts),
        price=_floats(monthly_price(fact.charge_type, fact.price_per_mbps, fact.price_per_gb) for fact in facts),
        paid=_floats(paid_anyway(fact.charge_type, fact.commit_mbps, fact.purchased_mbps) for fact in facts),
        all_priced=False,
        all_purchased=False,
        special=False,
        flat_rate=np.array([fact.charge_type == "fixed" for fact in facts], dtype=np.bool_),
        daily=np.array([fact.charge_type.startswith("daily_") for fact in facts], dtype=np.bool_),
        percentile=_floats(fact.percentile_mbps for fact in facts),
        pending=_floats(fact.pending_mbps for fact in facts),
        ordered=_floats(fact.ordered_mbps for fact in facts),
        used=unknown,
        load=unknown,
        room=unknown,
        busy_bits=busiest_hours(world.hourly, order),
    )
    return lines_with_room(lines_with_prices(lines), bandwidth, usage)


def busiest_hours(hourly: Floats | None, order: Sequence[int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Each line's busiest 5 % of the hours that are known, rounded up, as bits; ties let in all who stand level."""
    bits, places = np.zeros((len(order), HOURS_A_WEEK // 8), dtype=np.uint8), np.array(order, dtype=np.intp)
    for start in range(0, places.size if hourly is not None else 0, _LINES_AT_ONCE):
        part = slice(start, start + _LINES_AT_ONCE)
        bits[part] = np.packbits(_busiest(hourly[places[part]]), axis=1)  # type: ignore[index]
    return bits


def _busiest(hourly: Floats) -> Mask:
    hours = np.nan_to_num(hourly, nan=-np.inf)
    known = np.isfinite(hours)
    share = np.ceil(known.sum(axis=1) * BUSY_SHARE).astype(np.intp)
    threshold = np.take_along_axis(-np.sort(-hours, axis=1), np.maximum(share - 1, 0)[:, np.newaxis], axis=1)
    return known & (hours >= threshold)


def lines_with_room(lines: Lines, bandwidth: MetricColumn | None, usage: Usage) -> Lines:
    """The lines with `used`, `load` and `room` worked out from the bandwidth seen, the ledger and the limits."""
    latest = np.full(len(lines.codes), np.nan) if bandwidth is None else bandwidth.values
    used = used_bandwidth(latest, lines.percentile)
    counted, pending = demand(used, lines.pending, lines.ordered, usage)
    free = room(lines.purchased, lines.max_level, counted, pending)
    return replace(lines, used=used, load=counted + pending, room=free)


def lines_with_prices(lines: Lines) -> Lines:
    """The lines with what else follows from what is purchased, paid for and billed."""
    return replace(
        lines,
        all_priced=bool(lines.price.size and np.isfinite(lines.price).all()),
        all_purchased=bool((lines.purchased > 0).all()),
        special=bool(lines.flat_rate.any() or lines.daily.any()),
    )


def _dearest(lines: Lines) -> float:
    known = lines.price[~np.isnan(lines.price)]
    return float(known.max(initial=0.0))


def _metric(samples: Samples, order: Sequence[int]) -> MetricColumn:
    """Dense over the sorted rows; `order[row]` is the row's position in the world."""
    values, at = np.full((2, len(order)), np.nan)
    values[samples.subjects], at[samples.subjects] = samples.values, samples.at
    rows: Rows = np.array(order, dtype=np.intp)
    return MetricColumn.of(samples.metric, values[rows], at[rows])


def times_shared(columns: Iterable[MetricColumn]) -> Iterator[MetricColumn]:
    """The columns; what was measured at the same times as the metric before shares these: one source reports many."""
    before: MetricColumn | None = None
    for column in columns:
        shared = before is not None and _same(before.at, column.at)
        before = replace(column, at=before.at) if before is not None and shared else column
        yield before


def _same(one: Floats, other: Floats) -> bool:
    """Bit by bit: unknown is like unknown."""
    return one.size == other.size and bool((one.view(np.int64) == other.view(np.int64)).all())


def taint_columns(facts: Sequence[TaintFact], row_of: Mapping[str, int]) -> Taints:
    """All taints, by row; raises KeyError for an IDC that is not there."""
    kinds = sorted({(fact.key, fact.value, fact.effect) for fact in facts})
    number = {kind: position for position, kind in enumerate(kinds)}
    by_row = sorted(facts, key=lambda fact: (row_of[fact.idc], fact.key, fact.value, fact.effect))
    return Taints(
        idc=np.array([row_of[fact.idc] for fact in by_row], dtype=np.intp),
        kind=np.array([number[fact.key, fact.value, fact.effect] for fact in by_row], dtype=np.int64),
        kinds=tuple(kinds),
        starts=_floats(-np.inf if fact.starts_at is None else fact.starts_at for fact in by_row),
        ends=_floats(np.inf if fact.ends_at is None else fact.ends_at for fact in by_row),
    )


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def code_hash(text: str) -> int:
    """64 bits that stay the same in every process and version."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
