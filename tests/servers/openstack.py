"""A small OpenStack: Keystone's tokens and Nova's servers, as far as their reference says what clients may rely on.

It checks what it is sent as the real ones do: the password, the token, the project, flavors and images that it has.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

__all__ = ["FLAVORS", "IMAGE", "PASSWORD", "OpenStackServer", "running"]

PASSWORD, IMAGE, FLAVORS = "secret", "img-1", ("small", "large")
COMPUTE = "/compute/v2.1"


@dataclass
class OpenStackServer:
    """The state and the behaviour of the server.

    `unanswered`: the number of next servers for which the reply to `create` is lost.
    """

    url: str = ""
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    logins: int = 0
    boot_seconds: float = 0.1
    quota: int = 100
    unanswered: int = 0
    broken: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def standing(self) -> list[dict[str, Any]]:
        with self.lock:
            return [dict(server) for server in self.servers.values()]

    def expire_tokens(self) -> None:
        """Forget all tokens, as if Keystone had been set up anew."""
        self.tokens.clear()


@contextmanager
def running(**behaviour: Any) -> Iterator[OpenStackServer]:
    cloud = OpenStackServer(**behaviour)
    handler = type("Handler", (_Handler,), {"cloud": cloud})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        cloud.url = f"http://127.0.0.1:{server.server_port}/identity"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield cloud
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cloud: OpenStackServer

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/identity/v3/auth/tokens":
            self._log_in(body["auth"])
        elif self._known() and self.path == f"{COMPUTE}/servers":
            self._create(body["server"])

    def do_GET(self) -> None:
        if not self._known():
            return
        parts = urlsplit(self.path)
        if parts.path == "/identity/v3/auth/tokens":
            self._say(200, self._catalog(), {"X-Subject-Token": str(self.headers["X-Subject-Token"])})
        elif parts.path == f"{COMPUTE}/servers/detail":
            pattern = parse_qs(parts.query).get("name", [""])[0]
            with self.cloud.lock:
                found = [server for server in self.cloud.servers.values() if re.search(pattern, server["name"])]
                self._say(200, {"servers": [self._shown(server) for server in found]})
        elif (server := self._one(parts.path)) is not None:
            self._say(200, {"server": self._shown(server)})

    def do_DELETE(self) -> None:
        if self._known() and (server := self._one(self.path)) is not None:
            with self.cloud.lock:
                self.cloud.servers.pop(server["id"], None)
            self._say(204)

    def _log_in(self, auth: dict[str, Any]) -> None:
        user = auth["identity"]["password"]["user"]
        project = auth["scope"]["project"]
        if user["password"] != PASSWORD or user["domain"]["name"] != "Default" or project["name"] != "edge":
            self._say(401, {"error": {"code": 401, "title": "Unauthorized", "message": "The request is unauthorized."}})
            return
        token = uuid4().hex
        self.cloud.tokens.add(token)
        self.cloud.logins += 1
        self._say(201, self._catalog(), {"X-Subject-Token": token})

    def _catalog(self) -> dict[str, Any]:
        host = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        endpoint = {"id": "1", "interface": "public", "region": "R1", "region_id": "R1", "url": host + COMPUTE}
        catalog = [{"type": "compute", "name": "nova", "id": "2", "endpoints": [endpoint]}]
        expires = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        return {"token": {"expires_at": expires, "catalog": catalog, "roles": [], "user": {"id": "u", "name": "u"}}}

    def _known(self) -> bool:
        if self.headers.get("X-Auth-Token") in self.cloud.tokens:
            return True
        self._say(401, {"error": {"code": 401, "message": "Authentication required"}})
        return False

    def _create(self, wanted: dict[str, Any]) -> None:
        if wanted["flavorRef"] not in FLAVORS or wanted["imageRef"] != IMAGE:
            self._say(400, {"badRequest": {"code": 400, "message": "Flavor or image could not be found."}})
            return
        with self.cloud.lock:
            if len(self.cloud.servers) >= self.cloud.quota:
                self._say(403, {"forbidden": {"code": 403, "message": "Quota exceeded for instances"}})
                return
            server = {**wanted, "id": str(uuid4()), "made": monotonic()}
            self.cloud.servers[server["id"]] = server
            self.cloud.unanswered -= 1
            lost = self.cloud.unanswered >= 0
        if lost:
            self.close_connection = True  # and not a word
            return
        self._say(202, {"server": {"id": server["id"], "links": [], "adminPass": "x"}})

    def _one(self, path: str) -> dict[str, Any] | None:
        server = self.cloud.servers.get(path.rpartition("/")[2])
        if server is None:
            self._say(404, {"itemNotFound": {"code": 404, "message": "Instance could not be found."}})
        return server

    def _shown(self, server: dict[str, Any]) -> dict[str, Any]:
        up = monotonic() - server["made"] >= self.cloud.boot_seconds
        status = "ERROR" if up and self.cloud.broken else "ACTIVE" if up else "BUILD"
        fault = {"fault": {"code": 500, "message": "No valid host was found."}} if status == "ERROR" else {}
        address = {"addr": "192.0.2.7", "version": 4, "OS-EXT-IPS:type": "fixed"}
        return {
            **fault,
            "id": server["id"],
            "name": server["name"],
            "status": status,
            "addresses": {"net": [address]} if up else {},
            "metadata": server["metadata"],
            "links": [{"rel": "self", "href": f"{COMPUTE}/servers/{server['id']}"}],
            "flavor": {"id": server["flavorRef"]},
            "image": {"id": server["imageRef"]},
            "hostId": "h",
            "tenant_id": "t",
            "user_id": "u",
            "created": "2026-01-01T00:00:00Z",
            "updated": "2026-01-01T00:00:00Z",
            "key_name": server.get("key_name"),
            "OS-EXT-STS:vm_state": status.lower(),
            "OS-EXT-STS:task_state": None,
        }

    def _say(self, status: int, document: Any = None, headers: dict[str, str] | None = None) -> None:
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
