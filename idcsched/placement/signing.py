"""Signatures as Standard Webhooks wants them: over id, time and body, so that none can be taken for another's."""

import hmac
from base64 import b64encode
from collections.abc import Iterable
from datetime import datetime

__all__ = ["signed_headers"]


def signed_headers(message_id: str, at: datetime, content: bytes, secrets: Iterable[bytes]) -> dict[str, str]:
    """The headers of one try, signed with each of the secrets."""
    timestamp = str(int(at.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + content
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: bytes, signed: bytes) -> str:
    return "v1," + b64encode(hmac.digest(secret, signed, "sha256")).decode("ascii")
