"""Logging in to the admin through HTTP: guessing is stopped, sessions end, cookies stay where they belong."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.services import user_create, user_update

pytestmark = pytest.mark.usefixtures("db")
LOGIN = "/admin/login/"
PASSWORD = "correct horse battery"  # of this test alone
Login = Callable[..., HttpResponse]


@pytest.fixture
def login() -> Login:
    user_create(username="ann", role="operator", password=PASSWORD)
    user_create(username="bob", role="operator", password=PASSWORD)

    def attempt(name: str = "ann", password: str = "wrong", address: str = "203.0.113.9", **headers: str) -> Any:
        client = Client(headers=headers)
        return client.post(LOGIN, {"username": name, "password": password}, REMOTE_ADDR=address)

    return attempt


def test_it_works(login: Login) -> None:
    """The fifth wrong password is refused. After it the right one is refused, too, for a quarter of an hour."""
    assert login(password=PASSWORD).status_code == 302
    for _ in range(4):
        assert login().status_code == 200
    refused = login()
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "900")
    assert b"Wait 15 minutes" in refused.content
    assert login(password=PASSWORD).status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert login(password=PASSWORD).status_code == 302


def test_nobody_else_is_locked_out(login: Login) -> None:
    for _ in range(6):
        login()
    assert login("bob", PASSWORD).status_code == 302
    assert login("ann", PASSWORD, address="198.51.100.7").status_code == 302


def test_success_forgives(login: Login) -> None:
    for _ in range(3):
        for _ in range(4):
            login()
        assert login(password=PASSWORD).status_code == 302


def test_an_address_made_up_by_the_client_does_not_count(login: Login) -> None:
    for number in range(6):
        last = login(**{"x-forwarded-for": f"198.51.100.{number}"})
    assert last.status_code == 429


def test_behind_a_trusted_proxy_the_client_counts(login: Login, settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["203.0.113.0/24"]
    for _ in range(6):
        login(**{"x-forwarded-for": "198.51.100.1"})
    assert login(password=PASSWORD, **{"x-forwarded-for": "198.51.100.1"}).status_code == 429
    assert login(password=PASSWORD, **{"x-forwarded-for": "198.51.100.2"}).status_code == 302


def test_it_is_said_in_the_readers_language(login: Login) -> None:
    for _ in range(6):
        last = login(**{"accept-language": "zh-hans"})
    assert "请等待 15 分钟" in last.content.decode()


def test_who_has_no_pages_is_told_so_with_the_right_password_only(login: Login) -> None:
    user_create(username="shop", role="portal", password=PASSWORD)
    told = login("shop", PASSWORD, **{"accept-language": "en"})
    assert told.status_code == 200
    assert "users of the role portal have no pages here" in told.content.decode()
    assert "no pages here" not in login("shop", "wrong", **{"accept-language": "en"}).content.decode()


def test_who_is_switched_off_is_told_so_with_the_right_password_only(login: Login) -> None:
    user_create(username="root", role="admin")
    user_update(user=User.objects.get(username="ann"), changes={"is_active": False})
    assert "this user is switched off" in login(password=PASSWORD).content.decode()
    assert "switched off" not in login().content.decode()


def test_cookies_and_headers(login: Login) -> None:
    entered = login(password=PASSWORD)
    cookie = entered.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 12 * 3600)
    assert entered.headers["X-Frame-Options"] == "DENY"
    assert entered.headers["X-Content-Type-Options"] == "nosniff"
    assert entered.headers["Referrer-Policy"] == "same-origin"
    assert entered.headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_form_from_elsewhere_is_refused(login: Login) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(LOGIN, {"username": "ann", "password": PASSWORD}).status_code == 403


def test_a_session_writes_through_the_api_with_its_csrf_token_only(login: Login) -> None:
    strict = Client(enforce_csrf_checks=True)
    user = user_create(username="root", role="admin")
    strict.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    written = strict.post("/api/v1/isps/", {"code": "ct"}, content_type="application/json")
    assert (written.status_code, written.json()["code"]) == (403, "forbidden")
    page = (
        strict.get("/admin/").cookies.get("csrftoken") or strict.get("/admin/accounts/user/add/").cookies["csrftoken"]
    )
    written = strict.post(
        "/api/v1/isps/", {"code": "ct"}, content_type="application/json", headers={"x-csrftoken": page.value}
    )
    assert written.status_code == 201


def test_a_new_password_ends_the_sessions(login: Login) -> None:
    client = Client()
    client.post(LOGIN, {"username": "ann", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200
    user_create(username="root", role="admin")
    user_update(user=User.objects.get(username="ann"), changes={"password": "another horse battery"})
    assert client.get("/admin/").status_code == 302
