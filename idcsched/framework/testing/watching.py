"""Watching what plugins read, so that what they say they read can be held against it."""

from collections.abc import Callable
from typing import Any

from idcsched.framework.context import Cycle
from idcsched.framework.plugin import Plugin

__all__ = ["NEEDS", "Seen", "watched"]

NEEDS = "needs"

Seen = dict[str, set[str]]
"""Point → the fields of the request that were read there."""

_BEHIND = {"regions": "region", "wanted_isps": "isp", "terms": "selector", "need": "machines", "bandwidth": "machines"}
"""What the request works out → the field that it works it out from."""
_OF_THE_CYCLE = {
    "labels": ("labels",),
    "need": ("machines",),
    "lines": ("isp", "isp_match"),
    "line_policy": ("isp", "isp_match"),
    "replies": ("replies",),
    "reply": ("replies",),
    "state": ("state",),
}
"""What the cycle offers that is another for another request."""


class _WatchedRequest:
    def __init__(self, request: Any, read: set[str]) -> None:
        self._request = request
        self._read = read

    def __getattr__(self, name: str) -> Any:
        self._read.add(_BEHIND.get(name, name))
        return getattr(self._request, name)


class _WatchedCycle:
    def __init__(self, ctx: Cycle, read: set[str]) -> None:
        self._ctx = ctx
        self._read = read

    def __getattr__(self, name: str) -> Any:
        self._read.update(_OF_THE_CYCLE.get(name, ()))
        found = getattr(self._ctx, name)
        return _WatchedRequest(found, self._read) if name == "request" else found


def watched(plugin: type[Plugin], seen: Seen) -> type[Plugin]:
    """The same plugin; what it reads of the request at the points that its `reads` name is put down in `seen`."""
    methods = {
        method: _watched_method(getattr(plugin, method), seen.setdefault(point, set()))
        for point in plugin.reads
        for method in (_filters_by_need(plugin) if point == NEEDS else (point,))
    }
    return type(plugin.__name__, (plugin,), {**methods, "__module__": plugin.__module__, "__doc__": plugin.__doc__})


def _filters_by_need(plugin: type[Plugin]) -> list[str]:
    """The filters of which `reads` says only what they depend on besides what is needed."""
    return [method for method in ("pre_filter", "filter") if plugin.joins(method) and method not in plugin.reads]


def _watched_method(method: Callable[..., Any], read: set[str]) -> Callable[..., Any]:
    def watching(self: Plugin, ctx: Cycle) -> Any:
        return method(self, _WatchedCycle(ctx, read))

    return watching
