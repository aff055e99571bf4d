"""The access log: one entry for each request, with whoever asked and what was decided."""

import json
import logging
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Api
from tests.test_logs import CANARY, formatter

Lines = Callable[[], list[dict[str, Any]]]
PROFILE = {"profile": "seed-example"}


@pytest.fixture
def access_log() -> Iterator[Lines]:
    """Switches the access log on; the function returns its entries so far."""
    logger, stream = logging.getLogger("idcsched.web.access"), StringIO()
    handler, level = logging.StreamHandler(stream), logger.level
    handler.setFormatter(formatter())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_every_request_is_one_line_of_the_access_log(seed: Api, portal: Api, access_log: Lines) -> None:
    before = len(access_log())
    decision = portal.call("POST", "/schedule/", {"region": "A"} | PROFILE, status=200, X_Request_Id="req-7")
    portal.get("/idcs/nowhere/", status=404)
    order = portal.post("/schedule/", {"region": "A", "action": "reserve"} | PROFILE, status=201)

    recommended, missed, ordered = access_log()[before:]
    assert recommended["ms"] > 0
    assert recommended.items() >= {
        "event": "request", "request_id": "req-7", "method": "POST", "route": "/api/v1/schedule/",
        "path": "/api/v1/schedule/", "status": 200, "caller": "portal", "decision_id": decision["decision_id"],
    }.items()  # fmt: skip
    assert (missed["route"], missed["path"], missed["status"]) == (
        "/api/v1/idcs/<code>/", "/api/v1/idcs/nowhere/", 404,
    )  # fmt: skip
    assert "decision_id" not in missed, "the request before, in the same thread, had one"
    assert (ordered["placement_id"], ordered["decision_id"]) == (order["id"], order["decision_id"])


@pytest.mark.usefixtures("db")
def test_the_access_log_has_no_secrets_and_no_monitoring(client: Client, access_log: Lines) -> None:
    client.get("/health/live/"), client.get("/metrics")
    client.get(
        f"/api/v1/idcs/?token={CANARY}", headers={"Authorization": f"Bearer {CANARY}", "Cookie": f"sessionid={CANARY}"}
    )
    client.post("/admin/login/", {"username": "ann", "password": CANARY})
    lines = access_log()
    assert [(line["path"], line["status"]) for line in lines] == [("/api/v1/idcs/", 401), ("/admin/login/", 200)]
    assert CANARY not in str(lines)
