"""What all tests share. Which database they run on, DATABASE_URL decides; `python -m tests` runs them on both."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.test import TransactionTestCase
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from redis import Redis

from idcsched.scheduling.live import live
from tests.measured import measure_once, measured
from tests.servers import Unavailable, postgresql
from tests.servers import redis as redis_servers
from tests.together import Together, dearest_first

hypothesis_settings.register_profile("quick", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.register_profile("long", parent=hypothesis_settings.get_profile("quick"), max_examples=2000)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

QUICK_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
VENDORS = {"django.db.backends.sqlite3": "sqlite", "django.db.backends.postgresql": "postgresql"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="Leave out the tests that use no database.")
    parser.addoption("--update-golden", action="store_true", help="Pin the golden answers as they are now.")
    parser.addoption("--update-public-names", action="store_true", help="Pin the public names as they are now.")


def pytest_configure() -> None:
    """Leave out what takes nothing but time: slow hashes, and each test client's look at all static files.

    The web servers and the workers that tests start have both as installations do.
    """
    settings.PASSWORD_HASHERS = QUICK_HASHERS
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    return Together(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    with measured(item):
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Bring them in order; leave out what is about the other database, with `--database-only` what is about none."""
    items.sort(key=lambda item: dearest_first(item, uses_database=_uses_database(item)))
    measure_once(items)
    others = set(VENDORS.values()) - {VENDORS[settings.DATABASES["default"]["ENGINE"]]}
    database_only = config.getoption("--database-only")
    kept, left_out = [], []
    for item in items:
        foreign = any(item.get_closest_marker(vendor) for vendor in others)
        (left_out if foreign or (database_only and not _uses_database(item)) else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _uses_database(item: pytest.Item) -> bool:
    case = getattr(item, "cls", None)
    fixtures = set(getattr(item, "fixturenames", ()))
    return (
        item.get_closest_marker("django_db") is not None
        or bool(fixtures & {"db", "transactional_db"})
        or (case is not None and issubclass(case, TransactionTestCase))
    )


@contextmanager
def _or_skip() -> Iterator[None]:
    """What can't be had is skipped, with its reason; `python -m tests` makes that a failure where CI=true."""
    try:
        yield
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The address of a real Redis server, without a database number."""
    with _or_skip(), redis_servers.available() as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str, worker_id: str) -> Iterator[str]:
    """An empty Redis database that no other test uses meanwhile."""
    number = int(worker_id.removeprefix("gw")) + 1 if worker_id != "master" else 0
    url = f"{redis_server}/{number}"
    with Redis.from_url(url) as client:
        client.flushdb()
        yield url
        client.flushdb()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of the database `postgres` of a real PostgreSQL server."""
    with _or_skip(), postgresql.available() as url:
        yield url


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """A request leaves its language behind in its thread: it must not reach the next test."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def _fresh_picture() -> None:
    """A test's transaction rolls back behind the change feed: what the process remembers must go with it."""
    live.forget()
