"""The configuration of the log, whose lines name the request that they are about."""

import logging
from typing import Any

from idcsched.audit.context import origin

__all__ = ["RequestId", "configuration"]


class RequestId(logging.Filter):
    """Filter that adds the id of the HTTP request to each record, `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)  # Django's own records carry it
        record.request_id = getattr(request, "request_id", "") or origin().request_id or "-"
        return True


def configuration(level: str) -> dict[str, Any]:
    """Return the configuration of Python's logging: one line an entry, on standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request_id": {"()": "idcsched.config.logging.RequestId"}},
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "filters": ["request_id"], "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        # Django's own handlers would log everything twice.
        "loggers": {"django": {"handlers": [], "level": level, "propagate": True}},
    }
