"""The transport that lets Apache Libcloud's drivers use this project's HTTP client, with its limits."""

from collections.abc import Mapping
from typing import Any

from requests import Response
from requests.structures import CaseInsensitiveDict

from .driver import Call

__all__ = ["Transport", "bound_to"]

REFUSED = range(300, 600)
"""Statuses that are passed to Libcloud instead of raised, as Libcloud reads the refusal."""


class Transport:
    """The interface of Libcloud's HTTP connection, on top of `Call.fetch`."""

    call: Call

    def __init__(self, *, host: str, port: int, secure: bool | int, **_: Any) -> None:
        self._origin = f"{'https' if secure else 'http'}://{host}:{port}"
        self._response = Response()

    def request(
        self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None, **_: Any
    ) -> None:
        url = self._origin + url.replace("+", "%20")  # as in the signed URL
        content = body.encode() if isinstance(body, str) else body or b""
        # Libcloud's own headers may end in a space.
        stripped = {name: str(value).strip() for name, value in (headers or {}).items()}
        fetched = self.call.fetch(url, method=method, headers=stripped, content=content, also=REFUSED)
        self._response = Response()
        self._response.status_code = fetched.status
        self._response.headers = CaseInsensitiveDict(fetched.headers)
        self._response._content = fetched.content  # noqa: SLF001 - requests offers no other way
        self._response.encoding = "utf-8"

    def getresponse(self) -> Response:
        return self._response


def bound_to(call: Call) -> type[Transport]:
    """Return a transport class bound to `call`, for drivers that open connections to several hosts by themselves."""
    return type("BoundTransport", (Transport,), {"call": call})
