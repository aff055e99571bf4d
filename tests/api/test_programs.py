"""Requests that bring a token go past the middlewares for browsers, and are answered as if they had not."""

from itertools import product
from typing import Any

import pytest
from django.contrib.sessions.middleware import SessionMiddleware
from django.test import Client

from idcsched import programs
from idcsched.api.middleware import RequestIdMiddleware
from idcsched.programs import LONG
from tests.api.conftest import Api

ASKED = '{"region": "A", "profile": "seed-example"}'
FOR_BROWSERS = {"Content-Security-Policy"}


@pytest.fixture
def went_through(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses whose requests went through all middlewares."""
    found: list[str] = []
    for middleware in (SessionMiddleware, RequestIdMiddleware):
        original = middleware.__call__

        def noted(self: Any, request: Any, original: Any = original) -> Any:
            found.append(request.path)
            return original(self, request)

        monkeypatch.setattr(middleware, "__call__", noted)
    return found


ADDRESSES = {
    "a list": ("GET", "/api/v1/idcs/"),
    "an object": ("GET", "/api/v1/idcs/a/"),
    "without the closing slash": ("GET", "/api/v1/idcs"),
    "a write without it": ("POST", "/api/v1/idcs"),
    "the root without it": ("GET", "/api/v1"),
    "an address that nothing has": ("GET", "/api/v1/nowhere/"),
    "one outside what is promised": ("GET", "/api/nowhere/"),
    "a method that there is not": ("DELETE", "/api/v1/schedule/"),
    "a document in a form of its own": ("GET", "/api/v1/schema/"),
}


def program(seed: Api) -> Client:
    """The administrator's, on a server that starts with the settings as they are now."""
    return Client(**seed.client.defaults)


def in_parts(headers: dict[str, str]) -> dict[str, Any]:
    return {**headers, "Vary": {name.strip() for name in headers["Vary"].split(",")} - {"Cookie"}}


def test_it_works(seed: Api, portal: Api, went_through: list[str]) -> None:
    assert portal.raw("POST", "/schedule/", ASKED).status_code == 200
    assert went_through == []
    assert Client(SERVER_NAME="localhost").get("/admin/login/").status_code == 200
    assert went_through == ["/admin/login/"] * 2


def test_a_token_spares_nothing_outside_the_api(seed: Api, went_through: list[str]) -> None:
    assert seed.client.get("/admin/login/").status_code == 200
    assert went_through == ["/admin/login/"] * 2


@pytest.mark.no_cover
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_answers_are_the_same_in_every_header(secure: bool, seed: Api, user: Any, settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = 3600
    asking, browser = program(seed), Client(SERVER_NAME="localhost")
    browser.force_login(user("admin"))
    for (what, (method, path)), language in product(ADDRESSES.items(), ("en", "zh-hans")):
        sent = {"secure": secure, "headers": {"accept-language": language, "x-request-id": "mine-1"}}
        told, expected = (client.generic(method, path, **sent) for client in (asking, browser))

        assert (told.status_code, told.content) == (expected.status_code, expected.content), what
        wanted = {name: said for name, said in expected.headers.items() if name not in FOR_BROWSERS}
        if "Vary" in wanted:  # what browsers load is compressed
            wanted["Vary"] = ", ".join(part for part in wanted["Vary"].split(", ") if part != "Accept-Encoding")
        found = dict(told.headers)
        if what == "the root without it":  # CommonMiddleware's own redirect, which lacks what stands behind it
            wanted |= {name: found[name] for name in ("Content-Length", "X-Frame-Options")}
        assert in_parts(found) == in_parts(wanted), what
        assert ("Strict-Transport-Security" in told.headers) == secure


def test_a_host_that_is_not_ours_is_refused(seed: Api) -> None:
    for path in ("/api/v1/idcs/", "/api/v1/schedule/"):
        refused = seed.client.get(path, headers={"host": "elsewhere.example"})
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_request")
        assert refused["X-Request-ID"]
        assert refused["X-Frame-Options"] == "DENY"


def test_plain_http_is_sent_to_https_where_everybody_comes_by_it(seed: Api, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    asking = program(seed)
    sent = asking.get("/api/v1/idcs/?q=a")
    assert (sent.status_code, sent["Location"]) == (301, "https://localhost/api/v1/idcs/?q=a")
    assert asking.get("/api/v1/idcs/", secure=True).status_code == 200


def test_a_session_beside_a_token_counts_for_nothing(seed: Api, user: Any) -> None:
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(user("admin"))
    for said in ("Bearer idc_nobody", "Basic YTpi", ""):
        assert browser.get("/api/v1/users/", headers={"authorization": said}).status_code == 401


def test_an_answer_that_says_something_itself_is_left_its_word(seed: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from idcsched.api.views.inventory import IspViewSet  # noqa: PLC0415  # beside what is done to it

    answer = IspViewSet.finalize_response

    def framed(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = answer(self, *args, **kwargs)
        response["X-Frame-Options"], response["Referrer-Policy"] = "SAMEORIGIN", "no-referrer"
        return response

    monkeypatch.setattr(IspViewSet, "finalize_response", framed)
    said = seed.raw("GET", "/isps/")
    assert (said["X-Frame-Options"], said["Referrer-Policy"]) == ("SAMEORIGIN", "no-referrer")


def test_an_id_that_is_not_sane_is_replaced(seed: Api) -> None:
    assert seed.raw("GET", "/isps/", X_Request_ID="order-1/a")["X-Request-ID"] == "order-1/a"
    for name in ("a b", "x" * 129, "ü"):
        given = seed.raw("GET", "/isps/", X_Request_ID=name)["X-Request-ID"]
        assert given != name
        assert len(given) == 36


def test_each_host_is_judged_by_itself(seed: Api) -> None:
    told = [
        seed.client.get("/api/v1/isps/", headers={"host": host}).status_code
        for host in ("localhost", "elsewhere.example", "localhost", "127.0.0.1:8000", "elsewhere.example")
    ]
    assert told == [200, 400, 200, 200, 400]


def test_what_nobody_sends_in_earnest_is_not_remembered(portal: Api) -> None:
    for accepted, more in (("x" * (LONG + 1), 0), ("en;q=0.123", 1)):
        before = programs._known_language.cache_info().currsize
        assert portal.raw("GET", "/me/", Accept_Language=accepted).headers["Content-Language"] == "en"
        assert programs._known_language.cache_info().currsize == before + more
