"""What all tests share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.utils import translation
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser
from pytest_django import DjangoDbBlocker
from redis import Redis

from idcsched.accounts.token_use import token_use
from idcsched.jobs.announcing import announcer
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder
from tests.database import Pristine, close_other_connections
from tests.servers import Unavailable, chromium, postgresql
from tests.servers import redis as redis_servers

hypothesis_settings.register_profile(
    "quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.register_profile("long", parent=hypothesis_settings.get_profile("quick"), max_examples=300)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

QUICK_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
VENDORS = {"django.db.backends.sqlite3": "sqlite", "django.db.backends.postgresql": "postgresql"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Pin the golden answers as they are now.")


def pytest_configure() -> None:
    """Leave out what takes nothing but time: slow hashes, and each test client's look at all static files.

    The web servers and the workers that tests start have both as installations do.
    """
    settings.PASSWORD_HASHERS = QUICK_HASHERS
    settings.WHITENOISE_AUTOREFRESH = True
    settings.SOURCE_SECRETS, settings.PROVIDER_SECRETS = ["env:SOURCE_*@127.0.0.1"], ["env:PROVIDER_*@127.0.0.1"]
    if _vendor() == "sqlite":  # a file, as everybody else has: SQLite in memory is shared by no two processes
        settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = str(settings.VAR_DIR / "test.sqlite3")
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are about the other database; measure no coverage where examples repeat the same lines.

    Tracing makes those tests half as long again, and the tests beside them cover nearly all that they pass through.
    """
    others = set(VENDORS.values()) - {_vendor()}
    left_out = [item for item in items if any(item.get_closest_marker(vendor) for vendor in others)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    for item in items:
        if item.get_closest_marker("hypothesis"):
            item.add_marker("no_cover")


def _vendor() -> str:
    return VENDORS[settings.DATABASES["default"]["ENGINE"]]


@pytest.fixture(scope="session")
def pristine(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Pristine]:
    with django_db_blocker.unblock():
        yield Pristine()
        for thread in (live, recorder, token_use, announcer):
            thread.stop()
        close_other_connections()


@pytest.fixture
def db(pristine: Pristine, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database, and a process that knows nothing of it yet; what the test commits is deleted afterwards."""
    with django_db_blocker.unblock():
        live.forget()
        dropped = recorder.dropped
        yield
        recorder.flush()
        token_use.flush()
        pristine.restore()
        lost, recorder.dropped = recorder.dropped - dropped, dropped  # the next test is to find nothing of it
        assert not lost, "a decision of this test was not recorded"


@pytest.fixture
def transactional_db(db: None) -> None:
    """What pytest-django's `live_server` asks for: every test commits here."""


@pytest.fixture(autouse=True)
def _database_first(request: pytest.FixtureRequest) -> None:
    """The database comes before all other fixtures of a test that uses it."""
    if {"db", "transactional_db", "live_server"} & set(request.fixturenames):
        request.getfixturevalue("db")


@contextmanager
def _or_skip() -> Iterator[None]:
    """Skip what can't be had, with its reason; `tests.servers.session` makes that a failure where CI=true."""
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
def full_redis() -> Iterator[str]:
    """The address of a Redis server that can be read and stores nothing more."""
    with _or_skip(), redis_servers.running() as url, Redis.from_url(url) as client:
        client.config_set("maxmemory", "1")
        yield f"{url}/0"


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The address of the database `postgres` of a real PostgreSQL server."""
    with _or_skip(), postgresql.available() as url:
        yield url


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> None:
    """The billing zone of a test whose days and hours are those of Shanghai, whatever the environment says."""
    monkeypatch.setattr(settings, "BILLING_ZONE", "Asia/Shanghai")


@pytest.fixture(autouse=True)
def _own_language() -> Iterator[None]:
    """Undo the language that a request has set in the test's thread, so that the next test does not have it."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright leaves an event loop running in this process
    try:
        with chromium.running() as found:
            yield found
    except Unavailable as error:
        pytest.skip(str(error))
