"""What browsers may load, by the header Content-Security-Policy: pages load from this server alone, other answers
nothing.
"""

import pytest
from django.test import Client

from idcsched.accounts.services import user_create

pytestmark = pytest.mark.usefixtures("db")


def policy(client: Client, address: str) -> dict[str, list[str]]:
    parts = (part.split() for part in client.get(address).headers["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in parts}


def test_it_works(client: Client) -> None:
    client.force_login(user_create(username="root", role="admin"))
    for address in ("/admin/", "/admin/inventory/idc/", "/admin/inventory/idc/add/", "/admin/jsi18n/"):
        found = policy(client, address)
        assert found["default-src"] == ["'none'"]
        assert "'self'" in found["script-src"]
        assert "'unsafe-inline'" not in found["script-src"] + found["style-src"]


@pytest.mark.parametrize("address", ["/admin/login/", "/api/v1/docs/"])
def test_pages_before_any_login_load_from_here_alone(client: Client, address: str) -> None:
    sources = {source for found in policy(client, address).values() for source in found}
    assert sources <= {"'self'", "'none'", "data:", "'unsafe-inline'", "'unsafe-eval'"}
    assert "'unsafe-inline'" not in policy(client, address)["script-src"]


def test_the_docs_evaluate_nothing(client: Client) -> None:
    assert policy(client, "/api/v1/docs/")["script-src"] == ["'self'"]


@pytest.mark.parametrize(
    "address", ["/api/v1/status/", "/api/v1/schema/", "/health/live/", "/metrics", "/nowhere/", "/"]
)
def test_what_is_no_page_loads_nothing_and_is_framed_nowhere(client: Client, address: str) -> None:
    found = policy(client, address)
    assert found == {name: ["'none'"] for name in ("default-src", "frame-ancestors", "base-uri", "form-action")}


def test_pages_bring_no_script_and_no_style_of_their_own(client: Client) -> None:
    client.force_login(user_create(username="root", role="admin"))
    for address in ("/admin/", "/admin/inventory/idc/", "/admin/inventory/taint/add/"):
        page = client.get(address).content.decode()
        assert "<style" not in page
        assert "<script>" not in page
