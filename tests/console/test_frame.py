"""The frame of all pages of the console: navigation, language, theme, help, and the pages that are shown for errors."""

import re
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.services import tenant_create
from idcsched.inventory.services import idc_create, region_create
from idcsched.scheduling.live import live
from metrics_ingest.services import source_create
from tests.console.conftest import Browser

HTML = {"accept": "text/html,*/*;q=0.8"}


def text_of(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address, headers=HTML)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def places(page: str, part: str) -> list[str]:
    """The addresses of the places that the header or the tabs below lead to."""
    return re.findall(r'href="(/console/[^"]*)"', page.partition(f'<nav class="{part}"')[2].partition("</nav>")[0])


def test_it_works(browser: Browser) -> None:
    page = text_of(browser("operator"), "/console/sources/")
    assert '<a href="/console/sources/" data-go="s" aria-current="page">' in page
    assert {"/console/", "/console/try/", "/console/decisions/"} <= set(places(page, "nav")) & set(places(page, "tabs"))
    for part in ('role="search"', 'lang="zh-hans">中文', 'data-open="help"', 'href="/admin/"', 'href="/api/v1/docs/"'):
        assert part in page
    assert "a data centre: what a decision chooses" in page


def test_whoever_may_not_order_is_led_to_no_trial(browser: Browser) -> None:
    assert "/console/try/" not in places(text_of(browser("viewer"), "/console/"), "nav")


@pytest.mark.parametrize(("chosen", "theme"), [("dark", "dark"), ("light", "light"), ("", "light"), ("<b>", "light")])
def test_the_first_byte_knows_the_theme(browser: Browser, chosen: str, theme: str) -> None:
    client = browser("viewer")
    client.cookies["theme"] = chosen
    page = text_of(client, "/console/sources/")
    assert f'data-theme="{theme}"' in page
    assert ("data-chosen" in page) == (chosen == theme), "else the system's is asked for"
    assert ("data-chosen" in text_of(client, "/nowhere/", 404)) == (chosen == theme)


def test_the_theme_is_chosen_without_script(browser: Browser) -> None:
    client = browser("viewer")
    answer = client.post("/console/theme/", {"theme": "dark", "next": "/console/sources/?a=b"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/sources/?a=b")
    assert 'data-theme="dark"' in text_of(client, "/console/sources/")
    answer = client.post("/console/theme/", {"theme": "pink", "next": "https://elsewhere.example/"})
    assert (answer.headers["Location"], client.cookies["theme"].value) == ("/console/", "dark")
    assert client.get("/console/theme/").status_code == 405


def test_a_name_that_is_nearly_right_is_offered(browser: Browser) -> None:
    region_create(code="gd")
    idc_create(code="zhuhai-ct-01", region="gd")
    mapping = {"idc": "site", "values": {"cpu_load": "cpu"}}
    source_create(code="probe", kind="http_json", schedule="60", config={"url": "http://127.0.0.1/"}, mapping=mapping)
    client = browser("viewer")
    page = text_of(client, "/console/idcs/zhuhai-ct-02/", 404)
    assert "There is no IDC zhuhai-ct-02." in page
    assert 'Did you mean <a href="/console/idcs/zhuhai-ct-01/">zhuhai-ct-01</a>' in page
    assert "There is no source proe." in text_of(client, "/console/sources/proe/", 404)
    assert '<a href="/console/sources/probe/">' in text_of(client, "/console/sources/proe/", 404)
    assert "Did you mean" not in text_of(client, "/console/profiles/x%3Cb%3E/", 404)


def test_a_program_gets_a_problem_document(browser: Browser) -> None:
    answer = browser("viewer").get("/console/idcs/nope/", headers={"accept": "*/*"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")


def test_another_tenant_s_decision_is_not_there(browser: Browser) -> None:
    client = browser("viewer", tenant=tenant_create(code="own"))
    page = text_of(client, "/console/decisions/0198c7a0-0000-7000-8000-000000000000/", 404)
    assert "There is no such page" in page
    assert 'class="nav"' in page, "within the frame"


def test_what_is_not_for_a_role_is_said_within_the_frame(browser: Browser) -> None:
    answer = browser("viewer").post(
        "/console/profiles/default/", {"action": "save", "edit": "json", "document": "{}"}, headers=HTML
    )
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "You may look at this, but not change it." in page
    assert 'class="nav"' in page


def test_whoever_is_logged_out_comes_back_to_the_same_address(client: Client, db: None) -> None:
    answer = client.get("/console/idcs/gz-1/?range=7d&line=ct", headers=HTML)
    assert answer.headers["Location"] == "/admin/login/?next=/console/idcs/gz-1/%3Frange%3D7d%26line%3Dct"


def test_a_bug_says_the_request_s_id(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(type(live), "catch_up", fail)
    client = browser("viewer")
    client.raise_request_exception = False
    answer = client.get("/console/", headers=HTML | {"x-request-id": "mine-1"})
    assert (answer.status_code, b"mine-1" in answer.content, b"secret" in answer.content) == (500, True, False)


def test_it_loads_from_here_alone_and_evaluates_nothing(browser: Browser) -> None:
    answer = browser("viewer").get("/console/sources/", headers=HTML)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    page = answer.content.decode()
    assert not re.search(r"<style|<script>| style=| on[a-z]+=", page)
