"""Which request a line in the log is about."""

import logging

from idcsched.audit.context import origin

__all__ = ["RequestId"]


class RequestId(logging.Filter):
    """Gives each record the id of the HTTP request that it was written for, `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)  # Django's own records carry it
        record.request_id = getattr(request, "request_id", "") or origin().request_id or "-"
        return True
