"""A fleet in a database: so many IDCs in one region, three lines each, measured for a month and a moment ago."""

import random
from datetime import datetime, timedelta

import numpy as np
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from bench.asked import ISPS, REGIONS
from idcsched.accounts.services import tenant_create, token_issue, user_create
from idcsched.feed.services import feed_append
from idcsched.framework.capacity import BANDWIDTH
from idcsched.inventory.models import Affinity, Idc, Isp, Line, Region, Taint
from metrics_ingest.models import BandwidthHistory, BandwidthRollup, Latest, Metric, Scope

__all__ = ["session", "store", "store_tenants"]

PRICES = (12.0, 15.0, 20.0, 25.0, 30.0, 50.0)
WEEK, MONTH = 168, 720
FURTHER = """
    INSERT INTO metrics_ingest_latest (metric_id, idc_id, line_id, value, at)
    SELECT metric.id, line.idc_id, line.id, (line.id * 7919 + metric.id * 31) %% 1000 / 1000.0, %s
    FROM metrics_ingest_metric AS metric CROSS JOIN inventory_line AS line
    WHERE metric.scope = 'line' AND metric.code <> %s
"""
"""Hundreds of thousands of values, too many to be made one by one."""


def store(count: int, *, extra_metrics: int = 0, seed: int = 1) -> str:
    """Fill an empty database with `count` IDCs below region `all`; returns a token that may do everything."""
    chance, now = random.Random(seed), timezone.now()
    isps = Isp.objects.bulk_create(Isp(code=code) for code in ISPS)
    root = Region.objects.create(code="all")
    regions = Region.objects.bulk_create(
        Region(code=f"r{n:02d}", parent=root, latitude=20 + n, longitude=100 + n) for n in range(REGIONS)
    )
    idcs = Idc.objects.bulk_create((_idc(n, regions, chance) for n in range(count)), batch_size=1000)
    lines = Line.objects.bulk_create((_line(idc, isp, chance) for idc in idcs for isp in isps), batch_size=1000)
    Taint.objects.bulk_create(_taint(idc, chance) for idc in idcs[::7])
    Affinity.objects.bulk_create(
        Affinity(idc=idc, kind="prefer", weight=chance.choice([-20, 10, 40])) for idc in idcs[:: max(count // 50, 1)]
    )
    _measure(idcs, lines, extra_metrics, now, chance)
    feed_append(topic="inventory")
    return token_issue(user=user_create(username="bench", role="admin"), name="bench").text


def session() -> str:
    """Log an operator in; returns the key of the session."""
    client = Client()
    client.force_login(user_create(username="operator", role="operator"))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def store_tenants(count: int) -> list[str]:
    """Create so many tenants; returns the token of the portal of each."""
    names = [f"tenant-{number:04d}" for number in range(count)]
    portals = [user_create(username=name, role="portal", tenant=tenant_create(code=name)) for name in names]
    return [token_issue(user=portal, name="bench").text for portal in portals]


def _idc(number: int, regions: list[Region], chance: random.Random) -> Idc:
    return Idc(
        code=f"idc-{number:05d}",
        region=chance.choice(regions),
        tier=chance.choice(["edge", "center"]),
        status="online" if chance.random() < 0.9 else "draining",
        labels={"rack": chance.choice("abc"), "power": str(chance.randint(1, 9))},
        latitude=round(chance.uniform(20, 45), 4),
        longitude=round(chance.uniform(85, 125), 4),
    )


def _line(idc: Idc, isp: Isp, chance: random.Random) -> Line:
    purchased = chance.choice([1000.0, 2000.0, 10_000.0])
    return Line(
        idc=idc,
        isp=isp,
        code=isp.code,
        purchased_mbps=purchased,
        commit_mbps=purchased * 0.3,
        charge_type="p95_month",
        price_per_mbps=chance.choice(PRICES),
    )


def _taint(idc: Idc, chance: random.Random) -> Taint:
    return Taint(idc=idc, key="maintenance", effect=chance.choice(["NoSchedule", "PreferNoSchedule"]))


def _measure(idcs: list[Idc], lines: list[Line], extra_metrics: int, now: datetime, chance: random.Random) -> None:
    for number in range(extra_metrics):
        Metric.objects.create(code=f"m{number:02d}", direction="lower", scope=Scope.LINE, max_age_seconds=3600)
    at = now - timedelta(seconds=30)
    load = {metric.code: metric for metric in Metric.objects.filter(scope=Scope.IDC)}
    Latest.objects.bulk_create(
        (
            Latest(metric=load[code], idc=idc, value=chance.uniform(0.1, 0.97), at=at)
            for idc in idcs
            for code in ("cpu_load", "memory_load", "disk_load")
        ),
        batch_size=2000,
    )
    for metric in Metric.objects.filter(scope=Scope.LINE, code=BANDWIDTH):
        Latest.objects.bulk_create(
            (Latest(metric=metric, idc_id=line.idc_id, line=line, value=_used(line, chance), at=at) for line in lines),
            batch_size=2000,
        )
    if extra_metrics:
        with connection.cursor() as cursor:
            cursor.execute(FURTHER, [at, BANDWIDTH])
    rollups = BandwidthRollup.objects.bulk_create((_rollup(line, now, chance) for line in lines), batch_size=500)
    BandwidthHistory.objects.bulk_create((_history(rollup, now) for rollup in rollups), batch_size=500)


def _used(line: Line, chance: random.Random) -> float:
    return round(line.purchased_mbps * chance.uniform(0.1, 1.0), 1)


def _rollup(line: Line, now: datetime, chance: random.Random) -> BandwidthRollup:
    base = _used(line, chance)
    hours = (base * (0.6 + 0.4 * np.sin(np.arange(WEEK) * 2 * np.pi / 24 + chance.random() * 6))).astype("<f4")
    return BandwidthRollup(
        line=line,
        p95_mbps=base,
        window_seconds=7 * 86_400,
        covered_slots=2016,
        busy_profile=hours.tobytes(),
        hours=hours.tobytes(),
        hours_until=now.replace(minute=0, second=0, microsecond=0),
    )


def _history(rollup: BandwidthRollup, now: datetime) -> BandwidthHistory:
    """The week of the roll-up for 30 days."""
    hours = np.resize(np.frombuffer(rollup.hours, dtype="<f4"), MONTH)
    peaks = hours.reshape(-1, 24).max(axis=1)
    measured = np.hstack([np.percentile(hours, 95), peaks, peaks]).astype("<f4")
    return BandwidthHistory(
        line=rollup.line,
        hours=hours.tobytes(),
        until=now.replace(hour=0, minute=0, second=0, microsecond=0),
        known_slots=MONTH * 12,
        measured=measured.tobytes(),
    )
