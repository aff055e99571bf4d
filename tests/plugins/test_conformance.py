"""Every registered plugin keeps the laws of `check_plugin`; a plugin that the tables here do not list fails."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from idcsched.framework.external import Query
from idcsched.framework.registry import load_registry
from idcsched.framework.testing import check_plugin

ARGUMENTS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "affinity": ({},),
    "available": ({},),
    "billing_cost": ({}, {"free": 0, "scarcity": 0}),
    "cost": ({},),
    "extender": (
        {"url": "https://judge.example/"},
        {
            "url": "http://judge.example/",
            "filter": False,
            "high": 10,
            "attributes": ["idc/isp", "label/rank", "metric/x"],
        },
        {"url": "http://judge.example/", "score": False, "attributes": ["idc/latitude", "idc/provider"]},
    ),
    "isp": ({},),
    "labels": ({},),
    "locality": ({}, {"by": "rtt"}),
    "metric": ({"metric": "x"}, {"metric": "x", "better": "less", "at_least": 0, "at_most": 60}, {"metric": "unheard"}),
    "network_flow": ({},),
    "partition": ({},),
    "region": ({},),
    "resource": ({}, {"strategy": "most", "cpu": 0.5}, {"strategy": "balanced"}),
    "spread": ({}, {"of": "business", "strategy": "concentrate", "at_most": 5}),
    "taint": ({},),
    "tier": ({},),
}


def judge(query: Query) -> Any:
    """A reply that rejects the first candidate and scores the second."""
    codes = [candidate["code"] for candidate in query.body["candidates"]]
    return {"rejected": dict.fromkeys(codes[:1], "it is the first"), "scores": dict.fromkeys(codes[1:2], 7)}


OUTSIDE: Mapping[str, Callable[[Query], Any]] = {"extender": judge}
"""Who answers the plugins that ask."""

REGISTRY = load_registry()


def test_it_works() -> None:
    assert REGISTRY.broken == {}


def test_every_plugin_has_its_conformance_entry() -> None:
    assert set(ARGUMENTS) == set(REGISTRY.plugins)


@pytest.mark.parametrize(
    ("name", "args"), [(name, args) for name, cases in ARGUMENTS.items() for args in cases], ids=str
)
def test_laws(name: str, args: dict[str, Any]) -> None:
    check_plugin(REGISTRY.plugins[name], args=args, outside=OUTSIDE.get(name))


@pytest.mark.parametrize("name", sorted(REGISTRY.plugins))
def test_its_module_says_what_it_does(name: str) -> None:
    plugin = REGISTRY.plugins[name]
    module = __import__(plugin.__module__, fromlist=["*"])
    assert module.__doc__.startswith(f"`{name}` (")
    assert plugin.__module__ == f"plugins.{name}"
