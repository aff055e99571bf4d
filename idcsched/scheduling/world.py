"""From rows to the engine's facts: one query a table, values and no model instances."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
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
from idcsched.framework.snapshot import HOURS_A_WEEK
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from idcsched.ledger.models import Headcount, Holding
from metrics_ingest.models import BandwidthRollup, Metric

from .latest_values import latest_values

__all__ = ["affinities_known", "hours_of_week", "load_world", "taints_known"]

HOURS_A_DAY = 24
AT_ONCE = 2000
"""So many rows are in hand at a time."""
STOCK = {"stock_cpu": "cpu", "stock_memory_gib": "memory_gib", "stock_disk_gib": "disk_gib", "stock_gpu": "gpu"}


def load_world() -> World:
    """All that is known now; call it in a transaction, so that the tables agree."""
    taken = {(idc, line, resource): (pending, ordered) for idc, line, resource, pending, ordered in _holdings()}
    idcs, lines = _keys(Idc), _keys(Line)
    percentiles, hourly = _history(lines)
    return World(
        regions=tuple(_regions()),
        isps=_isp_names(),
        idcs=tuple(_idc_fact(row, taken) for row in _idcs().iterator(AT_ONCE)),
        lines=tuple(_line_fact(row, percentiles.get(row["id"]), taken) for row in _lines().iterator(AT_ONCE)),
        taints=tuple(taints_known()),
        affinities=tuple(affinities_known()),
        samples=tuple(_samples(idcs, lines)),
        headcounts=tuple(HeadcountFact(idc=i, tenant=t, business=b, machines=n) for i, t, b, n in _headcounts()),
        hourly=hourly,
        usage=Usage(count=settings.BANDWIDTH_COUNT, max_level=settings.BANDWIDTH_MAX_LEVEL),
        currency=settings.CURRENCY,
    )


def _regions() -> Iterator[RegionFact]:
    rows = Region.objects.values_list("code", "name", "parent__code", "latitude", "longitude")
    for code, name, parent, latitude, longitude in rows.order_by("code"):
        yield RegionFact(code=code, name=name, parent=parent, latitude=latitude, longitude=longitude)


def _isp_names() -> dict[str, str]:
    """Codes and aliases → codes."""
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


Taken = Mapping[tuple[int, int | None, str], tuple[float, float]]


def _idc_fact(row: Mapping[str, Any], taken: Taken) -> IdcFact:
    nothing = (0.0, 0.0)
    return IdcFact(
        code=row["code"],
        region=row["region__code"],
        name=row["name"],
        tier=row["tier"],
        status=row["status"],
        partition=row["partition"],
        provider=row["provider"],
        labels=row["labels"],
        latitude=row["latitude"],
        longitude=row["longitude"],
        stock={resource: row[field] for field, resource in STOCK.items() if row[field] is not None},
        taken={resource: taken.get((row["id"], None, resource), nothing)[0] for resource in STOCK.values()},
    )


def _line_fact(row: Mapping[str, Any], percentile: float | None, taken: Taken) -> LineFact:
    pending, ordered = taken.get((row["idc_id"], row["id"], "bandwidth_mbps"), (0.0, 0.0))
    return LineFact(
        idc=row["idc__code"],
        code=row["code"],
        isp=row["isp__code"],
        purchased_mbps=row["purchased_mbps"],
        commit_mbps=row["commit_mbps"],
        max_level=row["max_level"],
        charge_type=row["charge_type"],
        price_per_mbps=row["price_per_mbps"],
        price_per_gb=row["price_per_gb"],
        percentile_mbps=percentile,
        pending_mbps=pending,
        ordered_mbps=ordered,
    )


def taints_known() -> Iterator[TaintFact]:
    """Every taint, also those whose window is not open."""
    rows = Taint.objects.order_by("id").values_list("idc__code", "key", "value", "effect", "starts_at", "ends_at")
    for idc, key, value, effect, starts_at, ends_at in rows:
        yield TaintFact(
            idc=idc, key=key, value=value, effect=effect, starts_at=_seconds(starts_at), ends_at=_seconds(ends_at)
        )


def affinities_known() -> Iterator[AffinityFact]:
    """Every affinity, also those whose window is not open."""
    fields = ("kind", "idc__code", "selector", "weight", "request_selector", "starts_at", "ends_at")
    for kind, idc, selector, weight, request_selector, starts_at, ends_at in Affinity.objects.order_by(
        "id"
    ).values_list(*fields):
        yield AffinityFact(
            kind=kind,
            idc=idc,
            terms=None if selector is None else parse_terms(selector),
            weight=weight or 0,
            request_terms=None if request_selector is None else parse_terms(request_selector),
            starts_at=_seconds(starts_at),
            ends_at=_seconds(ends_at),
        )


def _samples(idcs: Ints, lines: Ints) -> Iterator[Samples]:
    """The latest values of every metric, also of those that nobody reports."""
    fields = ("id", "code", "scope", "direction", "max_age_seconds", "low", "high")
    for id_, code, scope, direction, max_age, low, high in Metric.objects.values_list(*fields):
        column = latest_values(id_, idcs=idcs, lines=lines)
        yield Samples(
            metric=MetricFact(code=code, scope=scope, direction=direction, max_age=max_age, low=low, high=high),
            subjects=column.subjects,
            values=column.values,
            at=column.at,
        )


def _history(lines: Ints) -> tuple[dict[int, float | None], Any]:
    """Every line's percentile by its key, and the last 168 hours of all, in the order of a week that begins on Monday.

    The hours are None where there are none. They are kept as the roll-ups have them, in 32 bits.
    """
    percentiles: dict[int, float | None] = {}
    hourly = np.full((lines.size, HOURS_A_WEEK), np.nan, dtype=np.float32)
    rows = BandwidthRollup.objects.order_by().values_list("line_id", "p95_mbps", "hours", "hours_until")
    for line, percentile, hours, until in rows.iterator(AT_ONCE):
        percentiles[line] = percentile
        hourly[np.searchsorted(lines, line)] = hours_of_week(bytes(hours), until)
    return percentiles, hourly if percentiles else None


def hours_of_week(hours: bytes, until: datetime) -> Any:
    """The last 168 hours, up to `until`, in the order of a week that begins on Monday in the billing zone."""
    return np.roll(np.frombuffer(hours, dtype="<f4"), _hour_of_week(until))


def _hour_of_week(at: datetime) -> int:
    """0 for Monday 00:00 in the billing zone. The hour 168 hours earlier has the same number."""
    local = at.astimezone(ZoneInfo(settings.BILLING_ZONE))
    return local.weekday() * HOURS_A_DAY + local.hour


def _keys(model: type[Idc] | type[Line]) -> Ints:
    """The primary keys in the order in which the rows are read."""
    keys = model.objects.order_by("id").values_list("id", flat=True)
    return np.fromiter(keys.iterator(AT_ONCE), dtype=np.int64)


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
