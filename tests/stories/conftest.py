"""One live installation per session, as `make run` starts it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from django.conf import settings
from redis import Redis

from tests.architecture.repository import ROOT
from tests.e2e.installation import Installation, wait_for
from tests.servers import free_port
from tests.servers.postgresql import new_database
from tests.stories.product import Product, until

READY = "Ctrl-C stops everything."
REDIS_DATABASES = range(20, 60)
CLAIM, CLAIM_SECONDS = "tests.stories", 3600


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all stories as `both`, so that they run on PostgreSQL and on SQLite."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.both)


@pytest.fixture(scope="session")
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The live installation.

    On SQLite it is what `make run` sets up. On PostgreSQL it has two web processes, which share a Redis with worker and
    beat.
    """
    with ExitStack() as kept:
        variables = {"PORT": str(free_port()), "LOG_FORMAT": "json", "ACCESS_LOG": "on"}
        if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
            variables["REDIS_URL"] = kept.enter_context(_redis_database(request.getfixturevalue("redis_server")))
            variables["DATABASE_URL"] = kept.enter_context(new_database(request.getfixturevalue("postgresql_server")))
            variables["WEB_WORKERS"] = "2"
        folder = tmp_path_factory.mktemp("product")
        variables["PROVIDER_SECRETS"] = variables["SOURCE_SECRETS"] = f"file:{folder}/var/secrets/@127.0.0.1"
        installation = Installation(folder, source=ROOT, **variables)
        child = installation.start("product", sys.executable, "manage.py", "demo_run")
        kept.callback(child.process.wait)
        kept.callback(_kill, installation)
        wait_for(lambda: READY in child.last_words(1000) or not child.running, "the installation", seconds=120)
        assert READY in child.last_words(1000), child.last_words(1000)
        credentials = json.loads((installation.var / "demo-credentials.json").read_text(encoding="utf-8"))
        commands = kept.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "tests.stories.commands"],
                cwd=ROOT, env=installation.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
        kept.callback(_kill, installation)
        yield Product(
            installation,
            f"http://127.0.0.1:{variables['PORT']}",
            {who: each["token"] for who, each in credentials.items()},
            int(variables.get("WEB_WORKERS", "1")),
            commands,
        )


@pytest.fixture(scope="session")
def beat(product: Product) -> None:
    """Wait for beat, which starts last: the installation counts as ready without it."""
    admin = product.caller("admin")

    def works() -> bool:
        return "beat" in [each["trade"] for each in admin.get("/status/")["background"]["processes"]]

    until(works, "beat", seconds=120)


@pytest.fixture(autouse=True)
def _connections_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "product" in request.fixturenames:
        request.getfixturevalue("product").close()


def _kill(installation: Installation) -> None:
    """End all its processes at once: how it stops in earnest is told by tests/e2e/test_make_run.py."""
    while processes := installation.processes():
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


@contextmanager
def _redis_database(server: str) -> Iterator[str]:
    """A Redis database that no other installation uses meanwhile; emptied at the end."""
    for number in REDIS_DATABASES:
        with Redis.from_url(f"{server}/{number}") as client:
            if client.set(CLAIM, os.getpid(), nx=True, ex=CLAIM_SECONDS):
                try:
                    yield f"{server}/{number}"
                finally:
                    client.flushdb()
                return
    raise AssertionError("all Redis databases are in use")
