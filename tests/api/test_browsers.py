"""A request to the API that brings a token skips the middlewares that are for people at pages."""

from itertools import product
from typing import Any

import pytest
from django.contrib.sessions.middleware import SessionMiddleware
from django.test import Client

from tests.api.conftest import Api

ASKED = '{"region": "A", "profile": "seed-example"}'
FOR_BROWSERS = {"Content-Security-Policy"}


@pytest.fixture
def went_through(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of the requests whose session was looked for."""
    found: list[str] = []
    original = SessionMiddleware.__call__

    def noted(self: Any, request: Any) -> Any:
        found.append(request.path)
        return original(self, request)

    monkeypatch.setattr(SessionMiddleware, "__call__", noted)
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
    """Return a client with the administrator's token, on a server that starts with the current settings."""
    return Client(**seed.client.defaults)


def in_parts(headers: dict[str, str]) -> dict[str, Any]:
    return {**headers, "Vary": {name.strip() for name in headers["Vary"].split(",")} - {"Cookie"}}


def test_it_works(seed: Api, portal: Api, went_through: list[str]) -> None:
    assert portal.raw("POST", "/schedule/", ASKED).status_code == 200
    assert went_through == []
    assert Client(SERVER_NAME="localhost").get("/admin/login/").status_code == 200
    assert went_through == ["/admin/login/"]


def test_a_token_spares_nothing_outside_the_api(seed: Api, went_through: list[str]) -> None:
    assert seed.client.get("/admin/login/").status_code == 200
    assert went_through == ["/admin/login/"]


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


def test_a_session_is_enough_and_its_csrf_check_holds(seed: Api, user: Any) -> None:
    browser = Client(enforce_csrf_checks=True, SERVER_NAME="localhost")
    browser.force_login(user("operator"))
    sent = {"data": ASKED, "content_type": "application/json"}
    assert browser.post("/api/v1/schedule/", **sent).status_code == 403
    browser.get("/admin/password_change/")  # a page with a form
    token = browser.cookies["csrftoken"].value
    answered = browser.post("/api/v1/schedule/", headers={"x-csrftoken": token}, **sent)
    assert answered.status_code == 200, answered.content


def test_programs_are_spared_what_is_for_browsers(seed: Api, portal: Api) -> None:
    told = portal.raw("POST", "/schedule/", ASKED)
    page = Client(SERVER_NAME="localhost").get("/admin/login/")
    assert "Content-Security-Policy" in page.headers
    assert "Content-Security-Policy" not in told.headers
    assert told["X-Content-Type-Options"] == page["X-Content-Type-Options"] == "nosniff"
    assert not told.cookies
