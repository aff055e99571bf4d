"""Of which tests coverage is measured. It makes them half as slow again, and says no more for being measured twice."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

__all__ = ["measure_once", "measured"]

ALWAYS = ("tests/framework/", "tests/plugins/", "tests/scheduling/", "tests/api/test_schedule")
"""Here each case counts, and each random one: of the engine, every line and branch is to be covered."""


def measure_once(items: Iterable[pytest.Item]) -> None:
    """Mark what is not measured: all cases of a test but the first by name, and what goes the same way at random."""
    seen: set[str] = set()
    for item in sorted(items, key=lambda item: item.nodeid):
        test = item.nodeid.partition("[")[0]
        again = test in seen or item.get_closest_marker("hypothesis")
        if again and not test.startswith(ALWAYS):
            item.add_marker("no_cover")
        seen.add(test)


@contextmanager
def measured(item: pytest.Item) -> Iterator[None]:
    """Does for what comes before a test what pytest-cov does for the test itself: it leaves out the marked ones."""
    controller = getattr(item.config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if controller is None or item.get_closest_marker("no_cover") is None:
        yield
        return
    controller.pause()
    try:
        yield
    finally:
        controller.resume()
