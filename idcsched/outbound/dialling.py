"""For drivers that dial by themselves: the address that they may dial, looked up and checked here."""

from django.conf import settings

from .hosts import AllowedHosts, resolve

__all__ = ["admitted_address"]


def admitted_address(host: str, port: int, *, within: float) -> str:
    """An address of the host that may be called; the driver must dial that one and no name.

    Raises HostRefused, NoConnection, or TooSlow after `within` seconds.
    """
    hosts = AllowedHosts.of(settings.OUTBOUND_HOSTS)
    return str(hosts.admitted(host, resolve(host, port, within=within))[0])
