"""Real HTTP servers on loopback for tests, which answer well, badly, slowly, or not at all."""

import gzip
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from idcsched.outbound import client

__all__ = [
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

LOOPBACK = ["127.0.0.0/8"]


@contextmanager
def loopback_allowed(settings: Any) -> Iterator[None]:
    """Allow calls to loopback inside the block, and drop the shared clients after it."""
    settings.OUTBOUND_HOSTS = LOOPBACK
    yield
    client.shared_client(tuple(LOOPBACK)).close()
    client.clients_forget()


class Exchange(BaseHTTPRequestHandler):
    """The handler of one request, which a behaviour answers."""

    protocol_version = "HTTP/1.1"
    server: "Peer"

    def do_GET(self) -> None:
        self.server.calls.append(self.path)
        self.server.seen_headers.append(dict(self.headers))
        self.server.behave(self)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append(json.loads(body))
        self.server.bodies.append(body)
        self.server.seen_headers.append(dict(self.headers))
        self.server.behave(self)

    def head(self, status: int, **headers: str | int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def wait(self, seconds: float) -> bool:
        """Wait, at most until the peer stops; return whether the peer still runs."""
        return not self.server.over.wait(seconds)

    def log_message(self, format: str, *args: Any) -> None:
        pass


Behaviour = Callable[[Exchange], None]


class Peer(ThreadingHTTPServer):
    """An HTTP server that answers by `behave`, which a test may change, and records the requests that it gets."""

    daemon_threads = True
    request_queue_size = 64
    behave: Behaviour

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.calls: list[Any] = []
        self.seen_headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        self.open: list[socket.socket] = []
        self.over = threading.Event()
        self.scheme = "http"

    @property
    def connections(self) -> int:
        return len(self.open)

    @property
    def url(self) -> str:
        host = "localhost" if self.scheme == "https" else "127.0.0.1"
        return f"{self.scheme}://{host}:{self.server_address[1]}/judge?site=secret"

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.open.append(connection)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: the client may hang up at any time."""


@contextmanager
def peer(behave: Behaviour, *, certificate: Path | None = None) -> Iterator[Peer]:
    """Run a Peer with that behaviour during the block, over TLS if there is a certificate."""
    with Peer() as server:
        server.behave = behave
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.scheme = "https"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
            for connection in server.open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def closed_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@contextmanager
def mute() -> Iterator[str]:
    """Yield the address of a server that accepts connections and neither reads nor writes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def short(exchange: Exchange) -> None:
    """Announce a kilobyte, and hang up in the middle of the body."""
    exchange.head(200, Content_Length=1000)
    exchange.wfile.write(b'[{"site": "gz-')
    exchange.close_connection = True


def json_reply(document: Any, status: int = 200) -> Behaviour:
    return raw_reply(json.dumps(document).encode(), status)


def raw_reply(body: bytes, status: int = 200, **headers: str) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        exchange.head(status, Content_Length=len(body), **headers)
        exchange.wfile.write(body)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Answer each request by the next of the behaviours, and all later ones by the last."""

    def behave(exchange: Exchange) -> None:
        behaviours[min(len(exchange.server.calls), len(behaviours)) - 1](exchange)

    return behave


def silent(exchange: Exchange) -> None:
    """Read the request and never answer."""
    exchange.wait(30)
    exchange.close_connection = True


def hang_up(exchange: Exchange) -> None:
    exchange.close_connection = True


def drip(exchange: Exchange) -> None:
    """Send a byte of the body every twentieth of a second, and never finish."""
    exchange.head(200, Content_Length=10_000)
    while exchange.wait(0.05):
        exchange.wfile.write(b" ")


def drip_headers(exchange: Exchange) -> None:
    """Send a byte of the headers every twentieth of a second."""
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while exchange.wait(0.05):
        exchange.wfile.write(b"x")


def huge(exchange: Exchange, size: int = 200 * 1024 * 1024) -> None:
    """Send 200 MB in chunks, without a Content-Length."""
    exchange.head(200, Transfer_Encoding="chunked")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for _ in range(size // 0x10000):
        exchange.wfile.write(chunk)


def zipped_bomb(exchange: Exchange) -> None:
    """Send 100 MB gzipped into 0.1 MB, whatever encoding the client accepts."""
    raw_reply(_zipped(), Content_Encoding="gzip")(exchange)


@cache
def _zipped() -> bytes:
    return gzip.compress(b" " * (100 * 1024 * 1024), 9)


def redirect(location: str) -> Behaviour:
    return raw_reply(b"", 307, Location=location)
