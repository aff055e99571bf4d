"""The shipped proxy behind another proxy that ends TLS, in front of an application that requires HTTPS."""

import shutil
import ssl
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.outbound.peers import CERTIFICATE
from tests.servers import nginx

PROXIES, CLIENT = "127.0.0.1", "127.0.0.2"
LIES = {"X-Forwarded-Proto": "https", "X-Forwarded-For": PROXIES}


@pytest.fixture
def inner(db: None, settings: Settings) -> Iterator[nginx.Proxy]:
    """The proxy in front of the application."""
    settings.SECURE_SSL_REDIRECT, settings.TRUSTED_PROXIES = True, [PROXIES]
    server = LiveServer(PROXIES)
    try:
        with nginx.running(server.thread.port) as proxy:
            yield proxy
    finally:
        server.stop()


@pytest.fixture
def outer(inner: nginx.Proxy, tmp_path: Path) -> Iterator[nginx.Proxy]:
    """A proxy in front of it that ends TLS."""
    for name in ("tls-certificate", "tls-key"):
        shutil.copy(CERTIFICATE, tmp_path / name)
    with nginx.running(inner.port, secrets=tmp_path) as proxy:
        yield proxy


def asked(connection: HTTPConnection, **headers: str) -> tuple[int, str | None]:
    """The status of the page, and where it leads to."""
    with closing(connection):
        connection.request("GET", "/admin/login/", headers={"Host": "localhost", **headers})
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["Location"]


@pytest.mark.parametrize("claims", [{}, LIES], ids=["a client", "a liar"])
def test_it_works(inner: nginx.Proxy, outer: nginx.Proxy, claims: dict[str, str]) -> None:
    """Whoever comes by the outer proxy is answered; all others are sent there, whatever they claim."""
    trusted = ssl.create_default_context(cafile=CERTIFICATE)
    by_tls = HTTPSConnection("localhost", outer.port, context=trusted, source_address=(CLIENT, 0), timeout=30)
    plainly = HTTPConnection("localhost", inner.port, source_address=(CLIENT, 0), timeout=30)

    assert asked(by_tls, **claims) == (200, None)
    assert asked(plainly, **claims) == (301, "https://localhost/admin/login/")
