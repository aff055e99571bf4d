"""Real HTTP servers on loopback that answer as they are told: well, badly, slowly, or not at all."""

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
    """This machine may be called, by a client that has learnt nothing yet."""
    settings.OUTBOUND_HOSTS = LOOPBACK
    yield
    client.shared_client(tuple(LOOPBACK)).close()
    client.clients_forget()


class Exchange(BaseHTTPRequestHandler):
    """One request, as a behaviour sees it."""

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
        """Whether the test goes on; the peer's end cuts it short."""
        return not self.server.over.wait(seconds)

    def log_message(self, format: str, *args: Any) -> None:
        pass


Behaviour = Callable[[Exchange], None]


class Peer(ThreadingHTTPServer):
    """Behaves as `behave` says, which a test may change; remembers the documents that it was sent."""

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
        return f"{self.scheme}://{host}:{self.server_address[1]}/judge?key=secret"

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.open.append(connection)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client may hang up whenever it likes."""


@contextmanager
def peer(behave: Behaviour, *, certificate: Path | None = None) -> Iterator[Peer]:
    """One that behaves so, for as long as the block; with a certificate it speaks TLS."""
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
    """A port on which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@contextmanager
def mute() -> Iterator[str]:
    """The address of somebody who picks up and neither listens nor speaks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def short(exchange: Exchange) -> None:
    """Promises a kilobyte, and hangs up in the middle of a word."""
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
    """One after the other; the last one for ever."""

    def behave(exchange: Exchange) -> None:
        behaviours[min(len(exchange.server.calls), len(behaviours)) - 1](exchange)

    return behave


def silent(exchange: Exchange) -> None:
    """Takes the request and says nothing."""
    exchange.wait(30)
    exchange.close_connection = True


def hang_up(exchange: Exchange) -> None:
    exchange.close_connection = True


def drip(exchange: Exchange) -> None:
    """A byte of the body every twentieth of a second: never silent for long, never done."""
    exchange.head(200, Content_Length=10_000)
    while exchange.wait(0.05):
        exchange.wfile.write(b" ")


def drip_headers(exchange: Exchange) -> None:
    """A byte of the head every twentieth of a second."""
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while exchange.wait(0.05):
        exchange.wfile.write(b"x")


def huge(exchange: Exchange, size: int = 200 * 1024 * 1024) -> None:
    """200 MB without saying so before."""
    exchange.head(200, Transfer_Encoding="chunked")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for _ in range(size // 0x10000):
        exchange.wfile.write(chunk)


def zipped_bomb(exchange: Exchange) -> None:
    """100 MB in a tenth of one, whatever was accepted."""
    raw_reply(_zipped(), Content_Encoding="gzip")(exchange)


@cache
def _zipped() -> bytes:
    return gzip.compress(b" " * (100 * 1024 * 1024), 9)


def redirect(location: str) -> Behaviour:
    return raw_reply(b"", 307, Location=location)
