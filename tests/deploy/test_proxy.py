"""What the shipped proxy answers itself: if a web process fails, if a limit is exceeded, and for private addresses."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPMessage

import pytest
from django.utils import translation
from rest_framework.exceptions import Throttled

from deploy.docs.codes import UNANSWERED
from idcsched.api.problems import problem
from idcsched.language.library_refusals import EXCEPTIONS
from tests.docs.pages import page, section
from tests.e2e.installation import wait_for
from tests.outbound.peers import Peer, hang_up, json_reply, peer, silent
from tests.servers import nginx

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"
PROGRAM = "*/*"
PATH = "/api/v1/schedule/"
LITTLE = {
    "rate=1000r/s": "rate=1r/m",
    "burst=2000": "burst=2",
    "rate=2r/s": "rate=1r/m",
    "burst=20 ": "burst=1 ",
    "addresses 512": "addresses 2",
    "21m": "1k",
}
"""The limits in its configuration, each with a lower one that a test soon reaches."""


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
    proxy: nginx.Proxy, method: str, path: str, sent: str = "{}", *, client: str = "127.0.0.1", **headers: str
) -> tuple[int, HTTPMessage, str]:
    with closing(HTTPConnection("127.0.0.1", proxy.port, source_address=(client, 0), timeout=30)) as connection:
        connection.request(method, path, sent if method == "POST" else None, headers)
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


@pytest.fixture
def narrow(web: Peer) -> Iterator[nginx.Proxy]:
    """A proxy with limits that are soon reached, in front of a web server that answers."""
    web.behave = json_reply({})
    with nginx.running(web.server_address[1], changes=[*LITTLE.items()]) as started:
        yield started
    web.behave = hang_up


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}], ids=["an order", "an order with a key"])
def test_an_address_that_asks_too_often_is_told_when_to_ask_again(
    narrow: nginx.Proxy, web: Peer, headers: dict[str, str], language: str
) -> None:
    headers |= {"Accept": PROGRAM, "Accept-Language": language}
    calls = len(web.calls)
    assert [asked(narrow, "POST", PATH, **headers)[0] for _ in range(3)] == [200, 200, 200]

    status, answered, body = asked(narrow, "POST", PATH, **headers)

    with translation.override(language):
        detail = translation.gettext(EXCEPTIONS[Throttled])
        assert json.loads(body) == problem(429, "throttled", detail)
    assert status == 429
    assert (answered["Content-Type"], answered["Retry-After"]) == ("application/problem+json", "5")
    assert len(web.calls) == calls + 3
    assert asked(narrow, "POST", PATH, client="127.0.0.2", **headers)[0] == 200, "another address has its own limit"


def test_signing_in_has_a_lower_limit(narrow: nginx.Proxy) -> None:
    for _ in range(2):
        assert asked(narrow, "POST", "/admin/login/", Accept=BROWSER)[0] == 200

    status, answered, body = asked(narrow, "POST", "/admin/login/", Accept=BROWSER)

    assert (status, answered["Content-Type"], answered["Retry-After"]) == (429, "text/html; charset=utf-8", "5")
    assert "<h1>Too Many Requests</h1>" in body
    assert asked(narrow, "GET", "/admin/login/", Accept=BROWSER)[0] == 200


def test_an_address_with_too_many_connections_is_refused(narrow: nginx.Proxy, web: Peer) -> None:
    web.behave, calls = silent, len(web.calls)
    with ExitStack() as stack:
        for _ in range(2):
            connection = stack.enter_context(closing(HTTPConnection("127.0.0.1", narrow.port, timeout=30)))
            connection.request("GET", "/api/v1/idcs/")
        wait_for(lambda: len(web.calls) == calls + 2, "both requests")

        status, answered, body = asked(narrow, "GET", "/api/v1/idcs/")

    assert (status, answered["Retry-After"], json.loads(body)["code"]) == (429, "5", "throttled")


def test_the_page_has_the_limits() -> None:
    shipped = nginx.CONFIGURATION.read_text(encoding="utf-8")
    text = " ".join(section(page("deploying.md"), "TLS").split())
    limits = [int(found) for found in re.findall(r"(?:limit_conn \w+ |rate=|burst=)(\d+)", shipped)]
    connections, rate, burst, signing_in, more = limits
    assert (
        f"{connections} connections, {rate:,} requests a second ({burst:,} at once) and {signing_in:,} attempts "
    ).replace(" 2 ", " two ") in text
    assert f"a second to sign in ({more} at once)" in text


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_body_that_is_too_large_is_refused(narrow: nginx.Proxy, web: Peer, language: str) -> None:
    calls = len(web.calls)

    status, answered, body = asked(narrow, "POST", PATH, "x" * 1025, **{"Accept-Language": language})

    with translation.override(language):
        assert json.loads(body) == problem(413, "body_too_large", translation.gettext("the body is too large"))
    assert (status, answered["Content-Type"], answered["Retry-After"]) == (413, "application/problem+json", None)
    assert len(web.calls) == calls


def test_what_a_web_process_answers_is_passed_on(proxy: nginx.Proxy, web: Peer) -> None:
    try:
        for status in (413, 429, 502):
            web.behave = json_reply({"code": "its_own"}, status=status)
            answered, _, body = asked(proxy, "GET", "/api/v1/idcs/")
            assert (answered, json.loads(body)) == (status, {"code": "its_own"})
    finally:
        web.behave = hang_up


def test_nobody_outside_is_shown_the_metrics(proxy: nginx.Proxy, web: Peer) -> None:
    calls = len(web.calls)

    assert asked(proxy, "GET", "/metrics")[0] == 404
    assert len(web.calls) == calls


def test_only_networks_of_ones_own_ask_whether_it_is_ready(proxy: nginx.Proxy, web: Peer) -> None:
    """127.0.0.2 stands for an address from outside: `/health/ready/` is refused to it, `/health/live/` is not."""
    web.behave = json_reply({"status": "ok"})
    try:
        assert asked(proxy, "GET", "/health/ready/")[0] == 200
        assert asked(proxy, "GET", "/health/ready/", client="127.0.0.2")[0] == 403
        assert asked(proxy, "GET", "/health/live/", client="127.0.0.2")[0] == 200
    finally:
        web.behave = hang_up
