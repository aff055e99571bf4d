"""No input adds a header of its own, neither to an answer nor to a request that the server sends."""

import json
import socket
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import pytest

from tests.outbound.peers import json_reply, peer
from tests.stories.fleet import new_fleet
from tests.stories.product import Caller, Product, name
from tests.stories.test_canaries import kept_secret
from tests.stories.test_sources import NEVER

BREAK = "%0d%0aX-Evil:%20yes"
PATHS = [
    f"/static/0000000000/{BREAK}",
    f"/static/0000000000/%E5%98%8D%E5%98%8AX-Evil:yes{BREAK}",
    f"/api/v1/idcs{BREAK}",
    f"/api/v1/idcs/{BREAK}",
    f"/admin/login/?next=/{BREAK}",
    f"/admin/{BREAK}",
    f"/console/search/?q={BREAK}",
    f"/{BREAK}",
]
HEADERS = {
    "a blank": "X-Request-ID: a b",
    "a NUL": "X-Request-ID: a\0b",
    "a bare carriage return": "X-Request-ID: a\rX-Evil: yes",
    "a folded line": "X-Request-ID: a\r\n X-Evil: yes",
    "another host": "Host: evil.example\r\n X-Evil: yes",
    "a language": "Accept-Language: en\rX-Evil: yes",
    "an origin": "Origin: http://evil.example\rX-Evil: yes",
    "a forwarded host": "X-Forwarded-Host: evil.example",
    "an idempotency key": "Idempotency-Key: a\rX-Evil: yes",
}


def asked(product: Product, path: str, *lines: str) -> HTTPResponse | None:
    """The answer to a request whose head has these lines as they are; None if the server hung up."""
    parts = urlsplit(product.address)
    head = [f"GET {path} HTTP/1.1", f"Authorization: Bearer {product.tokens['admin']}", *lines]
    if not any(line.startswith("Host:") for line in lines):
        head.append(f"Host: {parts.netloc}")
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=120) as connection:
        connection.sendall("\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1"))
        response = HTTPResponse(connection)
        try:
            response.begin()
        except ConnectionError:
            return None
        response.read()
        return response


def is_clean(response: HTTPResponse) -> bool:
    """Whether no header of the answer was written by the client, or leads to somebody else's host."""
    names = {header.lower() for header, _ in response.getheaders()}
    return "x-evil" not in names and not any("evil.example" in value for _, value in response.getheaders())


def test_it_works(product: Product) -> None:
    """A valid request id comes back in a header: the other tests could see one that was injected."""
    answer = asked(product, "/api/v1/me/", "X-Request-ID: order-1")
    assert answer is not None
    assert (answer.status, answer.headers["X-Request-ID"]) == (200, "order-1")


@pytest.mark.parametrize("path", PATHS)
def test_an_address_writes_no_header(product: Product, path: str) -> None:
    answer = asked(product, path)
    assert answer is not None
    assert answer.status < 500
    assert is_clean(answer)


@pytest.mark.parametrize("line", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("path", ["/api/v1/me/", "/api/v1/idcs", "/admin/", "/"])
def test_a_header_writes_no_other(product: Product, path: str, line: str) -> None:
    answer = asked(product, path, line)
    if answer is not None:
        assert answer.status < 500
        assert is_clean(answer)
        assert answer.headers["X-Request-ID"] != "a"


@pytest.mark.parametrize(
    "after", ["//evil.example/", "https://evil.example/", "/\\evil.example/", "javascript:alert(1)", f"/{BREAK}"]
)
def test_a_login_leads_nowhere_else(product: Product, after: str) -> None:
    credentials = json.loads((product.installation.var / "demo-credentials.json").read_text(encoding="utf-8"))
    visitor = Caller(product.address, None)
    cookie = visitor.ask("GET", "/admin/login/").headers["Set-Cookie"].partition(";")[0]
    form = {"username": "admin", "password": credentials["admin"]["password"], "next": unquote(after)}
    body = urlencode({**form, "csrfmiddlewaretoken": cookie.partition("=")[2]}).encode()
    kind = "application/x-www-form-urlencoded"
    answer = visitor.ask("POST", f"/admin/login/?next={quote(unquote(after))}", body, Cookie=cookie, Content_Type=kind)
    visitor.close()
    assert answer.status == 302
    assert urlsplit(answer.headers["Location"])[:2] == ("", "")
    assert not answer.headers["Location"].startswith(("//", "/\\"))
    assert "X-Evil" not in answer.headers


OUTWARD: dict[str, dict[str, Any]] = {
    "the address": {"url": "{url}\r\nX-Evil: yes"},
    "an escaped address": {"url": "{url}&x=%0d%0aX-Evil:%20yes"},
    "a header's value": {"headers": {"X-Site": "a\r\nX-Evil: yes"}},
    "a header's name": {"headers": {"X-Site: a\r\nX-Evil": "yes"}},
    "a user's name": {"auth": {"kind": "basic", "username": "a\r\nX-Evil: yes"}},
    "the name of the secret's header": {"auth": {"kind": "header", "name": "X-Key\r\nX-Evil"}},
}


@pytest.mark.parametrize("given", OUTWARD.values(), ids=OUTWARD)
def test_a_source_sends_no_header_that_it_must_not(product: Product, given: dict[str, Any]) -> None:
    operator = product.caller("operator")
    _, ref = kept_secret(product, "source-secret")
    with peer(json_reply([])) as server:
        config = {"url": server.url, **given}
        config["url"] = config["url"].format(url=server.url)
        document = {
            "code": name("source"),
            "kind": "http_json",
            "schedule": NEVER,
            "config": config,
            "mapping": {"idc": "site", "values": {"cpu_load": "value"}},
            "secret_ref": ref,
        }
        if operator.ask("POST", "/sources/", document).status == 201:
            operator.post(f"/sources/{document['code']}/test/", {}, status=200)
        assert "X-Evil" not in {header for headers in server.seen_headers for header in headers}


def test_nor_does_a_secret_with_a_line_break(product: Product) -> None:
    operator = product.caller("operator")
    _, ref = kept_secret(product, "source-secret")
    Path(ref.removeprefix("file:")).write_bytes(b"s3cret\r\nX-Evil: yes")
    with peer(json_reply([])) as server:
        document = {
            "code": name("source"),
            "kind": "http_json",
            "schedule": NEVER,
            "config": {"url": server.url},
            "mapping": {"idc": "site", "values": {"cpu_load": "value"}},
            "secret_ref": ref,
        }
        operator.post("/sources/", document, status=201)
        tried = operator.post(f"/sources/{document['code']}/test/", {}, status=200)
        assert tried["error"]["code"] == "secret_unusable"
        assert server.connections == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1/\r\nX-Evil: yes", "http://127.0.0.1\r\n.example/"])
def test_a_callback_address_has_no_line_break(product: Product, url: str) -> None:
    fleet = new_fleet(product, tenant={"callback_hosts": ["127.0.0.1"]})
    refused = fleet.first.post("/schedule/", fleet.order(callback_url=url), status=400)
    assert refused["errors"][0]["pointer"] == "/callback_url"
