"""Connections that threads have left open are gone before the tests' database is dropped."""

from contextlib import closing

import psycopg2
import pytest
from django.db import connection

from tests.database import close_other_connections

pytestmark = pytest.mark.postgresql

OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
LEFT_OPEN = 5


def test_it_works(db: None) -> None:
    parameters = {name: connection.get_connection_params()[name] for name in ("dbname", "user", "host", "port")}
    for _ in range(LEFT_OPEN):
        with closing(psycopg2.connect(**parameters)) as other, other.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE left_open AS SELECT generate_series(1, 100000)")
            close_other_connections()
            with connection.cursor() as mine:
                mine.execute(f"{OTHERS} AND backend_type = 'client backend'")
                assert mine.fetchone() == (0,)
