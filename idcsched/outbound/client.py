"""The HTTP client: a request gets a reply within a deadline and a size limit from an allowed host, or a typed error."""

import os
import random
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from re import fullmatch
from typing import Any, Never
from urllib.parse import urlsplit

import httpcore
import msgspec
from django.conf import settings

from idcsched import __version__
from idcsched.framework.messages import _

from .errors import BadReply, BadStatus, CircuitOpen, HostRefused, NoConnection, OutboundError, ServerFailed, TooSlow
from .health import Health, Patience
from .hosts import AllowedHosts
from .network import BoundedNetwork, deadline, seconds_left, time_left
from .reading import read_body

__all__ = [
    "MAX_BYTES",
    "Client",
    "Fetched",
    "Request",
    "Response",
    "clients_forget",
    "fetch",
    "origin_of",
    "post_json",
    "shared_client",
]

MAX_BYTES = 4 * 1024 * 1024
"""The largest reply that is read; decoded, a reply may take some twenty times as much memory."""
BACKOFF_SECONDS = 0.05
"""The mean pause before the first retry; it doubles with each."""
LONGEST_REASON = 200
CONNECTIONS, IDLE_CONNECTIONS = 100, 20
IDLE_SECONDS = 1.5
"""Shorter than servers keep idle connections: a request on a connection that the server is just closing would fail."""
ORIGINS = 1024
CLIENTS = 64
SUCCESS, REDIRECT, TOO_MANY, SERVER_ERROR = 200, 300, 429, 500
AGENT = {"User-Agent": f"idcsched/{__version__}"}
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A successful JSON reply."""

    status: int
    document: Any


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A reply as it came, unpacked."""

    status: int
    content: bytes
    content_type: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By their names in lower case; of a repeated header the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An HTTP request and what is accepted as its reply.

    With `packed` the reply may be gzipped; `max_bytes` bounds the body both packed and unpacked. Statuses in `also`
    are returned like a success. Without `wants_content` the body is not read. A `trial` is sent even while the origin's
    circuit is open.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    packed: bool = True
    also: frozenset[int] = frozenset()
    wants_content: bool = True
    max_bytes: int = MAX_BYTES
    trial: bool = False


def fetch(request: Request, *, timeout: float, retries: int = 0) -> Fetched:
    """Send a request; raises an OutboundError. `timeout` and `retries` are those of `post_json`."""
    return shared_client(tuple(settings.OUTBOUND_HOSTS)).fetch(request, timeout=timeout, retries=retries)


def post_json(url: str, body: Any, *, timeout: float, retries: int = 0, max_bytes: int = MAX_BYTES) -> Response:
    """POST `body` as JSON; raises an OutboundError.

    `timeout`, in seconds, bounds the whole call: name, connection, TLS, sending, waiting, reading, and all of the at
    most `retries` repetitions with the pauses between them. A request with `retries` must be idempotent.
    """
    return shared_client(tuple(settings.OUTBOUND_HOSTS)).post_json(
        url, body, timeout=timeout, retries=retries, max_bytes=max_bytes
    )


class Client:
    """A connection pool with the health of each origin, shared by all threads of the process."""

    def __init__(self, hosts: AllowedHosts, patience: Patience | None = None) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=CONNECTIONS,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=BoundedNetwork(hosts),
        )
        self._lock = threading.Lock()
        self._health_of = lru_cache(maxsize=ORIGINS)(lambda origin: Health(origin, patience or Patience()))

    def post_json(
        self, url: str, body: Any, *, timeout: float, retries: int = 0, max_bytes: int = MAX_BYTES
    ) -> Response:
        """Do what the function `post_json` does, with this client's hosts."""
        content = msgspec.json.encode(body)
        request = Request(
            url=url, method="POST", headers=JSON_HEADERS, content=content, packed=False, max_bytes=max_bytes
        )
        reply = self.fetch(request, timeout=timeout, retries=retries)
        return Response(status=reply.status, document=_decode(reply.content, origin_of(url)))

    def fetch(self, request: Request, *, timeout: float, retries: int = 0) -> Fetched:
        """Do what the function `fetch` does, with this client's hosts."""
        call = _Call(request, origin_of(request.url), timeout)
        with self._lock:  # lru_cache may call its function twice for two threads at once
            health = self._health_of(call.origin)
        health.begin()
        with deadline(timeout):
            return self._fetch_with_retries(call, health, retries)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _fetch_with_retries(self, call: "_Call", health: Health, retries: int) -> Fetched:
        """Retry with jittered exponential backoff; a circuit that opens meanwhile raises the failure that opened it."""
        mean_pause, failure = BACKOFF_SECONDS, None
        while True:
            try:
                return self._attempt(call, health)
            except CircuitOpen as circuit_open:
                raise failure or circuit_open from None
            except OutboundError as error:
                failure = error
                pause = random.uniform(0, 2 * mean_pause)  # noqa: S311 - jitter needs no secure randomness
                if not error.curable or not retries or pause >= time_left() or not health.may_retry():
                    raise
            time.sleep(pause)
            retries, mean_pause = retries - 1, 2 * mean_pause

    def _attempt(self, call: "_Call", health: Health) -> Fetched:
        """Make one attempt and record its outcome in the origin's health."""
        if not call.request.trial:
            health.admit()
        try:
            response = self._exchange(call)
        except OutboundError as error:
            if error.unhealthy:
                health.failed(error)
            else:
                health.succeeded()
            raise
        health.succeeded()
        return response

    def _exchange(self, call: "_Call") -> Fetched:
        request = call.request
        try:
            timeouts = dict.fromkeys(("connect", "read", "write", "pool"), seconds_left())
            with self._pool.stream(
                request.method,
                request.url,
                headers=list(call.headers.items()),
                content=request.content or None,
                extensions={"timeout": timeouts},
            ) as reply:
                _check_status(reply.status, call)
                content = _content(reply, call) if request.wants_content else b""
                headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reply.headers}
                kind = headers.get("content-type", "")
                return Fetched(status=reply.status, content=content, content_type=kind, headers=headers)
        except httpcore.TimeoutException:
            raise TooSlow(
                "too_slow", _("{origin} gave no whole reply in {seconds:g} s"), origin=call.origin, seconds=call.timeout
            ) from None
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise NoConnection(
                "no_connection", _("{origin} could not be reached: {reason}"), origin=call.origin, reason=_short(error)
            ) from error


@dataclass(frozen=True, slots=True)
class _Call:
    """A request with its origin and its timeout."""

    request: Request
    origin: str
    timeout: float

    @property
    def headers(self) -> dict[str, str]:
        # A packed reply must be asked for, so that no small body unpacks into a huge one unexpectedly.
        encoding = {"Accept-Encoding": "gzip" if self.request.packed else "identity"}
        return {**AGENT, **self.request.headers, **encoding}


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL; raises HostRefused for one that can't be called at all."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        _refuse()
    if parts.scheme not in ("http", "https") or not host or port == 0 or parts.username is not None:
        _refuse()
    if not fullmatch(r"[!-~]+", url):
        _refuse()
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port or (443 if parts.scheme == 'https' else 80)}"


def _refuse() -> Never:
    raise HostRefused(
        "host_refused", _("only http and https addresses with a host and without a password can be called")
    )


def _check_status(status: int, call: _Call) -> None:
    if SUCCESS <= status < REDIRECT or status in call.request.also:
        return
    if status >= SERVER_ERROR or status == TOO_MANY:
        raise ServerFailed("server_failed", _("{origin} answered {status}"), origin=call.origin, status=status)
    raise BadStatus("bad_status", _("{origin} answered {status}"), origin=call.origin, status=status)


def _content(reply: httpcore.Response, call: _Call) -> bytes:
    return read_body(reply, packed=call.request.packed, limit=call.request.max_bytes, origin=call.origin)


def _short(error: Exception) -> str:
    """Return the error's text, cut, as it may repeat what the peer has sent."""
    return str(error)[:LONGEST_REASON] or type(error).__name__


def _decode(data: bytes, origin: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadReply("bad_reply", _("{origin} sent no JSON: {reason}"), origin=origin, reason=error) from None


_clients_lock = threading.Lock()


def shared_client(listed: tuple[str, ...], *, listed_in: str = "OUTBOUND_HOSTS") -> Client:
    """Return the process's one client for these hosts; `listed_in` names the setting or field in refusals."""
    with _clients_lock:
        return _client(listed, listed_in)


@lru_cache(maxsize=CLIENTS)
def _client(listed: tuple[str, ...], listed_in: str) -> Client:
    return Client(AllowedHosts.of(listed, listed_in=listed_in))


def clients_forget() -> None:
    """Drop all shared clients with the health of their origins; connections are closed by whoever holds the clients."""
    with _clients_lock:
        _client.cache_clear()


def _after_fork() -> None:
    """Drop the parent's clients and lock: a child must not share connections or wait for a thread of the parent."""
    global _clients_lock  # noqa: PLW0603 - a lock held by a thread of the parent is never released
    _clients_lock = threading.Lock()
    _client.cache_clear()


os.register_at_fork(after_in_child=_after_fork)
