"""`check_plugin` on what orders do: who says wrongly how they move its word is caught."""

from typing import Any

import pytest

from idcsched.framework.plugin import Plugin
from idcsched.framework.testing import check_plugin, world
from plugins.network_flow import NetworkFlow
from plugins.resource import Resource

LOADED = world(
    {
        code: {
            "stock": {"cpu": 20},
            "metrics": {"cpu_load": load},
            "lines": {"ct": {"purchased_mbps": 300, "used_mbps": 0}},
        }
        for code, load in {"a": 0.1, "b": 0.2, "c": 0.3}.items()
    }
)
"""Whose loads are all known, so that the resource scorer's word can be told of single IDCs."""


def variant(plugin: type[Plugin], **parts: Any) -> type[Plugin]:
    """The same plugin, with some parts otherwise."""
    return type(plugin.__name__, (plugin,), {"__doc__": "A variant.", "__module__": plugin.__module__, **parts})


@pytest.mark.parametrize("plugin", [NetworkFlow, Resource])
def test_it_works(plugin: type[Plugin]) -> None:
    check_plugin(variant(plugin))


@pytest.mark.parametrize(
    ("plugin", "parts"),
    [
        pytest.param(
            NetworkFlow, {"score_again": lambda self, ctx, line: 0.5 + 0.0 * line.room}, id="a value of before"
        ),
        pytest.param(
            NetworkFlow,
            {"score_again": lambda self, ctx, line: NetworkFlow.score_again(self, ctx, line) + 1e-3},
            id="a value that is a little off",
        ),
        pytest.param(
            NetworkFlow, {"needs": lambda self, ctx: [("bandwidth_mbps", ctx.need / 2)]}, id="less than is needed"
        ),
        pytest.param(
            NetworkFlow,
            {"reads": {"score": ("isp", "isp_match", "machines")}, "unmoved": ("reserve", "score")},
            id="a score that orders move",
        ),
        pytest.param(
            Resource,
            {"reads": {"filter": ("machines",)}, "unmoved": ("filter", "reserve", "score")},
            id="a remembered filter that orders move",
        ),
    ],
)
def test_who_says_wrongly_what_orders_do_is_caught(plugin: type[Plugin], parts: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match=f"{plugin.name}: after orders it answers as it would afresh, asked"):
        check_plugin(variant(plugin, **parts), worlds=[LOADED], requests=[{}])
