"""A statement that PostgreSQL does not answer in time is given up; the connections and the server here are real."""

from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest
from django.db import connection

from idcsched.web import deadline
from idcsched.web.deadline import DeadlineConnection

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("db")]


@pytest.fixture
def watched() -> Iterator[DeadlineConnection]:
    """A new connection to the test database, with the deadline."""
    parameters = connection.get_connection_params() | {"connection_factory": DeadlineConnection}
    with closing(psycopg2.connect(**parameters)) as found:
        yield found


@pytest.fixture
def short(seconds: float) -> Iterator[None]:
    """Let the deadline be this many seconds."""
    thread = deadline.watch(seconds=seconds)
    yield
    thread.stop()


@pytest.fixture
def seconds() -> float:
    return 0.5


def test_it_works(watched: DeadlineConnection, short: None) -> None:
    with watched.cursor() as cursor, pytest.raises(psycopg2.OperationalError):
        cursor.execute("SELECT pg_sleep(60)")
    assert watched.closed


@pytest.mark.parametrize("seconds", [4])
def test_what_is_answered_in_time_goes_on(watched: DeadlineConnection, short: None) -> None:
    """Each of five statements is answered in time, although together they take longer than the deadline."""
    with watched.cursor() as cursor:
        for _ in range(5):
            cursor.execute("SELECT pg_sleep(0.9)")
        cursor.execute("SELECT 1")
        assert cursor.fetchmany(1) == [(1,)]
    watched.commit()
    assert not deadline._running


def test_what_was_begun_and_a_copy_are_watched_too(watched: DeadlineConnection, short: None) -> None:
    with watched.cursor() as cursor, pytest.raises(psycopg2.OperationalError):
        cursor.copy_expert("COPY (SELECT pg_sleep(60)) TO STDOUT", file=_Nowhere())


class _Nowhere:
    def write(self, _: str) -> None:
        return


def test_djangos_connections_are_of_this_kind() -> None:
    connection.ensure_connection()
    assert isinstance(connection.connection, DeadlineConnection)
