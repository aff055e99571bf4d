"""What somebody sees who has tried too many passwords."""

import logging
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

__all__ = ["locked_out"]

logger = logging.getLogger(__name__)


def locked_out(
    request: HttpRequest, original: HttpResponse | None = None, credentials: dict[str, Any] | None = None
) -> HttpResponse:
    """429, and when to come back; the right password is refused as well, or guessing could go on."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    logger.warning("too many failed logins as %r", str((credentials or {}).get("username", ""))[:150])
    response = render(request, "administration/locked_out.html", {"minutes": seconds // 60}, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response
