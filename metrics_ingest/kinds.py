"""Kinds of sources → collector classes: the built-in ones, and third parties' by entry point.

Nobody imports a collector: whoever needs one asks here by its kind. One that can't be loaded is named with its error
and takes nothing else down.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from idcsched.framework.errors import PluginBroken

from .collector import Collector, Config

__all__ = ["BUILT_IN", "GROUP", "Kinds", "kinds", "load_kinds"]

BUILT_IN = "metrics_ingest.collectors"
GROUP = "idcsched.collectors"


@dataclass(frozen=True, slots=True)
class Kinds:
    """Collectors by kind, and what could not be loaded with the reason."""

    collectors: Mapping[str, type[Collector]]
    broken: Mapping[str, str] = field(default_factory=dict)


@cache
def kinds() -> Kinds:
    """Those of this process: loaded once, at first use."""
    return load_kinds()


def load_kinds() -> Kinds:
    """The built-in collectors and those that installed distributions offer."""
    collectors: dict[str, type[Collector]] = {}
    broken: dict[str, str] = {}
    for name in _modules():
        for collector in _defined(importlib.import_module(name)):
            _register(collectors, collector)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _register(collectors, point.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's import may do anything at all
            broken[f"{point.name} ({point.dist.name if point.dist else point.value})"] = (
                f"{type(error).__name__}: {error}"
            )
    return Kinds(collectors, broken)


def check_collector_class(collector: object) -> type[Collector]:
    """The class, if it keeps the base class's contract; raises PluginBroken."""
    if not (isinstance(collector, type) and issubclass(collector, Collector)):
        raise PluginBroken("not_a_collector", "{object} is not a subclass of Collector", object=repr(collector))
    kind = getattr(collector, "kind", None)
    if not isinstance(kind, str) or not kind.isidentifier() or kind != kind.lower():
        name = collector.__qualname__
        raise PluginBroken("bad_name", "{object} needs a lower-case identifier as its kind", object=name)
    if not issubclass(collector.Config, Config):
        raise PluginBroken("bad_config", "{kind}: Config is not a subclass of Config", kind=kind)
    if "collect" in getattr(collector, "__abstractmethods__", ()):
        raise PluginBroken("no_method", "{kind} does not say how to collect", kind=kind)
    return collector


def _register(collectors: dict[str, type[Collector]], offered: object) -> None:
    collector = check_collector_class(offered)
    if collector.kind in collectors:
        raise PluginBroken("duplicate_name", "a collector of kind {name} is registered already", name=collector.kind)
    collectors[collector.kind] = collector


def _modules() -> Iterator[str]:
    package = importlib.import_module(BUILT_IN)
    return (module.name for module in pkgutil.iter_modules(package.__path__, f"{BUILT_IN}."))


def _defined(module: ModuleType) -> list[object]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Collector) and value.__module__ == module.__name__
    ]
