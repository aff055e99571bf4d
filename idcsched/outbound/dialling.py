"""Checked addresses for collectors that open connections by themselves."""

from django.conf import settings

from .hosts import AllowedHosts, resolve

__all__ = ["admitted_address"]


def admitted_address(host: str, port: int, *, within: float) -> str:
    """Return an address of the host that may be called; the caller must connect to this address, not to the name.

    Raises HostRefused, NoConnection, or TooSlow after `within` seconds.
    """
    hosts = AllowedHosts.of(settings.OUTBOUND_HOSTS)
    return str(hosts.admitted(host, resolve(host, port, within=within))[0])
