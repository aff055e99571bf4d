"""What browsers load is compressed, and static files are kept until they change."""

import gzip
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from idcsched.accounts.services import user_create

STYLES = "unfold/css/styles.css"


@pytest.fixture
def browser() -> Client:
    return Client(SERVER_NAME="localhost", headers={"accept-encoding": "gzip, br", "accept": "text/html"})


def static_file(browser: Client, name: str) -> Mapping[str, str]:
    """The headers of a file that was read to its end."""
    response: Any = browser.get(f"{settings.STATIC_URL}{name}")
    assert response.status_code == 200
    assert b"".join(response.streaming_content)
    response.close()
    return response.headers


@pytest.mark.usefixtures("db")
def test_it_works(browser: Client) -> None:
    browser.force_login(user_create(username="ada", role="admin"), backend="django.contrib.auth.backends.ModelBackend")
    page = browser.get("/admin/metrics_ingest/metric/")
    assert page.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in page.headers["Vary"]
    whole = gzip.decompress(page.content)
    assert b"cpu_load" in whole
    assert len(page.content) < len(whole) / 5


@pytest.mark.usefixtures("db")
def test_two_answers_tell_no_secret_by_their_lengths(browser: Client) -> None:
    """CSRF tokens differ in each answer, and so do the lengths of compressed answers to the same request."""
    pages = [browser.get("/admin/login/").content for _ in range(8)]
    tokens = {re.search(rb'csrfmiddlewaretoken" value="(\w+)', gzip.decompress(page))[1] for page in pages}  # type: ignore[index]
    assert len(tokens) == 8
    assert len({len(page) for page in pages}) > 1


def test_static_files_are_kept_for_good_below_an_address_of_their_own(browser: Client) -> None:
    headers = static_file(browser, STYLES)
    assert headers["Cache-Control"] == "max-age=31536000, public"
    assert headers["Content-Encoding"] == "gzip"
    assert re.fullmatch(r"/static/[0-9a-f]{10}/", settings.STATIC_URL)


def test_a_page_of_the_version_before_still_finds_its_styles(browser: Client) -> None:
    moved = browser.get(f"/static/0123456789/{STYLES}")
    assert (moved.status_code, moved.headers["Location"]) == (302, f"{settings.STATIC_URL}{STYLES}")
    assert browser.get(f"{settings.STATIC_URL}nothing.css").status_code == 404


def test_fonts_are_compressed_already(browser: Client) -> None:
    assert "Content-Encoding" not in static_file(browser, "unfold/fonts/inter/Inter-Regular.woff2")
