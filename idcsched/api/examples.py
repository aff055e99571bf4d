"""Example bodies for each resource in the OpenAPI document: a new object, and a change of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from drf_spectacular.utils import OpenApiExample

__all__ = ["EXAMPLE_BODIES", "ExampleBodies", "example"]


@dataclass(frozen=True, slots=True)
class ExampleBodies:
    """The example bodies of one resource; `new` is empty where the view declares its own examples.

    `also` has further bodies that create objects, by their titles; `member` names the object in the example of a list
    PATCH where `new` has no name for it: an `id`, if it is a number.
    """

    new: Mapping[str, Any]
    change: Mapping[str, Any]
    also: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    member: str | int = 1

    def for_create(self) -> list[OpenApiExample]:
        return [*self.for_replace(), *(example(name, dict(value)) for name, value in self.also.items())]

    def for_replace(self) -> list[OpenApiExample]:
        return [example("A whole one", dict(self.new))] if self.new else []

    def for_patch(self) -> list[OpenApiExample]:
        return [example("Some of its fields", dict(self.change))]

    def for_patch_many(self, key: str) -> list[OpenApiExample]:
        """Return the example of a list PATCH; `key` is the field that names the object to change."""
        return [example("One of many", [{key: self.new.get(key, self.member), **self.change}])]


def example(name: str, value: Any) -> OpenApiExample:
    """Return an example of a request's body."""
    return OpenApiExample(name, value=value, request_only=True)


EXAMPLE_BODIES: Final[Mapping[str, ExampleBodies]] = {
    "affinity": ExampleBodies(
        {
            "selector": {"match_labels": {"idc/tier": "edge"}},
            "kind": "prefer",
            "weight": 20,
            "request_selector": {"match_labels": {"business": "live"}},
        },
        {"weight": 50},
    ),
    "shape": ExampleBodies(
        {
            "business": "live-streaming",
            "entered": [3, 2, 1, 1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 5, 5, 5, 6, 7, 8, 9, 10, 10, 8, 5],
        },
        {"entered": [5, 3, 2, 1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 5, 5, 5, 6, 7, 8, 9, 10, 10, 9, 7]},
    ),
    "idc": ExampleBodies(
        {
            "code": "gz-ct-09",
            "name": "Guangzhou 9",
            "region": "A",
            "tier": "edge",
            "labels": {"owner": "own"},
            "latitude": 23.13,
            "longitude": 113.26,
            "stock": {"cpu": 2000, "memory_gib": 8000},
            "lines": [
                {"isp": "ct", "purchased_mbps": 10000, "commit_mbps": 4000, "price_per_mbps": 25},
                {"code": "ct-2", "isp": "ct", "purchased_mbps": 5000, "charge_type": "daily_peak"},
            ],
        },
        {"status": "draining"},
    ),
    "isp": ExampleBodies(
        {"code": "edu", "name": "教育网", "aliases": ["cernet"]}, {"aliases": ["cernet", "education"]}
    ),
    "line": ExampleBodies(
        {
            "idc": "gz-ct-09",
            "isp": "ct",
            "code": "ct-3",
            "purchased_mbps": 20000,
            "commit_mbps": 6000,
            "max_level": 0.85,
            "charge_type": "p95_month",
            "price_per_mbps": 25,
        },
        {"purchased_mbps": 40000},
    ),
    "metric": ExampleBodies(
        {
            "code": "gpu_load",
            "name": "GPU load",
            "direction": "lower",
            "scope": "idc",
            "max_age_seconds": 900,
            "low": 0,
            "high": 1,
        },
        {"max_age_seconds": 600},
    ),
    "profile": ExampleBodies(
        {},
        {
            "message": "cost counts for more",
            "plugins": [
                {"name": "taint", "plugin": "taint"},
                {"name": "billing_cost", "plugin": "billing_cost", "weight": 90},
            ],
        },
        member="live",
    ),
    "provider": ExampleBodies({"code": "demo-vm", "kind": "simulated", "config": {}}, {"enabled": False}),
    "region": ExampleBodies(
        {"code": "440300", "name": "深圳", "parent": "440000", "latitude": 22.55, "longitude": 114.06},
        {"name": "Shenzhen"},
    ),
    "region_scope": ExampleBodies({"user": "olga", "region": "440000"}, {}),
    "source": ExampleBodies(
        {
            "code": "edge-traffic",
            "kind": "prometheus",
            "schedule": 60,
            "config": {
                "url": "http://prometheus.example:9090",
                "query": "max by (site, carrier) (rate(ifHCOutOctets[5m]))",
            },
            "mapping": {
                "idc": "labels.site",
                "line": "labels.carrier",
                "values": {"bandwidth_mbps": {"value": "value", "scale": 8e-06}},
            },
        },
        {"schedule": 30},
    ),
    "taint": ExampleBodies(
        {
            "idc": "d",
            "key": "maintenance",
            "value": "core-switch",
            "effect": "NoSchedule",
            "reason": "Core switches are replaced",
            "starts_at": "2031-05-01T01:00:00Z",
            "ends_at": "2031-05-01T05:00:00Z",
        },
        {"ends_at": "2031-05-01T07:00:00Z"},
        {
            "All IDCs of a region, rather not": {
                "selector": {"match_labels": {"idc/region": "A"}},
                "key": "typhoon",
                "effect": "PreferNoSchedule",
            }
        },
    ),
    "tenant": ExampleBodies(
        {"code": "vod-cn", "name": "Video on demand", "callback_hosts": ["portal.example.com"], "quota_machines": 500},
        {"quota_bandwidth_mbps": 80000},
    ),
    "token": ExampleBodies(
        {
            "user": "olga",
            "name": "taints from the chat bot",
            "allowed_networks": ["10.0.0.0/8"],
            "expires_at": "2030-01-01T00:00:00+08:00",
        },
        {"name": "taints from the pager"},
    ),
    "user": ExampleBodies({"username": "olga", "role": "operator", "language": "zh-hans"}, {"role": "viewer"}),
}
"""The example bodies by the resource's noun."""
