"""Signatures as Standard Webhooks wants them: over id, time and body, so that none can be taken for another's."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from re import fullmatch

__all__ = ["secret_bytes", "signature_fits", "signed_headers"]

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"


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


def signature_fits(headers: Mapping[str, str], content: bytes, secret: bytes, now: datetime) -> bool:
    """Whether a message that has come in bears a signature by that secret, made within the last five minutes."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not fullmatch(r"[0-9]{1,12}", timestamp) or abs(now.timestamp() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    wanted = _signature(secret, f"{message_id}.{timestamp}.".encode("utf-8", "replace") + content)
    given = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
    return any(hmac.compare_digest(wanted.encode(), each) for each in given)


def secret_bytes(text: str) -> bytes:
    """A secret as it is written: `whsec_` and base64, as Standard Webhooks gives it, or any text."""
    if text.startswith(PREFIX):
        try:
            return b64decode(text.removeprefix(PREFIX), validate=True)
        except ValueError:
            pass
    return text.encode()
