"""What may go wrong with a call to the outside.

    Unavailable            (idcsched.framework.errors)
    └── OutboundError
        ├── HostRefused    the installation does not let this host be called; nothing was sent
        ├── CircuitOpen    the host failed too often just now; nothing was sent
        ├── NoConnection   no such name, refused, a certificate that does not verify, broken off
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
    """A call to the outside that came to nothing."""

    curable: ClassVar[bool] = False
    """Whether asking again at once may help."""
    unhealthy: ClassVar[bool] = False
    """Whether it tells against the host, so that several of them open its circuit."""


class HostRefused(OutboundError):
    """The list that counts (`OUTBOUND_HOSTS`, or a tenant's) does not name this host, or not where it leads."""


class CircuitOpen(OutboundError):
    """The host is left alone for a while."""


class NoConnection(OutboundError):
    """It could not be reached, or broke off."""

    curable = unhealthy = True


class TooSlow(OutboundError):
    """The deadline passed first, so that there is no time to try again either."""

    unhealthy = True


class ServerFailed(OutboundError):
    """It answered that it can't just now."""

    curable = unhealthy = True


class BadStatus(OutboundError):
    """It answered something else than success."""


class TooLarge(OutboundError):
    """Read up to the limit and no further."""

    unhealthy = True


class BadReply(OutboundError):
    """A success that can't be read."""
