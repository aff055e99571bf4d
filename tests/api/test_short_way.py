"""Plain requests take a short way; what they are answered is what the ordinary way answers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.models import User
from idcsched.api.plain import PlainPost
from tests.api.conftest import Api

ASKED = '{"request_id": "order-8812", "region": "A", "profile": "seed-example"}'
CHANGING = {"decision_id", "http_request_id", "snapshot", "commit_token", "elapsed_ms"}
ORDINARY = {"accept": "application/json, text/plain"}
"""What a client sends that must be negotiated with: such a request takes the ordinary way."""


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which way each request took."""
    taken: list[str] = []
    initial = PlainPost.initial

    def noted(self: PlainPost, *args: Any, **kwargs: Any) -> None:
        taken.append("ordinary")
        initial(self, *args, **kwargs)

    monkeypatch.setattr(PlainPost, "initial", noted)
    return taken


def unchanging(response: Any) -> tuple[int, Any]:
    document = response.json()
    document["candidates"] = None  # its ages change
    return response.status_code, {key: value for key, value in document.items() if key not in CHANGING}


def test_it_works(seed: Api, portal: Api, ways: list[str]) -> None:
    short = portal.raw("POST", "/schedule/", ASKED)
    assert ways == []
    ordinary = portal.raw("POST", "/schedule/", ASKED, **ORDINARY)
    assert ways == ["ordinary"]
    assert unchanging(short) == unchanging(ordinary)
    assert short["Content-Type"] == ordinary["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param("{", {}, 400, id="no JSON"),
        pytest.param('{"region": "A", "regoin": 1}', {}, 400, id="an unknown field"),
        pytest.param('{"region": "nowhere"}', {}, 400, id="an unknown region"),
        pytest.param(ASKED, {"content_type": "text/plain"}, 415, id="another media type"),
        pytest.param(ASKED, {"authorization": "Bearer idc_nobody"}, 401, id="an unknown token"),
        pytest.param(ASKED, {"authorization": "Basic YTpi"}, 401, id="another scheme"),
    ],
)
def test_refusals_are_the_same_on_either_way(
    body: str, headers: dict[str, str], status: int, seed: Api, portal: Api
) -> None:
    short = portal.raw("POST", "/schedule/", body, **headers)
    ordinary = portal.raw("POST", "/schedule/", body, **headers, **ORDINARY)
    assert (short.status_code, short.json()) == (ordinary.status_code, ordinary.json())
    assert short.status_code == status
    assert short["Content-Type"] == "application/problem+json"
    assert short.headers.get("WWW-Authenticate") == ordinary.headers.get("WWW-Authenticate")


def test_who_may_not_is_refused(seed: Api, api: Callable[..., Api]) -> None:
    assert api("viewer").raw("POST", "/schedule/", ASKED).status_code == 403
    assert api("portal", read_only=True).raw("POST", "/schedule/", ASKED).json()["code"] == "read_only_token"


def test_throttling_holds(seed: Api, portal: Api, settings: Any) -> None:
    settings.THROTTLE = "2/hour"
    answers = [portal.raw("POST", "/schedule/", ASKED) for _ in range(3)]
    assert [answer.status_code for answer in answers][-1] == 429
    assert int(answers[-1]["Retry-After"]) > 0


def test_a_key_that_is_sent_is_honoured(seed: Api, portal: Api, ways: list[str]) -> None:
    first = portal.raw("POST", "/schedule/", ASKED, Idempotency_Key="k")
    again = portal.raw("POST", "/schedule/", ASKED, Idempotency_Key="k")
    assert ways == ["ordinary", "ordinary"]
    assert first.json()["decision_id"] == again.json()["decision_id"]


def test_a_session_is_enough_and_its_csrf_check_holds(seed: Api, user: Callable[[str], User]) -> None:
    browser = Client(enforce_csrf_checks=True, SERVER_NAME="localhost")
    browser.force_login(user("operator"))
    sent = {"data": ASKED, "content_type": "application/json"}
    assert browser.post("/api/v1/schedule/", **sent).status_code == 403
    browser.get("/admin/password_change/")  # a page with a form
    token = browser.cookies["csrftoken"].value
    answered = browser.post("/api/v1/schedule/", headers={"x-csrftoken": token}, **sent)
    assert answered.status_code == 200, answered.content


def test_programs_are_spared_what_is_for_browsers(seed: Api, portal: Api) -> None:
    short = portal.raw("POST", "/schedule/", ASKED)
    page = Client(SERVER_NAME="localhost").get("/admin/login/")
    assert "Content-Security-Policy" in page.headers
    assert "Content-Security-Policy" not in short.headers
    assert short["X-Content-Type-Options"] == page["X-Content-Type-Options"] == "nosniff"
    assert not short.cookies
