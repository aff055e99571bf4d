"""To whom a change that came in by the API is put down, and what they said about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote

from rest_framework.request import Request

from idcsched.audit.context import origin_set
from idcsched.audit.row_check import storable
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _

from .middleware import request_id_of
from .permissions import principal_of_request

__all__ = ["MESSAGE_HEADER", "caller_origin"]

MESSAGE_HEADER: Final = "X-Change-Message"
MESSAGE_VARIABLE: Final = "HTTP_X_CHANGE_MESSAGE"
LONGEST: Final = 500


@contextmanager
def caller_origin(request: Request) -> Iterator[None]:
    """Changes made inside are recorded as the caller's, with the reason that they gave. Raises Invalid."""
    with origin_set(
        actor=principal_of_request(request).username,
        via="api",
        request_id=request_id_of(request),
        message=_message(request),
    ):
        yield


def _message(request: Request) -> str:
    """UTF-8, as it is or percent-encoded: what a header can't carry, a browser can't send."""
    given = request.META.get(MESSAGE_VARIABLE, "")  # `headers` parses them all
    try:
        text = unquote(given.encode("latin-1").decode(), errors="strict").strip()
    except UnicodeError:
        raise Invalid("invalid_message", _("the header {name} must be UTF-8"), name=MESSAGE_HEADER) from None
    if len(text) > LONGEST or not storable(text):
        detail = _("the header {name} holds a text of at most {most} characters")
        raise Invalid("invalid_message", detail, name=MESSAGE_HEADER, most=LONGEST)
    return text
