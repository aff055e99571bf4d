"""The pytest plugin that ends a test whose clean-up hangs after it has failed.

pytest-timeout cancels its own limit at a failure, for debuggers. A worker that is ended says where it stood, and its
test counts as failed.
"""

import faulthandler
import sys
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Give the clean-up as long as pytest-timeout gives a test."""
    limit = item.config.getoption("timeout") or float(item.config.getini("timeout"))
    faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
