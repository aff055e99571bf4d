"""A line in the log says which request it is about."""

import logging
from types import SimpleNamespace

import pytest

from idcsched.audit.context import origin_set
from idcsched.config.logging import RequestId


def record(**extra: object) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": "something", **extra})


def marked(found: logging.LogRecord) -> object:
    assert RequestId().filter(found)
    return found.__dict__["request_id"]


def test_it_works() -> None:
    with origin_set(actor="ann", via="api", request_id="req-1"):
        assert marked(record()) == "req-1"
    assert marked(record()) == "-"


@pytest.mark.parametrize(
    ("request_id", "expected"), [pytest.param("req-2", "req-2", id="given"), pytest.param("", "-", id="none yet")]
)
def test_djangos_own_records_carry_their_request(request_id: str, expected: str) -> None:
    assert marked(record(request=SimpleNamespace(request_id=request_id))) == expected
