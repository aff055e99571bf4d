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
from metrics_ingest.models import BandwidthRollup, Latest, Metric

__all__ = ["affinities_known", "hours_of_week", "load_world", "taints_known"]

HOURS_A_DAY = 24
STOCK = {"stock_cpu": "cpu", "stock_memory_gib": "memory_gib", "stock_disk_gib": "disk_gib", "stock_gpu": "gpu"}


def load_world() -> World:
    """All that is known now; call it in a transaction, so that the tables agree."""
    taken = {(idc, line, resource): (pending, ordered) for idc, line, resource, pending, ordered in _holdings()}
    idc_rows = list(_idcs())
    line_rows = list(_lines())
    rollups = {
        row["line_id"]: row for row in BandwidthRollup.objects.values("line_id", "p95_mbps", "hours", "hours_until")
    }
    return World(
        regions=tuple(_regions()),
        isps=_isp_names(),
        idcs=tuple(_idc_fact(row, taken) for row in idc_rows),
        lines=tuple(_line_fact(row, rollups.get(row["id"]), taken) for row in line_rows),
        taints=tuple(taints_known()),
        affinities=tuple(affinities_known()),
        samples=tuple(_samples(_places(idc_rows), _places(line_rows))),
        headcounts=tuple(HeadcountFact(idc=i, tenant=t, business=b, machines=n) for i, t, b, n in _headcounts()),
        hourly=_hourly(line_rows, rollups),
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


def _line_fact(row: Mapping[str, Any], rollup: Mapping[str, Any] | None, taken: Taken) -> LineFact:
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
        percentile_mbps=rollup["p95_mbps"] if rollup else None,
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


def _samples(idcs: Mapping[int, int], lines: Mapping[int, int]) -> Iterator[Samples]:
    """The latest values of every metric, also of those that nobody reports."""
    held: dict[int, tuple[list[int], list[float], list[float]]] = {}
    latest = Latest.objects.order_by().values_list("metric_id", "idc_id", "line_id", "value", "at")
    for metric, idc, line, value, at in latest.iterator(chunk_size=10_000):
        subjects, values, times = held.setdefault(metric, ([], [], []))
        subjects.append(idcs[idc] if line is None else lines[line])
        values.append(value)
        times.append(at.timestamp())
    fields = ("id", "code", "scope", "direction", "max_age_seconds", "low", "high")
    for id_, code, scope, direction, max_age, low, high in Metric.objects.values_list(*fields):
        subjects, values, times = held.get(id_, ([], [], []))
        yield Samples(
            metric=MetricFact(code=code, scope=scope, direction=direction, max_age=max_age, low=low, high=high),
            subjects=np.array(subjects, dtype=np.int64),
            values=np.array(values, dtype=np.float64),
            at=np.array(times, dtype=np.float64),
        )


def _hourly(rows: list[dict[str, Any]], rollups: Mapping[int, Mapping[str, Any]]) -> Floats | None:
    """Every line's last 168 hours, in the order of a week that begins on Monday in the billing zone."""
    if not rollups:
        return None
    hours = np.full((len(rows), HOURS_A_WEEK), np.nan)
    for place, row in enumerate(rows):
        if rollup := rollups.get(row["id"]):
            hours[place] = hours_of_week(rollup["hours"], rollup["hours_until"])
    return hours


def hours_of_week(hours: bytes, until: datetime) -> Any:
    """The last 168 hours, up to `until`, in the order of a week that begins on Monday in the billing zone."""
    return np.roll(np.frombuffer(hours, dtype="<f4"), _hour_of_week(until))


def _hour_of_week(at: datetime) -> int:
    """0 for Monday 00:00 in the billing zone. The hour 168 hours earlier has the same number."""
    local = at.astimezone(ZoneInfo(settings.BILLING_ZONE))
    return local.weekday() * HOURS_A_DAY + local.hour


def _places(rows: list[dict[str, Any]]) -> dict[int, int]:
    return {row["id"]: place for place, row in enumerate(rows)}


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()
