"""Reading a reply's body up to a limit, unpacked if gzip was asked for."""

import zlib
from collections.abc import Iterable, Iterator

import httpcore

from idcsched.framework.messages import _

from .errors import BadReply, TooLarge

__all__ = ["read_body"]

GZIP = 16 + zlib.MAX_WBITS
STEP = 64 * 1024
"""Bytes unpacked at a time, so that a zip bomb is refused before it fills the memory."""


def read_body(reply: httpcore.Response, *, packed: bool, limit: int, origin: str) -> bytes:
    """Read the whole body; raises TooLarge as soon as it exceeds `limit`, BadReply for an encoding not asked for."""
    encoding = _encoding(reply)
    if encoding == "gzip" and packed:
        parts = _unpacked(_bounded(reply.iter_stream(), limit, origin), origin)
    elif encoding == "identity":
        parts = reply.iter_stream()
    else:
        raise BadReply("bad_reply", _("{origin} sent a packed reply, which nobody asked for"), origin=origin)
    return b"".join(_bounded(parts, limit, origin))


def _encoding(reply: httpcore.Response) -> str:
    values = [value.decode("latin-1") for name, value in reply.headers if name.lower() == b"content-encoding"]
    return ",".join(part for value in values if (part := value.strip().lower()) not in ("", "identity")) or "identity"


def _bounded(parts: Iterable[bytes], limit: int, origin: str) -> Iterator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise TooLarge("too_large", _("{origin} sent more than {limit} bytes"), origin=origin, limit=limit)
        yield part


def _unpacked(parts: Iterable[bytes], origin: str) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(GZIP)
    try:
        for part in parts:
            remaining = part
            while remaining:
                if unpacker.eof:  # another gzip member follows
                    unpacker = zlib.decompressobj(GZIP)
                yield unpacker.decompress(remaining, STEP)
                remaining = unpacker.unconsumed_tail or unpacker.unused_data
        yield unpacker.flush()
    except zlib.error:
        raise BadReply("bad_reply", _("{origin} calls its reply gzip, which it is not"), origin=origin) from None
    if not unpacker.eof:
        raise BadReply("bad_reply", _("{origin} broke its packed reply off"), origin=origin)
