"""A network backend for httpcore: every wait ends at the deadline, and only admitted addresses are dialled."""

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore

from .hosts import AllowedHosts, resolve

__all__ = ["BoundedNetwork", "deadline", "seconds_left", "time_left"]

CHUNK = 16 * 1024
"""Bytes per write: small enough that a peer which hardly reads can't stretch one write beyond the deadline."""

_deadline: ContextVar[float] = ContextVar("outbound_deadline")


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Set a deadline for all network waits of this thread inside the block."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def time_left() -> float:
    """Return the seconds until the deadline; negative once it has passed."""
    return _deadline.get() - time.monotonic()


def seconds_left() -> float:
    """Return the seconds that a wait may take; raises httpcore's timeout once the deadline has passed."""
    left = time_left()
    if left <= 0:
        raise httpcore.ReadTimeout("the deadline has passed")
    return left


class BoundedNetwork(httpcore.NetworkBackend):
    """A network backend that resolves names itself and dials only the addresses that it has checked."""

    def __init__(self, hosts: AllowedHosts) -> None:
        self._hosts = hosts
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first admitted address that accepts; each address gets its share of the time left."""
        addresses = self._hosts.admitted(host, resolve(host, port, within=seconds_left()))
        failure: Exception = httpcore.ConnectError(f"no address of {host}")
        for position, address in enumerate(addresses):
            share = seconds_left() / (len(addresses) - position)
            try:
                return _BoundedStream(self._system.connect_tcp(str(address), port, timeout=share))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _BoundedStream(httpcore.NetworkStream):
    """A connection whose reads and writes share the deadline of the whole call, so that slow bytes don't extend it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), CHUNK):
            self._stream.write(buffer[start : start + CHUNK], timeout=seconds_left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, timeout=seconds_left()))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
