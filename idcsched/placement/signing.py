"""Signatures by Standard Webhooks, over id, time and body, so that no signature fits another message."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from re import fullmatch

__all__ = ["secret_bytes", "signature_fits", "signed_headers"]

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"


def signed_headers(message_id: str, at: datetime, content: bytes, secrets: Iterable[bytes]) -> dict[str, str]:
    """Return the headers of one try, signed with each of the secrets."""
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


def signature_fits(headers: Mapping[str, str], content: bytes, secret: bytes, now: datetime) -> bool:
    """Return whether an incoming message has a signature by the secret that is at most five minutes old."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not fullmatch(r"[0-9]{1,12}", timestamp) or abs(now.timestamp() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = _signature(secret, f"{message_id}.{timestamp}.".encode("utf-8", "replace") + content)
    signatures = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
    return any(hmac.compare_digest(expected.encode(), signature) for signature in signatures)


def secret_bytes(text: str) -> bytes:
    """Return the key that a secret's text means: `whsec_` and base64, as in Standard Webhooks, or any text."""
    if text.startswith(PREFIX):
        try:
            return b64decode(text.removeprefix(PREFIX), validate=True)
        except ValueError:
            pass
    return text.encode()
