"""On a database that can only be read, as after a fail-over, every write is a 503, and records wait to be written."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg2
import pytest
from django.db import OperationalError, connection
from django.test import Client

from idcsched.accounts.models import Tenant
from idcsched.scheduling.live import live
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api, causes
from tests.database import close_other_connections

pytestmark = pytest.mark.postgresql

ASKED = {"region": "A", "profile": "seed-example"}


@pytest.fixture
def standby(seed: Api, tenant: Tenant) -> Iterator[Api]:
    """The administrator of the seed example, whose database can only be read meanwhile."""
    live.catch_up()
    _let_sessions_begin(read_only="on")
    yield seed
    _let_sessions_begin(read_only="off")


def _let_sessions_begin(*, read_only: str) -> None:
    parameters = {name: connection.get_connection_params()[name] for name in ("dbname", "user", "host", "port")}
    options = "-c default_transaction_read_only=off"
    with closing(psycopg2.connect(**parameters, options=options)) as writing, writing, writing.cursor() as cursor:
        cursor.execute(
            f"ALTER DATABASE {connection.ops.quote_name(parameters['dbname'])} "
            f"SET default_transaction_read_only = {read_only}"
        )
    connection.close()
    close_other_connections()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/schedule/", {**ASKED, "action": "reserve", "tenant": "live-cn"}),
        ("POST", "/regions/", {"code": "Z"}),
        ("PATCH", "/idcs/a/", {"name": "x"}),
        ("POST", "/samples/", [{"idc": "a", "metric": "cpu_load", "value": 0.5}]),
        ("DELETE", "/profiles/seed-example/", None),
    ],
)
def test_it_works(standby: Api, method: str, path: str, body: Any) -> None:
    answer = standby.raw(method, path, None if body is None else json.dumps(body))
    assert (answer.status_code, json.loads(answer.content)["code"]) == (503, "database_unavailable")
    assert answer["Retry-After"] == "5"


def test_a_form_is_not_saved_and_says_so(standby: Api) -> None:
    form = {"username": "somebody", "password": "wrong"}  # the failure is to be noted
    page = Client(raise_request_exception=False).post("/admin/login/", form, headers={"accept": "text/html"})
    assert page.status_code == 503
    assert "Nothing was done; try again soon." in page.content.decode()


def test_recommendations_go_on_and_their_records_wait(standby: Api) -> None:
    dropped, answer = recorder.dropped, standby.schedule(**ASKED)
    with pytest.raises(OperationalError):
        recorder.flush()
    assert (recorder.dropped, recorder.waiting) == (dropped, 1)

    _let_sessions_begin(read_only="off")
    recorder.flush()
    assert Decision.objects.filter(pk=answer["decision_id"]).exists()


def test_it_is_said(standby: Api, client: Client) -> None:
    ready = client.get("/health/ready/")
    assert (ready.status_code, ready.json()["database"]) == (503, "read-only")
    assert "database_read_only" in causes(standby)
    figures = client.get("/metrics").content.decode()
    assert "idcsched_database_up 1.0" in figures
    assert "idcsched_database_writable 0.0" in figures


def test_the_next_statement_has_another_connection(standby: Api) -> None:
    """A refused write closes its connection.

    Where the address moves with the primary, the next one reaches the new primary.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert connection.connection.closed == 0
    before = connection.connection
    standby.raw("POST", "/regions/", json.dumps({"code": "Z"}))
    assert before.closed
