"""docs/provisioning.md shows a provider that keeps the laws, and names what is really there."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from idcsched.placement.fallback import MOST_ATTEMPTS
from idcsched.placement.rollup import ATTENTION_AFTER
from idcsched.provisioning import step
from idcsched.provisioning.driver import Call, Config
from idcsched.provisioning.driver_kinds import GROUP, driver_kinds
from idcsched.provisioning.driver_testing import check_driver
from idcsched.provisioning.drivers.webhook import Machines
from tests.docs.pages import blocks, page, section, tables
from tests.outbound.peers import loopback_allowed

PAGE = page("provisioning.md")


class Shelf(BaseHTTPRequestHandler):
    """The interface that the page's example speaks to."""

    server: Any

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        made = {"id": f"m-{len(self.server.made)}", "mark": body["mark"], "state": "up", "ips": ["10.0.0.1"]}
        self.server.made.append(made)
        self._answer(201, made)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if marks := parse_qs(parts.query).get("mark"):
            self._answer(200, [machine for machine in self.server.made if [machine["mark"]] == marks])
            return
        found = [machine for machine in self.server.made if parts.path == f"/machines/{machine['id']}"]
        self._answer(200 if found else 404, found[0] if found else {})

    def do_DELETE(self) -> None:
        left = [machine for machine in self.server.made if self.path != f"/machines/{machine['id']}"]
        status = 404 if left == self.server.made else 200
        self.server.made[:] = left
        self._answer(status, {})

    def _answer(self, status: int, document: Any) -> None:
        allowed = self.headers["Authorization"] == "Bearer s"
        content = json.dumps(document).encode()
        self.send_response(status if allowed else 401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def shelf() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        server.made = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_it_works(settings: Any) -> None:
    code, check = blocks(PAGE, "python")
    found: dict[str, Any] = {"__name__": "shelf", "check_driver": check_driver, "Call": Call, "now": timezone.now}
    exec(code, found)
    with loopback_allowed(settings), shelf() as url:
        found["server"] = type("Server", (), {"url": url})
        exec(check, found)


def test_every_kind_is_spoken_of() -> None:
    kinds = next(table for table in tables(PAGE) if "kind" in table[0])
    assert {row["kind"] for row in kinds} == set(driver_kinds().classes)
    for row in kinds:
        config = driver_kinds().classes[row["kind"]].Config
        own = set(config.__struct_fields__) - set(Config.__struct_fields__)
        assert not [name for name in own if name not in row["what it is"]]


def test_the_numbers_are_those_of_the_code() -> None:
    plain = Config()
    providers = section(PAGE, "Providers")
    assert f"with one machine, {plain.timeout_seconds:g})" in providers
    assert f"has failed, {plain.boot_seconds:g}), `tries` ({plain.tries})" in providers
    assert f"`look_every_seconds` ({plain.look_every_seconds:,.0f})" in providers
    wrong = section(PAGE, "What happens when something goes wrong")
    assert {3: "three", 5: "five"}[MOST_ATTEMPTS] + " IDCs" in wrong
    assert f"after {({5: 'five'})[ATTENTION_AFTER]} tries" in wrong
    assert (step.LATEST.total_seconds(), step.LAST_LOOK.total_seconds()) == (300, 3600)
    assert GROUP in PAGE


@pytest.mark.parametrize("block", blocks(PAGE, "json"))
def test_the_documents_shown_are_understood(block: str) -> None:
    document = json.loads(block)
    if "machines" in document:
        assert Machines(**document).machines
    elif "kind" in document:
        assert driver_kinds().classes[document["kind"]].Config(**document["config"])
    else:
        assert document["data"]["token"]
