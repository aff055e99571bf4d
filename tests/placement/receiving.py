"""A portal that receives callbacks: it checks signatures without this project's code, and records what it was sent."""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from idcsched.outbound import client
from tests.outbound.peers import Behaviour, Peer, peer, raw_reply

__all__ = ["FINE", "Received", "received", "receiver", "signature_fits"]

FINE = raw_reply(b"", 204)


@dataclass(frozen=True)
class Received:
    id: str
    state: str
    version: int
    document: Any
    headers: dict[str, str]
    body: bytes


@contextmanager
def receiver(behave: Behaviour = FINE) -> Iterator[Peer]:
    """A portal on a local address. What the HTTP client remembers of receivers is cleared before and after."""
    client._client.cache_clear()
    with peer(behave) as portal:
        yield portal
    client._client.cache_clear()


def received(portal: Peer) -> list[Received]:
    """All callbacks that the portal was sent, whatever it answered."""
    return [_received(*each) for each in zip(portal.seen_headers, portal.bodies, strict=True)]


def signature_fits(message: Received, secret: str) -> bool:
    """Whether the signature fits by the rules of Standard Webhooks; `secret` is the text that administrators see."""
    headers = message.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + message.body
    digest = hmac.digest(b64decode(secret.removeprefix("whsec_")), signed, "sha256")
    return f"v1,{b64encode(digest).decode()}" in headers["webhook-signature"].split()


def _received(headers: dict[str, str], body: bytes) -> Received:
    document = json.loads(body)
    data = document["data"]
    return Received(headers["webhook-id"], data["state"], data["version"], document, headers, body)
