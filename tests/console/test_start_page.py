"""The address `/`: people come to the console, programs to the documentation of the API."""

import pytest
from django.test import Client

from idcsched.accounts.services import user_create

pytestmark = pytest.mark.usefixtures("db")


@pytest.mark.parametrize(
    ("accept", "address"), [("text/html,*/*;q=0.8", "/console/"), ("*/*", "/api/v1/docs/"), ("", "/api/v1/docs/")]
)
def test_it_works(client: Client, accept: str, address: str) -> None:
    answer = client.get("/", headers={"accept": accept})
    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    assert "Accept" in answer.headers["Vary"]


def test_console_and_admin_lead_to_each_other(client: Client) -> None:
    client.force_login(user_create(username="ada", role="viewer"))
    assert 'href="/console/"' in client.get("/admin/").content.decode()
    page = client.get("/console/").content.decode()
    assert 'href="/admin/"' in page
    assert 'href="/api/v1/docs/"' in page
