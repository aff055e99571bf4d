"""Of which tests coverage is measured. It makes them half as slow again, and says no more for being measured twice."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

__all__ = ["measure_once", "measured"]

ALWAYS = ("tests/framework/", "tests/plugins/", "tests/scheduling/", "tests/api/test_schedule")
"""Here each case counts: every line and branch of the engine is to be covered, and not by chance."""


def measure_once(items: Iterable[pytest.Item]) -> None:
    """Mark what is not measured: what is random, and elsewhere than there all cases of a test but the first by name."""
    seen: set[str] = set()
    for item in sorted(items, key=lambda item: item.nodeid):
        test = item.nodeid.partition("[")[0]
        again = test in seen and not test.startswith(ALWAYS)
        if again or item.get_closest_marker("hypothesis"):
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
