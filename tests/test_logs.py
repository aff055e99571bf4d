"""The log: one JSON object an entry, or a line for people, with the ids of the request or task that it is about."""

import json
import logging
from collections.abc import Iterator
from logging.config import DictConfigurator
from types import SimpleNamespace

import pytest
from celery.signals import task_postrun, task_prerun
from structlog.contextvars import bound_contextvars, clear_contextvars, get_contextvars

from idcsched.config.logging import LogFormat, configuration
from idcsched.placement.tasks import placement_deliver

CANARY = "canary-7f3a"


def formatter(log_format: LogFormat = "json") -> logging.Formatter:
    """The formatter of the installation's log."""
    described = configuration("INFO", log_format, access_log=True)
    made: logging.Formatter = DictConfigurator(described).configure_formatter(described["formatters"]["structured"])
    return made


def rendered(record: logging.LogRecord, log_format: LogFormat = "json") -> str:
    return formatter(log_format).format(record)


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    fields = {"name": "idcsched.test", "levelno": logging.WARNING, "levelname": "WARNING", "msg": message, "args": args}
    return logging.makeLogRecord(fields | extra)


@pytest.fixture(autouse=True)
def _no_context() -> Iterator[None]:
    clear_contextvars()
    yield
    clear_contextvars()


def test_it_works() -> None:
    with bound_contextvars(request_id="req-1"):
        entry = json.loads(rendered(record("source %s is late", "loads")))
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {
        "event": "source loads is late", "level": "warning", "logger": "idcsched.test", "request_id": "req-1",
    }  # fmt: skip


def test_people_read_lines() -> None:
    with bound_contextvars(request_id="req-1"):
        line = rendered(record("source %s is late", "机房"), "console")
    assert "source 机房 is late" in line
    assert "request_id" in line


def test_an_entry_is_one_line_in_any_language() -> None:
    line = rendered(record("a\nforged line\t机房"))
    assert "\n" not in line
    assert "机房" in line


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_shows_no_values(log_format: LogFormat) -> None:
    secret = CANARY.upper()
    try:
        int(secret[:0])
    except ValueError as error:
        line = rendered(record("it failed", exc_info=(ValueError, error, error.__traceback__)), log_format)
    assert "int(secret[:0])" in line
    assert secret not in line


def test_what_libraries_add_is_not_shown() -> None:
    line = rendered(record("Not Found: /x/", request=SimpleNamespace(token=CANARY), status_code=404))
    assert json.loads(line).keys() == {"event", "level", "logger", "timestamp"}


def test_the_access_log_is_off_unless_it_is_wanted() -> None:
    for wanted, level in ((False, "WARNING"), (True, "INFO")):
        loggers = configuration("ERROR", "json", access_log=wanted)["loggers"]
        assert {loggers[name]["level"] for name in ("idcsched.web.access", "celery.beat", "celery.app.trace")} == {
            level
        }


def test_a_task_names_itself_and_its_ids() -> None:
    task_prerun.send(sender=placement_deliver, task=placement_deliver, task_id="t-1", args=["p-1"], kwargs={})
    assert get_contextvars() == {
        "task": "idcsched.placement.tasks.placement_deliver", "task_id": "t-1", "placement_id": "p-1",
    }  # fmt: skip
    task_postrun.send(sender=placement_deliver, task=placement_deliver, task_id="t-1", args=["p-1"], kwargs={})
    assert get_contextvars() == {}
