"""The peers of `idcsched.outbound.testing`, also over TLS."""

from contextlib import AbstractContextManager
from pathlib import Path

from idcsched.outbound import testing
from idcsched.outbound.testing import (
    LOOPBACK,
    Behaviour,
    Exchange,
    Peer,
    closed_port,
    drip,
    drip_headers,
    hang_up,
    huge,
    in_turn,
    json_reply,
    loopback_allowed,
    mute,
    raw_reply,
    redirect,
    short,
    silent,
    zipped_bomb,
)

__all__ = [
    "CERTIFICATE",
    "LOOPBACK",
    "Behaviour",
    "Exchange",
    "Peer",
    "closed_port",
    "drip",
    "drip_headers",
    "hang_up",
    "huge",
    "in_turn",
    "json_reply",
    "loopback_allowed",
    "mute",
    "peer",
    "raw_reply",
    "redirect",
    "short",
    "silent",
    "zipped_bomb",
]

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""Of `localhost`, signed by itself, with its key: for tests alone."""


def peer(behave: Behaviour, *, tls: bool = False) -> AbstractContextManager[Peer]:
    """Run a peer with this behaviour for as long as the block lasts."""
    return testing.peer(behave, certificate=CERTIFICATE if tls else None)
