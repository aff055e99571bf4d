"""Bodies without a `Content-Length`: sent in chunks, or by HTTP/2.

Django takes a body without a `Content-Length` for empty. So such a body is read before Django sees the request, up to
the limit of bodies, and its length is added to the request.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any, Final

__all__ = ["UnsizedBodies"]

WITH_A_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class UnsizedBodies:
    """WSGI application that reads such bodies for `application`; of a longer one it passes on one byte above `most`."""

    def __init__(self, application: Callable[..., Iterable[bytes]], *, most: int) -> None:
        self.application, self.most = application, most

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not environ.get("CONTENT_LENGTH") and environ["REQUEST_METHOD"] in WITH_A_BODY:
            body = self._read(environ["wsgi.input"])
            environ.update({"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))})
        return self.application(environ, start_response)

    def _read(self, stream: Any) -> bytes:
        read = bytearray()
        while len(read) <= self.most and (chunk := stream.read(self.most + 1 - len(read))):
            read += chunk
        return bytes(read)
