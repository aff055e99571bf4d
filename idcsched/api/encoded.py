"""An answer that is JSON already, without what Django does to make one of anything."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpResponse
from django.http.cookie import SimpleCookie
from django.http.response import ResponseHeaders

__all__ = ["Encoded"]

CONTENT_TYPE = ("Content-Type", "application/json")


class Encoded(HttpResponse):
    """`HttpResponse(content, content_type="application/json", status=status)`, with all that this would have.

    It takes a third of the time: nothing of what is known here is checked, converted or looked for.
    """

    def __init__(self, content: bytes, status: int = HTTPStatus.OK) -> None:
        self.headers = ResponseHeaders({})
        self.headers._store["content-type"] = CONTENT_TYPE  # noqa: SLF001  # else checked as an unknown text must be
        self._charset = self._reason_phrase = self._handler_class = None
        self._resource_closers: list[Callable[[], object]] = []
        self.cookies = SimpleCookie()
        self.closed = False
        self.status_code = int(status)
        self._container = [content]
