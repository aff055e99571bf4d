"""Bodies whose length nobody says beforehand: sent in chunks, or by HTTP/2.

Django reads as much of a body as `Content-Length` says, and without one takes it for empty. So it is read before Django
sees the request, as far as the server reads bodies at all, and gets the length that it turns out to have.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any, Final

__all__ = ["UnsizedBodies"]

WITH_A_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class UnsizedBodies:
    """A WSGI application that does this before `application`; of a longer body it passes on `most` bytes and one."""

    def __init__(self, application: Callable[..., Iterable[bytes]], *, most: int) -> None:
        self.application, self.most = application, most

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not environ.get("CONTENT_LENGTH") and environ["REQUEST_METHOD"] in WITH_A_BODY:
            body = self._read(environ["wsgi.input"])
            environ.update({"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))})
        return self.application(environ, start_response)

    def _read(self, stream: Any) -> bytes:
        read = bytearray()
        while len(read) <= self.most and (some := stream.read(self.most + 1 - len(read))):
            read += some
        return bytes(read)
