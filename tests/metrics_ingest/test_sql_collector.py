"""The collector for PostgreSQL, against a real server: it reads, within bounds, and changes nothing."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg2
import pytest
from django.utils import timezone

from idcsched.inventory.models import Idc
from metrics_ingest.models import Latest, Run, Source
from metrics_ingest.services import source_create
from metrics_ingest.sources.collecting import source_collect
from tests.outbound.peers import closed_port, loopback_allowed, mute

TABLE = """
    DROP TABLE IF EXISTS readings;
    CREATE TABLE readings (site text, load numeric, taken timestamptz);
    INSERT INTO readings VALUES ('gz-01', 0.25, now()), ('moon', 0.5, now()), ('gz-01', NULL, now());
"""
MAPPING = {"idc": "site", "at": "taken", "values": {"cpu_load": "load"}}


@pytest.fixture
def database(postgresql_server: str) -> dict[str, Any]:
    """How to connect to a database that has a table of readings."""
    with psycopg2.connect(postgresql_server) as connection, connection.cursor() as cursor:
        cursor.execute(TABLE)
        parameters = connection.get_dsn_parameters()
    connection.close()
    names = {"host": parameters["host"], "port": int(parameters["port"]), "database": parameters["dbname"]}
    return {**names, "user": parameters["user"], "sslmode": "disable", "timeout_seconds": 60}


@pytest.fixture
def source(idc: Idc, settings: Any, database: dict[str, Any]) -> Iterator[Callable[..., Source]]:
    def make(query: str = "SELECT * FROM readings", **config: Any) -> Source:
        settled = {**database, "query": query, **config}
        return source_create(code="sql", kind="sql", schedule="60", config=settled, mapping=MAPPING)

    with loopback_allowed(settings):
        yield make


def collected(source: Source) -> Run:
    run = source_collect(source_id=source.pk, clock=timezone.now)
    assert run is not None
    return run


def test_it_works(source: Callable[..., Source]) -> None:
    run = collected(source("SELECT * FROM readings;"))
    assert (run.state, run.fetched, run.stored, run.unmatched) == ("succeeded", 2, 1, 1), run.error
    assert Latest.objects.get().value == 0.25


def test_many_rows_come_in_batches(source: Callable[..., Source]) -> None:
    query = (
        "SELECT 'gz-01' AS site, 0.5 AS load, now() - n * interval '5 minutes' AS taken FROM generate_series(0, 2500) n"
    )
    assert collected(source(query)).stored == 2501


def test_rows_without_end_are_not_read_to_the_end(source: Callable[..., Source]) -> None:
    run = collected(
        source(
            "SELECT 'gz-01' AS site, 1 AS load, now() AS taken FROM generate_series(1, 3000000)", timeout_seconds=100
        )
    )
    assert run.error["code"] in {"too_many", "too_slow"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DELETE FROM readings RETURNING *", "syntax error"),
        ("WITH gone AS (DELETE FROM readings RETURNING *) SELECT * FROM gone", "data-modifying"),
        ("SELECT * FROM nowhere", "does not exist"),
        ("SELECT setval(pg_get_serial_sequence('x', 'y'), 1)", ""),
        ("SELECT lo_create(4711)", ""),
        ("SELECT set_config('transaction_read_only', 'off', false), lo_create(4711)", ""),
    ],
)
def test_it_only_reads(source: Callable[..., Source], postgresql_server: str, query: str, said: str) -> None:
    run = collected(source(query))
    assert run.state == "failed"
    assert said in str(run.error)
    with psycopg2.connect(postgresql_server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM readings")
        assert cursor.fetchone() == (3,)
        cursor.execute("SELECT count(*) FROM pg_largeobject_metadata")
        assert cursor.fetchone() == (0,)
    connection.close()


def test_a_query_that_sleeps_is_cut_off(source: Callable[..., Source]) -> None:
    run = collected(source("SELECT pg_sleep(600)", timeout_seconds=1))
    assert run.error["code"] == "too_slow"


def test_a_server_that_says_nothing_is_given_up(source: Callable[..., Source]) -> None:
    with mute() as where:
        host, _, port = where.partition(":")
        run = collected(source(host=host, port=int(port), timeout_seconds=0.5))
    assert run.error["code"] == "too_slow"


def test_where_nobody_listens_that_is_said(source: Callable[..., Source]) -> None:
    assert collected(source(port=closed_port())).error["code"] == "no_connection"


def test_a_host_that_is_not_allowed_is_not_dialled(source: Callable[..., Source], settings: Any) -> None:
    settings.OUTBOUND_HOSTS = ["*"]
    assert collected(source()).error["code"] == "host_refused"


def test_a_wrong_name_is_said_without_the_secret(
    source: Callable[..., Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = collected(source(user="nobody_at_all"))
    assert run.error["code"] == "no_connection"
    assert "nobody_at_all" in str(run.error)


def test_a_server_without_tls_is_refused_where_tls_is_wanted(source: Callable[..., Source]) -> None:
    run = collected(source(sslmode="verify-full"))
    assert run.error["code"] == "no_connection"
    assert "SSL" in str(run.error)
