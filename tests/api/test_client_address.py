"""Where a request comes from: a forwarded address counts only behind a trusted proxy."""

import pytest
from django.test import RequestFactory

from idcsched.api.addresses import client_address


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "found"),
    [
        pytest.param("1.2.3.4", "", [], "1.2.3.4", id="nobody in between"),
        pytest.param("1.2.3.4", "9.9.9.9", [], "1.2.3.4", id="a stranger may claim anything"),
        pytest.param("10.0.0.1", "9.9.9.9", ["10.0.0.0/8"], "9.9.9.9", id="a trusted proxy is believed"),
        pytest.param("10.0.0.1", "7.7.7.7, 9.9.9.9", ["10.0.0.0/8"], "9.9.9.9", id="only as far as it saw for itself"),
        pytest.param("10.0.0.1", "9.9.9.9, 10.0.0.2", ["10.0.0.0/8"], "9.9.9.9", id="two trusted proxies"),
        pytest.param("10.0.0.1", "", ["10.0.0.0/8"], "10.0.0.1", id="a proxy that says nothing"),
        pytest.param("10.0.0.1", "nonsense", ["10.0.0.0/8"], "nonsense", id="what it says is passed on as it is"),
        pytest.param("", "9.9.9.9", ["10.0.0.0/8"], "", id="a socket without an address"),
    ],
)
def test_it_works(settings: pytest.FixtureRequest, peer: str, forwarded: str, proxies: list[str], found: str) -> None:
    settings.TRUSTED_PROXIES = proxies  # type: ignore[attr-defined]
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}

    assert client_address(RequestFactory().get("/", REMOTE_ADDR=peer, **headers)) == found
