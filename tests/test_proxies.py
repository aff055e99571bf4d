"""Where a request comes from and by which protocol: what trusted proxies say counts, what clients claim does not."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from idcsched.web.proxies import ProxyMiddleware

PLAIN, SECURE = "http", "https"


@pytest.mark.parametrize(
    ("peer", "addresses", "protocols", "client", "scheme"),
    [
        pytest.param("1.2.3.4", "", "", "1.2.3.4", PLAIN, id="nobody in between"),
        pytest.param("1.2.3.4", "9.9.9.9", "https", "1.2.3.4", PLAIN, id="a stranger may claim anything"),
        pytest.param("10.0.0.1", "9.9.9.9", "https", "9.9.9.9", SECURE, id="a trusted proxy is believed"),
        pytest.param("10.0.0.1", "7.7.7.7, 9.9.9.9", "https, http", "9.9.9.9", PLAIN, id="as far as it saw"),
        pytest.param("10.0.0.1", "9.9.9.9, 10.0.0.2", "https, http", "9.9.9.9", SECURE, id="two trusted proxies"),
        pytest.param("10.0.0.1", "9.9.9.9, 10.0.0.2", "https", "9.9.9.9", SECURE, id="of which one names a protocol"),
        pytest.param("10.0.0.1", "1.1.1.1, 9.9.9.9, 10.0.0.2", "https, http, http", "9.9.9.9", PLAIN, id="and a liar"),
        pytest.param("10.0.0.1", "", "https", "10.0.0.1", SECURE, id="a proxy that names a protocol alone"),
        pytest.param("10.0.0.1", "", "https, http", "10.0.0.1", PLAIN, id="and adds it to what a client claims"),
        pytest.param("10.0.0.1", "9.9.9.9", "", "9.9.9.9", PLAIN, id="a proxy that names an address alone"),
        pytest.param("10.0.0.1", "", "", "10.0.0.1", PLAIN, id="a proxy that says nothing"),
        pytest.param("10.0.0.1", ", 9.9.9.9", ",HTTPS", "9.9.9.9", SECURE, id="a proxy that adds to nothing"),
        pytest.param("10.0.0.1", "9.9.9.9", "gopher", "9.9.9.9", PLAIN, id="a protocol that nobody speaks"),
        pytest.param("10.0.0.1", "nonsense", "https", "nonsense", SECURE, id="an address is passed on as it is"),
        pytest.param("", "9.9.9.9", "https", "", PLAIN, id="a socket without an address"),
    ],
)
def test_it_works(settings: Settings, peer: str, addresses: str, protocols: str, client: str, scheme: str) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    headers = {"X-Forwarded-For": addresses, "X-Forwarded-Proto": protocols}
    request = RequestFactory().get(
        "/", REMOTE_ADDR=peer, headers={name: text for name, text in headers.items() if text}
    )

    ProxyMiddleware(lambda _: HttpResponse())(request)

    assert (request.META["REMOTE_ADDR"], request.scheme) == (client, scheme)
