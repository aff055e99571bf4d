"""What the shipped proxy answers by itself: that a web process gives no answer, and that nobody outside has metrics."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPMessage

import pytest
from django.utils import translation

from idcsched.api.codes import UNANSWERED
from idcsched.api.problems import problem
from tests.outbound.peers import Peer, hang_up, json_reply, peer
from tests.servers import nginx

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"
PROGRAM = "*/*"


@pytest.fixture(scope="module")
def web() -> Iterator[Peer]:
    """A web server that ends over each request."""
    with peer(hang_up) as server:
        yield server


@pytest.fixture(scope="module")
def proxy(web: Peer) -> Iterator[nginx.Proxy]:
    with nginx.running(web.server_address[1]) as started:
        yield started


def asked(
    proxy: nginx.Proxy, method: str, path: str, *, client: str = "127.0.0.1", **headers: str
) -> tuple[int, HTTPMessage, str]:
    with closing(HTTPConnection("127.0.0.1", proxy.port, source_address=(client, 0), timeout=30)) as connection:
        connection.request(method, path, "{}" if method == "POST" else None, headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        pytest.param("POST", "/api/v1/schedule/", {"Accept": PROGRAM}, id="an order"),
        pytest.param("POST", "/api/v1/schedule/", {"Idempotency-Key": "k"}, id="an order with a key"),
        pytest.param("GET", "/api/v1/idcs/", {"Accept": BROWSER}, id="the API in a browser"),
        pytest.param("GET", "/static/admin.css", {"Accept": "text/css"}, id="a file"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_works(proxy: nginx.Proxy, method: str, path: str, headers: dict[str, str], language: str) -> None:
    status, answered, body = asked(proxy, method, path, **{"Accept-Language": language, **headers})

    with translation.override(language):
        detail = translation.gettext(UNANSWERED)
    assert status == 502
    assert (answered["Content-Type"], answered["Retry-After"]) == ("application/problem+json", "5")
    assert json.loads(body) == problem(502, "unanswered", detail)


@pytest.mark.parametrize(("language", "title"), [("en", "Not available now"), ("zh-CN,zh;q=0.9", "暂时不可用")])
def test_a_browser_is_shown_a_page(proxy: nginx.Proxy, language: str, title: str) -> None:
    status, answered, body = asked(proxy, "GET", "/admin/", **{"Accept": BROWSER, "Accept-Language": language})

    assert (status, answered["Content-Type"], answered["Retry-After"]) == (502, "text/html; charset=utf-8", "5")
    assert f"<h1>{title}</h1>" in body


def test_what_a_web_process_answers_is_passed_on(proxy: nginx.Proxy, web: Peer) -> None:
    web.behave = json_reply({"code": "bad_status"}, status=502)
    try:
        assert json.loads(asked(proxy, "GET", "/api/v1/idcs/")[2]) == {"code": "bad_status"}
    finally:
        web.behave = hang_up


def test_nobody_outside_is_shown_the_metrics(proxy: nginx.Proxy, web: Peer) -> None:
    calls = len(web.calls)

    assert asked(proxy, "GET", "/metrics")[0] == 404
    assert len(web.calls) == calls


def test_only_networks_of_ones_own_ask_whether_it_is_ready(proxy: nginx.Proxy, web: Peer) -> None:
    """Any other address than the proxy's own of the loopback network is as good as one from outside."""
    web.behave = json_reply({"status": "ok"})
    try:
        assert asked(proxy, "GET", "/health/ready/")[0] == 200
        assert asked(proxy, "GET", "/health/ready/", client="127.0.0.2")[0] == 403
        assert asked(proxy, "GET", "/health/live/", client="127.0.0.2")[0] == 200
    finally:
        web.behave = hang_up
