"""The pages speak the language of whoever is logged in, else the one that the browser remembers or asks for."""

import pytest
from django.test import Client

from idcsched.accounts.models import User
from idcsched.accounts.services import tenant_create, token_issue, user_create, user_update
from idcsched.audit.models import Change

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def user(client: Client) -> User:
    found = user_create(username="olga", role="admin")
    client.force_login(found)
    return found


def chosen(client: Client, language: str, **sent: str) -> int:
    return client.post("/admin/language/", {"language": language, "next": "/admin/", **sent}).status_code


def language_of(client: Client, page: str = "/admin/", **headers: str) -> str:
    return str(client.get(page, headers=headers).headers["Content-Language"])


def test_it_works(client: Client, user: User) -> None:
    """The language that a user has chosen is kept with the user, and comes before what any browser asks for."""
    assert language_of(client) == "en"
    assert chosen(client, "zh-hans") == 302
    assert language_of(client) == "zh-hans"
    elsewhere = Client()
    elsewhere.force_login(user)
    assert language_of(elsewhere, accept_language="en") == "zh-hans"
    assert (
        Change.objects.filter(kind="user", key="olga", actor="olga", via="admin", after={"language": "zh-hans"}).count()
        == 1
    )
    assert chosen(client, "en") == 302
    assert language_of(client, accept_language="zh-hans") == "en"


def test_what_is_chosen_already_is_no_change(client: Client, user: User) -> None:
    user_update(user=user, changes={"language": "en"})
    before = Change.objects.count()
    chosen(client, "en")
    assert Change.objects.count() == before


def test_without_a_login_the_browser_remembers(client: Client) -> None:
    assert chosen(client, "zh-hans", next="/admin/login/") == 302
    assert language_of(client, "/admin/login/", accept_language="en") == "zh-hans"


def test_who_has_chosen_nothing_gets_what_the_browser_asks_for(client: Client, user: User) -> None:
    assert language_of(client, accept_language="zh-CN,zh;q=0.9") == "zh-hans"


@pytest.mark.parametrize("language", ["tlh", "", "zh-hans\x00"])
def test_a_language_that_is_not_there_changes_nothing(client: Client, user: User, language: str) -> None:
    chosen(client, language)
    user.refresh_from_db()
    assert user.language == ""
    assert language_of(client) == "en"


def test_a_link_can_not_choose(client: Client, user: User) -> None:
    assert client.get("/admin/language/?language=zh-hans").status_code == 405


def test_nobody_is_sent_elsewhere(client: Client, user: User) -> None:
    answer = client.post("/admin/language/", {"language": "zh-hans", "next": "https://example.com/"})
    assert answer.headers["Location"] == "/"


def test_a_program_is_answered_in_the_language_that_it_asks_for(client: Client, user: User) -> None:
    """A request with a token is answered in the language of its header, whatever the token's user has chosen."""
    user_update(user=user, changes={"language": "zh-hans"})
    token = token_issue(user=user, name="test", tenant=tenant_create(code="shop")).text
    headers = {"accept-language": "en", "authorization": f"Bearer {token}"}
    answer = Client().get("/api/v1/idcs/", headers=headers)
    assert (answer.status_code, answer.headers["Content-Language"]) == (200, "en")
