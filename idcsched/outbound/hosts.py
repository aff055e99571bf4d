"""The hosts that may be called: the list OUTBOUND_HOSTS, applied to the addresses that a name resolves to."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from queue import Empty, SimpleQueue
from threading import Thread

from idcsched.framework.messages import _

from .errors import HostRefused, NoConnection, TooSlow

__all__ = ["EVERYBODY", "Address", "AllowedHosts", "is_public", "resolve"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

EVERYBODY = "*"
"""Every public address."""
NAT64 = IPv6Network("64:ff9b::/96")
IPV4_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """A list of allowed hosts. A name allows public addresses only; any other address, or its network, must be listed.

    So a name that resolves to this machine or to a private network is refused, whoever controls the name (SSRF).
    """

    names: frozenset[str]
    networks: tuple[Network, ...]
    listed_in: str = "OUTBOUND_HOSTS"

    @classmethod
    def of(cls, listed: Iterable[str], *, listed_in: str = "OUTBOUND_HOSTS") -> "AllowedHosts":
        """Make a list from host names (`.example.com`: with all its sub-domains), addresses, networks and `*`."""
        names, networks = set(), []
        for item in listed:
            try:
                networks.append(ip_network(item))
            except ValueError:
                names.add(item.lower())
        return cls(frozenset(names), tuple(networks), listed_in)

    def lists(self, host: str, *, everybody: bool = False) -> bool:
        """Return whether the host itself, a name or an address, is listed; a name is not resolved.

        With `everybody`, `*` also lists every public address.
        """
        try:
            address = ip_address(host)
        except ValueError:
            return self._lists_name(host)
        listed = any(address in network for network in self.networks)
        return listed or (everybody and EVERYBODY in self.names and is_public(address))

    def admitted(self, host: str, addresses: Iterable[Address]) -> list[Address]:
        """Return those of a host's addresses that may be called; raises HostRefused if there is none."""
        resolved = list(addresses)
        admitted = [address for address in resolved if self._admits(host, address)]
        if not admitted:
            raise HostRefused(
                "host_refused",
                _("{host} ({addresses}) may not be called: {listed_in} does not list it"),
                host=host,
                addresses=", ".join(map(str, resolved)),
                listed_in=self.listed_in,
            )
        return admitted

    def _admits(self, host: str, address: Address) -> bool:
        if any(address in network for network in self.networks):
            return True
        return is_public(address) and self._lists_name(host)

    def _lists_name(self, host: str) -> bool:
        labels = host.lower().rstrip(".").split(".")
        parents = {"." + ".".join(labels[start:]) for start in range(len(labels))}
        return bool(self.names & {EVERYBODY, ".".join(labels), *parents})


def is_public(address: Address) -> bool:
    """Return whether the address is public: no address of this machine, a private network or a link."""
    if isinstance(address, IPv6Address):
        if (ipv4 := _embedded_ipv4(address)) is not None:
            return is_public(ipv4)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that is embedded in an IPv6 address (NAT64, mapped or 6to4), if any."""
    if address in NAT64:
        return IPv4Address(int(address) & IPV4_BITS)
    return address.ipv4_mapped or address.sixtofour


def resolve(host: str, port: int, *, within: float) -> list[Address]:
    """Return the addresses of a host; raises NoConnection, or TooSlow after `within` seconds."""
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    answers: SimpleQueue[list[Address] | OSError] = SimpleQueue()
    # The system's resolver has no timeout: a thread that still waits for it at the deadline is abandoned.
    Thread(target=_look_up, args=(host, port, answers), name="outbound-resolver", daemon=True).start()
    try:
        answer = answers.get(timeout=within)
    except Empty:
        raise TooSlow("too_slow", _("the name {host} was not resolved in time"), host=host) from None
    if isinstance(answer, OSError):
        raise NoConnection("no_connection", _("the name {host} leads nowhere: {reason}"), host=host, reason=answer)
    return answer


def _look_up(host: str, port: int, answers: "SimpleQueue[list[Address] | OSError]") -> None:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        answers.put(list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in entries)))
    except (OSError, ValueError) as error:  # ValueError: a text that can't be a host name
        answers.put(error if isinstance(error, OSError) else OSError(str(error)))
