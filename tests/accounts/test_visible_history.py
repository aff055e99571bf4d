"""The history in the admin shows each user only what they may see."""

import pytest
from django.test import Client

from idcsched.accounts.models import User
from idcsched.accounts.services import tenant_create, user_create
from idcsched.audit.context import origin_set
from idcsched.audit.models import Change
from idcsched.inventory.services import isp_create

pytestmark = pytest.mark.usefixtures("db")
HISTORY = "/admin/audit/change/"


def shown(client: Client) -> set[str]:
    found = client.get(HISTORY).context["cl"].queryset
    return {change.kind for change in found} - {"profile"}  # those that come with the project


@pytest.fixture(autouse=True)
def history() -> None:
    tenant = tenant_create(code="shop")
    user_create(username="root", role="admin")
    user_create(username="watcher", role="viewer")
    user_create(username="guest", role="viewer", tenant=tenant)
    isp_create(code="ct")


def as_user(client: Client, name: str) -> Client:
    client.force_login(User.objects.get(username=name))
    return client


def test_it_works(client: Client) -> None:
    assert shown(as_user(client, "root")) == {"tenant", "user", "isp"}


def test_accounts_are_for_administrators(client: Client) -> None:
    assert shown(as_user(client, "watcher")) == {"isp"}
    hidden = Change.objects.filter(kind="user").first()
    assert hidden is not None
    assert client.get(f"{HISTORY}{hidden.pk}/change/").status_code == 302


def test_those_of_one_tenant_see_what_they_changed_themselves(client: Client) -> None:
    assert shown(as_user(client, "guest")) == set()
    with origin_set(actor="guest", via="admin"):
        isp_create(code="cu")
    assert shown(client) == {"isp"}
