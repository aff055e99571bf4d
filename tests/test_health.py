"""Probes: `live` depends on no other service, and `ready` says which of them is missing."""

import pytest
from django.db import OperationalError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from pytest_django import Settings

from idcsched.scheduling.live import live
from tests.servers import free_port


@pytest.mark.usefixtures("db")
def test_it_works(client: Client) -> None:
    response = client.get("/health/ready/")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "snapshot": "ok", "broker": "embedded"}
    assert "no-store" in response["Cache-Control"]


def test_alive_depends_on_nothing(client: Client) -> None:
    # Without the database mark, any query would fail this test.
    assert client.get("/health/live/").json() == {"status": "ok"}


@pytest.mark.parametrize("probe", ["live", "ready"])
def test_probes_are_only_read(client: Client, probe: str) -> None:
    assert client.post(f"/health/{probe}/").status_code == 405


def test_not_ready_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object) -> None:
        raise OperationalError("connection to server at db.internal failed")

    monkeypatch.setattr(MigrationExecutor, "__init__", unreachable)
    response = client.get("/health/ready/")
    assert response.status_code == 503
    assert response.json()["database"] == "unreachable (OperationalError)"


@pytest.mark.usefixtures("db")
def test_not_ready_before_the_migrations(client: Client) -> None:
    with transaction.atomic():
        with connections["default"].cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        response = client.get("/health/ready/")
        transaction.set_rollback(True)
    assert response.status_code == 503
    assert response.json()["database"] == "not migrated"


@pytest.mark.usefixtures("db")
def test_not_ready_with_a_snapshot_too_old_to_answer_with(client: Client, settings: Settings) -> None:
    live.catch_up()
    settings.SNAPSHOT_MAX_AGE = -1
    response = client.get("/health/ready/")
    assert response.status_code == 503
    assert (response.json()["database"], response.json()["snapshot"]) == ("ok", "snapshot_too_old")


@pytest.mark.usefixtures("db")
def test_redis_is_reported(client: Client, settings: Settings, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    assert client.get("/health/ready/").json()["broker"] == "ok"


@pytest.mark.usefixtures("db")
def test_redis_that_stores_nothing_is_reported(client: Client, settings: Settings, full_redis: str) -> None:
    settings.REDIS_URL = full_redis
    response = client.get("/health/ready/")
    assert (response.status_code, response.json()["broker"]) == (200, "unreachable (OutOfMemoryError)")


@pytest.mark.usefixtures("db")
def test_redis_away_is_reported_and_does_not_count(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    response = client.get("/health/ready/")
    assert response.status_code == 200
    assert response.json()["broker"] == "unreachable (ConnectionError)"


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("address", ["/health/live/", "/health/ready/", "/metrics"])
def test_monitoring_asks_at_any_address(client: Client, address: str) -> None:
    """Orchestrators and Prometheus send a container's own address as the host."""
    assert client.get(address, SERVER_NAME="172.28.0.7").status_code == 200
    assert client.get("/api/v1/", SERVER_NAME="172.28.0.7").status_code == 400


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("secure", [True, False], ids=["over HTTPS", "over HTTP"])
def test_probes_are_never_redirected(client: Client, settings: Settings, secure: bool) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/health/live/", secure=secure).status_code == 200
    assert client.get("/metrics", secure=secure).status_code != 301
