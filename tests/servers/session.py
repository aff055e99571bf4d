"""The pytest plugin that starts the servers which the tests need, before Django reads its settings.

PostgreSQL is the database of a run, SQLite where TEST_ON=sqlite says so. What can't be had is named at the end of the
run, and fails it where CI=true.
"""

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack

import pytest

from tests.servers import Unavailable, chromium, gettext, nginx, postgresql, prometheus, redis

SERVERS: Mapping[str, Callable[[], AbstractContextManager[str]]] = {
    "TEST_DATABASE_URL": postgresql.available,
    "TEST_REDIS_URL": redis.available,
    "TEST_CHROMIUM": chromium.available,
    "TEST_GETTEXT": gettext.present,
    "TEST_PROMETHEUS": prometheus.present,  # each test starts its own: what it scrapes is the test's
    "TEST_NGINX": nginx.present,  # the same: whom it asks
}
WORKER = "PYTEST_XDIST_WORKER"

_missing: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    if WORKER not in os.environ:  # the workers of a parallel run inherit what the first process has found
        servers = ExitStack()
        early_config.add_cleanup(servers.close)
        _start(servers)
    os.environ.pop("DATABASE_URL", None)
    if os.environ.get("TEST_ON") != "sqlite" and "TEST_DATABASE_URL" in os.environ:
        os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each process that a test starts would compile everything anew
    return (yield)


def _start(servers: ExitStack) -> None:
    for variable, available in SERVERS.items():
        try:
            os.environ[variable] = servers.enter_context(available())
        except Unavailable as error:
            _missing.append(str(error))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true" and WORKER not in os.environ:
        config.pluginmanager.register(_AtOnce(config), "at-once")


class _AtOnce:
    """Prints each failure when it occurs: a run that is cut off later has said what it found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            writer = self._config.get_terminal_writer()
            writer.line()
            writer.sep("_", f"{report.nodeid} ({report.when})")
            report.toterminal(writer)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reason in _missing:
        terminalreporter.line(f"Could not be had, so its tests did not run: {reason}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _missing and os.environ.get("CI") == "true":
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("Servers are missing, which fails a run in CI.", file=sys.stderr)
