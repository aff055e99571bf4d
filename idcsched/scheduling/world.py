"""The reading of the database into the engine's facts: one query per table, values and no model instances."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from math import isnan
from types import MappingProxyType
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import numpy as np
from django.conf import settings
from django.db.models import QuerySet

from idcsched.framework.capacity import Usage
from idcsched.framework.facts import (
    AffinityFact,
    HeadcountFact,
    IdcFact,
    Ints,
    LineFact,
    MetricFact,
    RegionFact,
    Samples,
    TaintFact,
    World,
)
from idcsched.framework.matching import parse_terms
from idcsched.framework.normalize import Floats
from idcsched.framework.snapshot import HOURS_A_WEEK
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from idcsched.ledger.models import Headcount, Holding
from metrics_ingest.models import BandwidthRollup, Metric

from .history import history_known
from .latest_values import latest_values
from .shapes import shapes_known

__all__ = ["affinities_known", "hours_of_week", "load_world", "taints_known"]

T = TypeVar("T")

HOURS_A_DAY = 24
NOTHING: Mapping[str, float] = MappingProxyType({})
AT_ONCE = 2000
"""Rows that are held in memory at a time."""
STOCK = {"stock_cpu": "cpu", "stock_memory_gib": "memory_gib", "stock_disk_gib": "disk_gib", "stock_gpu": "gpu"}


def load_world() -> World:
    """Read all data for a snapshot; call this in a transaction, so that the tables agree."""
    holdings = {(idc, line, resource): (pending, ordered) for idc, line, resource, pending, ordered in _holdings()}
    words = InternPool(Idc.objects.order_by().values_list("code", flat=True).iterator(AT_ONCE))
    idcs, lines = _keys(Idc), _keys(Line)
    percentiles, hourly = _history(lines)
    return World(
        regions=tuple(_regions()),
        isps=_isp_names(),
        idcs=tuple(_idc_fact(row, holdings, words) for row in _idcs().iterator(AT_ONCE)),
        lines=tuple(
            _line_fact(row, percentile, holdings, words)
            for row, percentile in zip(_lines().iterator(AT_ONCE), percentiles.flat, strict=True)
        ),
        taints=tuple(taints_known()),
        affinities=tuple(affinities_known()),
        samples=tuple(_samples(idcs, lines)),
        headcounts=tuple(HeadcountFact(idc=i, tenant=t, business=b, machines=n) for i, t, b, n in _headcounts()),
        hourly=hourly,
        history=history_known(lines),
        shapes=tuple(shapes_known()),
        usage=Usage(count=settings.BANDWIDTH_COUNT, max_level=settings.BANDWIDTH_MAX_LEVEL),
        currency=settings.CURRENCY,
        dearest_price=settings.DEAREST_PRICE,
    )


def _regions() -> Iterator[RegionFact]:
    rows = Region.objects.values_list("code", "name", "parent__code", "latitude", "longitude")
    for code, name, parent, latitude, longitude in rows.order_by("code"):
        yield RegionFact(code=code, name=name, parent=parent, latitude=latitude, longitude=longitude)


def _isp_names() -> dict[str, str]:
    """Return the codes of ISPs by code and by alias."""
    names: dict[str, str] = {}
    for code, aliases in Isp.objects.values_list("code", "aliases"):
        names |= dict.fromkeys((*aliases, code), code)
    return names


def _idcs() -> QuerySet[Idc, Any]:
    return Idc.objects.order_by("id").values(
        "id",
        "code",
        "name",
        "region__code",
        "tier",
        "status",
        "partition",
        "provider",
        "labels",
        "latitude",
        "longitude",
        *STOCK,
    )


def _lines() -> QuerySet[Line, Any]:
    return Line.objects.order_by("id").values(
        "id",
        "idc_id",
        "idc__code",
        "code",
        "isp__code",
        "purchased_mbps",
        "commit_mbps",
        "max_level",
        "charge_type",
        "price_per_mbps",
        "price_per_gb",
    )


def _holdings() -> QuerySet[Holding, tuple[Any, ...]]:
    return Holding.objects.values_list("idc_id", "line_id", "resource", "taken", "ordered")


def _headcounts() -> QuerySet[Headcount, tuple[Any, ...]]:
    return Headcount.objects.filter(machines__gt=0).values_list("idc__code", "tenant__code", "business", "machines")


Holdings = Mapping[tuple[int, int | None, str], tuple[float, float]]


class InternPool:
    """An intern pool of words, prices and widths: a fleet has few different ones, and its snapshot lives long.

    The words in `first` are allocated together, and not among short-lived objects, whose memory can then be returned.
    """

    def __init__(self, first: Iterable[str] = ()) -> None:
        self._known: dict[Any, Any] = {word: word for word in first}
        self._labels: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def once(self, word: T) -> T:
        known: T = self._known.setdefault(word, word)
        return known

    def labels(self, given: Mapping[str, str]) -> Mapping[str, str]:
        return self._labels.setdefault(
            tuple(given.items()), {self.once(key): self.once(value) for key, value in given.items()}
        )


def _idc_fact(row: Mapping[str, Any], holdings: Holdings, words: InternPool) -> IdcFact:
    held = {resource: holdings.get((row["id"], None, resource)) for resource in STOCK.values()}
    return IdcFact(
        code=words.once(row["code"]),
        region=words.once(row["region__code"]),
        name=words.once(row["name"]),
        tier=words.once(row["tier"]),
        status=words.once(row["status"]),
        partition=words.once(row["partition"]),
        provider=words.once(row["provider"]),
        labels=words.labels(row["labels"]),
        latitude=row["latitude"],
        longitude=row["longitude"],
        stock={resource: row[field] for field, resource in STOCK.items() if row[field] is not None} or NOTHING,
        taken={resource: holding[0] for resource, holding in held.items() if holding is not None} or NOTHING,
    )


def _line_fact(row: Mapping[str, Any], percentile: float, holdings: Holdings, words: InternPool) -> LineFact:
    pending, ordered = holdings.get((row["idc_id"], row["id"], "bandwidth_mbps"), (0.0, 0.0))
    return LineFact(
        idc=words.once(row["idc__code"]),
        code=words.once(row["code"]),
        isp=words.once(row["isp__code"]),
        purchased_mbps=words.once(row["purchased_mbps"]),
        commit_mbps=words.once(row["commit_mbps"]),
        max_level=words.once(row["max_level"]),
        charge_type=words.once(row["charge_type"]),
        price_per_mbps=words.once(row["price_per_mbps"]),
        price_per_gb=words.once(row["price_per_gb"]),
        percentile_mbps=None if isnan(percentile) else percentile,
        pending_mbps=pending,
        ordered_mbps=ordered,
    )


def taints_known() -> Iterator[TaintFact]:
    """Yield every taint, also those whose window is not open."""
    rows = Taint.objects.order_by("id").values_list(
        "idc__code", "key", "value", "effect", "starts_at", "ends_at", "reason"
    )
    for idc, key, value, effect, starts_at, ends_at, reason in rows:
        yield TaintFact(
            idc=idc,
            key=key,
            value=value,
            effect=effect,
            starts_at=_seconds(starts_at),
            ends_at=_seconds(ends_at),
            reason=reason,
        )


def affinities_known() -> Iterator[AffinityFact]:
    """Yield every affinity, also those whose window is not open."""
    fields = ("id", "kind", "idc__code", "selector", "weight", "request_selector", "starts_at", "ends_at", "reason")
    rows = Affinity.objects.order_by("id").values_list(*fields)
    for id_, kind, idc, selector, weight, request_selector, starts_at, ends_at, reason in rows:
        yield AffinityFact(
            kind=kind,
            idc=idc,
            terms=None if selector is None else parse_terms(selector),
            weight=weight or 0,
            request_terms=None if request_selector is None else parse_terms(request_selector),
            starts_at=_seconds(starts_at),
            ends_at=_seconds(ends_at),
            id=id_,
            reason=reason,
        )


def _samples(idcs: Ints, lines: Ints) -> Iterator[Samples]:
    """Yield the latest values of every metric, also of metrics without values."""
    fields = ("id", "code", "scope", "direction", "max_age_seconds", "low", "high")
    for id_, code, scope, direction, max_age, low, high in Metric.objects.values_list(*fields):
        column = latest_values(id_, idcs=idcs, lines=lines)
        yield Samples(
            metric=MetricFact(code=code, scope=scope, direction=direction, max_age=max_age, low=low, high=high),
            subjects=column.subjects,
            values=column.values,
            at=column.at,
        )


def _history(lines: Ints) -> tuple[Floats, Any]:
    """Read every line's percentile (NaN: none) and last 168 hours, in the order of a week that begins on Monday.

    The hours are None where there are no roll-ups, and stay in 32 bits, as the roll-ups have them.
    """
    percentiles = np.full(lines.size, np.nan)
    hourly = None
    rows = BandwidthRollup.objects.order_by().values_list("line_id", "p95_mbps", "hours", "hours_until")
    for line, percentile, hours, until in rows.iterator(AT_ONCE):
        if hourly is None:
            hourly = np.full((lines.size, HOURS_A_WEEK), np.nan, dtype=np.float32)
        position = np.searchsorted(lines, line)
        percentiles[position] = np.nan if percentile is None else percentile
        hourly[position] = hours_of_week(bytes(hours), until)
    return percentiles, hourly


def hours_of_week(hours: bytes, until: datetime) -> Any:
    """Return the 168 hours up to `until` in the order of a week that begins on Monday in the billing zone."""
    return np.roll(np.frombuffer(hours, dtype="<f4"), _hour_of_week(until))


def _hour_of_week(at: datetime) -> int:
    """Return the hour of the week, 0 for Monday 00:00 in the billing zone."""
    local = at.astimezone(ZoneInfo(settings.BILLING_ZONE))
    return local.weekday() * HOURS_A_DAY + local.hour


def _keys(model: type[Idc] | type[Line]) -> Ints:
    """Return the primary keys in the order in which the rows are read."""
    keys = model.objects.order_by("id").values_list("id", flat=True)
    return np.fromiter(keys.iterator(AT_ONCE), dtype=np.int64)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
