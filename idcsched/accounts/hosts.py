"""The syntax of host names, addresses and networks."""

import re
from ipaddress import ip_address, ip_network
from typing import Any

__all__ = ["host_shaped", "network_shaped"]

_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


def host_shaped(value: Any) -> bool:
    """Whether this is a lower-case host name (no scheme, no port, no path) or an IP address."""
    if not isinstance(value, str):
        return False
    try:
        ip_address(value)
    except ValueError:
        return _HOST.fullmatch(value) is not None
    return True


def network_shaped(value: Any) -> bool:
    """Whether this is a network in CIDR notation, without host bits, or a single address."""
    if not isinstance(value, str):
        return False
    try:
        ip_network(value)
    except ValueError:
        return False
    return True
