"""The errors of a call to another system.

    Unavailable            (idcsched.framework.errors)
    └── OutboundError
        ├── HostRefused    the installation does not let this host be called; nothing was sent
        ├── CircuitOpen    the host failed too often just now; nothing was sent
        ├── NoConnection   no such name, connection refused or broken off, a certificate that does not verify
        ├── TooSlow        no whole reply within the deadline
        ├── ServerFailed   a status of 500 and above, or 429
        ├── BadStatus      another status than 2xx; redirects too, which are not followed
        ├── TooLarge       a reply beyond the limit
        └── BadReply       not the JSON document that was asked for

Messages name the origin (scheme, host and port) and never the rest of an address, which may hold a secret.
"""

from typing import ClassVar

from idcsched.framework.errors import Unavailable

__all__ = [
    "BadReply",
    "BadStatus",
    "CircuitOpen",
    "HostRefused",
    "NoConnection",
    "OutboundError",
    "ServerFailed",
    "TooLarge",
    "TooSlow",
]


class OutboundError(Unavailable):
    """A call to another system that failed."""

    curable: ClassVar[bool] = False
    """Whether a retry at once may help."""
    unhealthy: ClassVar[bool] = False
    """Whether the error counts as a failure of the host, several of which open its circuit."""


class HostRefused(OutboundError):
    """The list in force (`OUTBOUND_HOSTS`, or a tenant's) does not allow this host, or its address."""


class CircuitOpen(OutboundError):
    """The host's circuit is open; nothing was sent."""


class NoConnection(OutboundError):
    """The host could not be reached, or the connection broke off."""

    curable = unhealthy = True


class TooSlow(OutboundError):
    """The deadline passed before the reply was whole; no time is left for a retry."""

    unhealthy = True


class ServerFailed(OutboundError):
    """The host answered 429, or 500 or above."""

    curable = unhealthy = True


class BadStatus(OutboundError):
    """The host answered with another status than success."""


class TooLarge(OutboundError):
    """The reply exceeds the limit, up to which it was read."""

    unhealthy = True


class BadReply(OutboundError):
    """The reply is a success whose body can't be decoded."""
