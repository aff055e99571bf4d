"""The configuration of the log: one line an entry, as JSON or for people, with the context that structlog keeps.

Modules log by Python's `logging`; structlog renders the entries. What is bound by `structlog.contextvars` (the request
id, for example) is added to every entry of the same request or task.
"""

import json
import sys
from typing import Any, Literal

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

__all__ = ["ACCESS_FIELDS", "LogFormat", "configuration", "format_by_default"]

LogFormat = Literal["json", "console"]
ACCESS_FIELDS = ("method", "route", "path", "status", "ms", "caller")
"""The fields of the access log. No other `extra` of an entry is shown: libraries put whole requests there."""


def format_by_default() -> LogFormat:
    """Return the format for people on a terminal, else JSON."""
    return "console" if sys.stderr.isatty() else "json"


def configuration(level: str, log_format: LogFormat, *, access_log: bool) -> dict[str, Any]:
    """Return the configuration of Python's logging: one line an entry, on standard error.

    With the access log, the server logs each request, beat each task that it sends, and the worker each that it runs.
    """
    each_one = "INFO" if access_log else "WARNING"
    context: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(allow=ACCESS_FIELDS),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": ProcessorFormatter,
                "foreign_pre_chain": context,
                "processors": [ProcessorFormatter.remove_processors_meta, *_renderers(log_format)],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would log everything twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            "idcsched.web.access": {"level": each_one},
            "celery.beat": {"level": each_one},
            "celery.worker.strategy": {"level": each_one},
            "celery.app.trace": {"level": each_one},
        },
    }


def _renderers(log_format: LogFormat) -> list[Processor]:
    """Return what turns an entry into its line; a traceback shows no values of variables, which may be secrets."""
    if log_format == "console":
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(json.dumps, ensure_ascii=False)]
