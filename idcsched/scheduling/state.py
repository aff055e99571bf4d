"""The present state of one IDC: water levels of its lines, stock, latest values with their ages, taints, affinities.

The figures are those of decisions, computed by the same functions; stale values are marked.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, cast

import msgspec
import numpy as np
from django.conf import settings
from django.db.models import Q, Sum, prefetch_related_objects

from idcsched.framework.capacity import Usage, demand, room, used_bandwidth
from idcsched.framework.matching import parse_terms, terms_match
from idcsched.framework.normalize import DECIMALS, rounded_value
from idcsched.inventory.labels import RegionTree, idc_labels
from idcsched.inventory.models import Affinity, Idc, Line, Taint
from idcsched.inventory.taint_state import TaintState, in_state, state_of
from idcsched.ledger.models import Headcount, Resource
from idcsched.ledger.selectors import Taken, holdings_read
from metrics_ingest.models import BandwidthRollup, Latest

__all__ = [
    "AffinityState",
    "IdcState",
    "LineState",
    "StockState",
    "TaintWindow",
    "ValueState",
    "idc_state",
    "level_kind",
    "line_states",
    "taint_windows",
]

BANDWIDTH = "bandwidth_mbps"
STOCK: Mapping[str, Resource] = {
    "stock_cpu": Resource.CPU,
    "stock_memory_gib": Resource.MEMORY_GIB,
    "stock_disk_gib": Resource.DISK_GIB,
    "stock_gpu": Resource.GPU,
}
NOTHING = Taken()
MBPS = 3
"""The decimals in which measured bandwidth is shown."""
HIGH = 0.8
"""The share of its limit from which on a line is shown as nearly full."""
Stands = Literal["in_force", "coming", "over"]


class ValueState(msgspec.Struct, frozen=True, kw_only=True):
    """The latest value of a metric; `line` null: of the IDC. Stale: older than the metric's `max_age_seconds`."""

    metric: str
    name: str
    unit: str
    line: str | None
    value: float
    at: datetime
    age_seconds: float
    stale: bool


class LineState(msgspec.Struct, frozen=True, kw_only=True):
    """A line's bandwidth; null: it was never seen, so nobody knows how much is left.

    `used_mbps` is the larger of the latest value and the 95th percentile, `pending_mbps` what was ordered and is not
    fully seen yet, `room_mbps` what may still be placed (below 0: too much is in use), `water_level` used ÷ purchased.
    """

    line: str
    isp: str
    purchased_mbps: float
    commit_mbps: float | None
    max_level: float
    latest_mbps: float | None
    percentile_mbps: float | None
    used_mbps: float | None
    pending_mbps: float
    ordered_mbps: float
    room_mbps: float | None
    water_level: float | None
    at: datetime | None
    age_seconds: float | None
    stale: bool


class StockState(msgspec.Struct, frozen=True, kw_only=True):
    """What may be sold of a resource, what is taken, and what is left; null: unlimited."""

    resource: str
    for_sale: float | None
    taken: float
    free: float | None


class TaintWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A taint, and where it stands in time."""

    id: int
    key: str
    value: str
    effect: str
    reason: str
    starts_at: datetime | None
    ends_at: datetime | None
    created_at: datetime
    state: Stands

    def __str__(self) -> str:
        shown = f"{self.key}={self.value}" if self.value else self.key
        return f"{shown}:{self.effect}"


class AffinityState(msgspec.Struct, frozen=True, kw_only=True):
    """An affinity that is about this IDC, by its code or by a selector, and where it stands in time."""

    id: int
    kind: str
    weight: int | None
    selector: Any
    request_selector: Any
    reason: str
    starts_at: datetime | None
    ends_at: datetime | None
    state: Stands


class IdcState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an IDC at `at`."""

    idc: str
    status: str
    at: datetime
    lines: tuple[LineState, ...]
    stock: tuple[StockState, ...]
    machines: int
    values: tuple[ValueState, ...]
    taints: tuple[TaintWindow, ...]
    affinities: tuple[AffinityState, ...]


def idc_state(idc: Idc, *, now: datetime) -> IdcState:
    """Return the state of an IDC, in ten queries at most; taints and affinities are those in force and coming."""
    values = tuple(_values(idc, now))
    holdings = holdings_read(idc_ids=frozenset([idc.pk]))
    present = in_state(TaintState.IN_FORCE, now) | in_state(TaintState.COMING, now)
    return IdcState(
        idc=idc.code,
        status=idc.status,
        at=now,
        lines=tuple(_lines(idc, values, holdings)),
        stock=tuple(_stock(idc, holdings)),
        machines=Headcount.objects.filter(idc=idc).aggregate(all=Sum("machines"))["all"] or 0,
        values=values,
        taints=taint_windows(idc, now, present),
        affinities=tuple(_affinities(idc, now, present)),
    )


def line_states(lines: Collection[Line], *, now: datetime) -> dict[int, LineState]:
    """Return the state of each line by primary key, in three queries; the lines must have their ISPs loaded."""
    keys = [line.pk for line in lines]
    rows = Latest.objects.filter(line__in=keys, metric__code=BANDWIDTH).select_related("metric", "line")
    seen = {row.line_id: _value(row, now) for row in rows}
    rollups = dict(BandwidthRollup.objects.filter(line__in=keys).values_list("line_id", "p95_mbps"))
    holdings = holdings_read(idc_ids=frozenset(line.idc_id for line in lines))
    return {
        line.pk: _line(
            line,
            seen.get(line.pk),
            rollups.get(line.pk),
            holdings.get((line.idc_id, line.pk, Resource.BANDWIDTH_MBPS), NOTHING),
        )
        for line in lines
    }


def level_kind(level: float | None, limit: float) -> Literal["unknown", "over", "high", "fine"]:
    """Classify a water level by its limit, for the colours of pages."""
    if level is None:
        return "unknown"
    return "over" if level > limit else "high" if level > limit * HIGH else "fine"


def taint_windows(idc: Idc, now: datetime, condition: Q) -> tuple[TaintWindow, ...]:
    """Return the IDC's taints that match the condition, the earliest to end first."""
    rows = Taint.objects.filter(condition, idc=idc).order_by("ends_at", "starts_at", "id")
    return tuple(
        TaintWindow(
            id=row.pk,
            key=row.key,
            value=row.value,
            effect=row.effect,
            reason=row.reason,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            created_at=row.created_at,
            state=cast("Stands", state_of(row, now).value),
        )
        for row in rows
    )


def _values(idc: Idc, now: datetime) -> Iterator[ValueState]:
    rows = Latest.objects.filter(idc=idc).select_related("metric", "line")
    yield from (_value(row, now) for row in rows.order_by("metric__code", "line__code"))


def _value(row: Latest, now: datetime) -> ValueState:
    age, longest = (now - row.at).total_seconds(), row.metric.max_age_seconds
    return ValueState(
        metric=row.metric.code,
        name=row.metric.name,
        unit=row.metric.unit,
        line=row.line.code if row.line else None,
        value=rounded_value(row.value),
        at=row.at,
        age_seconds=round(age, 3),
        stale=longest is not None and age > longest,
    )


def _lines(idc: Idc, values: tuple[ValueState, ...], holdings: Mapping[Any, Taken]) -> Iterator[LineState]:
    seen = {value.line: value for value in values if value.metric == BANDWIDTH and value.line is not None}
    lines = idc.lines.select_related("isp").order_by("code")
    rollups = dict(BandwidthRollup.objects.filter(line__idc=idc).values_list("line_id", "p95_mbps"))
    for line in lines:
        held = holdings.get((idc.pk, line.pk, Resource.BANDWIDTH_MBPS), NOTHING)
        yield _line(line, seen.get(line.code), rollups.get(line.pk), held)


def _line(line: Line, seen: ValueState | None, percentile: float | None, held: Taken) -> LineState:
    usage = Usage(count=settings.BANDWIDTH_COUNT, max_level=settings.BANDWIDTH_MAX_LEVEL)
    limit = usage.max_level if line.max_level is None else line.max_level
    used = used_bandwidth(_column(seen.value if seen else None), _column(percentile))
    counted, pending = demand(used, _column(held.taken), _column(held.ordered), usage)
    return LineState(
        line=line.code,
        isp=line.isp.code,
        purchased_mbps=line.purchased_mbps,
        commit_mbps=line.commit_mbps,
        max_level=limit,
        latest_mbps=round(seen.value, MBPS) if seen else None,
        percentile_mbps=None if percentile is None else round(percentile, MBPS),
        used_mbps=_known(used, MBPS),
        pending_mbps=held.taken,
        ordered_mbps=held.ordered,
        room_mbps=_known(room(_column(line.purchased_mbps), _column(limit), counted, pending), MBPS),
        water_level=_known(used / line.purchased_mbps) if line.purchased_mbps else None,
        at=seen.at if seen else None,
        age_seconds=seen.age_seconds if seen else None,
        stale=seen is None or seen.stale,
    )


def _stock(idc: Idc, holdings: Mapping[Any, Taken]) -> Iterator[StockState]:
    for field, resource in STOCK.items():
        for_sale, held = getattr(idc, field), holdings.get((idc.pk, None, resource), NOTHING)
        free = None if for_sale is None else for_sale - held.taken
        yield StockState(resource=resource.value, for_sale=for_sale, taken=held.taken, free=free)


def _affinities(idc: Idc, now: datetime, condition: Q) -> Iterator[AffinityState]:
    prefetch_related_objects([idc], "lines__isp")
    labels = idc_labels(idc, RegionTree.read())
    for row in Affinity.objects.filter(condition, Q(idc=idc) | Q(idc__isnull=True)).order_by("id"):
        if row.selector is not None and not terms_match(parse_terms(row.selector), labels):
            continue
        yield AffinityState(
            id=row.pk,
            kind=row.kind,
            weight=row.weight,
            selector=row.selector,
            request_selector=row.request_selector,
            reason=row.reason,
            starts_at=row.starts_at,
            ends_at=row.ends_at,
            state=cast("Stands", state_of(row, now).value),
        )


def _column(value: float | None) -> Any:
    """Return the number as a column of one row, as the engine's functions take it."""
    return np.array([np.nan if value is None else value])


def _known(column: Any, decimals: int = DECIMALS) -> float | None:
    value = float(column[0])
    return None if np.isnan(value) else round(value, decimals)
