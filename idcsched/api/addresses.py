"""The address of a client: its peer's, or the one that a trusted proxy reports."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

__all__ = ["client_address"]


def client_address(request: HttpRequest | Request) -> str:
    """Return the client's address. `X-Forwarded-For` is read from the right, as long as proxies are trusted."""
    meta = request.META
    peer, forwarded = meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", "")
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()] if forwarded else []
    while hops and _trusted(peer):
        peer = hops.pop()
    return str(peer)


def _trusted(address: str) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in ip_network(network) for network in settings.TRUSTED_PROXIES)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address)
    except ValueError:
        return None
