"""The middleware that believes trusted reverse proxies: where a request comes from, and whether it came by HTTPS.

Each proxy adds to `X-Forwarded-For` the address that it was called from, and says in `X-Forwarded-Proto` by which
protocol. Both are read from the right, proxy by proxy, up to the first address that TRUSTED_PROXIES does not list: all
to the left of it was written by a client, who may claim anything.
"""

from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

__all__ = ["ProxyMiddleware"]


class ProxyMiddleware:
    """Middleware that sets `REMOTE_ADDR` and the scheme to those of the client whom trusted proxies speak for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._networks = [ip_network(network) for network in settings.TRUSTED_PROXIES]

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta = request.META
        addresses, protocols = _items(meta, "HTTP_X_FORWARDED_FOR"), _items(meta, "HTTP_X_FORWARDED_PROTO")
        while self._trusts(meta.get("REMOTE_ADDR", "")):
            if protocols and (protocol := protocols.pop().lower()) in {"http", "https"}:
                meta["wsgi.url_scheme"] = protocol
            if not addresses:
                break
            meta["REMOTE_ADDR"] = addresses.pop()
        return self.get_response(request)

    def _trusts(self, address: str) -> bool:
        if not self._networks:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)


def _items(meta: Mapping[str, Any], header: str) -> list[str]:
    return [item for part in meta.get(header, "").split(",") if (item := part.strip())]
