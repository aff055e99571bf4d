"""The registry of collector classes by kind of source."""

from functools import cache

from idcsched.framework.kinds import Kinds, check_kind, load_kinds
from metrics_ingest.collector import Collector

__all__ = ["BUILT_IN", "GROUP", "check_collector_class", "kinds"]

BUILT_IN = "metrics_ingest.collectors"
GROUP = "idcsched.collectors"


@cache
def kinds() -> Kinds[Collector]:
    """Return the kinds of this process, loaded once, at first use."""
    return load_kinds(Collector, package=BUILT_IN, group=GROUP)  # type: ignore[type-abstract]


def check_collector_class(offered: object) -> type[Collector]:
    """Return the class if it keeps the contract of Collector; raises PluginBroken."""
    return check_kind(offered, Collector)  # type: ignore[type-abstract]
