"""A collector of traces that takes what OTLP sends over HTTP, and keeps the spans."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

__all__ = ["Collected", "Collector", "collector"]


@dataclass(frozen=True, slots=True)
class Collected:
    """One span, with the name of the service that sent it; ids are in hexadecimal digits."""

    service: str
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: Mapping[str, Any]


class Collector(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Export)
        self.spans: list[Collected] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, body: bytes) -> None:
        self.bodies.append(body)
        for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _values(sent.resource.attributes)["service.name"]
            self.spans += [_collected(service, span) for scope in sent.scope_spans for span in scope.spans]

    def of(self, trace: str, name: str) -> list[Collected]:
        """The spans of a trace that have this name."""
        return [span for span in self.spans if (span.trace, span.name) == (trace, name)]


@contextmanager
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Export(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if (self.path, self.headers["Content-Type"]) != ("/v1/traces", "application/x-protobuf"):
            self.send_error(404)
            return
        self.server.take(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _collected(service: str, span: Span) -> Collected:
    return Collected(
        service,
        span.name,
        Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _values(span.attributes),
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
