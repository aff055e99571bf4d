"""A small world with all kinds of facts, and requests, on which the conformance laws are tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from idcsched.framework.columns import LineColumns
from idcsched.framework.facts import HeadcountFact, MetricFact, RegionFact, World

from .builders import IdcSpec, affinity, world

__all__ = ["SAMPLE_REQUESTS", "bare_world", "sample_world"]

_REGIONS: Mapping[str, str | RegionFact | None] = {
    "country": None,
    "north": RegionFact(code="north", parent="country", latitude=39.9, longitude=116.4),
    "south": RegionFact(code="south", parent="country", latitude=23.1, longitude=113.3),
    "south-east": "south",
    "empty": "country",
}

_METRICS = (
    MetricFact(code="bandwidth_mbps", scope="line", direction="lower", max_age=900),
    MetricFact(code="cpu_load", direction="lower", max_age=900, low=0, high=1),
    MetricFact(code="memory_load", direction="lower", max_age=900, low=0, high=1),
    MetricFact(code="disk_load", direction="lower", max_age=900, low=0, high=1),
    MetricFact(code="cost_index", direction="lower"),
    MetricFact(code="rtt_ms", direction="lower", max_age=900),
    MetricFact(code="x", low=0, high=100, max_age=900),
)

_FRESH, _STALE = 60.0, 7200.0

_IDCS: Mapping[str, IdcSpec] = {
    "n1": {
        "region": "north",
        "tier": "center",
        "partition": "own",
        "provider": "own-vm",
        "labels": {"rank": "1", "building": "old"},
        "latitude": 39.9,
        "longitude": 116.4,
        "stock": {"cpu": 64, "memory_gib": 256},
        "metrics": {
            "cpu_load": (0.4, _FRESH),
            "memory_load": (0.6, _FRESH),
            "cost_index": 7,
            "rtt_ms": (12, _FRESH),
            "x": (5, _FRESH),
        },
        "lines": {
            "ct": {"used_mbps": (300, _FRESH), "price_per_mbps": 50, "hourly": [1.0] * 150 + [9.0] * 18},
            "cu": {"used_mbps": (700, _FRESH), "price_per_mbps": 48, "commit_mbps": 600},
            "bgp": {"purchased_mbps": 500, "used_mbps": (100, _FRESH), "price_per_mbps": 80},
        },
    },
    "n2": {
        "region": "north",
        "labels": {"rank": "2"},
        "metrics": {
            "cpu_load": (0.95, _FRESH),
            "memory_load": (0.5, _STALE),
            "cost_index": 3,
            "rtt_ms": (30, _STALE),
            "x": (50, _STALE),
        },
        "lines": {"ct": {"used_mbps": (850, _FRESH), "price_per_mbps": 2, "charge_type": "daily_peak"}},
        "taints": ["maintenance=yes:PreferNoSchedule"],
    },
    "n3": {"region": "north", "status": "draining", "metrics": {"x": (7, _FRESH)}, "lines": {"cm": {}}},
    "s1": {
        "region": "south",
        "partition": "partner",
        "latitude": 23.1,
        "longitude": 113.3,
        "stock": {"cpu": 8},
        "taken": {"cpu": 4},
        "metrics": {"cpu_load": (0.1, _FRESH), "cost_index": 5, "x": (-3, _FRESH)},
        "lines": {
            "ct": {"used_mbps": (100, _STALE), "price_per_gb": 0.2, "charge_type": "volume"},
            "cm": {"used_mbps": (0, _FRESH), "charge_type": "fixed", "price_per_mbps": 12},
        },
        "taints": ["dedicated=live:NoSchedule", "noisy:PreferNoSchedule"],
    },
    "s2": {"region": "south-east", "labels": {"rank": "x"}},
    "s3": {
        "region": "south-east",
        "tier": "center",
        "metrics": {"cpu_load": (0.5, _FRESH), "disk_load": (0.2, _FRESH), "rtt_ms": (5, _FRESH), "x": (100, _FRESH)},
        "lines": {"ct": {"percentile_mbps": 200, "pending_mbps": 20, "used_mbps": (150, _FRESH), "price_per_mbps": 25}},
        "taints": [{"key": "leaving", "effect": "NoExecute", "ends_at": 0.0}],
    },
}

SAMPLE_REQUESTS: tuple[Mapping[str, Any], ...] = (
    {},
    {
        "request_id": "order-1",
        "isp": ["ct", "cm"],
        "machines": [{"count": 2, "bandwidth_mbps": 40, "cpu": 2, "memory_gib": 4}],
        "labels": {"business": "live"},
        "client": {"latitude": 30.6, "longitude": 104.1},
        "shape": [0.0] * 12 + [1.0] * 12,
        "tenant": "acme",
    },
    {
        "isp": ["ct", "cu"],
        "isp_match": "all",
        "tier": "center",
        "selector": {"match_expressions": [{"key": "idc/region", "operator": "Exists"}]},
        "prefer": [{"weight": -5, "match_labels": {"building": "old"}}],
        "tolerations": [{"operator": "Exists"}],
        "machines": [{"bandwidth_mbps": 100}],
        "client": {"region": "north"},
    },
    {"partition": "own", "exclude": ["n2"], "machines": [{"count": 5000, "bandwidth_mbps": 900, "cpu": 900}]},
)
"""Requests from one that names nothing to one that fits nowhere."""


def sample_world() -> World:
    """Return six IDCs in several regions (one region is empty), with lines, stock, taints, affinities, and metrics that
    are fresh, stale or missing."""
    return world(
        _IDCS,
        regions=_REGIONS,
        metrics=_METRICS,
        affinities=(
            affinity("prefer", "n1", weight=3),
            affinity("prefer", weight=-20, selector={"match_labels": {"idc/tier": "center"}}),
            affinity("forbid", "s2", request_selector={"match_labels": {"business": "live"}}),
        ),
        headcounts=(
            HeadcountFact(idc="n1", tenant="acme", business="live", machines=3),
            HeadcountFact(idc="s1", tenant="other", business="live", machines=8),
        ),
    )


def bare_world() -> World:
    """Return the same IDCs without lines, taints, affinities, metrics and headcounts."""
    known = sample_world()
    return replace(known, lines=LineColumns.of((), ()), taints=(), affinities=(), samples=(), headcounts=())
