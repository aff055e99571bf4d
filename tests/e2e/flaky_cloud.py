"""A proxy in front of a cloud: some calls have their effect but get no answer, and some are turned away."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["FlakyRoad", "flaky_road"]

REFUSAL = (
    b"<Response><Errors><Error><Code>InsufficientInstanceCapacity</Code><Message>full</Message>"
    b"</Error></Errors></Response>"
)


class FlakyRoad(ThreadingHTTPServer):
    """Passes calls on to `beyond`; of those that start or stop machines, a share is turned away or loses its answer."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, beyond: str, *, unanswered: float, turned_away: float, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Crossing)
        self.beyond = urlsplit(beyond).netloc
        self.unanswered, self.turned_away = unanswered, turned_away
        self.chance = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.one = threading.Lock()  # moto's machines are plain dictionaries
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no error: the worker that asked may have been killed."""


class _Crossing(BaseHTTPRequestHandler):
    server: FlakyRoad

    def do_GET(self) -> None:
        road = self.server
        query = parse_qs(urlsplit(self.path).query)
        action = query["Action"][0]
        changes = action in ("RunInstances", "TerminateInstances")
        with road.one:
            fate = road.chance.random()
        if query.get("InstanceType") == ["full.type"]:
            self._answer(400, REFUSAL, action, "full")
            return
        if changes and fate < road.turned_away:
            self._answer(503, b"", action, "turned away")
            return
        status, content = self._handed_on()
        if changes and fate > 1 - road.unanswered:
            road.seen[f"{action} unanswered"] += 1
            road.over.wait(6)  # longer than anybody waits for it
            return
        self._answer(status, content, action, "fine")

    def _handed_on(self) -> tuple[int, bytes]:
        with self.server.one:
            connection = HTTPConnection(self.server.beyond, timeout=30)
            headers = {name: self.headers[name] for name in ("Authorization", "X-AMZ-Date")}
            connection.request("GET", self.path, headers=headers)
            reply = connection.getresponse()
            content = reply.read()
            connection.close()
            return reply.status, content

    def _answer(self, status: int, content: bytes, action: str, how: str) -> None:
        self.server.seen[f"{action} {how}"] += 1
        self.send_response(status)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: `seen` counts what happened."""


@contextmanager
def flaky_road(beyond: str, **given: Any) -> Iterator[FlakyRoad]:
    with FlakyRoad(beyond, **given) as road:
        thread = threading.Thread(target=road.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield road
        finally:
            road.over.set()
            road.shutdown()
