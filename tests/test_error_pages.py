"""Where no page can be shown a browser gets a page that says so, and a program a problem document."""

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from idcsched.accounts.services import user_create
from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _
from idcsched.inventory.admin import IspAdmin
from idcsched.scheduling.live import live

pytestmark = pytest.mark.usefixtures("db")
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CURL = "*/*"


def visitor(role: str | None = None, accept: str = BROWSER, **options: Any) -> Client:
    client = Client(headers={"accept": accept, "accept-language": "en"}, **options)
    if role is not None:
        client.force_login(user_create(username=role, role=role), backend="django.contrib.auth.backends.ModelBackend")
    return client


def heading(response: HttpResponse) -> str:
    """The heading of an error page, after checking that it is a page and that its content policy allows its style
    sheet.
    """
    assert response.headers["Content-Type"].startswith("text/html")
    assert "style-src 'self'" in response.headers["Content-Security-Policy"]
    text = response.content.decode()
    assert 'rel="stylesheet"' in text
    found = re.search("<h1>(.*?)</h1>", text)
    assert found
    return found[1]


def test_it_works() -> None:
    page = visitor("admin").get("/admin/nope/")
    assert (page.status_code, heading(page)) == (404, "There is no such page")
    assert 'href="/console/"' in page.content.decode()


def test_what_a_role_may_not_see_is_a_page_too() -> None:
    page = visitor("viewer").get("/admin/accounts/user/")
    assert (page.status_code, heading(page)) == (403, "Not allowed")


def test_a_form_that_is_out_of_date_says_what_to_do() -> None:
    """A form is out of date if the user has logged in again in another tab since it was loaded."""
    page = visitor("admin", enforce_csrf_checks=True).post("/admin/inventory/isp/add/", {"code": "ct"})
    assert (page.status_code, heading(page)) == (403, "This form is out of date")
    assert "Nothing was done" in page.content.decode()


def test_an_address_with_a_nul_is_a_page() -> None:
    page = visitor("admin").get("/admin/inventory/isp/?q=%00")
    assert (page.status_code, heading(page)) == (400, "This can&#x27;t be understood")


def test_a_bug_is_a_page_with_the_request_s_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(IspAdmin, "get_queryset", fail)
    page = visitor("admin", raise_request_exception=False).get(
        "/admin/inventory/isp/", headers={"x-request-id": "mine-1"}
    )
    assert (page.status_code, heading(page)) == (500, "Something failed on our side")
    assert b"mine-1" in page.content
    assert b"secret" not in page.content


def test_what_can_t_be_answered_now_is_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise Unavailable("starting", _("nothing is known yet; the database does not answer"))

    monkeypatch.setattr(type(live), "catch_up", fail)
    page = visitor("admin", raise_request_exception=False).get("/console/")
    assert (page.status_code, heading(page)) == (503, "Not available now")


def test_it_is_said_in_the_reader_s_language() -> None:
    page = visitor().get("/nope/", headers={"accept-language": "zh-hans"})
    assert heading(page) == "没有这个页面"


@pytest.mark.parametrize(
    ("path", "accept", "status", "code"),
    [
        ("/nope/", CURL, 404, "not_found"),
        ("/admin/accounts/user/", CURL, 403, "forbidden"),
        ("/api/v1/nope/", BROWSER, 404, "not_found"),
    ],
)
def test_programs_and_the_api_get_problem_documents(path: str, accept: str, status: int, code: str) -> None:
    response = visitor("viewer", accept=accept).get(path)
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
    assert response.json()["code"] == code
