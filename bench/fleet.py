"""The fleet that our engine is measured on, and what is asked of it.

Three lines an IDC, twenty provinces of equal size, loads, commits, taints and affinities; about half of the IDCs can
take an order. No two requests are alike: each wants its own bandwidth and machines, and they differ in ISP, tier,
tolerations and in where the client is.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from idcsched.framework.building import BANDWIDTH, build_snapshot
from idcsched.framework.columns import IdcTable, LineColumns
from idcsched.framework.decoding import convert
from idcsched.framework.facts import (
    AffinityFact,
    MetricFact,
    RegionFact,
    Samples,
    TaintFact,
    World,
)
from idcsched.framework.profile import Profile, ProfileBody, compile_profile
from idcsched.framework.registry import load_registry
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot

__all__ = ["ISPS", "NOW", "PROVINCES", "default_profile", "profile_of", "requests", "snapshot_of", "world_of"]

NOW = 1_750_000_000.0
ISPS = ("ct", "cu", "cm")
PROVINCES = 20
COUNTRY = "cn"
DEFAULT = Path("idcsched/scheduling/shipped_profiles/default.json")
_LOADS = ("cpu_load", "memory_load", "disk_load")


def world_of(idcs: int, *, metrics_a_line: int = 1, seed: int = 7) -> World:
    """The fleet as facts."""
    rng = np.random.default_rng(seed)
    lines = [_line(number, isp, rng) for number in range(idcs) for isp in ISPS]
    regions, table = _regions(rng), IdcTable.of(_idc(number, rng) for number in range(idcs))
    return World(
        regions=regions,
        isps={isp: isp for isp in ISPS},
        idcs=table,
        lines=LineColumns.of(lines, table.codes),
        taints=tuple(_taints(idcs, rng)),
        affinities=tuple(_affinities(idcs, rng)),
        samples=_samples(idcs, [line["purchased_mbps"] for line in lines], metrics_a_line, rng),
    )


def _regions(rng: Any) -> tuple[RegionFact, ...]:
    places = [(float(rng.uniform(20, 50)), float(rng.uniform(80, 130))) for _ in range(PROVINCES)]
    provinces = [
        RegionFact(code=f"p{number:02}", parent=COUNTRY, latitude=latitude, longitude=longitude)
        for number, (latitude, longitude) in enumerate(places)
    ]
    return (RegionFact(code=COUNTRY), *provinces)


def _idc(number: int, rng: Any) -> dict[str, Any]:
    return {
        "code": f"idc-{number:06}",
        "region": f"p{number % PROVINCES:02}",
        "tier": "center" if rng.random() < 0.3 else "edge",
        "status": "online" if rng.random() < 0.97 else "draining",
        "labels": {"disk": "ssd" if rng.random() < 0.5 else "hdd"},
        "latitude": float(rng.uniform(20, 50)),
        "longitude": float(rng.uniform(80, 130)),
        "stock": {"cpu": float(rng.integers(64, 4096)), "memory_gib": float(rng.integers(256, 16_384))},
        "taken": {"cpu": float(rng.integers(0, 128)), "memory_gib": float(rng.integers(0, 512))},
    }


def _line(number: int, isp: str, rng: Any) -> dict[str, Any]:
    purchased = float(rng.choice([10_000, 40_000, 100_000]))
    return {
        "idc": f"idc-{number:06}",
        "code": isp,
        "isp": isp,
        "purchased_mbps": purchased,
        "commit_mbps": round(purchased * 0.4) if rng.random() < 0.5 else None,
        "price_per_mbps": float(rng.choice([12, 15, 20, 25, 50])) + round(float(rng.random()), 2),
        "pending_mbps": float(rng.integers(0, 300)),
    }


def _taints(idcs: int, rng: Any) -> list[TaintFact]:
    kinds = [("maintenance", "NoSchedule"), ("reserved", "NoSchedule"), ("noisy", "PreferNoSchedule")]
    chosen = [(number, *kinds[int(rng.integers(3))]) for number in range(idcs) if rng.random() < 0.2]
    return [TaintFact(idc=f"idc-{number:06}", key=key, effect=effect) for number, key, effect in chosen]


def _affinities(idcs: int, rng: Any) -> list[AffinityFact]:
    favoured = rng.integers(0, idcs, size=20)
    return [
        AffinityFact(kind="prefer", idc=f"idc-{number:06}", weight=int(rng.integers(-50, 50)) or 1)
        for number in favoured
    ]


def _samples(idcs: int, purchased: list[float], metrics_a_line: int, rng: Any) -> tuple[Samples, ...]:
    loads = [
        _measured(MetricFact(code=code, direction="lower", max_age=900), rng.beta(2, 3, size=idcs), rng)
        for code in _LOADS
    ]
    lines = len(purchased)
    used = _measured(
        MetricFact(code=BANDWIDTH, scope="line", direction="lower", max_age=900),
        np.array(purchased) * rng.uniform(0, 1.2, lines),
        rng,
    )
    more = [
        _measured(MetricFact(code=f"m{number}", scope="line", max_age=900), rng.random(lines), rng)
        for number in range(metrics_a_line - 1)
    ]
    return (*loads, used, *more)


def _measured(metric: MetricFact, values: Any, rng: Any) -> Samples:
    return Samples(
        metric=metric, subjects=np.arange(values.size), values=values, at=NOW - rng.uniform(0, 240, values.size)
    )


@cache
def snapshot_of(idcs: int) -> Snapshot:
    return build_snapshot(world_of(idcs), id="bench", built_at=NOW)


def profile_of(document: dict[str, Any]) -> Profile:
    return compile_profile(convert(document, ProfileBody), load_registry(), code="bench", revision=1)


@cache
def default_profile() -> Profile:
    """The one that every installation starts with."""
    return profile_of({"plugins": json.loads(DEFAULT.read_text(encoding="utf-8"))["plugins"]})


def requests(count: int, *, regions: tuple[str, ...] = (COUNTRY,), seed: int = 11) -> list[Request]:
    """So many orders, no two alike."""
    rng = np.random.default_rng(seed)
    return [convert(_order(number, regions, rng), Request) for number in range(count)]


def _order(number: int, regions: tuple[str, ...], rng: Any) -> dict[str, Any]:
    order: dict[str, Any] = {
        "request_id": f"order-{number}",
        "region": regions[number % len(regions)],
        "isp": ISPS[int(rng.integers(3))],
        "machines": [
            {
                "count": int(rng.integers(1, 8)),
                "bandwidth_mbps": round(float(rng.uniform(50, 600)), 1),
                "cpu": int(rng.integers(1, 17)),
                "memory_gib": int(rng.integers(2, 65)),
            }
        ],
    }
    if rng.random() < 0.2:
        order["tolerations"] = [{"key": "reserved", "operator": "Exists"}]
    if rng.random() < 0.2:
        order["tier"] = "edge"
    if rng.random() < 0.3:
        order["client"] = {"region": f"p{int(rng.integers(PROVINCES)):02}"}
    return order
