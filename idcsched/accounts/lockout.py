"""The answer to a login after too many failed ones."""

import logging
from typing import Any

from csp.decorators import csp
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

__all__ = ["locked_out"]

logger = logging.getLogger(__name__)


@csp(settings.PAGES_SECURITY_POLICY)
def locked_out(
    request: HttpRequest, original: HttpResponse | None = None, credentials: dict[str, Any] | None = None
) -> HttpResponse:
    """Answer 429 with the time to wait; the right password is refused as well, or guessing could go on."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    logger.warning("too many failed logins as %r", str((credentials or {}).get("username", ""))[:150])
    detail = _("Wait %(minutes)s minutes, or ask an administrator to let you in.") % {"minutes": seconds // 60}
    context = {"status": 429, "title": _("Too many failed logins"), "detail": detail}
    response = render(request, "administration/error.html", context, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response
