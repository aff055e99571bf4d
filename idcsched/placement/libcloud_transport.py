"""How Apache Libcloud's drivers reach their clouds: by the one client through which this project calls anybody."""

from collections.abc import Mapping
from typing import Any

from requests import Response
from requests.structures import CaseInsensitiveDict

from .driver import Call

__all__ = ["Transport", "bound_to"]

REFUSED = range(300, 600)
"""Statuses that Libcloud is to make sense of."""


class Transport:
    """What Libcloud takes for its HTTP library."""

    call: Call

    def __init__(self, *, host: str, port: int, secure: bool | int, **_: Any) -> None:
        self._origin = f"{'https' if secure else 'http'}://{host}:{port}"
        self._response = Response()

    def request(
        self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None, **_: Any
    ) -> None:
        url = self._origin + url.replace("+", "%20")  # as it was signed
        content = body.encode() if isinstance(body, str) else body or b""
        told = {
            name: str(value).strip() for name, value in (headers or {}).items()
        }  # Libcloud's own may end in a space
        fetched = self.call.fetch(url, method=method, headers=told, content=content, also=REFUSED)
        self._response = Response()
        self._response.status_code = fetched.status
        self._response.headers = CaseInsensitiveDict(fetched.headers)
        self._response._content = fetched.content  # noqa: SLF001 - requests offers no other way
        self._response.encoding = "utf-8"

    def getresponse(self) -> Response:
        return self._response


def bound_to(call: Call) -> type[Transport]:
    """For drivers that connect by themselves, and to whom the cloud tells them."""
    return type("BoundTransport", (Transport,), {"call": call})
