"""The origin of changes made through the API, as the history records it: caller, request id and message."""

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
    """Record the changes made inside as the caller's, with the message of the request; raises Invalid."""
    with origin_set(
        actor=principal_of_request(request).username,
        via="api",
        request_id=request_id_of(request),
        message=_message(request),
    ):
        yield


def _message(request: Request) -> str:
    """Return the message: UTF-8, raw or percent-encoded, since browsers can't send raw UTF-8 in a header."""
    header = request.META.get(MESSAGE_VARIABLE, "")  # `request.headers` would parse every header
    try:
        text = unquote(header.encode("latin-1").decode(), errors="strict").strip()
    except UnicodeError:
        raise Invalid("invalid_message", _("the header {name} must be UTF-8"), name=MESSAGE_HEADER) from None
    if len(text) > LONGEST or not storable(text):
        detail = _("the header {name} holds a text of at most {most} characters")
        raise Invalid("invalid_message", detail, name=MESSAGE_HEADER, most=LONGEST)
    return text
