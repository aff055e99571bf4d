"""The registry of collector classes by kind of source: the built-in ones, and third parties' by entry point.

Collectors are never imported directly but looked up here. One that can't be loaded is listed with its error; the others
stay usable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from idcsched.framework.errors import PluginBroken
from idcsched.framework.messages import _
from idcsched.framework.registry import load_subclasses
from metrics_ingest.collector import Collector, Config

__all__ = ["BUILT_IN", "GROUP", "Kinds", "kinds", "load_kinds"]

BUILT_IN = "metrics_ingest.collectors"
GROUP = "idcsched.collectors"


@dataclass(frozen=True, slots=True)
class Kinds:
    """Collectors by kind, and the errors of those that could not be loaded."""

    collectors: Mapping[str, type[Collector]]
    broken: Mapping[str, str] = field(default_factory=dict)


@cache
def kinds() -> Kinds:
    """Return the kinds of this process, loaded once, at first use."""
    return load_kinds()


def load_kinds() -> Kinds:
    """Load the built-in collectors and those that installed distributions offer."""
    collectors, broken = load_subclasses(
        Collector,  # type: ignore[type-abstract]  # the registered classes are not abstract
        package=BUILT_IN,
        group=GROUP,
        name_of=lambda collector: collector.kind,
        check=check_collector_class,
    )
    return Kinds(collectors, broken)


def check_collector_class(collector: object) -> type[Collector]:
    """Return the class if it keeps the base class's contract; raises PluginBroken."""
    if not (isinstance(collector, type) and issubclass(collector, Collector)):
        raise PluginBroken("not_a_collector", _("{object} is not a subclass of Collector"), object=repr(collector))
    kind = getattr(collector, "kind", None)
    if not isinstance(kind, str) or not kind.isidentifier() or kind != kind.lower():
        name = collector.__qualname__
        raise PluginBroken("bad_name", _("{object} needs a lower-case identifier as its kind"), object=name)
    if not issubclass(collector.Config, Config):
        raise PluginBroken("bad_config", _("{kind}: Config is not a subclass of Config"), kind=kind)
    if "collect" in getattr(collector, "__abstractmethods__", ()):
        raise PluginBroken("no_method", _("{kind} does not say how to collect"), kind=kind)
    return collector
